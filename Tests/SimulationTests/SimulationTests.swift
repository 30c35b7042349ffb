import HeraldCore
import Testing

@Suite("In simulation")
struct SimulationTests {
    private func run(_ scenario: Scenario) {
        let violations = Simulation(scenario: scenario).run()
        let count = violations.count
        #expect(count == 0, "seed \(scenario.seed): \(violations.prefix(3).joined(separator: "; "))")
    }

    @Test("nothing is lost and users' order is kept while workers crash, stop and come back", arguments: UInt64(1)...60)
    func crashes(seed: UInt64) {
        run(Scenario(seed: seed))
    }

    @Test("the promises hold for seeds that nobody has seen before")
    func newSeeds() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<30 { run(Scenario(seed: generator.next())) }
    }

    @Test("one worker alone makes every call once when nothing goes wrong", arguments: UInt64(1)...5)
    func calm(seed: UInt64) {
        var scenario = Scenario(seed: seed)
        scenario.workers = 1
        scenario.calm()
        run(scenario)
    }

    @Test("a user whose calls hang for ever delays nobody else", arguments: UInt64(1)...5)
    func slowUser(seed: UInt64) {
        var scenario = Scenario(seed: seed)
        scenario.calm()
        scenario.hanging = ["user-1"]
        scenario.events = 200
        run(scenario)
    }

    @Test("partition order and no order lose nothing either", arguments: [Ordering.partition, .none], UInt64(1)...10)
    func otherOrders(ordering: Ordering, seed: UInt64) {
        var scenario = Scenario(seed: seed)
        scenario.ordering = ordering
        run(scenario)
    }

    @Test("workers whose clocks differ by seconds lose nothing and call nothing too soon", arguments: UInt64(1)...10)
    func skew(seed: UInt64) {
        var scenario = Scenario(seed: seed)
        scenario.skew = 3_000
        run(scenario)
    }

    @Test("more workers than partitions", arguments: UInt64(1)...10)
    func standby(seed: UInt64) {
        var scenario = Scenario(seed: seed)
        scenario.partitions = 2
        scenario.workers = 4
        run(scenario)
    }

    @Test("the same seed gives the same run")
    func deterministic() {
        let first = Simulation(scenario: Scenario(seed: 77))
        let second = Simulation(scenario: Scenario(seed: 77))
        #expect(first.run() == second.run())
        #expect(first.steps == second.steps)
        #expect(first.now == second.now)
    }
}
