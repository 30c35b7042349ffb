import HeraldTime

/// A send that the hub received, and its outcome: the tests' own witness.
package struct HubSend: Sendable, Equatable {
    /// The kind of request.
    package enum Kind: String, Sendable {
        case tags
        case direct
        case batch
        case scheduled
    }

    /// Counts from 1 without gaps.
    package var number: Int
    /// Milliseconds of Unix time.
    package var receivedAt: Int64
    package var kind: Kind
    package var isTest: Bool
    /// The format in lower case; nil when the send could not be read.
    package var format: String?
    /// The tag expression as sent; nil for all devices.
    package var tags: String?
    /// The headers for the push service.
    package var headers: [HubHeader]
    package var body: [UInt8]
    /// The status of the answer; nil when there was none (hung, hung up).
    package var status: Int?
    /// The message's id, if the hub accepted the send and its tier has ids.
    package var messageID: String?
    /// The number of devices by push service and outcome.
    package var outcomes: [HubPlatform: [String: Int]]

    /// The due time of a scheduled send; milliseconds of Unix time.
    var dueAt: Int64?
    var isCancelled = false
    /// Whether it was handed to the push services.
    var isCarriedOut = false

    /// The body as text.
    package var text: String { String(decoding: body, as: UTF8.self) }

    /// Its approximate size in memory.
    var sizeBytes: Int { body.count + (tags?.utf8.count ?? 0) + 512 }
}

extension RecordedCall {
    /// A send as the reference backend's call that would have caused it.
    package init(_ send: HubSend, idempotencyKey: String?, pns: String?, user: String?) {
        self.init(
            number: send.number, receivedAt: WallTime(milliseconds: send.receivedAt), idempotencyKey: idempotencyKey,
            pns: pns, user: user, caller: nil, traceparent: nil, status: send.status)
    }
}
