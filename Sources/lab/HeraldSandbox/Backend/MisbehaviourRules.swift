internal import HeraldBytes
import HeraldHTTP
import HeraldText
import HeraldTime

/// The rules in force and their counters; a value that takes time and randomness from outside.
struct MisbehaviourRules {
    struct Call {
        var path: String
        var user: String?
        var pns: String?
        var idempotencyKey: String?
    }

    struct Verdict: Equatable {
        var latency = Milliseconds.zero
        var effect: Misbehaviour.Effect?
        var retryAfter: String?
        var isCarriedOut = false
        var held: HeldAnswers?

        /// Whether the request is carried out and gets the proper answer.
        var isProper: Bool { effect == nil || effect == .hold }

        /// The value of a `Retry-After` header: `date+30` becomes the date 30 seconds from now.
        func retryAfter(at now: WallTime) -> String? {
            guard let retryAfter, retryAfter.hasPrefix("date+"), let seconds = Int64(retryAfter.dropFirst(5)) else {
                return retryAfter
            }
            return HTTPDate.text(now.advanced(by: .seconds(seconds)))
        }

        /// What becomes of the response; without one the connection hangs or is closed.
        func answer(_ response: HTTPResponse?) -> HTTPAnswer {
            guard let response else { return effect == .hang ? .hang : .hangUp(after: latency.duration) }
            if let held { return .respondWhenReady { held.hold(response, for: $0) } }
            return .respondLater(response, after: latency.duration)
        }
    }

    private(set) var held = HeldAnswers()
    private let defaultPath: String
    private var rules: [RuleState]

    /// Rules without a path apply to `defaultPath`.
    init(_ rules: [Misbehaviour], defaultPath: String = "/api/notifications") {
        self.defaultPath = defaultPath
        self.rules = rules.map { RuleState($0, defaultPath: defaultPath) }
    }

    /// Replaces the rules; answers held by the old ones are sent.
    mutating func replace(with rules: [Misbehaviour]) {
        self.rules = rules.map { RuleState($0, defaultPath: defaultPath) }
        held.end()
        held = HeldAnswers()
    }

    mutating func verdict(on call: Call, at now: MonotonicTime) -> Verdict {
        var verdict = Verdict()
        for index in rules.indices where rules[index].applies(to: call, at: now) {
            verdict.latency += rules[index].latency()
            let rule = rules[index].rule
            guard let effect = rule.effect else { continue }
            verdict.effect = effect
            verdict.retryAfter = rule.retryAfter
            verdict.isCarriedOut = rule.isCarriedOut
            if effect == .hold { verdict.held = held }
            break
        }
        return verdict
    }
}

private struct RuleState {
    /// The maximum number of counted idempotency keys; one more forgets the oldest.
    private static let keyLimit = 100_000

    let rule: Misbehaviour
    private let path: Glob
    private let user: Glob?
    private let pns: Glob?
    private var callsLeft: Int?
    private var generator: SplitMix64
    private var callsOfKey: [String: Int] = [:]
    private var keys = BoundedLog<String>(limit: Self.keyLimit)
    private var secondStart: MonotonicTime?
    private var callsInSecond = 0

    init(_ rule: Misbehaviour, defaultPath: String) {
        self.rule = rule
        path = Glob(rule.path ?? defaultPath)
        user = rule.user.map { Glob($0) }
        pns = rule.pns.map { Glob($0) }
        callsLeft = rule.calls
        generator = SplitMix64(seed: rule.seed)
    }

    /// Whether the rule applies to this call; counts it.
    mutating func applies(to call: MisbehaviourRules.Call, at now: MonotonicTime) -> Bool {
        guard path.matches(call.path) else { return false }
        if let user, !(call.user.map { user.matches($0) } ?? false) { return false }
        if let pns, !(call.pns.map { pns.matches($0) } ?? false) { return false }
        if let limit = rule.callsPerKey, !isWithin(limit, call.idempotencyKey) { return false }
        if let limit = rule.perSecond, !isBeyond(limit, at: now) { return false }
        if let share = rule.share, Double.random(in: 0..<1, using: &generator) >= share { return false }
        guard let left = callsLeft else { return true }
        callsLeft = max(left - 1, 0)
        return left > 0
    }

    mutating func latency() -> Milliseconds {
        guard let range = rule.latency else { return .zero }
        return range.lowerBound == range.upperBound ? range.lowerBound : .random(in: range, using: &generator)
    }

    private mutating func isWithin(_ limit: Int, _ key: String?) -> Bool {
        guard let key else { return false }
        let count = (callsOfKey[key] ?? 0) + 1
        if count == 1, let forgotten = keys.append(key) { callsOfKey[forgotten] = nil }
        callsOfKey[key] = count
        return count <= limit
    }

    private mutating func isBeyond(_ limit: Int, at now: MonotonicTime) -> Bool {
        if let start = secondStart, now.time(since: start) < .seconds(1) {
            callsInSecond += 1
        } else {
            secondStart = now
            callsInSecond = 1
        }
        return callsInSecond > limit
    }
}

extension MisbehaviourRules {
    /// Shows or changes the rules over HTTP: GET, PUT, DELETE.
    mutating func reply(to request: HTTPRequest) -> Reply {
        switch request.method {
        case "GET": return .json(Misbehaviour.json(rules.map(\.rule)))
        case "PUT":
            do throws(InputError) {
                replace(with: try Misbehaviour.rules(json: request.body))
                return .ok
            } catch {
                return .failure(400, error.description)
            }
        case "DELETE":
            replace(with: [])
            return .ok
        default: return .notAllowed(request)
        }
    }
}
