import HeraldTime

/// Users with more events than their share of the slots: the events of theirs that are out in the delay topics, and the
/// turn of each.
///
/// The events of a user from one request partition are a *stream*, in the order of their offsets. Events deferred by
/// one delay return in the order of their deferral, because a record's key chooses its partition in each delay topic.
/// An event with an earlier one out is deferred again, which preserves the order.
///
/// An event is deferred by the longest delay that ends before there is room for it. It returns for shorter and shorter
/// ones, so all of them return in time for their turn without circulating every few seconds. Where even the longest
/// delay is short, a backlog would circulate constantly: so from all topics but that of the shortest delay, only a
/// limited number a second is taken back before its turn, and the plan counts with that.
///
/// A plan may turn out to be far too long: the calls became quicker. Those behind such an event return no earlier than
/// it does, instead of every moment.
struct UserBackpressure: Sendable {
    /// The most streams known at the same time; further users' excess events wait in memory.
    static let most = 256
    /// The most deferred events known, 24 bytes for each; beyond that, events keep the broker's order.
    static let mostOut = 262_144
    /// The shortest deferral: each costs a record.
    static let shortest: Milliseconds = .milliseconds(250)
    /// The time after its delay in which an event may return.
    static let grace: Milliseconds = .minutes(1)

    /// The number of events taken back each second before their turn from the topics of longer delays.
    static let returnsPerSecond = 2_000
    /// The same for a user without events in memory: the plan was wrong, because the user's calls became quicker.
    static let returnsPerSecondWhenIdle = 16_000
    /// The time by which they may be ahead of that rate.
    private static let tolerance: Milliseconds = .milliseconds(50)
    /// An event due after this has no turn yet: the first record of a long delay would hold back those of all others
    /// until its own moment.
    static let horizon: Milliseconds = .seconds(1)

    /// The deferral of an event.
    struct Deferral: Equatable {
        /// The index of the delay.
        var delay: Int
        /// The time until it returns, which is not longer than the delay.
        var wait: Milliseconds
        /// The number of the user's earlier events.
        var behind: Int
    }

    private let delays: [Milliseconds]
    private var streams: [UInt64: Stream] = [:]
    /// The number of known events of all streams that are out.
    var out: Int { outByDelay.reduce(0, +) }
    private var outByDelay: [Int]
    /// The number of deferred events that the broker does not have yet, without transactions.
    var onTheWay = 0
    /// The time at which the next one may be taken back.
    private var opens = MonotonicTime.distantPast

    /// - Parameter delays: the delays of the delay topics, rising.
    init(delays: [Milliseconds]) {
        self.delays = delays
        outByDelay = Array(repeating: 0, count: delays.count)
    }

    var isEmpty: Bool { streams.isEmpty }

    /// Whether no earlier event of the stream is out.
    func isNext(_ offset: Int64, of stream: UInt64) -> Bool {
        guard let earliest = streams[stream]?.earliest else { return true }
        // An event out at its own offset is a second copy of it, and each would wait for the other.
        return offset <= earliest
    }

    /// Whether one more stream can be known.
    func hasRoom(for stream: UInt64) -> Bool { streams.count < Self.most || streams[stream] != nil }

    /// Defers an event.
    ///
    /// - Parameters:
    ///   - line: the number of the user's events in memory.
    ///   - share: the most of them.
    mutating func deferEvent(
        at offset: Int64, of key: UInt64, line: Int, share: Int, now: MonotonicTime
    ) -> Deferral {
        // In place: a copy of the stream would make the next change copy all of its events that are out.
        let (earlier, interval, opens) = withStream(key, now: now) {
            ($0.count(before: offset), $0.interval, $0.opens(for: offset))
        }
        // An earlier event is certain; the number of those out before it is only an estimate.
        let behind = max(1, line + earlier)
        // It returns when a quarter of the share is free.
        let wait = Double(max(0, behind - share * 3 / 4)) * Double(interval) / 1_000_000
        let planned = Milliseconds.milliseconds(Int64(min(wait, Double(DeferralPlan.longest.count))))
        let wanted = max(Self.shortest, planned, opens?.time(since: now) ?? .zero)
        let queued = Milliseconds.milliseconds(outByDelay.dropFirst().reduce(0, +) * 1_000 / Self.returnsPerSecond)
        let delay = delays.indices.last { delays[$0] + ($0 > 0 ? queued : .zero) <= wanted } ?? 0
        let isKnown = out < Self.mostOut
        let deferral = Deferral(delay: delay, wait: min(wanted, delays[delay]), behind: behind)
        let due = now.advanced(by: deferral.wait)
        outByDelay[delay] += withStream(key, now: now) { $0.add(offset, delay, due: due, isKnown: isKnown, now: now) }
        return deferral
    }

