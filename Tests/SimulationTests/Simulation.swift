import HeraldCore
import HeraldEvents
import HeraldTime
import TestSupport

/// Workers of one group over a simulated broker and a simulated backend, in virtual time, from one seed: the same seed
/// gives the same run, step by step.
final class Simulation {
    /// Something that happens at a moment.
    enum Step {
        case publish
        case tick(worker: Int, incarnation: Int)
        case answer(worker: Int, incarnation: Int, CallToken, CallResult)
        case append(worker: Int, incarnation: Int, ProductionID, Place, LogRecord, ProductionFailure?)
        case acknowledge(worker: Int, incarnation: Int, ProductionID, ProductionFailure?)
        case commit(worker: Int, incarnation: Int, sequence: UInt64, generation: Int, [Position])
        case committed(worker: Int, incarnation: Int, sequence: UInt64, CommitOutcome)
        case revoked(worker: Int, incarnation: Int)
        case lost(worker: Int, incarnation: Int)
        case unassigned(worker: Int, incarnation: Int)
        case assigned(worker: Int, incarnation: Int, generation: Int, [Place])
        case crash
        case stop
        case freeze
        case thaw(worker: Int, incarnation: Int)
        case grow
        case start(worker: Int)
        case sessionEnds(worker: Int, incarnation: Int)
        case weather
        /// Refused users are accepted from here on: when nobody else's event is left, one that is refused can't be told
        /// from a wrong password, and waits for ever.
        case pardon
    }

    /// A run that needs more turns in circles.
    static let mostSteps = 2_000_000
    /// More steps at one moment mean that a loop spins.
    static let mostStepsAtOnce = 20_000

    let scenario: Scenario
    var random: SplitMix64
    var now: Int64 = 1_700_000_000_000
    let start: Int64 = 1_700_000_000_000
    var cluster: SimulatedCluster
    var backend = SimulatedBackend()
    var checkers: Checkers
    var workers: [SimulatedWorker] = []
    var published = 0
    var steps = 0
    private var agenda = Agenda<Step>()

    init(scenario: Scenario) {
        self.scenario = scenario
        random = SplitMix64(seed: scenario.seed)
        let topics = scenario.topics
        cluster = SimulatedCluster(
            partitions: scenario.partitions,
            consumedTopics: topics.requests + scenario.delays.map { topics.retryTopic($0) },
            otherTopics: [topics.results, topics.deadLetter])
        checkers = Checkers(scenario)
        backend.forbidden = scenario.forbidden
        backend.hanging = scenario.hanging
        if scenario.calmBackend {
            backend.weather = .init(transient: 0, throttled: 0, rejected: 0, timeout: 0, reset: 0)
        }
        for index in 0..<scenario.workers { workers.append(SimulatedWorker(index: index, simulation: self)) }
    }

    var moment: Moment {
        Moment(
            monotonic: MonotonicTime(nanoseconds: (now - start) * 1_000_000), wall: WallTime(milliseconds: now))
    }

    func schedule(_ step: Step, after wait: Int64) {
        agenda.add(step, at: now + max(0, wait))
    }

    func chance(_ thousandths: Int) -> Bool { Int(random.next() % 1_000) < thousandths }

    func between(_ low: Int64, _ high: Int64) -> Int64 { low + Int64(random.next() % UInt64(high - low + 1)) }

    // MARK: The run

    /// Runs until everything is settled and quiet.
    ///
    /// What broke a promise, if anything did.
    func run() -> [String] {
        for index in workers.indices { schedule(.start(worker: index), after: between(0, 50)) }
        schedule(.publish, after: 10)
        schedule(.pardon, after: 200_000)
        for _ in 0..<scenario.crashes { schedule(.crash, after: between(100, 60_000)) }
        for _ in 0..<scenario.stops { schedule(.stop, after: between(100, 60_000)) }
        for _ in 0..<scenario.freezes { schedule(.freeze, after: between(100, 60_000)) }
        for _ in 0..<scenario.growths { schedule(.grow, after: between(100, 60_000)) }
        if scenario.storms { schedule(.weather, after: between(500, 5_000)) }
        let end = now + scenario.longest
        var atOnce = 0
        while let (at, step) = agenda.next() {
            atOnce = at == now ? atOnce + 1 : 0
            now = at
            steps += 1
            if atOnce > Self.mostStepsAtOnce {
                checkers.fail("a loop spins at \(now - start) ms of virtual time")
                break
            }
            if now > end || steps > Self.mostSteps {
                checkers.fail("the run did not become quiet within \(now - start) ms of virtual time")
                break
            }
            perform(step)
            if steps % 64 == 0 && isQuiet || !checkers.violations.isEmpty { break }
        }
        if !isQuiet && checkers.violations.isEmpty {
            checkers.fail("nothing more happens, and not everything is settled")
        }
        if checkers.violations.isEmpty { checkers.finish() }
        return checkers.violations
    }

