internal import HeraldReplay
internal import HeraldText
internal import HeraldThreads
internal import HeraldTools

/// A fixed plan that can be carried out once.
struct ReadyPlan: Sendable {
    enum Work: Sendable {
        case replay(ReplayPlan, ReplayRules, ReplayOptions)
        case resolve(ResolvePlan)
    }

    var work: Work
    var request: PlanRequest
    /// The selected dead letters, in the form of records.
    var selection: String
    var object: [JSONValue.Member]

    var count: Int {
        switch work {
        case .replay(let plan, _, _): plan.count
        case .resolve(let plan): plan.count
        }
    }
}

/// The plans made so far: each can be started once, within ``PlanCache/lifetime``, from any tab.
///
/// Bounded: beyond ``PlanCache/limit`` the oldest are dropped. Any thread.
final class PlanCache: Sendable {
    /// A plan this old may no longer match the topic.
    static let lifetime = Duration.seconds(15 * 60)
    static let limit = 20

    enum State: Sendable {
        case planning(passed: Int64, total: Int64)
        case ready(ReadyPlan, until: ContinuousClock.Instant)
        case failed(String)
        /// A viewer has started it.
        case used(by: String, job: String?)
    }

    private let plans = Guarded<[(id: String, state: State)]>([])

    func begin() -> String {
        let id = String(UInt64.random(in: .min ... .max), radix: 36)
        plans.withLock { plans in
            plans.append((id, .planning(passed: 0, total: 0)))
            if plans.count > Self.limit { plans.removeFirst(plans.count - Self.limit) }
        }
        return id
    }

    /// Notes the plan's progress or end; returns whether it is still wanted.
    @discardableResult
    func note(_ state: State, of id: String) -> Bool {
        plans.withLock { plans in
            guard let index = plans.firstIndex(where: { $0.id == id }) else { return false }
            plans[index].state = state
            return true
        }
    }

    /// The state of a plan.
    ///
    /// - Throws: a ``ToolFailure`` when there is no plan with this id.
    func state(of id: String) throws -> State {
        guard let plan = plans.withLock({ plans in plans.first { $0.id == id } }) else { throw Self.unknown }
        return plan.state
    }

    /// Takes a plan for the viewer who starts it: no other viewer can.
    ///
    /// - Parameter count: the typed count; must equal the plan's when that is over 100.
    /// - Throws: a ``ToolFailure`` with the reason for refusing.
    func take(
        _ id: String, by name: String, count: Int?, at now: ContinuousClock.Instant = .now
    ) throws -> ReadyPlan {
        try plans.withLock { plans -> ReadyPlan in
            guard let index = plans.firstIndex(where: { $0.id == id }) else { throw Self.unknown }
            switch plans[index].state {
            case .planning: throw ToolFailure("the plan is still being made")
            case .failed(let sentence): throw ToolFailure(sentence)
            case .used(let other, _): throw ToolFailure("\(other) has started this plan already; make another one")
            case .ready(let plan, let until):
                guard now < until else {
                    throw ToolFailure(
                        "the plan is older than \(DurationText.format(Self.lifetime)), and what it was made of may "
                            + "have changed; make another one")
                }
                guard plan.count > 0 else { throw ToolFailure("there is nothing to do") }
                guard plan.count <= Self.untypedLimit || count == plan.count else {
                    throw ToolFailure("type how many: \(plan.count)")
                }
                plans[index].state = .used(by: name, job: nil)
                return plan
            }
        }
    }

    /// Larger counts must be typed.
    static let untypedLimit = 100

    private static var unknown: ToolFailure {
        ToolFailure("there is no such plan in this console (any more); make another one")
    }
}
