import HeraldEvents
import HeraldSandbox
import HeraldTime

/// One kind of event in the demo: the event, the backend's misbehaviour towards its user, and the expected outcomes.
struct DemoScene: Sendable {
    enum Form {
        case json
        case structuredCloudEvent
        case binaryCloudEvent
        case tornJSON
    }

    /// The recipient; the record's key.
    var user: String
    /// The message, which describes the scene.
    var message: String
    var pushServices: [String]
    /// What its event has beside the message.
    var adding: @Sendable (inout NotificationEvent) -> Void = { _ in }
    var form = Form.json
    /// Its `expiresAt`, relative to its publication.
    var expiresAfter: Milliseconds?
    /// Its `notBefore`, relative to its publication.
    var notBeforeAfter: Milliseconds?
    var rules: [Misbehaviour] = []
    /// What its user has opted out of before.
    var optOut = OptOut()
    /// Whether its user has quiet hours now, and for longer than the event lives.
    var isAsleep = false
    /// The expected outcomes, one for each push service; an event that does not decode has one without.
    var expected: [ExpectedOutcome]
}

struct ExpectedOutcome: Sendable, Equatable {
    /// The push service; nil when the event does not decode or breaks a rule.
    var pushService: String?
    var outcome: Outcome
    var reason: DeadLetterReason?
    var suppression: SuppressionReason?
    var status: Int?
    var calls: Int
    var waits = false

    static func delivered(_ pushService: String, calls: Int = 1, waits: Bool = false) -> Self {
        Self(pushService: pushService, outcome: .delivered, reason: nil, status: 200, calls: calls, waits: waits)
    }

    static func dead(
        _ pushService: String, _ reason: DeadLetterReason, status: Int, calls: Int, waits: Bool = false
    ) -> Self {
        Self(
            pushService: pushService, outcome: .deadLettered, reason: reason, status: status, calls: calls,
            waits: waits)
    }

    static func unreadable(_ reason: DeadLetterReason) -> Self {
        Self(pushService: nil, outcome: .deadLettered, reason: reason, status: nil, calls: 0)
    }

    static func suppressed(_ pushService: String, _ reason: SuppressionReason) -> Self {
        Self(pushService: pushService, outcome: .suppressed, reason: nil, suppression: reason, status: nil, calls: 0)
    }

    static func expired(_ pushService: String) -> Self {
        Self(pushService: pushService, outcome: .expired, reason: nil, status: nil, calls: 0)
    }
}
