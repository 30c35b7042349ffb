public import HeraldEvents
public import HeraldTime

/// A dead letter with everything that can be said of it, as texts for people and files; texts are as they came.
public struct DeadLetterView: Sendable {
    /// What became of it.
    public enum State: String, Sendable {
        /// Nothing yet.
        case open
        /// Some of its push services were replayed.
        case partlyReplayed = "partly-replayed"
        /// It was replayed.
        case replayed
        /// Somebody has dealt with it in another way.
        case resolved
    }

    /// `PARTITION:OFFSET`.
    public let place: String
    /// The partition.
    public let partition: Int32
    /// The offset.
    public let offset: Int64
    /// The event's id.
    public let id: String?
    /// Whom it was to notify.
    public let user: String?
    /// The push services that failed.
    public let pushServices: [String]
    /// Why it is here.
    public let reason: String?
    /// The last status.
    public let status: Int64?
    /// The calls that were made.
    public let attempts: Int64?
    /// How often it was replayed before it came here.
    public let replays: Int
    /// When it came here.
    public let deadLetteredAt: WallTime
    /// When the request was written.
    public let originTimestamp: WallTime?
    /// When the first call was made.
    public let firstAttemptAt: WallTime?
    /// The request.
    public let origin: String?
    /// The event's source.
    public let source: String?
    /// The event's campaign.
    public let campaign: String?
    /// One line about it.
    public let detail: String?
    /// The calls, the oldest first.
    public private(set) var history: [AttemptEntry]
    /// What became of it.
    public let state: State
    /// What came of its replay; `nil` when it was not replayed.
    public let replayOutcome: ReplayOutcomes.Outcome?
    /// Until when it is worth sending.
    public let expiresAt: WallTime?
    /// The message's text; `nil` when the event does not decode.
    public private(set) var message: String?
    /// The record's value, untouched.
    public private(set) var value: [UInt8]?
    /// What the dead letter lacks because it would not have fit its topic.
    public let omissions: Omissions
    /// Whether message and value are the request's, which its topic still has.
    public let isFromOrigin: Bool

    /// The view of a dead letter.
    ///
    /// - Parameter original: the request that it was made of, for what it lacks; `nil` when it is not there any more.
    public init(
        _ entry: inout DeadLetterEntry, _ book: MarkIndex?, _ outcomes: ReplayOutcomes,
        original: DeadLetterEntry? = nil
    ) {
        omissions = entry.omissions
        var event = entry
        isFromOrigin = omissions.contains(.value) && original != nil
        if isFromOrigin, let original { event = original }
        place = entry.place
        partition = entry.partition
        offset = entry.offset
        id = entry.text(.id)
        user = event.text(of: .user)
        pushServices = entry.pushServices
        reason = entry.text(.reason)
        status = entry.number(.status)
        attempts = entry.number(.attempts)
        replays = entry.replays
        deadLetteredAt = entry.deadLetteredAt
        originTimestamp = entry.number(.originTimestamp).map { WallTime(milliseconds: $0) }
        firstAttemptAt = entry.number(.firstAttemptAt).map { WallTime(milliseconds: $0) }
        origin = entry.text(.origin)
        source = entry.text(.source)
        campaign = entry.text(.campaign)
        detail = entry.text(.detail)
        history = entry.history
        state = Self.state(entry, book)
        replayOutcome = outcomes.outcome(of: entry, book)
        expiresAt = event.expiresAt()
        message = event.message()
        value = event.value
    }

    /// Without what makes it large, for who keeps many: message, value and history.
    public var withoutBytes: Self {
        var view = self
        (view.message, view.value, view.history) = (nil, nil, [])
        return view
    }

    private static func state(_ entry: DeadLetterEntry, _ book: MarkIndex?) -> State {
        guard let book else { return .open }
        if book.isReplayed(entry.pushServices, partition: entry.partition, offset: entry.offset) { return .replayed }
        if book.isResolved(partition: entry.partition, offset: entry.offset) { return .resolved }
        return book.replayCount(partition: entry.partition, offset: entry.offset) > 0 ? .partlyReplayed : .open
    }
}
