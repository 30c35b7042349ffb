import HeraldTime

/// Users with more events than their share of the slots: which of their events are out in the delay topics, and when each has
/// its turn.
///
/// The events of a user from one request partition are a *stream*, in the order of their offsets. What is deferred by one delay
/// comes back in the order in which it was deferred, because a record's key chooses its partition in each delay topic. An event
/// of which an earlier one is out is deferred again, and so the order stays.
///
/// An event is deferred by the longest delay that is over before there is room for it. It comes back for shorter and shorter
/// ones, and so all of them come in time for their turn without going round every few seconds. Where even the longest delay is
/// short, a backlog would go round all the time: from all topics but that of the shortest delay, only so many a second are taken
/// back whose turn has not come, and the plan counts with it.
struct UserBackpressure: Sendable {
    /// So many streams are known at the same time; what more users have beyond their share waits in memory.
    static let most = 256
    /// So many deferred events are known, 16 bytes for each; of more the order is that in which they come back.
    static let mostOut = 262_144
    /// No event is deferred for less: each time costs a record.
    static let shortest: Milliseconds = .milliseconds(250)
    /// So long after its delay an event may come back.
    static let grace: Milliseconds = .minutes(1)

    /// So many a second are taken back before their turn from the topics of longer delays.
    static let returnsPerSecond = 2_000
    /// So many of a user of whom nothing is in memory: the plan was wrong, because his calls became quicker.
    static let returnsPerSecondWhenIdle = 16_000
    /// So much earlier than at that rate they may come.
    private static let tolerance: Milliseconds = .milliseconds(50)
    /// What is due later has no turn yet: the first record of a long delay would hold back those of all others
    /// until its own moment.
    static let horizon: Milliseconds = .seconds(1)

    /// How an event is deferred.
    struct Deferral: Equatable {
        /// The index of the delay.
        var delay: Int
        /// When it comes back (from now), which is not later than the delay.
        var wait: Milliseconds
        /// How many earlier events of the user there are.
        var behind: Int
    }

    private let delays: [Milliseconds]
    private var streams: [UInt64: Stream] = [:]
    /// How many events of all streams are known to be out.
    var out: Int { outByDelay.reduce(0, +) }
    private var outByDelay: [Int]
    /// How many deferred events the broker does not have yet, without transactions.
    var onTheWay = 0
    /// When the next may be taken back.
    private var opens = MonotonicTime.distantPast

    /// - Parameter delays: those of the delay topics, rising.
    init(delays: [Milliseconds]) {
        self.delays = delays
        outByDelay = Array(repeating: 0, count: delays.count)
    }

    var isEmpty: Bool { streams.isEmpty }

    /// Whether no earlier event of the stream is out.
    func isNext(_ offset: Int64, of stream: UInt64) -> Bool {
        guard let earliest = streams[stream]?.earliest else { return true }
        // Its own offset is a second copy of it, of which each would wait for the other.
        return offset <= earliest
    }

    /// Whether one more stream can be known.
    func hasRoom(for stream: UInt64) -> Bool { streams.count < Self.most || streams[stream] != nil }

    /// Defers an event.
    ///
    /// - Parameters:
    ///   - line: how many events of the user are in memory.
    ///   - share: how many there may be.
    mutating func deferEvent(
        at offset: Int64, of key: UInt64, line: Int, share: Int, now: MonotonicTime
    ) -> Deferral {
        // In its place all along: a copy of the stream would have the next change copy all that is out of it.
        let (earlier, interval) = withStream(key, now: now) { ($0.count(before: offset), $0.interval) }
        // It is deferred because of one, and how many are out before it is only an estimate.
        let behind = max(1, line + earlier)
        // It comes back when a quarter of the share is free.
        let wait = Double(max(0, behind - share * 3 / 4)) * Double(interval) / 1_000_000
        let wanted = max(Self.shortest, .milliseconds(Int64(min(wait, Double(DeferralPlan.longest.count)))))
        let queued = Milliseconds.milliseconds(outByDelay.dropFirst().reduce(0, +) * 1_000 / Self.returnsPerSecond)
        let delay = delays.indices.last { delays[$0] + ($0 > 0 ? queued : .zero) <= wanted } ?? 0
        let isKnown = out < Self.mostOut
        outByDelay[delay] += withStream(key, now: now) { $0.add(offset, delay, isKnown: isKnown, now: now) }
        return Deferral(delay: delay, wait: min(wanted, delays[delay]), behind: behind)
    }

    /// Gives a stream, which is known from now on, to `body`.
    private mutating func withStream<Result>(
        _ key: UInt64, now: MonotonicTime, _ body: (inout Stream) -> Result
    ) -> Result {
        body(&streams[key, default: Stream(delays: delays.count, now: now)])
    }

    /// An event came back from the topic of this delay.
    mutating func returned(_ offset: Int64, of stream: UInt64, from delay: Int, now: MonotonicTime) {
        outByDelay[delay] -= streams[stream]?.remove(offset, delay, now: now) ?? 0
    }

