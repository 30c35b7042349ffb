import HeraldTime

/// Users of whom something was noted a short while ago, in a table of fixed size: a user whose place another takes is
/// forgotten.
struct RecentUsers: Sendable {
    /// The shortest time for which a user is remembered; the longest is twice that.
    static let rememberedTime: Milliseconds = .minutes(1)

    /// The users, each at a place of its own, marked with the period in which it was noted.
    private var marks: [UInt64]
    /// The time from which no user is remembered: without notes no answer costs a look-up.
    private var forgottenAt = MonotonicTime.distantPast

    /// - Parameter places: the number of users that are distinguished, a power of two.
    init(places: Int) { marks = Array(repeating: 0, count: places) }

    /// Whether no user is remembered.
    func isEmpty(now: MonotonicTime) -> Bool { now >= forgottenAt }

    func contains(_ user: UInt64, service: Int = 0, now: MonotonicTime) -> Bool {
        let key = key(user, service)
        let (mark, period) = (marks[place(key)], period(now))
        return mark == key &+ period || mark == key &+ (period &- 1)
    }

    mutating func note(_ user: UInt64, service: Int = 0, now: MonotonicTime) {
        let key = key(user, service)
        forgottenAt = now.advanced(by: 2 * Self.rememberedTime)
        marks[place(key)] = key &+ period(now)
    }

    /// Forgets this user.
    mutating func forget(_ user: UInt64, service: Int = 0) { marks[place(key(user, service))] = 0 }

    private func place(_ key: UInt64) -> Int { Int(truncatingIfNeeded: key >> 32) & (marks.count - 1) }

    /// Neighbouring periods of two keys differ, but for one pair in as many as there are.
    private func key(_ user: UInt64, _ service: Int) -> UInt64 {
        (user &+ UInt64(truncatingIfNeeded: service) &+ 1) &* 0x9E37_79B9_7F4A_7C15
    }

    /// From 2 on, so that a fresh table is empty.
    private func period(_ now: MonotonicTime) -> UInt64 {
        UInt64(bitPattern: max(0, now.nanoseconds) / Self.rememberedTime.nanoseconds) &+ 2
    }
}
