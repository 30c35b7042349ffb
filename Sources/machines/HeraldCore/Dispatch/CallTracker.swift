import HeraldEvents
import HeraldTime

/// The calls under way: their number, the hanging ones among them, and their limit.
///
/// Calls that hang while the backend answers others are no sign of overload: the learned limit of calls in flight
/// counts calls that the backend works on. Otherwise as many hanging users as that limit allows would hold up all
/// others. A slow backend answers more or less in order, so no call is overtaken there; nor is any call without
/// answers.
///
/// A call *begins*, *hangs* perhaps when it is the oldest and was overtaken, and *ends*.
struct CallTracker: Sendable {
    /// The least age of a hanging call.
    static let hangsAfter: Milliseconds = .seconds(1)
    /// The number of later calls that must have been answered.
    static let overtakers = 16
    /// Many calls hang when they are at least this part of the most calls.
    static let numerous = 32
    /// Calls that may hang then get this part of the places.
    static let suspectShare = 8

    /// A call under way, as it was when it began.
    private struct Started: BitwiseCopyable, Sendable {
        var token: CallToken
        var sequence: UInt64
        var at: MonotonicTime
        /// The number of calls answered, or found to hang, by which this one has been overtaken.
        var overtakenAt: UInt64
    }

    private var ceiling: Int
    private var concurrency: AdaptiveConcurrency
    private(set) var inFlight = 0
    /// The calls that hang while others are answered.
    private var hanging = 0
    /// The calls that began while many hung, although calls for the same event or user had hung before.
    private var suspects = 0
    /// The calls in the order of their beginnings, from the oldest that neither ended nor hangs.
    private var started: Ring<Started>
    /// The number of calls answered, or found to hang.
    private var passed: UInt64 = 0
    /// The number of the latest call.
    private(set) var sequence: UInt64 = 0

    /// - Parameter ceiling: the most calls at any time.
    init(ceiling: Int) {
        self.ceiling = ceiling
        concurrency = AdaptiveConcurrency(ceiling: ceiling)
        let nobody = CallToken(slot: SlotID(index: 0, generation: 0), service: 0)
        let never = MonotonicTime.distantPast
        started = Ring(capacity: 64, filler: Started(token: nobody, sequence: 0, at: never, overtakenAt: 0))
    }

    /// Replaces the ceiling; calls beyond a lower one end normally.
    mutating func use(ceiling: Int) {
        self.ceiling = ceiling
        concurrency.use(ceiling: ceiling)
    }

    /// The number of calls that the backend works on.
    var busy: Int { inFlight - hanging }

    /// The learned limit of calls in flight.
    var limit: Int { concurrency.limit }

    /// The number of calls that may be in flight: without those that hang, unless there may be no more at all.
    var room: (limit: Int, hanging: Int) { inFlight < ceiling ? (limit, hanging) : (ceiling, 0) }

    /// Whether another call may begin.
    var hasRoom: Bool { busy < concurrency.limit && inFlight < ceiling }

    /// Whether many calls hang while others are answered.
    var hangInNumber: Bool { hanging >= max(1, ceiling / Self.numerous) }

    /// The most calls that may hang while many calls hang.
    var roomForSuspects: Int { max(1, ceiling / Self.suspectShare) }

    /// Whether another call that may hang may begin.
    var hasRoomForSuspect: Bool { suspects < roomForSuspects }

    /// Whether another probe may begin.
    var hasRoomForProbe: Bool { inFlight < ceiling }

    /// Begins a call and returns its number.
    ///
    /// Earlier calls may be answered first without overtaking it, unless they hang.
    mutating func begin(_ token: CallToken, now: MonotonicTime) -> UInt64 {
        sequence += 1
        inFlight += 1
        let overtakenAt = passed + UInt64(busy + Self.overtakers)
        started.append(Started(token: token, sequence: sequence, at: now, overtakenAt: overtakenAt))
        return sequence
    }

    /// Notes that the call that began may hang.
    mutating func noteSuspect() { suspects += 1 }

    /// Ends a call.
    ///
    /// - Parameter number: the result of ``begin(_:now:)``.
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

    /// The time at which the call with this number began; `nil` when it hangs or is not under way.
    func began(_ number: UInt64) -> MonotonicTime? {
        (0..<started.count).lazy.map { started[$0] }.first { $0.sequence == number }?.at
    }

    /// Notes that a call waited for lack of room.
    mutating func noteShortage() { concurrency.reached() }

    /// The time at which the oldest overtaken call counts as hanging; `nil` when only an answer can change anything.
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

    /// Forgets the calls, which are not under way any more.
    mutating func forgetCalls() {
        started.removeAll()
        inFlight = 0
        hanging = 0
        suspects = 0
        concurrency.forgetCalls(latest: sequence)
    }
}
