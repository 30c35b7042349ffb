import HeraldCore
import HeraldEvents
import HeraldKafka

/// A producer and the topics that a lane writes to.
///
/// All of it is recreated when the broker does not know the producer any more. It belongs to the lane's thread until
/// the lane is done with it; another thread may then release it, hence `@unchecked Sendable`.
final class RecordProducer: @unchecked Sendable {
    /// A topic, and the largest batch that it allows.
    private struct Target {
        let topic: ProducerTopic
        var limit: Int
    }

    /// The client.
    let client: Producer
    @exclusivity(unchecked) private var results: Target
    private var deadLetters: Target
    /// `nil` without caps.
    private var caps: Target?
    /// The retry topics, in the order of `retry.delays`.
    private var retries: [Target]
    /// Whether batches are compressed and may be smaller than they look: then the brokers judge.
    private let isCompressed: Bool

    /// Makes the client; no broker is asked.
    init(configuration: LaneConfiguration) throws(KafkaError) {
        client = try Producer(properties: configuration.producerProperties)
        isCompressed = configuration.producerProperties.values.contains {
            ["compression.type", "compression.codec"].contains($0.0) && $0.1 != "none"
        }
        results = Target(topic: try client.topic(configuration.engine.topics.results), limit: .max)
        deadLetters = Target(topic: try client.topic(configuration.engine.topics.deadLetter), limit: .max)
        if !configuration.engine.caps.isEmpty {
            caps = Target(topic: try client.topic(configuration.engine.topics.caps), limit: .max)
        }
        var retries: [Target] = []
        for delay in configuration.engine.retryDelays {
            retries.append(Target(topic: try client.topic(configuration.engine.topics.retryTopic(delay)), limit: .max))
        }
        self.retries = retries
        use(configuration.limits)
    }

    /// Applies the topics' limits from now on.
    func use(_ limits: RecordLimits) {
        guard !isCompressed else { return }
        results.limit = limits.limit(of: results.topic.name)
        deadLetters.limit = limits.limit(of: deadLetters.topic.name)
        if let topic = caps?.topic { caps?.limit = limits.limit(of: topic.name) }
        for index in retries.indices { retries[index].limit = limits.limit(of: retries[index].topic.name) }
    }

    /// Hands a record to librdkafka, which copies it.
    ///
    /// - Parameter headers: `nil` for none at all.
    func produce(
        _ production: Production, key: RawSpan?, value: RawSpan?, headers: HeaderList?, token: UInt64
    ) -> ProduceAnswer {
        guard let target = target(of: production) else {
            return .refused(KafkaError(code: KafkaError.Code.unknownTopic))
        }
        let size = RecordSize.alone(
            keyByteCount: key?.byteCount, valueByteCount: value?.byteCount, headers: headers)
        guard size <= target.limit else { return .doesNotFit }
        guard let headers else {
            let partition: Int32? = if case .caps(let partition) = production.content { partition } else { nil }
            return Self.answer(
                client.produce(topic: target.topic, partition: partition, key: key, value: value, token: token))
        }
        let list = ProducerHeaders(capacity: headers.count)
        for index in 0..<headers.count {
            list.append(name: headers.name(at: index), value: headers.value(at: index))
        }
        return Self.answer(
            client.produce(topic: target.topic, key: key, value: value, headers: list, token: token))
    }

    private func target(of production: Production) -> Target? {
        switch production.content {
        case .result: return results
        case .caps: return caps
        case .copy(let copy):
            return switch copy.destination {
            case .retry(let delay, _, _): retries[delay]
            case .deadLetter: deadLetters
            }
        }
    }

    private static func answer(_ error: KafkaError?) -> ProduceAnswer {
        guard let error else { return .accepted }
        return error.kind == .tooLarge ? .doesNotFit : .refused(error)
    }
}