    /// Everything is published and every consumed record is behind the committed offset.
    private var isQuiet: Bool {
        guard published >= scenario.events else { return false }
        return cluster.consumed.allSatisfy { place in
            (cluster.logs[place] ?? []).dropFirst(Int(cluster.committed[place] ?? 0)).allSatisfy(\.isMarker)
        }
    }

    private func perform(_ step: Step) {
        if let (worker, incarnation) = receiver(of: step), workers[worker].incarnation == incarnation,
            let thaw = workers[worker].frozenUntil
        {
            // It hears of everything when it wakes up, in this order.
            agenda.add(step, at: max(now, thaw))
            return
        }
        switch step {
        case .publish: publish()
        case .start(let worker): workers[worker].start()
        case .crash: if let worker = anyRunning() { workers[worker].crash() }
        case .stop: if let worker = anyRunning() { workers[worker].drain() }
        case .freeze: if let worker = anyRunning() { workers[worker].freeze() }
        case .thaw(let worker, let incarnation):
            if workers[worker].incarnation == incarnation, workers[worker].isRunning { workers[worker].thaw() }
        case .grow: rebalance(telling: cluster.grow())
        case .weather: changeWeather()
        case .pardon: backend.forbidden = []
        case .sessionEnds(let worker, let incarnation):
            rebalance(telling: cluster.remove(memberID(worker, incarnation)))
        case .append(let worker, let incarnation, let id, let place, let record, let failure):
            // What has left the process arrives, whether or not the process still lives.
            appendProduced(record, to: place)
            let late = failure == nil && chance(scenario.acknowledgementFailures) ? between(1_000, 5_000) : 0
            schedule(
                .acknowledge(worker: worker, incarnation: incarnation, id, failure), after: late + between(0, 15))
        case .commit(let worker, let incarnation, let sequence, let generation, let positions):
            arrive(worker, incarnation, sequence: sequence, generation: generation, positions)
        case .tick(let worker, let incarnation): deliver(worker, incarnation) { $0.tick() }
        case .answer(let worker, let incarnation, let token, let result):
            deliver(worker, incarnation) { $0.answer(token, result) }
        case .acknowledge(let worker, let incarnation, let id, let failure):
            deliver(worker, incarnation) { $0.acknowledged(id, failure) }
        case .committed(let worker, let incarnation, let sequence, let outcome):
            deliver(worker, incarnation) { $0.committed(sequence, outcome) }
        case .revoked(let worker, let incarnation): deliver(worker, incarnation) { $0.revoked() }
        case .lost(let worker, let incarnation): deliver(worker, incarnation) { $0.lost() }
        case .assigned(let worker, let incarnation, let generation, let places):
            // A member hears of a generation once it has asked for it, and not when the next one has begun.
            guard cluster.isMember(memberID(worker, incarnation), of: generation) else { return }
            deliver(worker, incarnation) { $0.assigned(places, generation: generation) }
        case .unassigned(let worker, let incarnation): unassigned(worker, incarnation)
        }
    }

    private func unassigned(_ worker: Int, _ incarnation: Int) {
        let member = memberID(worker, incarnation)
        if cluster.members[member] != nil {
            cluster.unassigned(member)
            finishRebalance()
        } else if workers[worker].incarnation == incarnation, workers[worker].isRunning {
            // Its session had ended: it joins anew.
            workers[worker].rejoin()
        }
    }

    /// The process that a step is told to; `nil` for what happens elsewhere.
    private func receiver(of step: Step) -> (worker: Int, incarnation: Int)? {
        switch step {
        case .tick(let worker, let incarnation), .revoked(let worker, let incarnation): (worker, incarnation)
        case .answer(let worker, let incarnation, _, _), .acknowledge(let worker, let incarnation, _, _):
            (worker, incarnation)
        case .committed(let worker, let incarnation, _, _), .assigned(let worker, let incarnation, _, _):
            (worker, incarnation)
        case .publish, .append, .commit, .unassigned, .crash, .stop, .freeze, .thaw, .grow, .lost, .start, .sessionEnds,
            .weather, .pardon:
            nil
        }
    }

