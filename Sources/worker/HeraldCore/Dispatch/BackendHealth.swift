import HeraldEvents
import HeraldTime

/// What a result of a call means.
enum CallMeaning: Equatable {
    case answered(AnswerClass)
    case failedForNow
    case unreachable(HoldReason)

    init(_ result: CallResult, _ statuses: borrowing StatusTable) {
        self =
            switch result.failure {
            case nil: .answered(statuses[result.status])
            case .tls: .unreachable(.tls)
            case .nameNotFound: .unreachable(.nameNotFound)
            case .proxyRefused: .unreachable(.proxyRefused)
            case .refused, .reset, .timeout, .brokenHTTP: .failedForNow
            }
    }

    /// Whether the backend looked at more than the credentials.
    var showsAcceptance: Bool {
        switch self {
        case .answered(.delivered), .answered(.rejected), .answered(.transient): true
        case .answered(.credentials), .failedForNow, .unreachable: false
        }
    }
}

/// Whether the backend is well, and the settings: if not, a ``Hold`` is on.
///
/// | hold | when | then |
/// |---|---|---|
/// | none | too many calls fail, too many answers make dead letters, or nobody can be called | on |
/// | on | its probe shows its cause to be gone | none |
/// | on | its probe fails for another reason | on, for that reason |
/// | on | partitions go, or new credentials end the lack of any | none |
struct BackendHealth: Sendable {
    private(set) var hold: Hold? {
        didSet { isHolding = hold != nil }
    }
    /// Whether nothing but probes is called: asked on every event's way, where ``hold`` is too much to look at.
    private(set) var isHolding = false
    private let rule: BreakerRule
    private var breaker: Breaker
    private var fuse: Fuse
    private var budget = RetryBudget()

    init(configuration: EngineConfiguration, width: Int) {
        rule = configuration.breaker
        breaker = Breaker(rule: rule, width: width, classes: 1)
        fuse = Fuse(rule: configuration.fuse)
    }

    /// An assignment begins, with so many classes of calls.
    mutating func assigned(width: Int, classes: Int) {
        breaker = Breaker(rule: rule, width: width, classes: classes)
    }

    /// Whether this call is the hold's probe.
    func isProbe(_ token: CallToken) -> Bool { isHolding && hold?.probe == token }

    /// Whether a call may be repeated at once.
    var allowsQuickRetry: Bool { budget.allowsRetry }

    /// When somebody got through last.
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
        if let source { fuse.pass(source: source, now: now.monotonic) }
    }

    /// Counts an answer that rejects; true when that is one of too many.
    mutating func rejected(status: Int, user: UInt64, source: UInt64, now: MonotonicTime) -> Bool {
        fuse.fail(status: status, user: user, source: source, now: now)
    }
}

// MARK: The hold

extension BackendHealth {
    /// False when there is one already, which goes on.
    mutating func begin(_ new: Hold) -> Bool {
        if let hold {
            // Without a token there is nothing to probe with.
            guard new.reason == .tokenUnavailable, hold.reason != new.reason else { return false }
        }
        hold = new
        return true
    }

    /// - Parameter source: of the event that got through, if one did.
    /// - Returns: Why it was on.
    mutating func end(source: UInt64?) -> HoldReason? {
        guard let hold else { return nil }
        self.hold = nil
        breaker.reset()
        let isBadByItself = hold.reason == .fuse && source != nil && source != hold.source
        fuse.reset(excusing: isBadByItself ? hold.source : nil)
        return hold.reason
    }

    /// Nothing is called any more.
    mutating func drop() { hold = nil }

    enum Judgement {
        case well
        case unwell
        case unwellBecause(HoldReason)
    }

    /// A hold ends when its probe is answered with any status that shows its cause to be gone; no answer at all proves
    /// nothing.
    mutating func judgeProbe(
        _ meaning: CallMeaning, status: Int, ofClass number: Int, now: MonotonicTime
    ) -> Judgement {
        guard let reason = hold?.reason else { return .unwell }
        var isWell = false
        switch meaning {
        case .answered(.credentials): hold?.reason = .credentials
        case .unreachable(let reason): hold?.reason = reason
        case .failedForNow: break
        case .answered(.transient): isWell = reason != .breaker && reason != .fuse
        case .answered(.rejected): isWell = reason != .fuse || hold?.status != status
        case .answered(.delivered): isWell = true
        }
        if isWell { return .well }
        hold?.probeFailed(ofClass: number, now: now)
        guard let hold, hold.reason != reason else { return .unwell }
        return .unwellBecause(hold.reason)
    }

    /// Whether a call that ended so waits for the end of the hold, because it failed by the hold's cause, or was its probe.
    func waits(for meaning: CallMeaning, status: Int, isProbe: Bool) -> Bool {
        guard isHolding, let hold else { return false }
        switch meaning {
        case .answered(.delivered), .answered(.credentials): return false
        case .unreachable: return true
        case .failedForNow: return isProbe || hold.reason == .breaker
        case .answered(.transient): return hold.reason == .breaker || isProbe
        case .answered(.rejected): return hold.reason == .fuse && hold.status == status
        }
    }

    /// A probe begins.
    mutating func probe(_ token: CallToken, user: UInt64) { hold?.begin(token, user: user) }

    /// Something changed for the better, perhaps.
    mutating func probeSoon(now: MonotonicTime) { hold?.probeSoon(now: now) }

    /// One user alone was refused.
    mutating func noteOneUser(now: MonotonicTime) { hold?.concernsOneUser(now: now) }

    /// A call of this class, of an event that was never called, may be probed with.
    mutating func noteCandidate(ofClass number: Int) {
        hold?.hasOthers = true
        hold?.room[number] -= 1
    }

    /// Everybody was asked who was not asked before.
    mutating func noteNoOthers() { hold?.hasOthers = false }
}
