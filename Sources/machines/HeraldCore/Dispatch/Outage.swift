public import HeraldEvents
public import HeraldTime

/// A state in which nothing is taken and nothing is called but one probe at a time.
///
/// A broken password or certificate is no event's fault: what was taken waits, burns no attempt and becomes no retry and
/// no dead letter.
public struct Outage: Sendable, Equatable {
    /// The first probe comes after this long; the wait doubles with each that fails.
    public static let firstProbeDelay: Milliseconds = .seconds(1)
    /// No probe waits longer than this.
    public static let slowestProbeDelay: Milliseconds = .seconds(30)
    /// So long after a probe that was rejected the next user is asked: the backend is well, and rejecting costs it
    /// next to nothing.
    static let rejectedProbeDelay: Milliseconds = .milliseconds(250)
    /// So many events more of each class are taken during an outage, and twice as many with each probe that fails, so
    /// that there is another user to probe with, even behind many that fail.
    static let probeCandidates = 16
    /// So many slots are left free for them.
    static let reservedSlots = 64
    /// So many users are not asked again while there are others.
    static let rememberedUsers = 8

    /// Why.
    public private(set) var reason: OutageReason
    /// Since when for this reason.
    public internal(set) var since: WallTime
    /// The status that says so: of too many dead letters, or the latest of the calls that failed; 0 without one.
    public private(set) var status: Int
    /// Dead-letter breaker: the source whose answer tripped it.
    var source: UInt64
    var probeDelay = Self.firstProbeDelay
    /// When an event that was a probe before is called again.
    var nextProbe: MonotonicTime
    /// When another event is called.
    var nextOther: MonotonicTime
    /// Whether there may be an event that was not a probe yet.
    var hasOthers = true
    /// The probe that is under way.
    var probe: CallToken?
    /// How many probes there were.
    var probes = 0
    /// How many more events of each class are taken.
    var room: [Int]
    /// Only one user is known to be refused.
    private var isOneUsers = false
    private var users: [UInt64] = []

    init(reason: OutageReason, status: Int, source: UInt64, classes: Int, now: Moment) {
        self.reason = reason
        since = now.wall
        self.status = status
        self.source = source
        nextProbe = now.monotonic.advanced(by: Self.firstProbeDelay)
        nextOther = nextProbe
        room = Array(repeating: Self.probeCandidates, count: classes)
    }

    /// It goes on, for this reason from now on.
    mutating func goOn(for reason: OutageReason, status: Int) {
        self.reason = reason
        self.status = status
    }

    /// Something may have changed for the better: the next probe is due now, and the waits start from the shortest
    /// again.
    mutating func probeSoon(now: MonotonicTime) {
        probeDelay = Self.firstProbeDelay
        nextProbe = now
        nextOther = now
    }

    /// One user alone was refused, which says nothing of others: the first of them is asked at once.
    mutating func concernsOneUser(now: MonotonicTime) {
        isOneUsers = true
        nextOther = now
    }

    /// Notes that this user is asked.
    mutating func begin(_ token: CallToken, user: UInt64) {
        probe = token
        probes += 1
        if let first = users.first, first != user { isOneUsers = false }
        if users.count == Self.rememberedUsers { users.removeFirst() }
        users.append(user)
    }

    func hasAsked(_ user: UInt64) -> Bool { users.contains(user) }

    /// Has room for candidates of each class, unless one is being asked.
    mutating func makeRoom() {
        guard probe == nil else { return }
        for number in room.indices { room[number] = max(room[number], Self.probeCandidates) }
    }

    /// Notes that the probe, of an event of this class, failed too.
    mutating func probeFailed(ofClass number: Int, now: MonotonicTime) {
        probe = nil
        room[number] += Self.probeCandidates << min(probes, 6)
        probeDelay = min(probeDelay * 2, Self.slowestProbeDelay)
        nextProbe = now.advanced(by: probeDelay)
        // A failing user may be the reason: others are asked without growing waits. But credentials that are shown too often lock
        // an account.
        nextOther =
            switch reason {
            case .deadLetterBreaker: now.advanced(by: Self.rejectedProbeDelay)
            case .breaker: now.advanced(by: Self.firstProbeDelay)
            case .credentials, .tokenUnavailable, .tls, .nameNotFound, .proxyRefused, .hubNotFound, .quotaUsedUp:
                isOneUsers ? now : nextProbe
            }
    }
}
