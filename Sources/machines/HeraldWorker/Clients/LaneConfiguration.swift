public import HeraldBackend
public import HeraldCore
import HeraldEvents
public import HeraldKafka
import HeraldKernel

/// What one lane needs to know.
///
/// It is built on the worker's thread and handed to the lane's.
public struct LaneConfiguration: Sendable {
    /// The lane's number, from 0.
    public var number: Int
    /// librdkafka's properties for the consumer.
    public var consumerProperties: ClientProperties
    /// librdkafka's properties for a reader of the dead-letter topic: `read_committed`, with end-of-partition events.
    public var readerProperties: ClientProperties
    /// librdkafka's properties for the producer.
    public var producerProperties: ClientProperties
    /// The weight of each request topic, in the order of `engine.topics.requests`.
    public var requestWeights: [Int]
    /// What the engine decides by.
    public var engine: EngineConfiguration
    /// The backend.
    public var backend: BackendConfiguration
    /// What the topics take, which the worker finds out.
    var limits = RecordLimits()
    /// How far partitions were seen to reach.
    var reach = PartitionReach()

    /// A lane's configuration.
    public init(
        number: Int, consumerProperties: ClientProperties, readerProperties: ClientProperties,
        producerProperties: ClientProperties, requestWeights: [Int], engine: EngineConfiguration,
        backend: BackendConfiguration
    ) {
        self.number = number
        self.consumerProperties = consumerProperties
        self.readerProperties = readerProperties
        self.producerProperties = producerProperties
        self.requestWeights = requestWeights
        self.engine = engine
        self.backend = backend
    }

    /// What to subscribe to: the request topics, and every topic that is named like a retry topic, so that a delay can be
    /// taken out of the settings while its topic still holds events.
    var subscription: [String] {
        let topics = engine.topics
        let prefix = topics.retry.flatMap { ".+*?()[]{}|^$\\".contains($0) ? "\\\($0)" : "\($0)" }
        return topics.requests + ["^\(String(prefix))\\.[1-9][0-9]*(ms|s|m|h|d)$"]
    }
}
