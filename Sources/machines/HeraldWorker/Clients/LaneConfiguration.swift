public import HeraldBackend
public import HeraldCore
import HeraldEvents
public import HeraldKafka
import HeraldKernel

/// The configuration of one lane.
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
    /// The engine's configuration.
    public var engine: EngineConfiguration
    /// The backend.
    public var backend: BackendConfiguration
    /// The topics' limits, which the worker finds out.
    var limits = RecordLimits()
    /// The ends of partitions seen so far.
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

    /// The subscription: the request topics, and every topic named like a retry topic, so that a delay can be removed
    /// from the settings while its topic still holds events.
    var subscription: [String] {
        let topics = engine.topics
        let prefix = topics.retry.flatMap { ".+*?()[]{}|^$\\".contains($0) ? "\\\($0)" : "\($0)" }
        return topics.requests + ["^\(String(prefix))\\.[1-9][0-9]*(ms|s|m|h|d)$"]
    }
}
