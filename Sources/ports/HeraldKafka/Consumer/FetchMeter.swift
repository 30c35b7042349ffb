internal import CRDKafka
internal import HeraldThreads
internal import Synchronization

/// Counts the brokers' responses to a consumer's fetches on the client's threads, before they are taken from a queue.
///
/// librdkafka bounds its queues by message count and value size; it does not count keys and headers.
final class FetchMeter: Sendable {
    /// The listener is woken each time this many more bytes have arrived.
    private static let step = 4 << 20
    private static let name = "herald-fetches"
    private static let fetchKey: Int16 = 1

    private let total = Atomic<Int>(0)
    private let answers = Atomic<Int>(0)
    /// The minimum size of a response that counts as an answer.
    private let least = Atomic<Int>(.max)
    private let listener = Guarded<Wakeup?>(nil)

    var bytes: Int { total.load(ordering: .relaxed) }

    /// Counts responses of at least this many bytes, starting from 0.
    func countAnswers(from least: Int) {
        self.least.store(least, ordering: .relaxed)
        answers.store(0, ordering: .relaxed)
    }

    var answerCount: Int { answers.load(ordering: .relaxed) }

    /// Signals `wakeup` for each 4 MiB that arrive from now on.
    func wake(_ wakeup: Wakeup) { listener.withLock { $0 = wakeup } }

    private func add(_ count: Int) {
        if count >= least.load(ordering: .relaxed) { answers.wrappingAdd(1, ordering: .relaxed) }
        let (before, after) = total.wrappingAdd(count, ordering: .relaxed)
        if before / Self.step != after / Self.step { listener.withLock { $0 }?.signal() }
    }

    /// Has the client made from this configuration report here; the meter must outlive the client.
    func watch(_ configuration: OpaquePointer?) {
        rd_kafka_conf_interceptor_add_on_new(
            configuration, Self.name,
            { client, _, meter, _, _ in
                rd_kafka_interceptor_add_on_response_received(
                    client, FetchMeter.name,
                    { _, _, _, _, key, _, _, size, _, _, meter in
                        if key == FetchMeter.fetchKey, let meter {
                            Unmanaged<FetchMeter>.fromOpaque(meter).takeUnretainedValue().add(size)
                        }
                        return RD_KAFKA_RESP_ERR_NO_ERROR
                    }, meter)
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
