import HeraldTime

/// The users whose calls timed out, and when their next calls are made, which have to wait meanwhile.
///
/// A user whose call hung is likely to hang again, and a hanging call takes a place for longer than any other call.
struct HangingUsers: Sendable {
    /// A user is remembered for so long at least, and for twice as long at most.
    static let rememberedTime: Milliseconds = .minutes(1)
    /// So many of them are told apart.
    static let users = 1_024

    private let delays: [Milliseconds]
    /// The users, each at a place of its own, marked with the period in which its call hung.
    private var marks = Array(repeating: UInt64(0), count: users)
    private var plan: DeferralPlan?
    /// How long the latest call took that hung.
    private var latest = Milliseconds.zero

    /// - Parameter delays: those of the delay topics, rising.
    init(delays: [Milliseconds]) { self.delays = delays }

    /// A call for this user had no answer in time, and took so long.
    mutating func hung(_ user: UInt64, after duration: Milliseconds, now: MonotonicTime) {
        marks[place(user)] = mark(user, period(now))
        latest = duration
    }

    /// This user's call was answered.
    mutating func answered(_ user: UInt64, now: MonotonicTime) {
        if contains(user, now: now) { marks[place(user)] = 0 }
    }

    func contains(_ user: UInt64, now: MonotonicTime) -> Bool {
        let (mark, period) = (marks[place(user)], period(now))
        return mark == self.mark(user, period) || mark == self.mark(user, period &- 1)
    }

    /// The index of the delay by which a call is deferred, because there is no room for more that may hang; `nil` without delays.
    ///
    /// - Parameter room: how many such calls there may be at the same time.
    mutating func deferCall(room: Int, now: MonotonicTime) -> Int? {
        guard !delays.isEmpty else { return nil }
        if plan == nil { plan = DeferralPlan(delays: delays) }
        return plan?.deferCall(
            queued: 0, interval: max(.milliseconds(1), latest).nanoseconds / Int64(room), opens: now, now: now)
    }

    /// Other partitions come: what was deferred comes back somewhere else.
    mutating func forgetDeferrals() { plan = nil }

    private func place(_ user: UInt64) -> Int { Int(truncatingIfNeeded: user & UInt64(Self.users - 1)) }

    private func period(_ now: MonotonicTime) -> UInt64 {
        UInt64(bitPattern: now.nanoseconds / Self.rememberedTime.nanoseconds)
    }

    /// Never 0 but for one hash in as many as there are.
    private func mark(_ user: UInt64, _ period: UInt64) -> UInt64 { user &+ (period &+ 1) &* 0x9E37_79B9_7F4A_7C15 }
}
