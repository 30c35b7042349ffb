import HeraldTime

/// A send that the hub saw, and what became of it: the tests' own witness.
package struct HubSend: Sendable, Equatable {
    /// How it was asked for.
    package enum Kind: String, Sendable {
        case tags
        case direct
        case batch
        case scheduled
    }

    /// Counts from 1, without gaps.
    package var number: Int
    /// Milliseconds of Unix time.
    package var receivedAt: Int64
    package var kind: Kind
    package var isTest: Bool
    /// The format in small letters; absent when the send could not be read.
    package var format: String?
    /// The tag expression as it was sent; absent for all devices.
    package var tags: String?
    /// The headers for the push service.
    package var headers: [HubHeader]
    package var body: [UInt8]
    /// The status of the answer; absent when there was none (hung, hung up).
    package var status: Int?
    /// The message's id, when the hub took it in a tier that tells it.
    package var messageID: String?
    /// How many devices had which outcome, by push service.
    package var outcomes: [HubPlatform: [String: Int]]

    /// When it is to be sent, for one that is scheduled; milliseconds of Unix time.
    var dueAt: Int64?
    var isCancelled = false
    /// Whether it was handed to the push services.
    var isCarriedOut = false

    /// The body as text.
    package var text: String { String(decoding: body, as: UTF8.self) }

    /// Roughly what it takes of memory.
    var sizeBytes: Int { body.count + (tags?.utf8.count ?? 0) + 512 }
}

extension RecordedCall {
    /// A send as the call of a reference backend that would have caused it.
    package init(_ send: HubSend, idempotencyKey: String?, pns: String?, user: String?) {
        self.init(
            number: send.number, receivedAt: WallTime(milliseconds: send.receivedAt), idempotencyKey: idempotencyKey,
            pns: pns, user: user, caller: nil, traceparent: nil, status: send.status)
    }
}