    /// Calls `body` with a stream, which is known from now on.
    private mutating func withStream<Result>(
        _ key: UInt64, now: MonotonicTime, _ body: (inout Stream) -> Result
    ) -> Result {
        body(&streams[key, default: Stream(delays: delays.count, now: now)])
    }

    /// Notes that an event returned from the topic of this delay.
    mutating func returned(_ offset: Int64, of stream: UInt64, from delay: Int, now: MonotonicTime) {
        outByDelay[delay] -= streams[stream]?.remove(offset, delay, now: now) ?? 0
    }

    /// The time at which an event that returned from the topic of this delay at `moment` may be taken back.
    ///
    /// - Parameter isIdle: whether the user has no event in memory.
    mutating func returns(
        _ offset: Int64, of stream: UInt64, from delay: Int, at moment: MonotonicTime, isIdle: Bool
    ) -> MonotonicTime {
        guard delay > 0, !isNext(offset, of: stream) else { return moment }
        let start = max(opens, moment)
        let rate = isIdle ? Self.returnsPerSecondWhenIdle : Self.returnsPerSecond
        opens = MonotonicTime(nanoseconds: start.nanoseconds + 1_000_000_000 / Int64(rate))
        return start > moment.advanced(by: Self.tolerance) ? start : moment
    }

    /// Notes that an event of the stream was called, and ended this long after it had become the first of its user
    /// (nanoseconds).
    mutating func called(_ stream: UInt64, took duration: Int64, now: MonotonicTime) {
        streams[stream]?.called(duration, now: now)
    }

    /// Gives up overdue events, and forgets the users that are not loud any more.
    mutating func sweep(now: MonotonicTime) {
        guard !streams.isEmpty else { return }
        let limit = now.advanced(by: -Self.grace)
        for key in Array(streams.keys) {
            for delay in delays.indices {
                outByDelay[delay] -=
                    streams[key]?.giveUp(delay, before: limit.advanced(by: -delays[delay])) ?? 0
            }
            if let stream = streams[key], stream.out == 0, stream.latest < limit { streams[key] = nil }
        }
    }

    /// Forgets everything, because other partitions or other offsets come.
    mutating func removeAll() {
        self = Self(delays: delays)
    }
}

/// One user's events from one request partition.
private struct Stream: Sendable {
    /// The assumed duration of an event until one has shown it (nanoseconds).
    private static let firstGuess: Int64 = 10_000_000
    /// The weights of a new duration: a shorter one is believed quickly, and a longer one slowly.
    ///
    /// While a flood is read everything takes longer, and events deferred for too long would leave the user without any
    /// later. One hop too many costs less.
    private static let (falling, rising): (Int64, Int64) = (4, 128)

    /// The events that are out, by delay.
    private var lanes: [DeferredOffsets]
    /// The highest offset that was deferred.
    private var highest: Int64 = 0
    /// The duration of an event (nanoseconds).
    private(set) var interval = firstGuess
    private var isGuess = true
    /// The time of its latest event.
    private(set) var latest: MonotonicTime

    init(delays: Int, now: MonotonicTime) {
        lanes = Array(repeating: DeferredOffsets(), count: delays)
        latest = now
    }

    var out: Int { lanes.reduce(0) { $0 + $1.count } }

    /// The lowest offset that is out.
    var earliest: Int64? { lanes.lazy.compactMap(\.lowest).min() }

