import HeraldTime

/// The topics that accept no records, or hardly any.
///
/// An event refused alone may be at fault itself. When more than two of three are, the topic is at fault: then calls are
/// held, whose outcomes could not be recorded. Each refused event counts once, however often it is offered again, and each
/// accepted one takes the weight of two away.
struct TopicRefusals: Sendable {
    /// The number of refused events, less the accepted ones' weight, that proves the topic to be at fault.
    static let many = 8
    /// The most that is counted: half as many accepted events without any refused one show that the topic is well.
    static let most = 16
    static let acceptedWeight = 2
    /// The time between two trials of events meanwhile.
    static let trialPause: Milliseconds = .seconds(2)
    /// The pause before a call is made whose outcome may be accepted; it doubles.
    static let firstCallPause: Milliseconds = .seconds(1)
    static let longestCallPause: Milliseconds = .minutes(1)

    private struct Row: Sendable {
        var count = 0
        var since = MonotonicTime.distantPast
        var isOut = false
    }

    /// By the topics' places.
    private var rows: [Row]
    private var refusing = 0
    /// Whether an accepted record changes anything.
    private(set) var isAny = false
    private var calls = 0
    private var nextCallAt = MonotonicTime.distantPast
    /// The end of the shortest pause after the latest call.
    private var soonestCallAt = MonotonicTime.distantPast

    init(topics: Int) { rows = Array(repeating: Row(), count: topics) }

    /// Whether a topic takes nothing, or hardly anything.
    var isOut: Bool { refusing > 0 }

    /// The time from which a call may begin.
    var nextCall: MonotonicTime { isOut ? nextCallAt : .distantPast }

    /// Whether this topic is one of them.
    func isOut(_ topic: Int) -> Bool { rows[topic].isOut }

    /// The first of them, and since when.
    var first: (topic: Int, since: MonotonicTime)? {
        guard isOut, let topic = rows.firstIndex(where: \.isOut) else { return nil }
        return (topic, rows[topic].since)
    }

    /// Notes an event refused alone, for the first time or while its topic is out; true when the topic counts as closed from
    /// now on.
    mutating func refused(_ topic: Int, now: MonotonicTime) -> Bool {
        if rows[topic].count == 0 { rows[topic].since = now }
        rows[topic].count = min(rows[topic].count + 1, Self.most)
        isAny = true
        guard rows[topic].count >= Self.many, !rows[topic].isOut else { return false }
        rows[topic].isOut = true
        refusing += 1
        if refusing == 1 {
            calls = 0
            soonestCallAt = now.advanced(by: Self.firstCallPause)
            nextCallAt = soonestCallAt
        }
        return true
    }

    /// Notes an accepted event; true when the topic is open again from now on.
    mutating func accepted(_ topic: Int) -> Bool {
        rows[topic].count = max(0, rows[topic].count - Self.acceptedWeight)
        // The next outcome may be accepted too.
        calls = 0
        nextCallAt = min(nextCallAt, soonestCallAt)
        guard rows[topic].count == 0 else { return false }
        isAny = rows.contains { $0.count > 0 }
        guard rows[topic].isOut else { return false }
        rows[topic].isOut = false
        refusing -= 1
        return true
    }

    /// Notes the begin of a call.
    mutating func noteCall(now: MonotonicTime) {
        guard isOut else { return }
        calls += 1
        soonestCallAt = now.advanced(by: Self.firstCallPause)
        nextCallAt = now.advanced(by: min(Self.firstCallPause.doubled(times: min(calls, 10)), Self.longestCallPause))
    }

    /// Forgets the refusals with their events.
    mutating func removeAll() { self = Self(topics: rows.count) }
}
