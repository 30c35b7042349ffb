import HeraldCore
import HeraldEvents

/// Checks engines against promise 7: trouble stays where it is.
///
/// Makes two runs of the same seed: in one of them some users, events or a push service fail, in the other none do.
/// Every event outside of the trouble must be called as soon as without it, up to ``Trouble/bound``.
package struct Locality {
    package let scenario: Scenario
    /// The number of engines' inputs, in both runs.
    package private(set) var inputs = 0
    package private(set) var virtualSeconds = 0
    /// Receives the events of the run with trouble.
    package var trace: ((String) -> Void)?

    /// Creates the two runs from a seed.
    package init(seed: UInt64) {
        let choices = Choices(seed: seed)
        var scenario = Scenario(seed: seed)
        scenario.calm()
        scenario.isAtomic = !choices.once(in: 4, for: "locality.isAtomic")
        scenario.workers = 1 + choices.below(3, for: "locality.workers")
        scenario.partitions = 1 + choices.below(4, for: "locality.partitions")
        scenario.events = 600 + choices.below(900, for: "locality.events")
        scenario.users = 400
        scenario.burst = choices.pick([1, 4, 12], for: "locality.burst")
        scenario.campaignShare = 0
        scenario.gaps = 0
        scenario.twins = 0
        scenario.ordering = choices.pick([.key, .key, .none], for: "locality.ordering")
        scenario.immediate = choices.below(3, for: "locality.immediate")
        scenario.chooseDelays(choices)
        let trouble = Trouble(seed: seed)
        // Calls that hang may use up the limit: then there is no room for others.
        let maxInFlight = choices.pick([100, 300, 1_000], for: "locality.maxInFlight")
        scenario.maxInFlight = trouble.shape.takesLong ? 1_000 : maxInFlight
        scenario.trouble = trouble
        self.scenario = scenario
    }

    /// Makes both runs.
    ///
    /// - Returns: The broken promises.
    package mutating func run() -> [String] {
        let troubled = Simulation(scenario: scenario)
        troubled.trace = trace
        var calm = scenario
        calm.trouble?.isOn = false
        let undisturbed = Simulation(scenario: calm)
        let violations = troubled.run() + undisturbed.run()
        inputs = troubled.inputs + undisturbed.inputs
        virtualSeconds = troubled.virtualSeconds + undisturbed.virtualSeconds
        return violations.isEmpty ? compare(troubled.checkers, with: undisturbed.checkers) : violations
    }

    private func compare(_ troubled: Checkers, with undisturbed: Checkers) -> [String] {
        var violations: [String] = []
        let bound = scenario.trouble?.bound ?? 0
        for duty in untouched(troubled.duties) {
            guard let late = troubled.duties[duty].delay, let usual = undisturbed.duties[duty].delay else {
                violations.append("promise 7: \(troubled.text(duty)) was never called")
                continue
            }
            if late > usual + bound {
                violations.append(
                    "promise 7: \(troubled.text(duty)) was called after \(late) ms, and after \(usual) ms without the trouble"
                )
            }
            if troubled.duties[duty].finals != [.delivered] {
                violations.append("promise 7: \(troubled.text(duty)) came to \(troubled.duties[duty].finals)")
            }
        }
        return violations
    }

    /// The duties outside of the trouble, which hits an event itself or an earlier event of its user.
    private func untouched(_ duties: [Duty]) -> [Int] {
        guard let trouble = scenario.trouble else { return [] }
        var hitUsers: Set<Int> = []
        for user in 0..<scenario.users where trouble.strikes(user: user) { hitUsers.insert(user) }
        // An event with several services is several duties: all of them exist before any is judged.
        let hit = Set(duties.filter { trouble.strikes(event: $0.event) || trouble.service == $0.service }.map(\.event))
        return duties.indices.filter { index in
            let duty = duties[index]
            defer { if hit.contains(duty.event), scenario.ordering != .none { hitUsers.insert(duty.user) } }
            return !hitUsers.contains(duty.user) && !trouble.strikes(event: duty.event)
                && trouble.service != duty.service
        }
    }
}
