import HeraldTime

/// The topics that accept no records, or hardly any.
///
/// An event refused alone may be at fault itself. When more than two of three are, the topic is at fault: then calls are
/// held, whose outcomes could not be recorded: when it takes results, dead letters or caps, or when no delay's topic is left.
/// Each refused event counts once, however often it is offered again, and each accepted one takes the weight of two away.
///
/// A delay's topic need not be proven to be at fault: as soon as it refuses a record it is *avoided* for a while, in which
/// retries go to another delay's topic. Then it is tried again; each refusal soon after doubles the while. One that
/// is not there is avoided until it is.
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
    /// The place of the first delay's topic; before it are those of results, dead letters and caps.
    static let firstDelay = 3
    /// The time for which a delay's topic is avoided; it doubles.
    static let firstAvoidance: Milliseconds = .seconds(2)
    static let longestAvoidance: Milliseconds = .minutes(1)
    /// The time without a refusal after which it counts as well.
    static let avoidanceEnds: Milliseconds = .seconds(5)

    private struct Row: Sendable {
        var count = 0
        var since = MonotonicTime.distantPast
        var isOut = false
        /// The end of the time in which it is avoided, the length of that time, and when it was avoided first.
        var avoidedUntil = MonotonicTime.distantPast
        var avoidance = Milliseconds.zero
        var avoidedSince = MonotonicTime.distantPast
        /// The number of retries that went elsewhere since.
        var detours = 0
        /// Whether it is known not to be there: then it is avoided until it is.
        var isMissing = false
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

    /// Whether a delay's topic was ever avoided, so that most records cost no look.
    private(set) var hasAvoided = false

    init(topics: Int) { rows = Array(repeating: Row(), count: topics) }

    /// Whether calls are held: outcomes of theirs could not be recorded.
    var holdsCalls: Bool {
        refusing > 0 && rows.indices.contains { isOut($0) }
    }

    /// The time from which a call may begin.
    var nextCall: MonotonicTime { holdsCalls ? nextCallAt : .distantPast }

    /// Whether this topic is one of them, and no other takes its place.
    func isOut(_ topic: Int) -> Bool {
        rows[topic].isOut && (topic < Self.firstDelay || rows[Self.firstDelay...].allSatisfy(\.isOut))
    }

    /// The topics that take each other's records: this one, or those of all delays.
    func equals(of topic: Int) -> Range<Int> {
        topic < Self.firstDelay ? topic..<topic + 1 : Self.firstDelay..<rows.count
    }

    /// The first of them, and since when, while calls are held.
    var first: (topic: Int, since: MonotonicTime)? {
        guard refusing > 0, let topic = rows.indices.first(where: isOut) else { return nil }
        return (topic, rows[topic].since)
    }

    /// Notes an event refused alone, for the first time or while its topic is out; true when the topic counts as closed from
    /// now on.
    mutating func refused(_ topic: Int, now: MonotonicTime) -> Bool {
        if rows[topic].count == 0 { rows[topic].since = now }
        rows[topic].count = min(rows[topic].count + 1, Self.most)
        isAny = true
        guard rows[topic].count >= Self.many, !rows[topic].isOut else { return false }
        let heldBefore = holdsCalls
        rows[topic].isOut = true
        refusing += 1
        if holdsCalls, !heldBefore {
            calls = 0
            soonestCallAt = now.advanced(by: Self.firstCallPause)
            nextCallAt = soonestCallAt
        }
        return isOut(topic)
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
        guard holdsCalls else { return }
        calls += 1
        soonestCallAt = now.advanced(by: Self.firstCallPause)
        nextCallAt = now.advanced(by: min(Self.firstCallPause.doubled(times: min(calls, 10)), Self.longestCallPause))
    }

    /// Notes a record of a delay's topic refused, for whatever reason; true when the topic is avoided from now on.
    mutating func avoid(delay: Int, now: MonotonicTime) -> Bool {
        let topic = Self.firstDelay + delay
        guard now >= rows[topic].avoidedUntil else { return false }
        hasAvoided = true
        let isNew = !isAvoidedStill(topic, now: now)
        if isNew { (rows[topic].avoidedSince, rows[topic].detours) = (now, 0) }
        // It refuses what comes again, or only one record in a while.
        let isAgain = now < rows[topic].avoidedUntil.advanced(by: Self.longestAvoidance)
        rows[topic].avoidance =
            isAgain ? min(rows[topic].avoidance * 2, Self.longestAvoidance) : Self.firstAvoidance
        rows[topic].avoidedUntil = now.advanced(by: rows[topic].avoidance)
        return isNew
    }

    /// Notes whether a delay's topic is there; true when it is avoided from now on.
    mutating func setMissing(_ isMissing: Bool, delay: Int, now: MonotonicTime) -> Bool {
        let topic = Self.firstDelay + delay
        guard rows[topic].isMissing != isMissing else { return false }
        let isNew = isMissing && !isAvoidedStill(topic, now: now)
        if isNew { (hasAvoided, rows[topic].avoidedSince, rows[topic].detours) = (true, now, 0) }
        rows[topic].isMissing = isMissing
        return isNew
    }

    /// The delay whose topic takes the place of this one's: the next shorter, from which a retry hops on until it is due,
    /// else the next longer, where it may come late behind others; `nil` when this one takes records, or none does.
    ///
    /// - Parameter unfit: those whose topics have no room for it.
    func detour(of delay: Int, besides unfit: DelaySet = DelaySet(), now: MonotonicTime) -> Int? {
        hasAvoided && isAvoided(delay, now: now)
            ? other(than: delay) { !isAvoided($0, now: now) && !unfit.contains($0) } : nil
    }

    /// The delay whose topic may have room for what exceeds the known limits of others, this one's among them.
    ///
    /// One that refuses records for a while is better than none.
    func replacement(of delay: Int, besides unfit: DelaySet, now: MonotonicTime) -> Int? {
        other(than: delay) { !isAvoided($0, now: now) && !unfit.contains($0) }
            ?? other(than: delay) { !unfit.contains($0) }
    }

    /// Notes that a retry takes a detour.
    mutating func noteDetour(of delay: Int) { rows[Self.firstDelay + delay].detours += 1 }

    private func other(than delay: Int, where takes: (Int) -> Bool) -> Int? {
        let delays = rows.count - Self.firstDelay
        return (0..<delay).last(where: takes) ?? (delay + 1..<delays).first(where: takes)
    }

    /// Whether the topic of a delay takes nothing, or hardly anything, whatever others do.
    func isProven(_ delay: Int) -> Bool { rows[Self.firstDelay + delay].isOut }

    private func isAvoided(_ delay: Int, now: MonotonicTime) -> Bool {
        rows[Self.firstDelay + delay].isMissing || now < rows[Self.firstDelay + delay].avoidedUntil
    }

    private func isAvoidedStill(_ topic: Int, now: MonotonicTime) -> Bool {
        rows[topic].isMissing
            || rows[topic].avoidance > .zero && now < rows[topic].avoidedUntil.advanced(by: Self.avoidanceEnds)
    }

    /// A delay whose topic refused records lately.
    struct Detour {
        var delay: Int
        /// The delay that takes its place.
        var instead: Int
        var since: MonotonicTime
        /// The number of retries since then.
        var retries: Int
    }

    /// The delays whose topics refused records lately.
    func detours(now: MonotonicTime) -> [Detour] {
        guard hasAvoided else { return [] }
        return (0..<rows.count - Self.firstDelay).compactMap { delay in
            let topic = Self.firstDelay + delay
            guard isAvoidedStill(topic, now: now), let other = other(than: delay, where: { !isAvoided($0, now: now) })
            else { return nil }
            return Detour(
                delay: delay, instead: other, since: rows[topic].avoidedSince, retries: rows[topic].detours)
        }
    }

    /// Forgets the refusals with their events.
    mutating func removeAll() { self = Self(topics: rows.count) }
}
