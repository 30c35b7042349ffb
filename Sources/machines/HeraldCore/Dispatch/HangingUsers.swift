import HeraldTime

/// The users whose calls timed out, and the times of their next calls, which are deferred.
///
/// A user whose call hung is likely to hang again, and a hanging call takes a place for longer than any other call.
struct HangingUsers: Sendable {
    private let delays: [Milliseconds]
    private var users = RecentUsers(places: 1_024)
    private var plan: DeferralPlan?
    /// The duration of the latest call that hung.
    private var latest = Milliseconds.zero

    /// - Parameter delays: the delays of the delay topics, rising.
    init(delays: [Milliseconds]) { self.delays = delays }

    /// Notes that a call for this user had no answer in this time.
    mutating func hung(_ user: UInt64, after duration: Milliseconds, now: MonotonicTime) {
        users.note(user, now: now)
        latest = duration
    }

    /// Notes that this user's call was answered.
    mutating func answered(_ user: UInt64, now: MonotonicTime) {
        if contains(user, now: now) { users.forget(user) }
    }

    func contains(_ user: UInt64, now: MonotonicTime) -> Bool { users.contains(user, now: now) }

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
}
