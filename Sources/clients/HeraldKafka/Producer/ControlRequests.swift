internal import CRDKafka
internal import Glibc
internal import Synchronization

/// Counts the requests by which a producer changes its transactions: whether one may still arrive that was sent twice.
///
/// A client whose connection ends sends such a request again on the next one, and the first copy may be delivered at any
/// time after. The coordinator cannot tell it from a request for the transaction that is open by then: all transactions of
/// an epoch look alike (KIP-890, "Transactions Server-Side Defense", whose second part librdkafka does not have as of 2.16).
/// Only a new epoch keeps it out.
public struct ControlRequests: Sendable {
    private var unanswered = 0

    /// None was sent.
    public init() {}

    /// One was sent, for the first time or again.
    public mutating func noteSent() { unanswered += 1 }

    /// A broker has answered one, so that it has arrived.
    public mutating func noteAnswer() { unanswered -= 1 }

    /// Whether one was sent that no broker has answered.
    public var mayArriveLate: Bool { unanswered > 0 }
}

/// Has a client report its ``ControlRequests``, on the client's threads.
///
/// librdkafka tells of an answer on the thread of the broker that gave it, which is that of the request, and then once more
/// on its main thread (`rd_kafka_buf_callback`, as of 2.0.2 and 2.16): only the first counts, where requests were sent.
final class ControlRequestMeter: Sendable {
    private static let name = "herald-control-requests"
    /// AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, TxnOffsetCommit.
    private static let keys: Set<Int16> = [24, 25, 26, 28]

    private let requests = Mutex<[pthread_t: ControlRequests]>([:])

    /// Whether one was sent that no broker has answered.
    var mayArriveLate: Bool { requests.withLock { $0.values.contains { $0.mayArriveLate } } }

    private func noteSent() { requests.withLock { $0[pthread_self(), default: ControlRequests()].noteSent() } }

    private func noteAnswer() { requests.withLock { $0[pthread_self()]?.noteAnswer() } }

    private static func meter(_ opaque: UnsafeMutableRawPointer?, of key: Int16) -> ControlRequestMeter? {
        guard keys.contains(key), let opaque else { return nil }
        return Unmanaged<ControlRequestMeter>.fromOpaque(opaque).takeUnretainedValue()
    }

    /// Has the client that is made of this configuration report here; the meter must outlive the client.
    func watch(_ configuration: OpaquePointer?) {
        rd_kafka_conf_interceptor_add_on_new(
            configuration, Self.name,
            { client, _, meter, _, _ in
                rd_kafka_interceptor_add_on_request_sent(
                    client, ControlRequestMeter.name,
                    { _, _, _, _, key, _, _, _, meter in
                        ControlRequestMeter.meter(meter, of: key)?.noteSent()
                        return RD_KAFKA_RESP_ERR_NO_ERROR
                    }, meter)
                return rd_kafka_interceptor_add_on_response_received(
                    client, ControlRequestMeter.name,
                    { _, _, _, _, key, _, _, _, _, error, meter in
                        let isAnswer = error == RD_KAFKA_RESP_ERR_NO_ERROR
                        if isAnswer { ControlRequestMeter.meter(meter, of: key)?.noteAnswer() }
                        return RD_KAFKA_RESP_ERR_NO_ERROR
                    }, meter)
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
