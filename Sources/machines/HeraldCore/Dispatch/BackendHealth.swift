import HeraldEvents
import HeraldTime

extension CallVerdict {
    /// Whether the backend looked at more than the credentials.
    var showsAcceptance: Bool {
        switch self {
        case .delivered, .rejected, .transient, .throttled: true
        case .credentials, .unanswered, .outage, .oversized: false
        }
    }
}

/// Whether the backend is well, and the settings: if not, a ``Outage`` is on.
///
/// | outage | when | then |
/// |---|---|---|
/// | none | too many calls fail, too many answers make dead letters, or no call can be made | on |
/// | on | its probe shows its cause to be gone | none |
/// | on | its probe fails for another reason | on, for that reason |
/// | on | partitions go, or new credentials end the lack of any | none |
struct BackendHealth: Sendable {
    private(set) var outage: Outage? {
        didSet { isInOutage = outage != nil }
    }
    /// Whether nothing but probes is called: asked on every event's way, where ``outage`` is too much to look at.
    private(set) var isInOutage = false
    private var rule: BreakerRule
    private var breaker: Breaker
    private var deadLetterBreaker: DeadLetterBreaker
    private var budget = RetryBudget()

    init(configuration: LiveConfiguration, width: Int) {
        rule = configuration.breaker
        breaker = Breaker(rule: rule, width: width, classes: 1)
        deadLetterBreaker = DeadLetterBreaker(rule: configuration.deadLetterBreaker)
    }

    /// An assignment begins, with so many classes of calls.
    mutating func assigned(width: Int, classes: Int) {
        breaker = Breaker(rule: rule, width: width, classes: classes)
    }

    /// Other rules from now on; what was counted stays.
    mutating func use(_ live: LiveConfiguration) {
        rule = live.breaker
        breaker.use(live.breaker)
        deadLetterBreaker.use(live.deadLetterBreaker)
    }

    /// Whether the outage is one that these settings would not begin: its breaker is off, its status makes no dead letters, or it
    /// means what the settings say.
    func isUnfounded(by live: LiveConfiguration) -> Bool {
        guard let outage else { return false }
        return switch outage.reason {
        case .breaker: !live.breaker.isOn
        case .deadLetterBreaker: !live.deadLetterBreaker.isOn || live.statuses[outage.status] != .rejected
        default: outage.status != 0 && live.statuses.isChanged(outage.status)
        }
    }

    /// Whether this call is the outage's probe.
    func isProbe(_ token: CallToken) -> Bool { isInOutage && outage?.probe == token }

    /// Whether a call may be repeated at once.
    var allowsQuickRetry: Bool { budget.allowsRetry }

    /// When a call got through last.
    var lastPass: WallTime { breaker.lastPass }

    /// The backend could not just now; of a call that is evidence, `place` says where it counts.
    ///
    /// - Returns: Whether too many calls fail.
    mutating func failed(at place: Int?, user: UInt64, now: Moment) -> Bool {
        budget.failed()
        guard let place else { return false }
        return breaker.failed(place, user: user, now: now)
    }

    /// The backend wants fewer calls, which says nothing about how well it is.
    mutating func throttled() { budget.failed() }

    /// The backend answered; `source` is that of an event that was delivered.
    mutating func passed(at place: Int?, deliveredOf source: UInt64?, now: Moment) {
        budget.succeeded()
        breaker.passed(place, now: now)
        if let source { deadLetterBreaker.pass(source: source, now: now.monotonic) }
    }

    /// Counts an answer that rejects; true when that is one of too many.
    mutating func rejected(status: Int, user: UInt64, source: UInt64, now: MonotonicTime) -> Bool {
        deadLetterBreaker.fail(status: status, user: user, source: source, now: now)
    }
}

// MARK: The outage

extension BackendHealth {
    /// False when there is one already, which goes on.
    mutating func begin(_ new: Outage) -> Bool {
        if let outage {
            // Without a token there is nothing to probe with.
            guard new.reason == .tokenUnavailable, outage.reason != new.reason else { return false }
        }
        outage = new
        return true
    }

    /// - Parameter source: of the event that got through, if one did.
    /// - Returns: Why it was on.
    mutating func end(source: UInt64?) -> OutageReason? {
        guard let outage else { return nil }
        self.outage = nil
        breaker.reset()
        let isBadByItself = outage.reason == .deadLetterBreaker && source != nil && source != outage.source
        deadLetterBreaker.reset(excusing: isBadByItself ? outage.source : nil)
        return outage.reason
    }

    /// Nothing is called any more.
    mutating func drop() { outage = nil }

    enum Judgement {
        case well
        case unwell
        case unwellBecause(OutageReason)
    }

    /// An outage ends when its probe is answered with any status that shows its cause to be gone; no answer at all proves
    /// nothing.
    mutating func judgeProbe(_ result: borrowing CallResult, ofClass number: Int, now: Moment) -> Judgement {
        guard let reason = outage?.reason else { return .unwell }
        var isWell = false
        switch result.verdict {
        case .credentials: outage?.goOn(for: .credentials, status: 0)
        case .outage(let reason): outage?.goOn(for: reason, status: result.status)
        case .unanswered, .oversized: break
        case .transient, .throttled: isWell = reason != .breaker && reason != .deadLetterBreaker
        case .rejected: isWell = reason != .deadLetterBreaker || outage?.status != result.status
        case .delivered: isWell = true
        }
        if isWell { return .well }
        outage?.probeFailed(ofClass: number, now: now.monotonic)
        guard outage?.reason != reason else { return .unwell }
        outage?.since = now.wall
        guard let outage else { return .unwell }
        return .unwellBecause(outage.reason)
    }

    /// Whether a call that ended so waits for the end of the outage, because it failed by the outage's cause, or was its probe.
    func waits(for result: borrowing CallResult, isProbe: Bool) -> Bool {
        guard isInOutage, let outage else { return false }
        switch result.verdict {
        case .delivered, .credentials, .oversized: return false
        case .outage: return true
        case .transient, .throttled, .unanswered: return outage.reason == .breaker || isProbe
        case .rejected: return outage.reason == .deadLetterBreaker && outage.status == result.status
        }
    }

    /// A probe begins.
    mutating func probe(_ token: CallToken, user: UInt64) { outage?.begin(token, user: user) }

    /// Something changed for the better, perhaps.
    mutating func probeSoon(now: MonotonicTime) { outage?.probeSoon(now: now) }

    /// One user alone was refused.
    mutating func noteOneUser(now: MonotonicTime) { outage?.concernsOneUser(now: now) }

    /// A call of this class, of an event that was never called, may be probed with.
    mutating func noteCandidate(ofClass number: Int) {
        outage?.hasOthers = true
        outage?.room[number] -= 1
    }

    /// No event is left to probe with: as many events are taken as at the beginning, or the outage would never end.
    mutating func lookForCandidates() { outage?.makeRoom() }

    /// Every event that was not a probe before has been one.
    mutating func noteNoOthers() { outage?.hasOthers = false }
}
