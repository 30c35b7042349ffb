import HeraldEvents
import HeraldTime

extension CallVerdict {
    /// Whether the backend examined more than the credentials.
    var showsAcceptance: Bool {
        switch self {
        case .delivered, .rejected, .transient, .throttled: true
        case .credentials, .unanswered, .outage, .oversized: false
        }
    }
}

/// The health of the backend and the settings: an ``Outage`` is on when either fails.
///
/// | outage | when | then |
/// |---|---|---|
/// | none | too many calls fail, too many answers make dead letters, or no call can be made | on |
/// | on | its probe shows its cause to be gone | none |
/// | on | its probe fails for another reason | on, for that reason |
/// | on | partitions go, or new credentials end the lack of any | none |
struct BackendHealth: Sendable {
    var outage: Outage? {
        didSet { isInOutage = outage != nil }
    }
    /// Whether only probes are called: read on every event's way, where ``outage`` is too large to read.
    private(set) var isInOutage = false
    /// The push services that are held alone.
    var holds: ServiceHolds
    private var rule: BreakerRule
    private var breaker: Breaker
    private var deadLetterBreaker: DeadLetterBreaker
    private var budget = RetryBudget()

    init(configuration: LiveConfiguration, width: Int) {
        rule = configuration.breaker
        breaker = Breaker(rule: rule, width: width, classes: 1)
        deadLetterBreaker = DeadLetterBreaker(rule: configuration.deadLetterBreaker)
        holds = ServiceHolds(width: width)
    }

    /// Begins an assignment with this many classes of calls.
    mutating func assigned(width: Int, classes: Int) {
        breaker = Breaker(rule: rule, width: width, classes: classes)
    }

    /// Replaces the rules; the counts stay.
    mutating func use(_ live: LiveConfiguration) {
        rule = live.breaker
        breaker.use(live.breaker)
        deadLetterBreaker.use(live.deadLetterBreaker)
    }

    /// Whether these settings would not begin the current outage: its breaker is off, its status makes no dead letters,
    /// or its status has a meaning of its own.
    func isUnfounded(by live: LiveConfiguration) -> Bool {
        outage.map { $0.reason.isUnfounded(by: live, status: $0.status) } ?? false
    }

    /// Whether this call is the outage's probe.
    func isProbe(_ token: CallToken) -> Bool { isInOutage && outage?.probe == token }

    /// Whether a call may be repeated at once.
    var allowsQuickRetry: Bool { budget.allowsRetry }

    /// The time at which a call last got through.
    var lastPass: WallTime { breaker.lastPass }

    /// Notes a temporary failure of the backend; `place` is where a call that is evidence counts.
    ///
    /// - Returns: Whether too many calls fail.
    mutating func failed(at place: Int?, user: UInt64, now: Moment) -> Bool {
        budget.failed()
        guard let place else { return false }
        return breaker.failed(place, user: user, now: now)
    }

    /// Notes that the backend wants fewer calls, which is no evidence about its health.
    mutating func throttled() { budget.failed() }

    /// Notes an answer of the backend; `source` is that of a delivered event.
    mutating func passed(at place: Int?, deliveredOf source: UInt64?, now: Moment) {
        budget.succeeded()
        breaker.passed(place, now: now)
        if let source { deadLetterBreaker.pass(source: source, now: now.monotonic) }
    }

    /// Counts a rejection; true when there are too many.
    mutating func rejected(status: Int, user: UInt64, source: UInt64, now: MonotonicTime) -> Bool {
        deadLetterBreaker.fail(status: status, user: user, source: source, now: now)
    }
}

// MARK: The outage

extension BackendHealth {
    /// Begins an outage; false when one is on already, which continues.
    mutating func begin(_ new: Outage) -> Bool {
        if let outage {
            // Without a token no probe can be made.
            guard new.reason == .tokenUnavailable, outage.reason != new.reason else { return false }
        }
        outage = new
        return true
    }

    /// - Parameter source: the source of the event that got through, if one did.
    /// - Returns: The outage's reason.
    mutating func end(source: UInt64?) -> OutageReason? {
        guard let outage else { return nil }
        self.outage = nil
        breaker.reset()
        let isBadByItself = outage.reason == .deadLetterBreaker && source != nil && source != outage.source
        deadLetterBreaker.reset(excusing: isBadByItself ? outage.source : nil)
        return outage.reason
    }

    enum Judgement {
        case well
        case unwell
        case unwellBecause(OutageReason)
    }

    /// Judges a probe: any status that shows the cause to be gone ends the outage; a missing answer proves nothing.
    ///
    /// - Parameter service: its push service; one that is held says nothing about others by what it is held for.
    mutating func judgeProbe(
        _ result: borrowing CallResult, ofClass number: Int, to service: Int, now: Moment
    ) -> Judgement {
        guard let outage, case let reason = outage.reason else { return .unwell }
        let saysNothing =
            holds[service]?.waits(for: result, isProbe: false) == true
            && (result.verdict == .credentials || reason == .deadLetterBreaker)
        if !saysNothing {
            if reason.isRefuted(by: result, status: outage.status) { return .well }
            switch result.verdict {
            case .credentials: self.outage?.goOn(for: .credentials, status: 0)
            case .outage(let reason): self.outage?.goOn(for: reason, status: result.status)
            case .delivered, .rejected, .transient, .throttled, .unanswered, .oversized: break
            }
        }
        return probeFailed(ofClass: number, for: reason, now: now)
    }

    private mutating func probeFailed(ofClass number: Int, for reason: OutageReason, now: Moment) -> Judgement {
        outage?.probeFailed(ofClass: number, now: now.monotonic)
        guard outage?.reason != reason else { return .unwell }
        outage?.since = now.wall
        guard let outage else { return .unwell }
        return .unwellBecause(outage.reason)
    }

    /// Whether a call with this result waits for the end of the outage: it failed by the outage's cause, or was its
    /// probe.
    func waits(for result: borrowing CallResult, isProbe: Bool) -> Bool {
        guard isInOutage, let outage else { return false }
        return outage.reason.explains(result, status: outage.status, isProbe: isProbe)
    }
}

// MARK: What a reason says of a call, for an outage as for a hold

extension OutageReason {
    /// Whether the result of a probe shows the cause to be gone.
    func isRefuted(by result: borrowing CallResult, status: Int) -> Bool {
        switch result.verdict {
        case .credentials, .outage, .unanswered, .oversized: false
        case .transient, .throttled: self != .breaker && self != .deadLetterBreaker
        case .rejected: self != .deadLetterBreaker || status != result.status
        case .delivered: true
        }
    }

    /// Whether a call failed by the cause, or was a probe that proves nothing.
    func explains(_ result: borrowing CallResult, status: Int, isProbe: Bool) -> Bool {
        switch result.verdict {
        case .delivered, .credentials, .oversized: false
        case .outage: true
        case .transient, .throttled, .unanswered: self == .breaker || isProbe
        case .rejected: self == .deadLetterBreaker && status == result.status
        }
    }

    /// Whether these settings would not begin it: its breaker is off, its status makes no dead letters, or its status has
    /// a meaning of its own.
    func isUnfounded(by live: LiveConfiguration, status: Int) -> Bool {
        switch self {
        case .breaker: !live.breaker.isOn
        case .deadLetterBreaker: !live.deadLetterBreaker.isOn || live.statuses[status] != .rejected
        default: status != 0 && live.statuses.isChanged(status)
        }
    }
}
