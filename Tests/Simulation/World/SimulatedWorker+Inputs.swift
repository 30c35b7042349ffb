import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldTime
import HeraldWorker

/// Inputs of a worker that its lane has not taken.
struct Inbox {
    var events: LaneEvents = []
    var messages: [LaneMessage] = []
    var rebalances: [Rebalance] = []
    var answers: [(token: CallToken, result: CallResult)] = []
    var commits: [(sequence: UInt64, outcome: TransactionOutcome)] = []
    var acknowledgements: [(id: ProductionID, error: KafkaError?)] = []
}

/// A worker's inputs.
extension SimulatedWorker {
    func hear(_ news: News) {
        if case .tick(let number) = news, number != nextTick.number { return }
        simulation.inputs += 1
        switch news {
        case .tick: nextTick.at = .max
        case .answer(let token, let result): inbox.answers.append((token, result))
        case .control(let news): controls?.hear(news)
        case .credentialsRenewed: tell(.credentialsRenewed)
        case .credentialsChanged: tell(.credentialsChanged)
        case .revoked:
            // A request to its former membership does not count.
            guard !isZombie, simulation.cluster.members[process.member]?.isRevoking == true else { return }
            log("is to give its partitions back")
            stop(timeout: configuration.revokeTimeout)
            tell(.revoke([], lost: false))
        case .lost:
            guard isZombie, !isGivingBack else { return }
            guard isAssigned else {
                join()
                return
            }
            log("has lost its partitions")
            hitInMemory()
            lostSince = simulation.now
            tell(.revoke([], lost: true))
        case .assigned(let generation, let places):
            // A member hears of a generation after it has requested it, and before the next one begins.
            guard simulation.cluster.isMember(process.member, of: generation) else { return }
            isAssigned = true
            self.generation = generation
            self.places = places
            tell(.assign(places.map(name)))
        case .offsets(let assignment, let offsets):
            // A worker that lost the partitions hears of that before the answer.
            guard !isZombie else { return }
            if assignment == askedFor { note(offsets) }
            tell(.starts(assignment: assignment, .success(offsets.map(start))))
            if assignment == askedFor { expectNotices(of: offsets) }
        case .range(let partition, let question, let range):
            tell(.range(partition, question, .success(range)))
        case .batch(let partition, let question, let reading): tell(.batch(partition, question, reading))
        case .acknowledged(let id, let failure): acknowledge(id, failure.map(Self.error))
        case .committed(let sequence, let outcome):
            inbox.commits.append((sequence, outcome))
            inbox.events.insert(.consumer)
        case .caps: readOnCaps()
        case .initialised, .written, .replied, .lookedUp, .timedOut, .concluded: hearProducer(news)
        case .job: simulation.checkers.fail("\(process) is no job")
        }
        go()
        if isAssigned, !unnoticed.isEmpty, !lane.engine.progress.isEmpty {
            simulation.checkers.fail("\(process) does not say that another program has committed \(unnoticed.keys)")
        }
    }

    /// Where another program has committed beyond the worker's own position, the worker has to report it.
    private func expectNotices(of offsets: [Committed]) {
        for committed in offsets {
            guard let offset = committed.offset, let stood = stood.removeValue(forKey: committed.place) else {
                continue
            }
            if committed.metadata.isEmpty, stood < offset { unnoticed[committed.place] = stood }
        }
    }

    /// The former offset counts where no broker answers now.
    private func note(_ offsets: [Committed]) {
        told = offsets.map { committed in
            guard case .unanswered = committed.evidence else { return committed }
            return told.first { $0.place == committed.place } ?? committed
        }
    }

    func tell(_ message: LaneMessage) {
        inbox.messages.append(message)
        inbox.events.insert(.messages)
    }

    func take(_ report: TransactionReport) { tell(.transaction(report)) }

    func noteFence() { inbox.events.insert(.producer) }

    func transactionBegins() { companions = [] }

    private func tell(_ rebalance: Rebalance) {
        inbox.rebalances.append(rebalance)
        inbox.events.insert(.consumer)
    }

    func acknowledge(_ id: ProductionID, _ error: KafkaError?) {
        inbox.acknowledgements.append((id, error))
        inbox.events.insert(.producer)
    }

    private func start(_ committed: Committed) -> StartPosition {
        StartPosition(
            committed: CommitPosition(
                partition: name(committed.place), offset: committed.offset ?? Offset.none, metadata: committed.metadata),
            history: simulation.historyStart(
                of: committed.place, committed: committed.offset, metadata: committed.metadata),
            evidence: committed.evidence)
    }

    func recordsArrived() {
        guard isRunning, frozenUntil == nil else { return }
        fetched.mayFetch()
        inbox.events.insert(.consumer)
        go()
    }

    /// Fetches records as far as there is room; a queue that fills wakes the lane.
    func fetch() {
        let hasFilled = fetched.fetch(from: simulation.cluster, now: simulation.now) { [simulation, places] in
            simulation.chance[.take].below(places.count)
        }
        if hasFilled { inbox.events.insert(.consumer) }
        noteUnknown()
    }

    /// Notes that it fetches a recreated topic's records without knowing it.
    func noteUnknown() {
        for (index, offset) in fetched.takeUnknown() {
            let place = fetched.places[index]
            // While it asks for the range it takes nothing, and reads again when it knows.
            if lane.rangeQuestions[name(place)] != nil { continue }
            let told = told.first { simulation.cluster.areNamesakes($0.place, place) }
            simulation.passesUnknown(place, below: offset, told)
            (places[index], begunAt[index]) = (place, 0)
        }
    }

    /// Lets the lane turn while it has work, and checks its bounds.
    func go() {
        guard isRunning, hasLaneStarted else { return }
        repeat {
            turn()
            guard lane.leaving == nil else {
                endAssignment()
                leave()
                return
            }
            guard lane.end == nil else {
                if !hasRival { simulation.checkers.fail("\(process) ends: \(String(describing: lane.end))") }
                crash()
                return
            }
        } while lane.mayHaveMore || !inbox.events.isEmpty
        let load = lane.engine.load
        if load.events > maxBuffered {
            simulation.checkers.fail("promise 6: \(load) are in memory")
        }
        if load.events != retainedRecords {
            simulation.checkers.fail("\(process) has \(retainedRecords) records of \(load.events) events")
        }
        heldCall = lane.engine.refusingTopic == nil ? nil : heldCall ?? .min / 2
        checkWaiting()
        scheduleTick()
    }

    private func turn() {
        fetch()
        let events = inbox.events
        inbox.events = []
        checkPunctuality()
        // It would have polled, had it not been frozen.
        let awake = simulation.now - lastTurn - frozenFor
        lastTurn = simulation.now
        frozenFor = 0
        lane.turn(events, after: .milliseconds(awake))
        fetch()
    }

    private func scheduleTick() {
        let wake = lane.deadline
        // No event waits for a time.
        guard wake.nanoseconds < .max / 2 else { return }
        let at = Simulation.millisecond(of: wake)
        if at < nextTick.at {
            nextTick = (max(at, simulation.now), nextTick.number + 1)
            simulation.schedule(.news(process, .tick(nextTick.number)), after: at - simulation.now)
        }
    }
}
