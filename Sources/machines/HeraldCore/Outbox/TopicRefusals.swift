import HeraldTime

/// The topics that accept no records at all.
///
/// An event refused alone may be at fault itself. When many in a row are, and none was accepted since the first of
/// them, the topic is at fault: then calls are held, whose outcomes could not be recorded.
struct TopicRefusals: Sendable {
    /// The number of events in a row that proves the topic to be at fault.
    static let many = 8
    /// The time between two trials of events meanwhile.
    static let trialPause: Milliseconds = .seconds(2)
    /// The pause before a call is made whose outcome may be accepted; it doubles.
    static let firstCallPause: Milliseconds = .seconds(1)
    static let longestCallPause: Milliseconds = .minutes(1)

    private struct Row: Sendable {
        var count = 0
        var since = MonotonicTime.distantPast
    }

    /// The number of refusals in a row, by the topics' places.
    private var rows: [Row]
    private var refusing = 0
    /// Whether any was refused since the last accepted one, in any topic.
    private(set) var isAny = false
    private var calls = 0
    private var nextCallAt = MonotonicTime.distantPast

    init(topics: Int) { rows = Array(repeating: Row(), count: topics) }

    /// Whether a topic takes nothing.
    var isOut: Bool { refusing > 0 }

    /// The time from which a call may begin.
    var nextCall: MonotonicTime { isOut ? nextCallAt : .distantPast }

    /// Whether this topic takes nothing.
    func isOut(_ topic: Int) -> Bool { rows[topic].count >= Self.many }

    /// The first topic that takes nothing, and since when.
    var first: (topic: Int, since: MonotonicTime)? {
        guard isOut, let topic = rows.firstIndex(where: { $0.count >= Self.many }) else { return nil }
        return (topic, rows[topic].since)
    }

    /// Notes one more event refused alone; true when its topic counts as closed from now on.
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

    /// Notes an accepted record; true when the topic was closed before.
    mutating func accepted(_ topic: Int) -> Bool {
        let wasOut = isOut(topic)
        rows[topic].count = 0
        if wasOut { refusing -= 1 }
        isAny = rows.contains { $0.count > 0 }
        return wasOut
    }

    /// Notes the begin of a call.
    mutating func noteCall(now: MonotonicTime) {
        guard isOut else { return }
        calls += 1
        nextCallAt = now.advanced(by: min(Self.firstCallPause.doubled(times: min(calls, 10)), Self.longestCallPause))
    }

    /// Forgets the refusals with their events.
    mutating func removeAll() { self = Self(topics: rows.count) }
}
