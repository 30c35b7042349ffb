import HeraldTime

/// Users whose latest call a push service refused, in a table of fixed size: a user whose place another takes is forgotten.
struct RefusedUsers: Sendable {
    /// The shortest time for which a user is remembered; the longest is twice that.
    static let rememberedTime: Milliseconds = .minutes(1)
    /// The number of users that are distinguished.
    static let places = 8_192

    /// The users, each at a place of its own, marked with the period in which its call was refused.
    private var marks = Array(repeating: UInt64(0), count: places)
    /// The time from which no user is remembered: without refusals no answer costs a look-up.
    private var forgottenAt = MonotonicTime.distantPast

    /// Whether no user is remembered.
    func isEmpty(now: MonotonicTime) -> Bool { now >= forgottenAt }

    func contains(_ user: UInt64, service: Int, now: MonotonicTime) -> Bool {
        let key = key(user, service)
        let (mark, period) = (marks[place(key)], period(now))
        return mark == key &+ period || mark == key &+ (period &- 1)
    }

    mutating func note(_ user: UInt64, service: Int, now: MonotonicTime) {
        let key = key(user, service)
        forgottenAt = now.advanced(by: 2 * Self.rememberedTime)
        marks[place(key)] = key &+ period(now)
    }

    /// Forgets this user, whose call got through.
    mutating func forget(_ user: UInt64, service: Int) { marks[place(key(user, service))] = 0 }

    private func place(_ key: UInt64) -> Int { Int(truncatingIfNeeded: key >> 32 & UInt64(Self.places - 1)) }

    /// Neighbouring periods of two keys differ, but for one pair in as many as there are.
    private func key(_ user: UInt64, _ service: Int) -> UInt64 {
        (user &+ UInt64(truncatingIfNeeded: service) &+ 1) &* 0x9E37_79B9_7F4A_7C15
    }

    /// From 2 on, so that a fresh table is empty.
    private func period(_ now: MonotonicTime) -> UInt64 {
        UInt64(bitPattern: max(0, now.nanoseconds) / Self.rememberedTime.nanoseconds) &+ 2
    }
}