    /// The approximate number of events out before this one, as if they lay evenly among the offsets.
    func count(before offset: Int64) -> Int {
        guard let earliest, offset > earliest else { return 0 }
        let out = out
        guard offset < highest else { return out }
        return Int(Double(out) * Double(offset - earliest) / Double(highest - earliest))
    }

    /// The time at which the earliest event returns, if it precedes this one.
    func opens(for offset: Int64) -> MonotonicTime? {
        lanes.lazy.compactMap(\.earliest).min { $0.offset < $1.offset }.flatMap { $0.offset < offset ? $0.due : nil }
    }

    /// Adds an event; returns the number of additional events out.
    mutating func add(
        _ offset: Int64, _ delay: Int, due: MonotonicTime, isKnown: Bool, now: MonotonicTime
    ) -> Int {
        latest = now
        highest = max(highest, offset)
        guard isKnown else { return 0 }
        return lanes[delay].append(offset, due: due, now: now) ? 1 : 0
    }

    /// Removes an event; returns the number of events no longer out.
    mutating func remove(_ offset: Int64, _ delay: Int, now: MonotonicTime) -> Int {
        lanes[delay].remove(offset, now: now)
    }

    mutating func called(_ duration: Int64, now: MonotonicTime) {
        latest = now
        let share = duration < interval ? Self.falling : Self.rising
        interval = max(1_000, isGuess ? duration : interval + (duration - interval) / share)
        isGuess = false
    }

    /// Gives up events; returns the number of events no longer out.
    mutating func giveUp(_ delay: Int, before limit: MonotonicTime) -> Int { lanes[delay].giveUp(before: limit) }
}

/// The offsets of a stream that one delay has out, in the order of their return.
private struct DeferredOffsets: Sendable {
    /// The number of events searched for the one that returned; those before it are lost.
    private static let longestSearch = 1_024

    private enum Return {
        case notSeen
        case seen
        /// None returned in time: another worker consumes the partition, and knows more than this one.
        case missed
    }

    /// An event that is out, and the time at which it returns.
    struct Deferred: Sendable {
        var offset: Int64 = 0
        var due = MonotonicTime.distantPast
    }

    private var offsets = Ring<Int64>(capacity: 0, filler: 0)
    /// The events without a lower offset behind them, so the first has the lowest of all.
    private var minima = Ring<Deferred>(capacity: 0, filler: Deferred())
    private var returns = Return.notSeen
    /// The time at which the latest returned, or the first was deferred.
    private var progress = MonotonicTime.distantPast

    var count: Int { offsets.count }
    var lowest: Int64? { earliest?.offset }
    var earliest: Deferred? { minima.first }

    /// Appends an offset; false when they do not return to this worker.
    mutating func append(_ offset: Int64, due: MonotonicTime, now: MonotonicTime) -> Bool {
        guard returns != .missed else { return false }
        if offsets.isEmpty { progress = now }
        offsets.append(offset)
        while let last = minima.last, last.offset > offset { minima.removeLast() }
        minima.append(Deferred(offset: offset, due: due))
        return true
    }

    /// Removes an offset; returns the number of events no longer out: this one, and those due before it.
    mutating func remove(_ offset: Int64, now: MonotonicTime) -> Int {
        let candidates = 0..<min(offsets.count, Self.longestSearch)
        guard let place = candidates.first(where: { offsets[$0] == offset }) else { return 0 }
        returns = .seen
        progress = now
        for _ in 0...place {
            guard let first = offsets.popFirst() else { break }
            if minima.first?.offset == first { _ = minima.popFirst() }
        }
        return place + 1
    }

    /// Gives up the events if none returned since this moment; returns their number.
    mutating func giveUp(before limit: MonotonicTime) -> Int {
        guard !offsets.isEmpty, progress < limit else { return 0 }
        if returns == .notSeen { returns = .missed }
        let count = offsets.count
        (offsets, minima) = (Ring(capacity: 0, filler: 0), Ring(capacity: 0, filler: Deferred()))
        return count
    }
}
