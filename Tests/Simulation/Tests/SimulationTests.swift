import HeraldCore
import HeraldTime
import Simulation
import Testing

/// A few runs with the checks of a debug build.
///
/// `scripts/simulate` runs hundreds of seeds, and ``Bystanders``, optimised.
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
        arguments: [true, false], UInt64(1)...2)
    func crashes(isAtomic: Bool, seed: UInt64) {
        run(scenario(seed, isAtomic: isAtomic))
    }

    @Test("the promises hold in scenarios of every kind", arguments: UInt64(1)...2)
    func everyKind(seed: UInt64) {
        run(.any(seed: seed))
    }

    @Test("one worker alone makes every call once without faults", arguments: [true, false])
    func calm(isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.workers = 1
        scenario.calm()
        run(scenario)
    }

    @Test("a user whose calls hang for ever delays no other", arguments: [true, false])
    func slowUser(isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.calm()
        scenario.hanging = [1]
        scenario.events = 200
        run(scenario)
    }

    @Test("partition order and no order lose no event either", arguments: [Ordering.partition, .none], [true, false])
    func otherOrders(ordering: Ordering, isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.ordering = ordering
        run(scenario)
    }

    @Test("workers whose clocks differ by seconds lose no event and make no call too soon", arguments: [true, false])
    func skew(isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.skew = .seconds(3)
        run(scenario)
    }

    @Test("more workers than partitions", arguments: [true, false])
    func standby(isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.partitions = 2
        scenario.workers = 4
        run(scenario)
    }

    @Test("rivals for a worker's name write no record twice")
    func rivals() {
        var scenario = scenario(1, isAtomic: true)
        scenario.hasFixedIDs = true
        scenario.rivals = 2
        run(scenario)
    }

    @Test("all is recorded although brokers refuse some records together with their batches", arguments: [true, false])
    func refusedRecords(isAtomic: Bool) {
        var scenario = scenario(254, isAtomic: isAtomic)
        scenario.calm()
        scenario.refusedRecords = 10_000
        scenario.invalidEvents = 50_000
        (scenario.burst, scenario.maxInFlight) = (200, 200)
        run(scenario)
    }

    @Test("all is recorded once although a quota admits a fraction of it in a transaction's time")
    func quota() {
        var scenario = scenario(1, isAtomic: true)
        scenario.calm()
        scenario.quota = 5
        (scenario.workers, scenario.burst, scenario.maxInFlight) = (1, 200, 200)
        run(scenario)
    }

    @Test(
        "each message of a hub is reported once while its followers are killed, frozen and replaced",
        arguments: [true, false])
    func followers(isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.followers = 2
        run(scenario)
    }

    @Test(
        "each dead letter is replayed once while replays are killed, frozen, fenced, paused and in doubt",
        arguments: [true, false])
    func replays(isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.replays = 2
        scenario.replayFaults = 40
        scenario.replayKills = 10_000
        scenario.lostMessages = 100_000
        scenario.fatalErrors = 30_000
        run(scenario)
    }

    @Test(
        "each recipient is notified once while publishers are killed, frozen, fenced, in doubt, and paused",
        arguments: [true, false])
    func publishers(isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.publishers = 2
        scenario.recipients = 60
        scenario.publisherFaults = 80
        scenario.publisherKills = 10_000
        scenario.lostMessages = 100_000
        scenario.fatalErrors = 30_000
        run(scenario)
    }

    @Test(
        "no record is passed over or reported twice in topics that are recreated while they are consumed",
        arguments: [true, false])
    func recreations(isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.recreations = 10
        run(scenario)
    }

    @Test("no event is called again in logs that are cut off, and new ones are called", arguments: [true, false])
    func cuts(isAtomic: Bool) {
        var scenario = scenario(1, isAtomic: isAtomic)
        scenario.cuts = 20
        run(scenario)
    }

    @Test("a trace does not change a run", arguments: UInt64(1)...2)
    func traced(seed: UInt64) {
        let quiet = Simulation(scenario: .any(seed: seed))
        let traced = Simulation(scenario: .any(seed: seed))
        traced.trace = { _ in }
        #expect(quiet.run() == traced.run())
        #expect(quiet.inputs == traced.inputs)
    }

    @Test("the same seed gives the same run, even of jobs", arguments: [0, 2])
    func deterministic(jobs: Int) {
        var scenario = Scenario.any(seed: 77)
        (scenario.followers, scenario.replays, scenario.publishers) = (jobs, jobs, jobs)
        let first = Simulation(scenario: scenario)
        let second = Simulation(scenario: scenario)
        #expect(first.run() == second.run())
        #expect(first.inputs == second.inputs)
        #expect(first.virtualSeconds == second.virtualSeconds)
    }
}
