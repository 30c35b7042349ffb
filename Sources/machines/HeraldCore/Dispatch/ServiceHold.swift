public import HeraldEvents
public import HeraldTime

/// A state in which one push service refuses every call while others' are accepted: it gets one probe at a time.
///
/// Its calls cost no attempt and become no dead letter: a few wait in memory as probes, the others in the delay topics.
/// The other push services go on.
public struct ServiceHold: Sendable, Equatable {
    /// The number of its calls that wait in memory.
    static let candidates = 4
    /// A hold ends without a probe when no call was wanted for longer than this.
    static let lapsesAfter: Milliseconds = .minutes(10)

    /// The index of the push service.
    public let service: Int
    /// The reason: the credentials, or rejections.
    public private(set) var reason: OutageReason
    /// The status of the refusals.
    public private(set) var status: Int
    /// The time at which it began, here or before partitions changed hands.
    public let since: WallTime
    /// The pace of its probes.
    var pace: ProbePace
    /// The sender of all events that began it; `nil` when there were several, or another one's was refused since.
    var sender: UInt64?
    /// The probe that is under way.
    var probe: CallToken?
    /// The number of probes.
    private(set) var probes = 0
    /// The time at which a call was last wanted.
    var wantedAt: MonotonicTime

    init(
        service: Int, reason: OutageReason, status: Int, sender: UInt64?, since: WallTime? = nil, now: Moment
    ) {
        (self.service, self.reason, self.status, self.sender) = (service, reason, status, sender)
        self.since = since ?? now.wall
        pace = ProbePace(now: now.monotonic)
        wantedAt = now.monotonic
    }

    /// The time between two probes, as it is now.
    public var interval: Milliseconds { pace.delay }

    /// Whether this call is its probe.
    package func isProbe(_ token: CallToken) -> Bool { probe == token }

    mutating func begin(_ token: CallToken) {
        probe = token
        probes += 1
    }

    /// Judges its probe: true when it shows the cause to be gone.
    mutating func judgeProbe(_ result: borrowing CallResult, now: MonotonicTime) -> Bool {
        probe = nil
        if reason.isRefuted(by: result, status: status) { return true }
        if result.verdict == .credentials { (reason, status) = (.credentials, result.status) }
        pace.failed(now: now)
        return false
    }

    /// Whether a call with this result waits for the end of the hold: it was refused by the hold's cause, or was its
    /// probe.
    func waits(for result: borrowing CallResult, isProbe: Bool) -> Bool {
        switch result.verdict {
        case .credentials: true
        case .outage: false
        default: reason.explains(result, status: status, isProbe: isProbe)
        }
    }
}

/// The push services that are held, and the evidence against each.
///
/// | push service | when | then |
/// |---|---|---|
/// | open | it refused many users in a row, and another one accepts calls | held |
/// | held | a probe shows the cause to be gone | open |
/// | held | partitions go, settings no longer begin it, or no call was wanted for long | open |
struct ServiceHolds: Sendable {
    private struct Service: Sendable {
        var hold: ServiceHold?
        /// The users that were rejected in a row with one status.
        var rejected = RefusalRow()
        var status = 0
        /// The number of the latest delivered call, and its end while a sender is excused.
        var delivered: UInt64 = 0
        var deliveredAt = MonotonicTime.distantPast
        /// The sender known to be refused for its own sake.
        var excused: UInt64?
        /// The hold that went with its partitions, while nothing was delivered since.
        var former: ServiceHold?
    }

    private var services: [Service]
    /// The push services that are held: read on every event's way.
    private(set) var held = PushServiceSet()

    init(width: Int) { services = Array(repeating: Service(), count: width) }

    subscript(service: Int) -> ServiceHold? {
        get { services[service].hold }
        set {
            services[service].hold = newValue
            if newValue == nil { held.remove(service) } else { held.insert(service) }
        }
    }

    /// The holds.
    var all: [ServiceHold] { held.compactMap { services[$0].hold } }

    func isProbe(_ token: CallToken) -> Bool {
        held.contains(Int(token.service)) && services[Int(token.service)].hold?.isProbe(token) == true
    }

    /// Notes a delivered call.
    mutating func delivered(_ sequence: UInt64, by service: Int, sender: UInt64, now: MonotonicTime) {
        services[service].delivered = max(services[service].delivered, sequence)
        if !services[service].rejected.isEmpty { services[service].rejected.accept(sequence) }
        services[service].former = nil
        guard let excused = services[service].excused else { return }
        services[service].deliveredAt = now
        if excused == sender { services[service].excused = nil }
    }

    /// Counts a rejected call; true when the push service rejects everybody, and another one has delivered since.
    ///
    /// - Parameter most: the number of users that proves it.
    mutating func rejected(
        _ sequence: UInt64, by service: Int, status: Int, user: UInt64, sender: UInt64, most: Int
    ) -> Bool {
        guard sequence > services[service].delivered else { return false }
        if services[service].status != status { services[service].rejected.removeAll() }
        services[service].status = status
        services[service].rejected.add(sequence, user: user, sender: sender, most: most)
        let row = services[service].rejected
        guard row.count >= most else { return false }
        return services.indices.contains { $0 != service && services[$0].delivered > row.first }
    }

    /// The sender of all events that were rejected in a row; `nil` when there are several.
    func senderRejected(by service: Int) -> UInt64? { services[service].rejected.sender }

    /// Whether refusals of this sender's events are its own fault, because others' get through.
    func excuses(_ sender: UInt64, _ service: Int, now: MonotonicTime) -> Bool {
        services[service].excused == sender
            && now < services[service].deliveredAt.advanced(by: DeadLetterBreaker.excuseTime)
    }

    /// The beginning of the hold that partitions took along, when one begins now; `nil` without one, or long after it.
    func began(_ service: Int, now: MonotonicTime) -> WallTime? {
        guard let former = services[service].former,
            now < former.wantedAt.advanced(by: ServiceHold.lapsesAfter)
        else { return nil }
        return former.since
    }

    /// Ends a hold.
    ///
    /// - Parameter sender: that of the event that got through, if one did.
    mutating func end(_ service: Int, deliveredOf sender: UInt64?, now: MonotonicTime) {
        if let sender, let held = services[service].hold?.sender, held != sender {
            (services[service].excused, services[service].deliveredAt) = (held, now)
        }
        services[service].rejected.removeAll()
        services[service].former = nil
        self[service] = nil
    }

    /// Forgets all holds and the evidence, but not since when each was held.
    mutating func removeAll() {
        for service in services.indices {
            services[service].rejected.removeAll()
            services[service].former = services[service].hold ?? services[service].former
            self[service] = nil
        }
    }
}
