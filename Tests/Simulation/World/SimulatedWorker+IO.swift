import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldTime
import HeraldWorker

/// What the lane drives: the group and the records.
extension SimulatedWorker: SimulatedIO, TransactionalProcess {
    typealias Record = SimulatedRecord
    /// A generation of the group.
    typealias Member = Int

    // MARK: Time, chance, messages

    var now: Moment {
        let moment = simulation.moment
        return Moment(monotonic: moment.monotonic, wall: moment.wall.advanced(byMilliseconds: skew))
    }

    func entropy() -> UInt64 { simulation.chance[.entropy].bits() }

    func drainMessages() -> [LaneMessage] {
        defer { inbox.messages = [] }
        let isChanged = inbox.messages.contains { if case .credentialsChanged = $0 { true } else { false } }
        if isChanged { credentialsChangedAt = simulation.now }
        return inbox.messages
    }

    // MARK: The group

    func subscribe() { join() }

    func takeRebalance() -> Rebalance? { inbox.rebalances.isEmpty ? nil : inbox.rebalances.removeFirst() }

    func findStarts(of partitions: [TopicPartition], assignment: Int, after pause: Int64) {
        askedFor = assignment
        simulation.schedule(
            .request(process, .offsets(generation: generation, assignment: assignment)),
            after: pause + simulation.travel())
    }

    func assign(_ positions: [(TopicPartition, offset: Int64)]) {
        places = positions.map { place($0.0) }
        fetched = positions.map { max(0, $0.offset) }
        isPaused = places.map { _ in false }
        endTold = places.map { _ in 0 }
        log("takes \(places.map(simulation.cluster.name).joined(separator: ", ")) in generation \(generation)")
        for place in places { simulation.cluster[place].takers.append(index) }
    }

    func unassign() {
        log("gives its partitions back")
        // Who may not commit any more has nothing to wait for.
        if let lostSince, simulation.now > lostSince + 100 {
            simulation.checkers.fail("\(process) has kept partitions that it had lost")
        }
        lostSince = nil
        isAssigned = false
        isGivingBack = true
        endAssignment()
        forgetAssignment()
        simulation.schedule(.request(process, .unassigned), after: simulation.chance[.unassignment].between(0, 5))
    }

    func member() -> Int? { generation }
    var clusterID: String? { SimulatedCluster.identity }

    func commit(_ sequence: UInt64, _ positions: [CommitPosition]) -> KafkaError? {
        if simulation.scenario.isAtomic { misuse("a commit outside of a transaction") }
        commitIsDoubtful = true
        simulation.schedule(
            .request(process, .commit(sequence: sequence, generation: generation, positions.map(position))),
            after: simulation.travel())
        return nil
    }

    func commitOutcomes(_ body: (UInt64, KafkaError?) -> Void) {
        let ended = inbox.commits
        inbox.commits = []
        for (sequence, outcome) in ended {
            if outcome == .acknowledged { commitIsDoubtful = false }
            body(sequence, Self.error(of: outcome))
        }
    }

    /// What was called and may not be committed may be called again by somebody else.
    func endAssignment() {
        if commitIsDoubtful { hitInMemory() }
    }

    private static let refused = KafkaError(code: KafkaError.Code.illegalGeneration)

    private static func error(of outcome: CallOutcome) -> KafkaError? {
        switch outcome {
        case .acknowledged: nil
        case .refused: refused
        case .failedForNow, .abortable, .fatal: .timedOut
        }
    }

    // MARK: Records

    /// A record of one of the source's partitions, beginning with any; it fetches nothing ahead.
    func next(from queue: Int) -> SimulatedRecord? {
        guard simulation.cluster.awayUntil <= simulation.now else { return nil }
        let partitions = lane.engine.sourceList[queue].partitions
        guard !partitions.isEmpty else { return nil }
        let first = simulation.chance[.take].below(partitions.count)
        for step in partitions.indices {
            let partition = Int(partitions[(first + step) % partitions.count])
            let place = places[partition]
            guard !isPaused[partition], simulation.cluster[place].leaderlessUntil <= simulation.now else { continue }
            if simulation.cluster.seek(place, from: &fetched[partition]) {
                let name = RecordName(place: place, offset: fetched[partition])
                guard let record = simulation.cluster.record(name) else { continue }
                simulation.inputs += 1
                fetched[partition] += 1
                return SimulatedRecord(record, name, of: self)
            }
            if endTold[partition] != fetched[partition] {
                simulation.inputs += 1
                endTold[partition] = fetched[partition]
                return SimulatedRecord(endOf: place, at: fetched[partition], of: self)
            }
        }
        return nil
    }

    /// Each that has anything.
    func filledQueues(all: Bool, _ body: (Int) -> Void) {
        guard simulation.cluster.awayUntil <= simulation.now else { return }
        for queue in lane.engine.sourceList.indices
        where lane.engine.sourceList[queue].partitions.contains(where: { holdsAnything(Int($0)) }) { body(queue) }
    }

    private func holdsAnything(_ partition: Int) -> Bool {
        let place = places[partition]
        guard !isPaused[partition], simulation.cluster[place].leaderlessUntil <= simulation.now else { return false }
        var offset = fetched[partition]
        return simulation.cluster.seek(place, from: &offset) || endTold[partition] != offset
    }

    var queueCounts: [Int] { lane.engine.sourceList.map { _ in 0 } }

    func seek(_ partition: TopicPartition, to offset: Int64) {
        guard let index = places.firstIndex(of: place(partition)) else { return }
        log("reads \(partition) again from \(offset)")
        fetched[index] = offset
        inbox.events.insert(.consumer)
    }

    func pause(_ partition: TopicPartition) {
        guard let index = places.firstIndex(of: place(partition)) else { return }
        isPaused[index] = true
    }

    func resume(_ partition: TopicPartition) {
        guard let index = places.firstIndex(of: place(partition)) else { return }
        isPaused[index] = false
        inbox.events.insert(.consumer)
    }

    // MARK: People

    func announce(_ notice: Notice, outage: Outage?) {
        log("notice: \(notice)")
        switch notice {
        case .gaveUp: gaveUp()
        case .rival:
            hasRival = true
            if !simulation.cluster.rivalled.contains(transactionalID) {
                simulation.checkers.fail("\(process) says that another process writes under its name, and none does")
            }
        // The credentials may be accepted again: calls from before say nothing of those from now on.
        case .outageEnded: credentialsChangedAt = simulation.now
        case .outageBegan, .foreignMetadata, .recordRefused: break
        }
    }

    func pauseCampaign(_ name: String, failed: Int, of all: Int, status: Int?) {
        log("says that \(failed) of \(all) of \(name) failed, with \(status.map(String.init) ?? "any") status")
        let index = (0...Simulation.publishedCampaign).first { Scenario.campaignName($0) == name } ?? -1
        // By then the engine holds it.
        if status != nil { simulation.checkers.pausedCampaigns.insert(index) }
        if toldCampaigns[index] == nil || status == nil && toldCampaigns[index]?.pauseIfFailures == nil {
            simulation.checkers.fail("campaign \(index) has no bound for failures")
        }
        simulation.schedule(.campaignFails(index), after: simulation.travel())
    }

    func isBroken(_ what: StaticString) { simulation.checkers.fail("\(process): \(what)") }
}
