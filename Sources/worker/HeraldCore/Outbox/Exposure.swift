import HeraldTime

/// For how long calls have ended whose outcome is not recorded: a worker that dies now leaves them to be made again.
///
/// An event whose calls are decided enters, whether or not its records are produced yet, and leaves with the commit that covers it.
/// Calls in flight do not count, however long they take: no commit could cover them.
struct Exposure: Sendable {
    /// Since when an event waits that no commit under way covers; `nil` when there is none.
    private var waitingSince: MonotonicTime?
    /// Since when the oldest event waits that the commit under way covers.
    private var committingSince: MonotonicTime?
    /// The number of the last commit that began before this worker stood still; `nil` once a later one has shown that
    /// it is still a member of its group.
    private var unproven: UInt64?
    /// A call had to wait for a commit, and none has been made since.
    private(set) var isInTheWay = false

    /// Since when the oldest of all waits.
    var oldest: MonotonicTime? { committingSince ?? waitingSince }

    /// Whether the group may have given the partitions away while this worker stood still.
    var isUnproven: Bool { unproven != nil }

    /// A called event is decided; its records are on their way.
    mutating func decided(now: MonotonicTime) {
        if waitingSince == nil { waitingSince = now }
    }

    /// A commit begins; what it does not cover counts from now on.
    mutating func commitBegan(coversAll: Bool, now: MonotonicTime) {
        guard let since = waitingSince else { return }
        if committingSince == nil { committingSince = since }
        waitingSince = coversAll ? nil : now
    }

    /// The commit with this number is made.
    ///
    /// - Parameter isProof: whether the group has taken it from this worker. One that was only found to be there may be the
    ///   same as one before, and shows nothing.
    mutating func committed(sequence: UInt64, isProof: Bool) {
        committingSince = nil
        isInTheWay = false
        if isProof, let before = unproven, sequence > before { unproven = nil }
    }

    /// The commit was not made: what it would have covered waits on.
    mutating func commitFailed() {
        guard let since = committingSince else { return }
        waitingSince = since
        committingSince = nil
    }

    /// The worker stood still; only commits after this one show that it is still a member.
    mutating func stoodStill(after sequence: UInt64) { unproven = sequence }

    /// Nothing waits any more.
    mutating func nothingWaits() {
        waitingSince = nil
        committingSince = nil
        isInTheWay = false
    }

    /// Whether a call may begin; if not, only a commit changes that.
    mutating func allowsCall(now: MonotonicTime, within limit: Int64) -> Bool {
        isInTheWay = isUnproven || oldest.map { now >= $0.advanced(byMilliseconds: limit) } ?? false
        return !isInTheWay
    }

    /// The partitions are gone, and what waited with them.
    mutating func partitionsGone() {
        self = Self()
    }
}
