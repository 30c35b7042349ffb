import HeraldCore
import HeraldEvents
import HeraldKafka

/// A producer and the topics that a lane writes to.
///
/// All of it is made anew when the broker does not know the producer any more. It belongs to the lane's thread until the
/// lane is done with it; another thread may then let go of it, hence `@unchecked Sendable`.
final class RecordProducer: @unchecked Sendable {
    /// The client.
    let client: Producer
    private let results: ProducerTopic
    private let deadLetters: ProducerTopic
    /// In the order of `retry.delays`.
    private let retries: [ProducerTopic]

    /// Makes the client; no broker is asked.
    init(configuration: LaneConfiguration) throws(KafkaError) {
        client = try Producer(properties: configuration.producerProperties)
        results = try client.topic(configuration.topics.results)
        deadLetters = try client.topic(configuration.topics.deadLetter)
        var retries: [ProducerTopic] = []
        for delay in configuration.engine.retryDelays {
            retries.append(try client.topic(configuration.topics.retryTopic(delay)))
        }
        self.retries = retries
    }

    /// Hands a result to librdkafka, which copies it.
    func produceResult(key: RawSpan?, value: RawSpan, token: UInt64) -> KafkaError? {
        client.produce(topic: results, key: key, value: value, token: token)
    }

    /// Hands a dead letter to librdkafka.
    func produceDeadLetter(key: RawSpan?, value: RawSpan, headers: consuming ProducerHeaders, token: UInt64)
        -> KafkaError?
    {
        client.produce(topic: deadLetters, key: key, value: value, headers: headers, token: token)
    }

    /// Hands a retry with the delay of this index to librdkafka.
    func produceRetry(
        delay: Int, key: RawSpan?, value: RawSpan, headers: consuming ProducerHeaders, token: UInt64
    ) -> KafkaError? {
        client.produce(topic: retries[delay], key: key, value: value, headers: headers, token: token)
    }
}
