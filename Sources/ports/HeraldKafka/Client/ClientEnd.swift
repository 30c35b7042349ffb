internal import CRDKafka
import Glibc
internal import HeraldThreads

/// Destroys a client and waits until its threads have ended, but not for ever.
///
/// librdkafka 2.0.2 never ends if a topic that it was reading was deleted: a barrier stays in a partition's queue,
/// which no thread reads any more; it keeps the partition alive, the partition its leader, and the leader its thread.
/// Other causes were reported (confluentinc/librdkafka#3470, #5434). Such a client is abandoned, at the cost of some
/// idle threads and its memory, so that the worker can end.
final class ClientEnd: @unchecked Sendable {
    /// The longest end ever seen took less than two seconds.
    static let patience = Duration.seconds(10)

    private let client: OpaquePointer
    /// librdkafka's threads write to these until they have ended.
    private let callbacks: ClientHandle.Callbacks

    init(_ client: OpaquePointer, _ callbacks: ClientHandle.Callbacks) {
        self.client = client
        self.callbacks = callbacks
    }

    func destroy() {
        guard let ended = try? Wakeup(),
            (try? OwnThread(
                name: "kafka-end",
                {
                    self.destroyNow()
                    ended.signal()
                })) != nil
        else { return destroyNow() }
        _ = ended.wait(for: Self.patience)
    }

    private func destroyNow() {
        // A consumer that was not closed leaves silently, as if its process had died.
        rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
    }
}
