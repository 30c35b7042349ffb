import HeraldTime

/// The users whose calls timed out, and the times of their next calls, which are deferred.
///
/// A user whose call hung is likely to hang again, and a hanging call takes a place for longer than any other call.
struct HangingUsers: Sendable {
    /// The shortest time for which a user is remembered; the longest is twice that.
    static let rememberedTime: Milliseconds = .minutes(1)
    /// The number of users that are distinguished.
    static let users = 1_024

    private let delays: [Milliseconds]
    /// The users, each at a place of its own, marked with the period in which its call hung.
    private var marks = Array(repeating: UInt64(0), count: users)
    private var plan: DeferralPlan?
    /// The duration of the latest call that hung.
    private var latest = Milliseconds.zero

    /// - Parameter delays: the delays of the delay topics, rising.
    init(delays: [Milliseconds]) { self.delays = delays }

    /// Notes that a call for this user had no answer in this time.
    mutating func hung(_ user: UInt64, after duration: Milliseconds, now: MonotonicTime) {
        marks[place(user)] = mark(user, period(now))
        latest = duration
    }

    /// Notes that this user's call was answered.
    mutating func answered(_ user: UInt64, now: MonotonicTime) {
        if contains(user, now: now) { marks[place(user)] = 0 }
    }

    func contains(_ user: UInt64, now: MonotonicTime) -> Bool {
        let (mark, period) = (marks[place(user)], period(now))
        return mark == self.mark(user, period) || mark == self.mark(user, period &- 1)
    }

    /// The index of the delay by which a call is deferred for lack of room for calls that may hang; `nil` without
    /// delays.
    ///
    /// - Parameter room: the most such calls at the same time.
    mutating func deferCall(room: Int, now: MonotonicTime) -> Int? {
        guard !delays.isEmpty else { return nil }
        if plan == nil { plan = DeferralPlan(delays: delays) }
        return plan?.deferCall(
            queued: 0, interval: max(.milliseconds(1), latest).nanoseconds / Int64(room), opens: now, now: now)
    }

    /// Forgets the deferrals, because other partitions come: deferred calls return elsewhere.
    mutating func forgetDeferrals() { plan = nil }

    private func place(_ user: UInt64) -> Int { Int(truncatingIfNeeded: user & UInt64(Self.users - 1)) }

    private func period(_ now: MonotonicTime) -> UInt64 {
        UInt64(bitPattern: now.nanoseconds / Self.rememberedTime.nanoseconds)
    }

    /// A mark, which is 0 for a single hash only.
    private func mark(_ user: UInt64, _ period: UInt64) -> UInt64 { user &+ (period &+ 1) &* 0x9E37_79B9_7F4A_7C15 }
}
