import HeraldEvents
import HeraldSandbox
import HeraldTime

/// One kind of event of the demo: what is published, how the backend misbehaves towards its user, and what must come of
/// it.
struct DemoScene: Sendable {
    enum Form {
        case json
        case structuredCloudEvent
        case binaryCloudEvent
        case tornJSON
    }

    /// Whom it is for; the record's key.
    var user: String
    /// The message, which says what the scene shows.
    var message: String
    var pushServices: [String]
    var form = Form.json
    /// Its `expiresAt`, from its publication on.
    var expiresAfter: Milliseconds?
    /// Its `notBefore`, from its publication on.
    var notBeforeAfter: Milliseconds?
    /// How the backend misbehaves when it is called for the user.
    var rules: [Misbehaviour] = []
    /// What must come of it, one for each push service; a single one without a push service for what does not decode.
    var expected: [ExpectedOutcome]
}

/// What must come of an event for one push service.
struct ExpectedOutcome: Sendable, Equatable {
    /// The push service; absent when the event does not decode or breaks a rule.
    var pushService: String?
    var outcome: Outcome
    var reason: DeadLetterReason?
    var status: Int?
    var calls: Int
    /// Whether it waits in a retry topic on its way.
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

    static func expired(_ pushService: String) -> Self {
        Self(pushService: pushService, outcome: .expired, reason: nil, status: nil, calls: 0)
    }
}
