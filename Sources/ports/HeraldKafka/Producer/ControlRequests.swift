internal import CRDKafka
internal import Glibc
internal import Synchronization

/// Counts a producer's unanswered transaction requests: a request that was sent twice may still arrive late.
///
/// When a connection ends, the client repeats such a request on the next one, and the first copy may arrive at any
/// time. The coordinator cannot tell it from a request for the current transaction: all transactions of an epoch look
/// alike (KIP-890, "Transactions Server-Side Defense", whose second part librdkafka lacks as of 2.16). Only a new epoch
/// keeps it out.
public struct ControlRequests: Sendable {
    /// The number of requests sent and not answered.
    public private(set) var unansweredCount = 0

    /// None was sent.
    public init() {}

    /// Notes that one was sent, for the first time or again.
    public mutating func noteSent() { unansweredCount += 1 }

    /// Notes an answer to one, which proves that it has arrived.
    public mutating func noteAnswer() { unansweredCount -= 1 }

    /// Whether a request is unanswered.
    public var mayArriveLate: Bool { unansweredCount > 0 }
}

/// Has a client report its ``ControlRequests``, on the client's threads.
///
/// librdkafka reports an answer on the answering broker's thread, which also sent the request, and again on its main
/// thread (`rd_kafka_buf_callback`, as of 2.0.2 and 2.16): only the report on the sending thread counts.
final class ControlRequestMeter: Sendable {
    private static let name = "herald-control-requests"
    /// The protocol's numbers of the requests that change a transaction: AddPartitionsToTxn, AddOffsetsToTxn, EndTxn,
    /// TxnOffsetCommit.
    private static let controlKeys: Set<Int16> = [24, 25, 26, 28]
    /// The number of the request that claims the `transactional.id`: InitProducerId.
    private static let claimKey: Int16 = 22

    private struct Requests {
        var control = ControlRequests()
        var claims = ControlRequests()

        subscript(key: Int16) -> ControlRequests {
            get { key == ControlRequestMeter.claimKey ? claims : control }
            set { if key == ControlRequestMeter.claimKey { claims = newValue } else { control = newValue } }
        }
    }

    private let requests = Mutex<[pthread_t: Requests]>([:])

    var mayArriveLate: Bool { requests.withLock { $0.values.contains { $0.control.mayArriveLate } } }

    var unansweredClaims: Int { requests.withLock { $0.values.reduce(0) { $0 + $1.claims.unansweredCount } } }

    private func noteSent(_ key: Int16) {
        requests.withLock { $0[pthread_self(), default: Requests()][key].noteSent() }
    }

    private func noteAnswer(_ key: Int16) { requests.withLock { $0[pthread_self()]?[key].noteAnswer() } }

    private static func meter(_ opaque: UnsafeMutableRawPointer?, of key: Int16) -> ControlRequestMeter? {
        guard controlKeys.contains(key) || key == claimKey, let opaque else { return nil }
        return Unmanaged<ControlRequestMeter>.fromOpaque(opaque).takeUnretainedValue()
    }

    /// Has the client made from this configuration report here; the meter must outlive the client.
    func watch(_ configuration: OpaquePointer?) {
        rd_kafka_conf_interceptor_add_on_new(
            configuration, Self.name,
            { client, _, meter, _, _ in
                rd_kafka_interceptor_add_on_request_sent(
                    client, ControlRequestMeter.name,
                    { _, _, _, _, key, _, _, _, meter in
                        ControlRequestMeter.meter(meter, of: key)?.noteSent(key)
                        return RD_KAFKA_RESP_ERR_NO_ERROR
                    }, meter)
                return rd_kafka_interceptor_add_on_response_received(
                    client, ControlRequestMeter.name,
                    { _, _, _, _, key, _, _, _, _, error, meter in
                        let isAnswer = error == RD_KAFKA_RESP_ERR_NO_ERROR
                        if isAnswer { ControlRequestMeter.meter(meter, of: key)?.noteAnswer(key) }
                        return RD_KAFKA_RESP_ERR_NO_ERROR
                    }, meter)
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
