public import HeraldText
public import HeraldTime

/// A record of the results topic: how an event ended for a push service.
public struct NotificationResult: Equatable, Sendable {
    /// The event's id; absent when it could not be read.
    public var id: String?
    /// The push service; absent when the event does not decode or breaks a rule.
    public var pushService: String?
    /// The names by which the event asked for the push service, such as `fcm` for `gcm`: ``pushService`` alone when it asked
    /// by that, none without a push service.
    public var requestedPushServices: [String]
    /// The event's user; absent when it could not be read.
    public var user: String?
    /// How it ended.
    public var outcome: Outcome
    /// How the event ended that it is a duplicate of; absent when the worker did not know.
    public var firstOutcome: Outcome?
    /// The status of the last answer.
    public var status: Int?
    /// Why it is a dead letter.
    public var reason: DeadLetterReason?
    /// What was wrong with the event, or what the backend said of it, when it is a dead letter, or why it expired: one line
    /// for people.
    public var detail: String?
    /// What the backend calls the message: with a notification hub of the standard tier, the id that its telemetry
    /// takes; absent when it named none.
    public var backendID: String?
    /// The calls that were made.
    public var attempts: Int?
    /// When the first call was made.
    public var firstAttemptAt: WallTime?
    /// When the outcome was known.
    public var completedAt: WallTime
    /// The event's source.
    public var source: String?
    /// The event's campaign.
    public var campaign: String?
    /// How often the event was replayed.
    public var replays: Int
    /// The request record.
    public var origin: Origin

    /// Reads the value of a record of the results topic; fields that are not known are ignored.
    public init(decoding value: RawSpan) throws(InvalidArgument) {
        let fields = try RecordFields(value, "result")
        id = try fields.string("id")
        pushService = try fields.string("pns")
        requestedPushServices = try fields.strings("requestedPns") ?? (pushService.map { [$0] } ?? [])
        user = try fields.string("user")
        outcome = try fields.required("outcome", Outcome.init(rawValue:))
        firstOutcome = try fields.named("firstOutcome", Outcome.init(rawValue:))
        status = try fields.integer("status", 100...599)
        reason = try fields.named("reason", DeadLetterReason.init(rawValue:))
        detail = try fields.string("detail")
        backendID = try fields.backendID()
        attempts = try fields.integer("attempts", 0...Int(Int32.max))
        firstAttemptAt = try fields.time("firstAttemptAt")
        completedAt = try fields.requiredTime("completedAt")
        source = try fields.string("source")
        campaign = try fields.string("campaign")
        replays = try fields.integer("replays", 1...Int(Int32.max)) ?? 0
        origin = try fields.origin()
    }

    /// Reads the value of a record of the results topic; fields that are not known are ignored.
    public init(decoding value: [UInt8]) throws(InvalidArgument) {
        try self.init(decoding: value.span.bytes)
    }
}