    /// When an event may be taken back that is back from the topic of this delay at `moment`.
    ///
    /// - Parameter isIdle: whether nothing of the user is in memory.
    mutating func returns(
        _ offset: Int64, of stream: UInt64, from delay: Int, at moment: MonotonicTime, isIdle: Bool
    ) -> MonotonicTime {
        guard delay > 0, !isNext(offset, of: stream) else { return moment }
        let start = max(opens, moment)
        let rate = isIdle ? Self.returnsPerSecondWhenIdle : Self.returnsPerSecond
        opens = MonotonicTime(nanoseconds: start.nanoseconds + 1_000_000_000 / Int64(rate))
        return start > moment.advanced(by: Self.tolerance) ? start : moment
    }

    /// An event of the stream was called, and ended so long after it had become the first of its user (nanoseconds).
    mutating func called(_ stream: UInt64, took duration: Int64, now: MonotonicTime) {
        streams[stream]?.called(duration, now: now)
    }

    /// Gives up what should have come back long ago, and forgets the users that are not loud any more.
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

    /// Other partitions come, or other offsets.
    mutating func removeAll() {
        self = Self(delays: delays)
    }
}

/// One user's events from one request partition.
private struct Stream: Sendable {
    /// So long an event takes until one has shown it (nanoseconds).
    private static let firstGuess: Int64 = 10_000_000
    /// What an event takes is believed quickly when it is less than before, and slowly when it is more.
    ///
    /// While a flood is read everything takes longer, and what was deferred for too long would leave the user without events
    /// later. One hop too many costs less.
    private static let (falling, rising): (Int64, Int64) = (4, 128)

    /// What is out, by delay.
    private var lanes: [DeferredOffsets]
    /// The highest offset that was deferred.
    private var highest: Int64 = 0
    /// So long an event takes (nanoseconds).
    private(set) var interval = firstGuess
    private var isGuess = true
    /// When something was heard of it.
    private(set) var latest: MonotonicTime

    init(delays: Int, now: MonotonicTime) {
        lanes = Array(repeating: DeferredOffsets(), count: delays)
        latest = now
    }

    var out: Int { lanes.reduce(0) { $0 + $1.count } }

    /// The lowest offset that is out.
    var earliest: Int64? { lanes.lazy.compactMap(\.lowest).min() }

    /// How many events are out before this one, about: what is out is taken to lie evenly among the offsets.
    func count(before offset: Int64) -> Int {
        guard let earliest, offset > earliest else { return 0 }
        let out = out
        guard offset < highest else { return out }
        return Int(Double(out) * Double(offset - earliest) / Double(highest - earliest))
    }

    /// How many more are out.
    mutating func add(_ offset: Int64, _ delay: Int, isKnown: Bool, now: MonotonicTime) -> Int {
        latest = now
        highest = max(highest, offset)
        guard isKnown else { return 0 }
        return lanes[delay].append(offset, now: now) ? 1 : 0
    }

    /// How many fewer are out.
    mutating func remove(_ offset: Int64, _ delay: Int, now: MonotonicTime) -> Int {
        lanes[delay].remove(offset, now: now)
    }

    mutating func called(_ duration: Int64, now: MonotonicTime) {
        latest = now
        let share = duration < interval ? Self.falling : Self.rising
        interval = max(1_000, isGuess ? duration : interval + (duration - interval) / share)
        isGuess = false
    }

    /// How many fewer are out.
    mutating func giveUp(_ delay: Int, before limit: MonotonicTime) -> Int { lanes[delay].giveUp(before: limit) }
}

/// The offsets of a stream that one delay has out, in the order in which they come back.
private struct DeferredOffsets: Sendable {
    /// So many events are looked at for the one that came back; those before it are lost.
    private static let longestSearch = 1_024

    private enum Return {
        case notSeen
        case seen
        /// None came back in time: another worker consumes the partition, and knows more than this one.
        case missed
    }

    private var offsets = Ring<Int64>(capacity: 0, filler: 0)
    /// Those with no lower one behind them, so the first is the lowest of all.
    private var minima = Ring<Int64>(capacity: 0, filler: 0)
    private var returns = Return.notSeen
    /// When the latest came back, or the first was deferred.
    private var progress = MonotonicTime.distantPast

    var count: Int { offsets.count }
    var lowest: Int64? { minima.first }

    /// False when they do not come back to this worker.
    mutating func append(_ offset: Int64, now: MonotonicTime) -> Bool {
        guard returns != .missed else { return false }
        if offsets.isEmpty { progress = now }
        offsets.append(offset)
        while let last = minima.last, last > offset { minima.removeLast() }
        minima.append(offset)
        return true
    }

    /// How many are not out any more: this one, and those that should have come before.
    mutating func remove(_ offset: Int64, now: MonotonicTime) -> Int {
        let candidates = 0..<min(offsets.count, Self.longestSearch)
        guard let place = candidates.first(where: { offsets[$0] == offset }) else { return 0 }
        returns = .seen
        progress = now
        for _ in 0...place {
            guard let first = offsets.popFirst() else { break }
            if minima.first == first { _ = minima.popFirst() }
        }
        return place + 1
    }

    /// How many are not out any more, because none came back since this moment.
    mutating func giveUp(before limit: MonotonicTime) -> Int {
        guard !offsets.isEmpty, progress < limit else { return 0 }
        if returns == .notSeen { returns = .missed }
        let count = offsets.count
        (offsets, minima) = (Ring(capacity: 0, filler: 0), Ring(capacity: 0, filler: 0))
        return count
    }
}
