public import HeraldEvents
internal import HeraldKernel
public import HeraldTime

/// One taken event, from its record's arrival until all of its records are durable.
public struct Slot: Sendable {
    enum Phase: String, CaseIterable, CheckedState {
        case free
        /// It waits behind another event of its user.
        case behindUser
        /// It waits in memory until its moment.
        case waiting
        /// Its calls are wanted, under way or waiting for a quick retry.
        case active
        /// Everything is decided; its records are on their way to the broker, or wait for the next transaction.
        case settling
        /// Everything is decided, and a record of it is refused: it is left out of transactions for a while.
        case refused

        var name: Self { self }

        static let transitions = TransitionTable<Self>([
            .init([.free], "a record is taken", [.active]),
            .init([.active], "it has to wait for its moment", [.waiting]),
            .init([.active], "it is lined up behind another event of its user", [.behindUser]),
            .init([.waiting], "its moment has come, or its campaign is over", [.active]),
            .init([.behindUser, .active], "it is the first of its user", [.active]),
            .init([.active, .behindUser], "every push service is decided", [.settling]),
            .init([.settling], "the broker refuses a record of it", [.refused]),
            .init([.refused], "it is tried alone", [.settling]),
            .init([.settling, .refused], "its records are durable", [.free]),
            .init(
                [.behindUser, .waiting, .active, .settling, .refused], "it is given up, and taken again", [.free]),
        ])
    }

    /// The number of uses of the slot.
    public internal(set) var generation: UInt32 = 0
    var phase = Phase.free
    /// Whether the record came from a retry topic.
    public internal(set) var isRetry = false
    /// Whether it is the first of its retry partition and holds the others back until its moment.
    var holdsSource = false
    /// Whether it has a place in its user's order.
    var isOrdered = false
    /// The index of its partition in the assignment.
    public internal(set) var partition: Int32 = 0
    var source: Int32 = 0
    /// The place of the request topic that the event was published to (``RequestTopics``).
    var requestTopic: Int32 = 0
    /// The class of its calls: that of its source.
    var callClass: Int32 = 0
    /// The record's offset; ``noOffset`` when the topic that it was in is gone.
    public internal(set) var offset: Int64 = 0
    static let noOffset: Int64 = -1
    /// The record's time stamp, if plausible.
    public internal(set) var timestamp: WallTime?
    /// The time of the event's first publication; the time of its arrival without a plausible time stamp.
    public internal(set) var publishedAt = WallTime(milliseconds: 0)
    /// The record's content; its fields point into the record's value and into its scratch buffer.
    public internal(set) var event = DecodedEvent()
    /// The reason why it did not decode.
    public internal(set) var failure: DecodingFailure?
    /// The services that are not decided yet.
    var open = PushServiceSet()
    var callsOut: UInt8 = 0
    /// Whether a call was made in this stay.
    var wasCalled = false
    /// The number of refusals of its records although everything optional was left out.
    var refusals: Int64 = 0
    /// Whether a refused retry of it goes to another delay's topic.
    var isDetoured = false
    /// The place of the latest topic that refused it.
    var refusingTopic = 0
    /// The time of the first call.
    public internal(set) var firstAttemptAt: WallTime?
    /// The calls of this stay in memory that failed.
    public internal(set) var failures: [FailedAttempt] = []
    var userHash: UInt64 = 0
    /// The hash of its user and its request partition.
    var stream: UInt64 = 0
    /// The number of its user's earlier events that it was deferred behind; 0 = it was not.
    var behind = 0
    /// Its identity in the memory; 0 without one.
    var identity: UInt64 = 0
    /// Whether another event with this identity came before, for one of its push services.
    var mayBeDuplicate = false
    /// The hash of the event's `source`; 0 without one.
    var sourceHash: UInt64 = 0
    /// The hash of the event's `campaign`; 0 without one.
    var campaign: UInt64 = 0
    /// Its identity to those who recall it; 0 while nobody asks for last words.
    var recallIdentity: UInt64 = 0
    /// By which a word of its user is found that outlived the user's erasure; 0 while nothing is kept.
    var keptHash: UInt64 = 0
    /// Its class: the stricter of its topic's and its own.
    var eventClass = EventClass.transactional
    /// The zone that it names for its user's quiet hours.
    var zone = QuietWindow.Zone.unnamed
    /// The time after the end of its user's quiet hours after which it leaves.
    var quietShift = Milliseconds.zero
    /// Its identity to caps, the same in each process; for a promotional event alone.
    var capEvent: UInt64 = 0
    /// The place of its source among those that caps name.
    var capSource = Caps.otherSource
    /// Why its user's quiet hours held nothing.
    var quietIgnored: QuietIgnored?
    /// The bytes that it holds in memory: the record's key, value and headers, and the event's scratch buffer.
    var bytes = 0
    /// The time at which its record was taken.
    public internal(set) var takenAt = MonotonicTime.distantPast
    /// Whether its record was copied because it stays.
    var isKept = false
    /// The time at which it became the first of its user, or was taken.
    var activeSince = MonotonicTime.distantPast
    /// Whether it holds up others for too long: it goes to a delay topic instead of being called again from memory.
    var isBlocking = false

