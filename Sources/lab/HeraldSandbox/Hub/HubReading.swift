import HeraldHTTP
import HeraldTime

/// A request to the emulated hub, read before the hub's state is consulted.
enum HubReading {
    case operation(HubOperation)
    case refused(HubReply)

    var notification: HubNotification? {
        if case .operation(.send(let notification, _)) = self { notification } else { nil }
    }
}

extension HubSend {
    /// The facts of a send before the hub's state is consulted.
    init(_ request: HTTPRequest, _ kind: Kind, _ reading: HubReading, at time: Int64) {
        let notification = reading.notification
        self.init(
            number: 0, receivedAt: time, kind: kind, isTest: notification?.isTest ?? false,
            format: notification?.format ?? request.headers["ServiceBusNotification-Format"]?.lowercased(),
            tags: request.headers["ServiceBusNotification-Tags"], headers: notification?.headers ?? [],
            body: notification?.body ?? request.body, outcomes: [:])
    }

    /// The user of a tag `username:USER`, the first of the expression.
    fileprivate var user: String? {
        guard let tags, let expression = try? TagExpression(parsing: tags) else { return nil }
        let parts = expression.firstTag.split(separator: ":", maxSplits: 1)
        return parts.count == 2 && parts[0] == "username" ? String(parts[1]) : nil
    }

    /// A substitute for the idempotency key, which the hub lacks: equal sends share it.
    fileprivate var identity: String { "\(format ?? "") \(tags ?? "") \(body.hashValue)" }
}

extension MisbehaviourRules.Call {
    /// A call to a path below the hub.
    init(path: String, _ send: HubSend?) {
        self.init(path: path, user: send?.user, pns: send?.format, idempotencyKey: send?.identity)
    }
}

extension HubReply {
    /// The reply of a verdict with a status; `nil` for one without an answer.
    static func misbehaving(_ verdict: MisbehaviourRules.Verdict, at time: Int64) -> Self? {
        guard case .respond(let status) = verdict.effect else { return nil }
        var reply = failure(status, "The emulated hub was told to answer \(status)")
        if let retryAfter = verdict.retryAfter(at: WallTime(milliseconds: time)) {
            reply.headers.append(name: "Retry-After", value: retryAfter)
        }
        return reply
    }
}
