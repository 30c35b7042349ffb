import HeraldEvents
import HeraldTime

/// The calls under way: how many, which of them hang, and how many there may be.
///
/// Calls that hang while the backend answers others are no sign of overload: the limit that was found for calls in
/// flight counts calls that the backend works on. Without this, as many hanging users as that limit allows would hold
/// up all others. A slow backend answers more or less in order, so no call is overtaken there; without any answers no
/// call is overtaken either.
///
/// A call *begins*, *hangs* perhaps when it is the oldest and was overtaken, and *ends*.
struct CallTracker: Sendable {
    /// No call hangs before it has taken so long.
    static let hangsAfter: Milliseconds = .seconds(1)
    /// So many calls that began later must have been answered.
    static let overtakers = 16
    /// Calls hang in number when as many do as this part of all that there may be.
    static let numerous = 32
    /// Then calls that may hang get this part of the places.
    static let suspectShare = 8

    /// A call under way, as it was when it began.
    private struct Started: BitwiseCopyable, Sendable {
        var token: CallToken
        var sequence: UInt64
        var at: MonotonicTime
        /// So many calls will have been answered, or found to hang, when this one has been overtaken.
        var overtakenAt: UInt64
    }

    private var ceiling: Int
    private var concurrency: AdaptiveConcurrency
    private(set) var inFlight = 0
    /// Those of them that hang while others are answered.
    private var hanging = 0
    /// Those of them that began although calls for the same event or user hung before, while calls hung in number.
    private var suspects = 0
    /// In the order of their beginnings, from the oldest that neither ended nor hangs.
    private var started: Ring<Started>
    /// How many were answered, or found to hang.
    private var passed: UInt64 = 0
    /// The number of the latest call.
    private(set) var sequence: UInt64 = 0

    /// - Parameter ceiling: there are never more calls than this.
    init(ceiling: Int) {
        self.ceiling = ceiling
        concurrency = AdaptiveConcurrency(ceiling: ceiling)
        let nobody = CallToken(slot: SlotID(index: 0, generation: 0), service: 0)
        let never = MonotonicTime.distantPast
        started = Ring(capacity: 64, filler: Started(token: nobody, sequence: 0, at: never, overtakenAt: 0))
    }

    /// Another ceiling from now on; calls beyond a lower one end as they do.
    mutating func use(ceiling: Int) {
        self.ceiling = ceiling
        concurrency.use(ceiling: ceiling)
    }

    /// How many calls the backend works on.
    var busy: Int { inFlight - hanging }

    /// How many calls may be in flight, as was found by the time that they take.
    var limit: Int { concurrency.limit }

    /// Whether another call may begin.
    var hasRoom: Bool { busy < concurrency.limit && inFlight < ceiling }

    /// Whether many calls hang while others are answered.
    var hangInNumber: Bool { hanging >= max(1, ceiling / Self.numerous) }

    /// How many calls that may hang there may be while calls hang in number.
    var roomForSuspects: Int { max(1, ceiling / Self.suspectShare) }

    /// Whether another of them may begin.
    var hasRoomForSuspect: Bool { suspects < roomForSuspects }

    /// Whether another probe may begin.
    var hasRoomForProbe: Bool { inFlight < ceiling }

    /// A call begins; its number.
    ///
    /// Those under way may be answered first without overtaking it, as far as they are not found to hang.
    mutating func begin(_ token: CallToken, now: MonotonicTime) -> UInt64 {
        sequence += 1
        inFlight += 1
        let overtakenAt = passed + UInt64(busy + Self.overtakers)
        started.append(Started(token: token, sequence: sequence, at: now, overtakenAt: overtakenAt))
        return sequence
    }

    /// The call that began is one that may hang.
    mutating func noteSuspect() { suspects += 1 }

    /// A call ended.
    ///
    /// - Parameter number: what ``begin(_:now:)`` gave.
    mutating func end(
        _ number: UInt64, _ result: CallResult, wasHanging: Bool, wasSuspect: Bool, now: MonotonicTime
    ) {
        let busy = busy
        inFlight -= 1
        if wasSuspect { suspects -= 1 }
        guard !wasHanging else {
            hanging -= 1
            return
        }
        let isAnswered = result.status != 0
        if isAnswered { passed += 1 }
        concurrency.ended(
            number, duration: isAnswered || result.failure == .timeout ? result.duration : nil,
            answered: isAnswered, inFlight: busy, latest: sequence, now: now)
    }

    /// When the call with this number began; `nil` when it hangs, or is none of those under way.
    func began(_ number: UInt64) -> MonotonicTime? {
        (0..<started.count).lazy.map { started[$0] }.first { $0.sequence == number }?.at
    }

    /// A call waited because there was no room.
    mutating func noteShortage() { concurrency.reached() }

    /// When the oldest call that was overtaken counts as hanging; `nil` when only an answer can change anything.
    var nextHanging: MonotonicTime? {
        guard let oldest = started.first, passed >= oldest.overtakenAt else { return nil }
        return oldest.at.advanced(by: Self.hangsAfter)
    }

    /// Looks at the oldest calls, each until it has ended or hangs.
    mutating func findHanging(in events: inout EventTable, now: MonotonicTime) {
        let latest = now.advanced(by: -Self.hangsAfter)
        while let oldest = started.first {
            let index = events.service(oldest.token)
            let isUnderWay =
                events.isCurrent(oldest.token.slot) && events.services[index].phase == .calling
                && events.services[index].sequence == oldest.sequence
            if isUnderWay {
                guard oldest.at <= latest, passed >= oldest.overtakenAt else { return }
                events.noteHanging(index)
                concurrency.ended(
                    oldest.sequence, duration: nil, answered: false, inFlight: busy, latest: sequence, now: now)
                hanging += 1
                passed += 1
            }
            _ = started.popFirst()
        }
    }

    /// Calls are not under way any more.
    mutating func forgetCalls() {
        started.removeAll()
        inFlight = 0
        hanging = 0
        suspects = 0
        concurrency.forgetCalls(latest: sequence)
    }
}
