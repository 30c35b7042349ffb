import HeraldTime

/// The time for which ended calls have had no recorded outcome: a worker that dies now leaves them to be repeated.
///
/// An event whose calls are decided enters, whether or not its records are produced yet, and leaves with the commit that covers it.
/// Calls in flight do not count, however long they take: no commit could cover them.
struct Exposure: Sendable {
    /// The time since which an event waits without a commit under way; `nil` without one.
    private var waitingSince: MonotonicTime?
    /// The time since which the oldest event of the commit under way waits.
    private var committingSince: MonotonicTime?
    /// The number of the last commit that began before this worker stood still; `nil` once a later one has shown that
    /// it is still a member of its group.
    private var unproven: UInt64?
    /// Whether a call had to wait for a commit, and none has been made since.
    private(set) var isInTheWay = false

    /// The time since which the oldest of all waits.
    var oldest: MonotonicTime? { committingSince ?? waitingSince }

    /// Whether the group may have given the partitions away while this worker stood still.
    var isUnproven: Bool { unproven != nil }

    /// Notes that a called event is decided; its records are on their way.
    mutating func decided(now: MonotonicTime) {
        if waitingSince == nil { waitingSince = now }
    }

    /// Notes the begin of a commit; events outside it count from now on.
    mutating func commitBegan(coversAll: Bool, now: MonotonicTime) {
        guard let since = waitingSince else { return }
        if committingSince == nil { committingSince = since }
        waitingSince = coversAll ? nil : now
    }

    /// Notes that the commit with this number is made.
    ///
    /// - Parameter isProof: whether the group has taken it from this worker. One that was only found to be there may be the
    ///   same as one before, and shows nothing.
    mutating func committed(sequence: UInt64, isProof: Bool) {
        committingSince = nil
        isInTheWay = false
        if isProof, let before = unproven, sequence > before { unproven = nil }
    }

    /// Notes that the commit was not made: its events wait on.
    mutating func commitFailed() {
        guard let since = committingSince else { return }
        waitingSince = since
        committingSince = nil
    }

    /// Notes that the worker stood still; only later commits show that it is still a member.
    mutating func stoodStill(after sequence: UInt64) { unproven = sequence }

    /// Notes that no event waits any more.
    mutating func nothingWaits() {
        waitingSince = nil
        committingSince = nil
        isInTheWay = false
    }

    /// The reason why no call may begin.
    enum Hold: Sendable, Equatable {
        /// The group may have given the partitions away.
        case unproven
        /// An outcome has waited since this moment, which is too long.
        case unrecorded(since: MonotonicTime)
    }

    /// The reason why no call may begin; `nil` when one may.
    ///
    /// Only a commit changes that.
    func hold(now: MonotonicTime, within limit: Milliseconds) -> Hold? {
        if isUnproven { return .unproven }
        guard let oldest, now >= oldest.advanced(by: limit) else { return nil }
        return .unrecorded(since: oldest)
    }

    /// Whether a call may begin.
    mutating func allowsCall(now: MonotonicTime, within limit: Milliseconds) -> Bool {
        isInTheWay = hold(now: now, within: limit) != nil
        return !isInTheWay
    }

    /// Forgets the partitions, with everything that waited.
    mutating func partitionsGone() {
        self = Self()
    }
}
