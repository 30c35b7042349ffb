import HeraldHTTP
import HeraldTime

/// A send that the hub received, and its outcome: the tests' own witness.
package struct HubSend: Sendable, Equatable {
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
    package var headers: [HubHeader]
    package var body: [UInt8]
    /// The status of the answer; nil when there was none (hung, hung up).
    package var status: Int?
    /// The message's id, if the hub accepted the send and its tier has ids.
    package var messageID: String?
    package var outcomes: [HubPlatform: [String: Int]]

    /// The due time of a scheduled send; milliseconds of Unix time.
    var dueAt: Int64?
    var isCancelled = false
    /// Whether it was handed to the push services.
    var isCarriedOut = false

    package var text: String { String(decoding: body, as: UTF8.self) }

    var sizeBytes: Int { body.count + (tags?.utf8.count ?? 0) + 512 }
}

extension HubSend {
    /// A send of a request; its notification is absent when the request could not be read.
    init(_ request: HTTPRequest, _ kind: Kind, _ notification: HubNotification?, at time: Int64) {
        self.init(
            number: 0, receivedAt: time, kind: kind, isTest: notification?.isTest ?? false,
            format: notification?.format ?? request.headers["ServiceBusNotification-Format"]?.lowercased(),
            tags: request.headers["ServiceBusNotification-Tags"], headers: notification?.headers ?? [],
            body: notification?.body ?? request.body, outcomes: [:])
    }

    /// The user of a tag `username:USER`, the first of the expression.
    var user: String? {
        guard let tags, let expression = try? TagExpression(parsing: tags) else { return nil }
        let parts = expression.firstTag.split(separator: ":", maxSplits: 1)
        return parts.count == 2 && parts[0] == "username" ? String(parts[1]) : nil
    }

    /// A substitute for the idempotency key, which the hub lacks: equal sends share it.
    var identity: String { "\(format ?? "") \(tags ?? "") \(body.hashValue)" }
}

extension RecordedCall {
    /// A send as the reference backend's call that would have caused it.
    package init(_ send: HubSend, idempotencyKey: String?, pns: String?, user: String?) {
        self.init(
            number: send.number, receivedAt: WallTime(milliseconds: send.receivedAt), idempotencyKey: idempotencyKey,
            pns: pns, user: user, caller: nil, traceparent: nil, status: send.status)
    }
}
