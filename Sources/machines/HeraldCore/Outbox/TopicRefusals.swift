import HeraldTime

/// Which topics take no record at all.
///
/// An event that is refused alone may be to blame itself. When many in a row are, and none was taken since the first of
/// them, it is the topic: then calls are held, whose outcomes could not be recorded.
struct TopicRefusals: Sendable {
    /// So many events in a row say that it is the topic.
    static let many = 8
    /// Between two events that are tried while it lasts.
    static let trialPause: Milliseconds = .seconds(2)
    /// A call is made after so long, whose outcome may be taken; the pause doubles.
    static let firstCallPause: Milliseconds = .seconds(1)
    static let longestCallPause: Milliseconds = .minutes(1)

    private struct Row: Sendable {
        var count = 0
        var since = MonotonicTime.distantPast
    }

    /// By the topics' places: how many in a row were refused.
    private var rows: [Row]
    private var refusing = 0
    /// Whether any was refused since the last that was taken, in any topic.
    private(set) var isAny = false
    private var calls = 0
    private var nextCallAt = MonotonicTime.distantPast

    init(topics: Int) { rows = Array(repeating: Row(), count: topics) }

    /// Whether a topic takes nothing.
    var isOut: Bool { refusing > 0 }

    /// When a call may begin as far as this matters.
    var nextCall: MonotonicTime { isOut ? nextCallAt : .distantPast }

    /// Whether this topic takes nothing.
    func isOut(_ topic: Int) -> Bool { rows[topic].count >= Self.many }

    /// The first topic that takes nothing, and since when.
    var first: (topic: Int, since: MonotonicTime)? {
        guard isOut, let topic = rows.firstIndex(where: { $0.count >= Self.many }) else { return nil }
        return (topic, rows[topic].since)
    }

    /// One more event is refused alone; true when its topic counts as one that takes nothing from now on.
    mutating func refused(_ topic: Int, now: MonotonicTime) -> Bool {
        if rows[topic].count == 0 { rows[topic].since = now }
        rows[topic].count += 1
        isAny = true
        guard rows[topic].count == Self.many else { return false }
        refusing += 1
        if refusing == 1 {
            calls = 0
            nextCallAt = now.advanced(by: Self.firstCallPause)
        }
        return true
    }

    /// A record is taken; true when the topic took nothing before.
    mutating func accepted(_ topic: Int) -> Bool {
        let wasOut = isOut(topic)
        rows[topic].count = 0
        if wasOut { refusing -= 1 }
        isAny = rows.contains { $0.count > 0 }
        return wasOut
    }

    /// A call begins.
    mutating func noteCall(now: MonotonicTime) {
        guard isOut else { return }
        calls += 1
        nextCallAt = now.advanced(by: min(Self.firstCallPause.doubled(times: min(calls, 10)), Self.longestCallPause))
    }

    /// The events are gone, and what was refused with them.
    mutating func removeAll() { self = Self(topics: rows.count) }
}
