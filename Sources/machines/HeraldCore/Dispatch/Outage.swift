public import HeraldEvents
public import HeraldTime

/// A state in which no events are taken and only one probe at a time is called.
///
/// A broken password or certificate is no event's fault: taken events wait, use up no attempt and become no retry and
/// no dead letter.
public struct Outage: Sendable, Equatable {
    /// The wait before the first probe; it doubles with each that fails.
    public static let firstProbeDelay: Milliseconds = .seconds(1)
    /// The longest wait before a probe.
    public static let slowestProbeDelay: Milliseconds = .seconds(30)
    /// The wait before the next user's probe after a rejected one: the backend is well, and a rejection costs it next
    /// to nothing.
    static let rejectedProbeDelay: Milliseconds = .milliseconds(250)
    /// The number of further events of each class taken during an outage, doubled by each failed probe, so that there
    /// is another user to probe with, even behind many that fail.
    static let probeCandidates = 16
    /// The number of slots reserved for them.
    static let reservedSlots = 64
    /// The number of users that are not probed again while there are others.
    static let rememberedUsers = 8

    /// The reason.
    public private(set) var reason: OutageReason
    /// The time at which it began for this reason.
    public internal(set) var since: WallTime
    /// The status that says so: of too many dead letters, or the latest of the calls that failed; 0 without one.
    public private(set) var status: Int
    /// The source whose answer tripped the dead-letter breaker.
    var source: UInt64
    /// The pace at which events that were probes before are called again.
    private var pace: ProbePace
    /// The time at which another event is called.
    var nextOther: MonotonicTime
    /// Whether some event may not have been a probe yet.
    var hasOthers = true
    /// The probe that is under way.
    var probe: CallToken?
    /// The number of probes.
    var probes = 0
    /// The number of further events of each class that are taken.
    var room: [Int]
    /// Whether only one user is known to be refused.
    private var isOneUsers = false
    private var users: [UInt64] = []

    init(reason: OutageReason, status: Int, source: UInt64, classes: Int, now: Moment) {
        self.reason = reason
        since = now.wall
        self.status = status
        self.source = source
        pace = ProbePace(now: now.monotonic)
        nextOther = pace.next
        room = Array(repeating: Self.probeCandidates, count: classes)
    }

    /// The time at which an event that was a probe before is called again.
    var nextProbe: MonotonicTime { pace.next }

    /// Continues the outage for this reason.
    mutating func goOn(for reason: OutageReason, status: Int) {
        self.reason = reason
        self.status = status
    }

    /// Makes the next probe due now, because something may have improved, and starts the waits from the shortest again.
    mutating func probeSoon(now: MonotonicTime) {
        pace.soon(now: now)
        nextOther = now
    }

    /// Notes that one user alone was refused, which is no evidence about others: the first of them is probed at once.
    mutating func concernsOneUser(now: MonotonicTime) {
        isOneUsers = true
        nextOther = now
    }

    /// Notes the probe of this user.
    mutating func begin(_ token: CallToken, user: UInt64) {
        probe = token
        probes += 1
        if let first = users.first, first != user { isOneUsers = false }
        if users.count == Self.rememberedUsers { users.removeFirst() }
        users.append(user)
    }

    func hasAsked(_ user: UInt64) -> Bool { users.contains(user) }

    /// Takes as many events as at the beginning, because none is left to probe with and the outage would never end.
    mutating func makeRoom() {
        guard probe == nil else { return }
        for number in room.indices { room[number] = max(room[number], Self.probeCandidates) }
    }

    /// Notes that a call of this class, of an event that was never called, can be the probe.
    mutating func noteCandidate(ofClass number: Int) {
        hasOthers = true
        room[number] -= 1
    }

    /// Notes that the probe, of an event of this class, failed too.
    mutating func probeFailed(ofClass number: Int, now: MonotonicTime) {
        probe = nil
        room[number] += Self.probeCandidates << min(probes, 6)
        pace.failed(now: now)
        // A failing user may be the reason: others are probed without growing waits. But too many attempts with wrong
        // credentials lock an account.
        nextOther =
            switch reason {
            case .deadLetterBreaker: now.advanced(by: Self.rejectedProbeDelay)
            case .breaker: now.advanced(by: Self.firstProbeDelay)
            case .credentials, .tokenUnavailable, .tls, .nameNotFound, .proxyRefused, .target:
                isOneUsers ? now : nextProbe
            }
    }
}
