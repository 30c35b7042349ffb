package import HeraldEvents
package import HeraldTime
package import HeraldTools

/// A dead letter with everything that can be said of it, as texts for people and files; texts are as they came.
package struct DeadLetterView: Sendable {
    /// `PARTITION:OFFSET`.
    package let place: String
    package let partition: Int32
    package let offset: Int64
    package let id: String?
    package let user: String?
    package let pushServices: [String]
    package let reason: String?
    package let status: Int64?
    package let attempts: Int64?
    /// How often it was replayed before it came here.
    package let replays: Int
    package let deadLetteredAt: WallTime
    package let originTimestamp: WallTime?
    package let firstAttemptAt: WallTime?
    package let origin: String?
    package let source: String?
    package let campaign: String?
    package let detail: String?
    /// Where the exception was thrown, of dead letters of others.
    package private(set) var stackTrace: String?
    /// The calls, the oldest first.
    package private(set) var history: [AttemptEntry]
    package let fate: LetterFate
    /// Until when it is worth sending.
    package let expiresAt: WallTime?
    /// The message's text; `nil` when the event does not decode.
    package private(set) var message: String?
    /// The parts beside it; none when the event does not decode.
    package private(set) var content = EventContent()
    /// The record's value, untouched.
    package private(set) var value: [UInt8]?
    /// What the dead letter lacks because it would not have fit its topic.
    package let omissions: Omissions
    /// The class that the event says of itself.
    private let eventClass: EventClass?
    /// Why a replay calls push services no more, by what users and recalls say now; nothing before it was asked.
    package private(set) var said: [String: StandingWords.Said] = [:]
    /// Whether message and value are the request's, which its topic still has.
    package let isFromOrigin: Bool

    /// What to do first about a dead letter: never what cannot succeed.
    package enum Remedy: Equatable, Sendable {
        case replay
        /// A replay with this member of the event said otherwise.
        case correct(String)
        /// Nothing helps: a replay ends as suppressed.
        case leave
        /// It was replayed, and that has no outcome yet: a second replay would notify twice.
        case wait
        /// Whoever published it has to send it again, or nobody wants it any more.
        case resolve

        package var name: String {
            switch self {
            case .replay: "replay"
            case .correct: "correct"
            case .leave: "leave"
            case .wait: "wait"
            case .resolve: "resolve"
            }
        }
    }

    /// What to do first about it, by its reason.
    package private(set) var remedy: Remedy

    /// The view of a dead letter.
    ///
    /// - Parameter original: the request that it was made of, for what it lacks; `nil` when it is not there any more.
    package init(
        _ entry: inout DeadLetterEntry, _ marks: MarkIndex?, _ outcomes: ReplayOutcomes,
        original: DeadLetterEntry? = nil, now: WallTime = SystemClock.wall()
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
        stackTrace = entry.stackTrace
        history = entry.history
        fate = LetterFate(of: entry.facts, marks, outcomes)
        expiresAt = event.expiresAt()
        eventClass = event.eventClass()
        remedy =
            entry.isForeign
            ? .replay
            : SuggestedAction.remedy(
                entry.reason, detail: entry.text(.detail), isExpired: expiresAt.map { $0 <= now } ?? false)
        if !entry.isForeign, fate.state == .replayed, fate.outcome == nil { remedy = .wait }
        message = event.message()
        content = event.content()
        value = event.value
    }

    /// Its event as words know it; `nil` without a user, and when nothing is left to do about it.
    package var named: StandingWords.Event? {
        guard fate.isOpen, let user, let topic = origin.flatMap(Origin.init)?.topic else { return nil }
        return StandingWords.Event(
            id: id, user: user, source: source, campaign: campaign, eventClass: eventClass, topic: topic)
    }

    /// Says what words say of it: a replay of it ends so.
    package mutating func note(_ words: StandingWords) {
        guard let named else { return }
        for name in pushServices { said[name] = words.said(of: named, on: name) }
        if remedy == .replay, !said.isEmpty, said.count == pushServices.count { remedy = .leave }
    }

    /// Without what makes it large, for callers that keep many: message, value, history and stack trace.
    package var withoutBytes: Self {
        var view = self
        (view.message, view.value, view.history, view.stackTrace) = (nil, nil, [], nil)
        view.content = EventContent()
        return view
    }
}
