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
        return Moment(monotonic: moment.monotonic, wall: moment.wall.advanced(by: .milliseconds(skew)))
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

    func findStarts(of partitions: [TopicPartition], assignment: Int, after pause: Milliseconds) {
        askedFor = assignment
        simulation.schedule(
            .request(process, .offsets(generation: generation, assignment: assignment)),
            after: pause.count + simulation.travel())
    }

    func assign(_ positions: [(TopicPartition, offset: Int64)]) {
        let isAnew = fetched.isEmpty
        let starts = positions.map { isAnew ? start(of: $0.0, at: $0.offset) : restart(of: $0.0, at: $0.offset) }
        for place in places { simulation.cluster[simulation.cluster.current(place)].takers.removeAll { $0 == index } }
        // The partitions have changed: a partition without an offset has one now.
        if isAnew || starts.count != places.count {
            let former = Dictionary(zip(places, isAnew ? [] : begunAt)) { first, _ in first }
            begunAt = starts.map { start in
                former[start.place] ?? told.first { $0.place == start.place }?.offset ?? 0
            }
        }
        places = starts.map(\.place)
        fetched.assign(starts)
        log("takes \(places.map(simulation.cluster.name).joined(separator: ", ")) in generation \(generation)")
        for place in places { simulation.cluster[simulation.cluster.current(place)].takers.append(index) }
        simulation.mayDeleteHistory(of: places)
        fetched.fetchUnforwarded(
            from: simulation.cluster, now: simulation.now, most: simulation.chance[.unforwarded].pick([0, 0, 1, 3]))
        noteUnknown()
    }

    /// The start of reading a partition.
    ///
    /// The worker's offset may belong to the former topic of this name.
    private func start(of partition: TopicPartition, at offset: Int64) -> FetchedQueues.Start {
        let current = simulation.place(partition)
        let start = FetchedQueues.Start(place: current, offset: offset < 0 ? simulation.cluster[current].start : offset)
        guard let told = told.first(where: { simulation.cluster.areNamesakes($0.place, current) }),
            let committed = told.offset, let former = simulation.cluster.former(current),
            told.isOutdated || told.place != current
        else { return start }
        return FetchedQueues.Start(place: former, offset: start.offset, wanted: committed)
    }

    /// The start of reading it again: in a recreated topic at the former topic's offset, or at its beginning.
    private func restart(of partition: TopicPartition, at offset: Int64) -> FetchedQueues.Start {
        let current = simulation.place(partition)
        let first = simulation.cluster[current].start
        let start = FetchedQueues.Start(place: current, offset: offset < 0 ? first : offset)
        guard let index = index(of: partition), places[index] != current,
            let engineIndex = lane.engine.index(of: partition.partition, in: partition.topic),
            let wanted = lane.engine.nextOffset(of: engineIndex)
        else { return start }
        // Only a recreated topic takes it back. The lane's own offset is lower: behind a batch in question it takes no
        // records.
        let committed = told.first { name($0.place) == partition }?.offset ?? 0
        guard wanted < committed || wanted <= first else {
            return FetchedQueues.Start(place: places[index], offset: start.offset, wanted: wanted)
        }
        begunAt[index] = 0
        // The committed offset belonged to the former topic: it is no evidence about this one's position.
        told.removeAll { name($0.place) == partition }
        return start
    }

    /// The index of its partition with this name.
    private func index(of partition: TopicPartition) -> Int? { places.firstIndex { name($0) == partition } }

    func place(_ partition: TopicPartition) -> Place {
        index(of: partition).map { places[$0] } ?? simulation.place(partition)
    }

    func unassign() {
        log("gives its partitions back")
        // A worker that may not commit any more has nothing to wait for.
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

    /// Called events without a commit may be called again by another worker.
    func endAssignment() {
        for progress in lane.engine.progress {
            guard let done = progress.done else { continue }
            stood[simulation.place(TopicPartition(topic: progress.topic, partition: progress.number))] = done
        }
        if commitIsDoubtful { hitInMemory() }
    }

    private static let refused = KafkaError(code: KafkaError.Code.illegalGeneration)

    private static func error(of outcome: TransactionOutcome) -> KafkaError? {
        switch outcome {
        case .acknowledged: nil
        case .refused: refused
        case .failedForNow, .abortable, .fatal: .timedOut
        }
    }

    // MARK: Records

    func openQueues(_ count: Int) { fetched.openQueues(count) }

    func forward(_ partition: TopicPartition, to queue: Int) {
        if let index = index(of: partition) { fetched.forward(index, to: queue) }
    }

    func next(from queue: Int) -> SimulatedRecord? { fetched.next(from: queue).map(record) }

    func nextUnforwarded() -> SimulatedRecord? { fetched.nextUnforwarded().map(record) }

    private func record(_ entry: FetchedQueues.Entry) -> SimulatedRecord {
        simulation.inputs += 1
        let name = RecordName(place: entry.place, offset: entry.offset)
        switch entry.kind {
        case .record:
            let record = simulation.cluster.record(name) ?? .marker(0)
            return SimulatedRecord(record, name, of: self)
        case .end: return SimulatedRecord(KafkaError.Code.partitionEOF, at: name, of: self)
        case .unreadable:
            log("can't read \(simulation.checkers.text(name))")
            return SimulatedRecord(KafkaError.Code.badCompression, at: name, of: self)
        case .outOfRange:
            log("\(simulation.cluster.name(name.place)) has no offset \(name.offset)")
            return SimulatedRecord(KafkaError.Code.autoOffsetReset, at: name, of: self)
        }
    }

    func filledQueues(all: Bool, _ body: (Int) -> Void) {
        for queue in fetched.takeFilled(all: all) { body(queue) }
    }

    var queueCounts: [Int] { fetched.counts }

    var fetchedBytes: Int { fetched.bytes }

    /// No topic is said to be missing: ``FailingUsers`` has one.
    func giveUpRecords() {}

    func retainQueue(_ queue: Int) {
        fetched.retain(queue)
        log("takes out what lies in queue \(queue): \(fetched.counts[queue]) records")
    }

    func dropRetained(_ queue: Int) {
        log("gives up what it took out of queue \(queue)")
        fetched.dropRetained(queue)
    }

    func seek(_ partition: TopicPartition, to offset: Int64) {
        guard let index = index(of: partition) else { return }
        let offset = offset < 0 ? simulation.cluster[simulation.place(partition)].start : offset
        log("reads \(partition) again from \(offset)")
        fetched.seek(index, to: offset)
    }

    func findRange(of partition: TopicPartition, _ question: RangeQuestion, after pause: Milliseconds) {
        simulation.tellRange(process, partition, question, after: pause.count)
    }

    func readBatch(of partition: TopicPartition, _ question: RangeQuestion) {
        simulation.readBatch(process, partition, question)
    }

    func pause(_ partition: TopicPartition) {
        guard let index = index(of: partition) else { return }
        log("pauses \(partition)")
        fetched.pause(index)
    }

    func resume(_ partition: TopicPartition) {
        guard let index = index(of: partition) else { return }
        log("resumes \(partition)")
        fetched.resume(index)
    }

    // MARK: Log

    func announce(_ notice: Notice, outage: Outage?) {
        log("notice: \(notice)")
        switch notice {
        case .gaveUp: gaveUp()
        case .rival:
            hasRival = true
            if !simulation.cluster.rivalled.contains(transactionalID) {
                simulation.checkers.fail("\(process) says that another process writes under its name, and none does")
            }
        // The credentials may be accepted again: earlier calls are no evidence about later ones.
        case .outageEnded, .holdEnded: credentialsChangedAt = simulation.now
        case .passedOver(let passed):
            let partition = TopicPartition(topic: passed.topic, partition: passed.partition)
            let newest = lane.engine.index(of: passed.partition, in: passed.topic).flatMap {
                lane.engine.newestTaken(of: $0)
            }
            simulation.passes(passed, newest: newest, of: partition)
            if passed.cause == .foreign, unnoticed.removeValue(forKey: place(partition)) != passed.stood {
                simulation.checkers.fail("\(process) says of another program's offsets what is not so: \(passed)")
            }
        case .outageBegan, .holdBegan, .foreignMetadata, .recordRefused, .retriesDetoured: break
        }
    }

    func pauseCampaign(_ failures: CampaignFailures) {
        let (name, status) = (failures.campaign, failures.status)
        log("says of \(name): \(failures.reason)")
        let index = Simulation.campaign(named: name) ?? -1
        // By then the engine knows it.
        if status != nil { simulation.checkers.pausedCampaigns.insert(index) }
        if toldCampaigns[index] == nil || status == nil && toldCampaigns[index]?.pauseIfFailures == nil {
            simulation.checkers.fail("campaign \(index) has no bound for failures")
        }
        if let control = toldCampaigns[index] { controls?.pause(failures, index, knowing: control) }
        simulation.workerDecides(index)
    }

    func isBroken(_ what: StaticString) { simulation.checkers.fail("\(process): \(what)") }
}
