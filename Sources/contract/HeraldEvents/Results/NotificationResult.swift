public import HeraldText
public import HeraldTime

/// A record of the results topic: the outcome of an event for a push service.
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
    /// The outcome.
    public var outcome: Outcome
    /// The outcome of the event that it duplicates; absent when the worker did not know it.
    public var firstOutcome: Outcome?
    /// The status of the last answer.
    public var status: Int?
    /// The reason why it is a dead letter.
    public var reason: DeadLetterReason?
    /// The reason why it was suppressed.
    public var suppression: SuppressionReason?
    /// The reason why its user's quiet hours held nothing; absent when they did, and without any.
    public var quietIgnored: QuietIgnored?
    /// The record's `reason`: why it is a dead letter, or was suppressed.
    package var reasonName: String? { reason?.rawValue ?? suppression?.rawValue }
    /// The event's fault or the backend's answer of a dead letter, or the reason of an expiry or a suppression: one line for
    /// people.
    public var detail: String?
    /// The parts of the notification that were not handed on, because the backend takes none (`backend.body: text`) or the
    /// push service has no place for them; names that this version does not know are left out.
    public var omitted: ContentFields
    /// The backend's id of the message: with a notification hub of the standard tier, the id for its telemetry; absent
    /// without one.
    public var backendID: String?
    /// The calls that were made.
    public var attempts: Int?
    /// When the first call was made.
    public var firstAttemptAt: WallTime?
    /// When the last call was made; absent when it was the first one, and when none was made since the event came back from a
    /// retry topic.
    public var lastAttemptAt: WallTime?
    /// The offset before which all preferences were applied when the last call began, or when it was suppressed; absent while
    /// preferences are off, and when they lie in several partitions.
    public var preferencesOffset: Int64?
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

    /// Reads the value of a record of the results topic; unknown fields are ignored.
    public init(decoding value: RawSpan) throws(InvalidArgument) {
        let fields = try RecordFields(value, "result")
        id = try fields.string("id")
        pushService = try fields.string("pns")
        requestedPushServices = try fields.strings("requestedPns") ?? (pushService.map { [$0] } ?? [])
        user = try fields.string("user")
        outcome = try fields.required("outcome", Outcome.init(rawValue:))
        firstOutcome = try fields.named("firstOutcome", Outcome.init(rawValue:))
        status = try fields.integer("status", 100...599)
        if outcome == .suppressed {
            suppression = try fields.named("reason", SuppressionReason.init(rawValue:))
        } else {
            reason = try fields.named("reason", DeadLetterReason.init(rawValue:))
        }
        quietIgnored = try fields.named("quietIgnored", QuietIgnored.init(rawValue:))
        detail = try fields.string("detail")
        omitted = ContentFields((try fields.strings("omitted") ?? []).compactMap(ContentField.init(rawValue:)))
        backendID = try fields.backendID()
        attempts = try fields.integer("attempts", 0...Int(Int32.max))
        firstAttemptAt = try fields.time("firstAttemptAt")
        lastAttemptAt = try fields.time("lastAttemptAt")
        preferencesOffset = try fields.offset("preferencesOffset")
        completedAt = try fields.requiredTime("completedAt")
        source = try fields.string("source")
        campaign = try fields.string("campaign")
        replays = try fields.integer("replays", 1...Int(Int32.max)) ?? 0
        origin = try fields.origin()
    }

    /// Reads the value of a record of the results topic; unknown fields are ignored.
    public init(decoding value: [UInt8]) throws(InvalidArgument) {
        try self.init(decoding: value.span.bytes)
    }
}
