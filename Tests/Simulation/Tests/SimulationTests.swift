import HeraldCore
import Simulation
import Testing

@Suite("In simulation")
struct SimulationTests {
    private func run(_ scenario: Scenario) {
        let violations = Simulation(scenario: scenario).run()
        let count = violations.count
        #expect(count == 0, "seed \(scenario.seed): \(violations.prefix(3).joined(separator: "; "))")
    }

    private func scenario(_ seed: UInt64, isAtomic: Bool) -> Scenario {
        var scenario = Scenario(seed: seed)
        scenario.isAtomic = isAtomic
        return scenario
    }

    @Test(
        "the promises hold while workers crash, stop, freeze and come back, and brokers are away",
        arguments: [true, false], UInt64(1)...8)
    func crashes(isAtomic: Bool, seed: UInt64) {
        run(scenario(seed, isAtomic: isAtomic))
    }

    @Test("the promises hold in scenarios of every kind", arguments: UInt64(1)...6)
    func everyKind(seed: UInt64) {
        run(.any(seed: seed))
    }

    @Test("one worker alone makes every call once when nothing goes wrong", arguments: [true, false], UInt64(1)...3)
    func calm(isAtomic: Bool, seed: UInt64) {
        var scenario = scenario(seed, isAtomic: isAtomic)
        scenario.workers = 1
        scenario.calm()
        run(scenario)
    }

    @Test("a user whose calls hang for ever delays nobody else", arguments: [true, false])
    func slowUser(isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.calm()
        scenario.hanging = [1]
        scenario.events = 200
        run(scenario)
    }

    @Test("users who always fail delay nobody else beyond a bound", arguments: Bystanders.all)
    func bystanders(case bystanders: Bystanders) {
        #expect(bystanders.violation() == nil)
    }

    @Test("partition order and no order lose nothing either", arguments: [Ordering.partition, .none], [true, false])
    func otherOrders(ordering: Ordering, isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.ordering = ordering
        run(scenario)
    }

    @Test("workers whose clocks differ by seconds lose nothing and call nothing too soon", arguments: [true, false])
    func skew(isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.skew = 3_000
        run(scenario)
    }

    @Test("more workers than partitions", arguments: [true, false])
    func standby(isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.partitions = 2
        scenario.workers = 4
        run(scenario)
    }

    @Test("rivals for a worker's name write nothing twice", arguments: UInt64(1)...3)
    func rivals(seed: UInt64) {
        var scenario = scenario(seed, isAtomic: true)
        scenario.hasFixedIDs = true
        scenario.rivals = 2
        run(scenario)
    }

    @Test("the same seed gives the same run")
    func deterministic() {
        let first = Simulation(scenario: .any(seed: 77))
        let second = Simulation(scenario: .any(seed: 77))
        #expect(first.run() == second.run())
        #expect(first.inputs == second.inputs)
        #expect(first.virtualSeconds == second.virtualSeconds)
    }
}