    /// Nothing, of a type that has no layout, so that a slot has none either, and code that only reads it is given its
    /// address: see `Engine.anchor`.
    private let pin: (any Sendable)? = nil

    var isDecided: Bool { open.isEmpty }
}

/// A call that failed, for the history of a retry or dead letter.
public struct FailedAttempt: Sendable, Equatable {
    /// The time of the call.
    public var at: WallTime
    /// The push service's index.
    public var service: UInt8
    /// The call's result.
    public var result: CallResult
}

/// The state of one push service of one event.
struct ServiceState: Sendable {
    enum Phase: String, CaseIterable, CheckedState {
        case idle
        /// It is in the queue of wanted calls.
        case wanted
        case calling
        /// It was refused, and waits for the renewal of the credentials.
        case awaitingCredentials
        /// It waits in memory for a quick retry.
        case resting
        case decided

        var name: Self { self }

        static let transitions = TransitionTable<Self>([
            .init([.idle, .calling, .awaitingCredentials, .resting], "it is to be called, or called again", [.wanted]),
            .init([.wanted], "its turn has come", [.calling]),
            .init([.calling], "its call failed, and is repeated soon", [.resting]),
            .init([.calling], "its credentials are refused", [.awaitingCredentials]),
            .init(
                [.idle, .wanted, .calling, .awaitingCredentials, .resting],
                "its campaign pauses, or it is held, without a retry topic",
                [.resting]),
            .init([.calling, .awaitingCredentials, .resting], "nothing is called any more", [.idle]),
            .init([.idle, .wanted, .calling, .awaitingCredentials, .resting], "it has its verdict", [.decided]),
        ])
    }

    /// What becomes of the event for the push service; a ``CallVerdict`` is what one call came to.
    enum Verdict: Equatable {
        case none
        case delivered
        /// The same event came before with this outcome (`nil`: an earlier owner settled it): not called.
        case duplicate(of: Outcome?)
        case expired
        /// Its campaign is over: not called.
        case cancelled
        /// Its user or a recall has said so: not called.
        case suppressed(Suppression)
        case dead(DeadLetterReason)
        case retry(delay: Int, due: WallTime, reason: RetryReason?)
    }

    var phase = Phase.idle
    var verdict = Verdict.none
    var attempts = 0
    var status = 0
    /// Whether its call hangs while others are answered.
    var isHanging = false
    /// Whether its call has one of the places for those that may hang.
    var isSuspect = false
    /// The number of the latest call.
    var sequence: UInt64 = 0
    /// The number of the latest call of all when this service's credentials were refused; 0 = never.
    var refusedAt: UInt64 = 0
    var decidedAt = WallTime(milliseconds: 0)
    /// When its latest call began; `nil` before the first of this stay.
    var calledAt: WallTime?
    /// The offset before which the preferences were applied when its latest call began, or when it was suppressed.
    var preferencesOffset: Int64?
    /// Its number in the memory of notifications, and the number of the earlier one; -1 = none.
    var memory = -1
    var first = -1
    /// The detail of the latest call's end: the failure, or the backend's id of the message.
    var detail: String?
}