    /// A commit reaches the broker, or not, and so does its reply the worker.
    private func arrive(
        _ worker: Int, _ incarnation: Int, sequence: UInt64, generation: Int, _ positions: [Position]
    ) {
        let accepted = cluster.accepts(member: memberID(worker, incarnation), generation: generation)
        let fault = chance(scenario.commitFailures) ? random.next() % 3 : 3
        if accepted, fault != 0 { for position in positions { commit(position) } }
        let outcome: CommitOutcome = fault < 2 ? .failedForNow : accepted ? .acknowledged : .refused
        if fault == 0 || fault == 2 || !accepted { workers[worker].commitFailed(incarnation) }
        schedule(
            .committed(worker: worker, incarnation: incarnation, sequence: sequence, outcome),
            after: fault == 2 ? between(1_000, 12_000) : between(0, 15))
    }

    private func deliver(_ worker: Int, _ incarnation: Int, _ input: (SimulatedWorker) -> Void) {
        guard workers[worker].incarnation == incarnation, workers[worker].isRunning else { return }
        input(workers[worker])
    }

    private func anyRunning() -> Int? {
        let running = workers.indices.filter { workers[$0].isRunning && workers[$0].frozenUntil == nil }
        return running.isEmpty ? nil : running[Int(random.next() % UInt64(running.count))]
    }

    private func changeWeather() {
        guard now - start < 60_000 else {
            backend.weather = .init()
            return
        }
        var weather = SimulatedBackend.Weather()
        switch random.next() % 4 {
        case 0: weather.passwordIsWrong = true
        case 1: weather.isUnreachable = true
        case 2: weather.transient = 900
        default: break
        }
        backend.weather = weather
        schedule(.weather, after: between(200, 8_000))
    }

    // MARK: The broker

    func memberID(_ worker: Int, _ incarnation: Int) -> Int { worker * 1_000_000 + incarnation }

    func rebalance(telling members: [Int]) {
        for member in members {
            let (worker, incarnation) = (member / 1_000_000, member % 1_000_000)
            schedule(.revoked(worker: worker, incarnation: incarnation), after: between(0, 20))
        }
        finishRebalance()
    }

    private func finishRebalance() {
        for (member, places) in cluster.finishRebalance() {
            schedule(
                .assigned(
                    worker: member / 1_000_000, incarnation: member % 1_000_000, generation: cluster.generation, places),
                after: between(0, 20))
        }
    }

    private func commit(_ position: Position) {
        let (place, offset) = (position.place, position.offset)
        let before = cluster.committed[place] ?? 0
        // A member of the new generation starts at what was committed: going back would be a repeat, not a loss.
        for passed in before..<max(before, offset) {
            checkers.committedPast("\(place.topic)/\(place.partition)/\(passed)")
        }
        if offset < before { checkers.fail("a commit went back from \(before) to \(offset) at \(place)") }
        cluster.commit(position)
    }

    private func appendProduced(_ record: LogRecord, to place: Place) {
        let offset = cluster.append(record, to: place)
        let name = "\(place.topic)/\(place.partition)/\(offset)"
        if place.topic == scenario.topics.results {
            let (duty, outcome, reason) = Scenario.readResult(record)
            checkers.resultAppended(duty, outcome: outcome, reason: reason)
        } else if place.topic != scenario.topics.deadLetter {
            checkers.retryAppended(
                at: name, origin: record.headers.text(.origin) ?? "", services: record.headers.services)
            for worker in workers { worker.recordsArrived() }
        }
    }

    private func publish() {
        for _ in 0..<scenario.burst where published < scenario.events {
            let event = scenario.event(number: published, now: now, random: &random)
            published += 1
            let place = Place(topic: event.topic, partition: event.partition)
            let offset = cluster.append(event.record, to: place)
            if chance(30) { _ = cluster.append(.marker(now), to: place) }
            checkers.requestAppended(at: "\(place.topic)/\(place.partition)/\(offset)", services: event.services)
        }
        for worker in workers { worker.recordsArrived() }
        if published < scenario.events { schedule(.publish, after: between(1, 100)) }
    }
}
