import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldWorker

/// Topics that are deleted with all of their records, and recreated some time later.
extension Simulation {
    /// The longest absence of a topic (milliseconds).
    private static let longestAbsence: Int64 = 10_000

    /// Deletes and recreates a topic that workers consume.
    func recreateAnyTopic() {
        let topic = chance[.recreation].below(cluster.consumedTopics)
        guard topicsBackAt[cluster.currentNumbers[topic], default: 0] <= now else { return }
        let absence = chance[.recreation].pick([0, chance[.recreation].between(0, Self.longestAbsence)])
        let keepsOffsets = chance[.recreation].below(2) == 0
        let isNoticed = absence > 0 && chance[.recreation].below(2) == 0
        log(
            "\(cluster.topics[topic]) is deleted, \(keepsOffsets ? "" : "with the group's offsets, ")"
                + "and is there again \(absence) ms later\(isNoticed ? "; the group hears of it" : "")")
        let deleted = cluster.recreate(topic, at: now + absence, keepsOffsets: keepsOffsets)
        checkers.recreated(deleted.map { ($0, cluster[$0].records) })
        if topic < scenario.topics.requests.count { for place in deleted { cutPublishing(cluster[place].records) } }
        topicsBackAt[cluster.currentNumbers[topic]] = now + absence
        schedule(.topicBack(topic), after: absence)
        guard isNoticed else { return }
        cluster.missingTopics.insert(topic)
        rebalance(telling: cluster.startRebalance())
    }

    /// Cuts off a request partition's log, as an unclean election does: by a little, or by much.
    func cutAnyLog() {
        let topic = chance[.cut].below(scenario.topics.requests.count)
        guard topicsBackAt[cluster.currentNumbers[topic], default: 0] <= now else { return }
        let place = Place(topic: cluster.currentNumbers[topic], partition: chance[.cut].below(cluster.partitions))
        let (start, end) = (cluster[place].start, cluster[place].end)
        let offset = max(
            start, chance[.cut].pick([end - chance[.cut].between(0, 10), chance[.cut].between(start, end)]))
        let absence = chance[.cut].pick([0, chance[.cut].between(0, Self.longestAbsence)])
        log("\(cluster.name(place)) is cut off at \(offset), and can be read again \(absence) ms later")
        let former = cluster.cut(topic, partition: place.partition, at: offset, absentUntil: now + absence)
        checkers.cut(former.map { ($0, cluster.current($0), cluster[$0].records, cluster[cluster.current($0)].kept) })
        for place in former {
            let lost = cluster[place].records.dropFirst(Int(cluster[cluster.current(place)].kept))
            // A campaign is read from the end that the topic had at its beginning, which the cut may precede. The
            // records that a publisher's transaction has written are lost, too, whatever its end.
            if !lost.isEmpty { publishing.isCut = true }
        }
        topicsBackAt[cluster.currentNumbers[topic]] = now + absence
        schedule(.topicBack(topic), after: absence)
    }

    func topicIsBack(_ topic: Int) {
        log("\(cluster.topics[topic]) is there again")
        for partition in 0..<cluster.partitions {
            wake(Place(topic: cluster.currentNumbers[topic], partition: partition))
        }
        guard cluster.missingTopics.remove(topic) != nil else { return }
        rebalance(telling: cluster.startRebalance())
    }

    /// Whether the topic of this partition's name does not exist.
    func isMissing(_ place: Place) -> Bool { topicsBackAt[cluster.current(place).topic, default: 0] > now }

    /// The beginning and end of a partition for a worker that asks; it may hear of it after another question.
    ///
    /// - Parameter pause: how long it waits before it asks (milliseconds).
    func tellRange(
        _ process: Process, _ partition: TopicPartition, _ question: RangeQuestion, after pause: Int64 = 0
    ) {
        guard pause == 0 else { return schedule(.range(process, partition, question), after: pause) }
        let place = place(partition)
        guard !isMissing(place) else {
            return schedule(.range(process, partition, question), after: topicsBackAt[place.topic, default: 0] - now)
        }
        let log = cluster[place]
        let range = OffsetRange(
            low: log.start, high: log.lastStable, committed: log.committed,
            younger: question.newest.flatMap { cluster.firstOffset(of: place, youngerThan: $0) })
        let isLate = scenario.recreations > 0 && chance[.recreation].below(4) == 0
        let wait = isLate ? chance[.recreation].between(500, 5_000) : 0
        schedule(.news(process, .range(partition, question, range)), after: wait + travel())
    }

    /// Has another client of a worker look, sooner or later, whether a partition is readable.
    func readBatch(_ process: Process, _ partition: TopicPartition, _ question: RangeQuestion) {
        schedule(.batch(process, partition, question), after: chance[.damage].between(0, 3_000))
    }

    /// Whether a partition is readable from an offset on, for a worker that could not read it.
    func tellBatch(_ process: Process, _ partition: TopicPartition, _ question: RangeQuestion) {
        let place = place(partition)
        var reading = Result<BatchReading, KafkaError>.failure(.timedOut)
        if !isMissing(place), isReachable(place), cluster[place].start <= question.wanted {
            reading = .success(batch(in: place, at: question.wanted, partition))
        }
        schedule(.news(process, .batch(partition, question, reading)), after: travel())
    }

    private func batch(in place: Place, at wanted: Int64, _ partition: TopicPartition) -> BatchReading {
        guard case (_, .batch(let offsets, _))? = cluster.damage(place, at: wanted) else { return .readable }
        return .unreadable(
            UnreadableBatch(
                partition: partition, offsets: max(wanted, offsets.lowerBound)..<offsets.upperBound,
                failure: KafkaError(code: KafkaError.Code.badCompression)))
    }

    /// A worker has come to an offset of a topic that was recreated and has grown past that offset, or was told of one:
    /// it regards earlier records as done, and cannot know better.
    ///
    /// - Parameter told: the committed offset that it was told, which may be higher.
    func passesUnknown(_ place: Place, below offset: Int64, _ told: Committed?) {
        log("\(cluster.name(place)) was recreated, and has grown past \(offset) before anybody looked")
        let kept = cluster[place].kept
        var ranges = [0..<offset]
        var evidence: LogEvidence?
        if let told, let committed = told.offset, let map = map(told.metadata, committed, place) {
            ranges += map.done
            // Of its own records it knows more.
            if told.isOutdated, committed == offset { evidence = map.evidence }
        }
        for range in ranges where range.upperBound > kept {
            let first = max(range.lowerBound, kept)
            let offsets = first..<max(first, min(range.upperBound, cluster[place].end))
            // It could know better.
            guard !isShown(evidence, offsets, of: place) else { continue }
            checkers.passedUnknown(place, offsets, records: cluster[place].records)
            cluster[place].passed = max(cluster[place].passed, min(range.upperBound, offset))
        }
    }

    func map(_ metadata: String, _ committed: Int64, _ place: Place) -> CompletionMap? {
        let identity = PartitionIdentity(
            cluster: SimulatedCluster.identity, topic: cluster.topics[place.topic], partition: Int32(place.partition))
        return CompletionMap(text: metadata, committed: committed, of: identity)
    }

    /// Whether all of these records are younger than a commit's evidence.
    private func isShown(_ evidence: LogEvidence?, _ offsets: Range<Int64>, of place: Place) -> Bool {
        guard let evidence, evidence.newest >= 0, offsets.lowerBound >= evidence.begin else { return false }
        return offsets.allSatisfy {
            !cluster.isData(place, $0) || cluster[place].records[Int($0)].timestamp > evidence.newest
        }
    }

    /// A worker passes these over so that no event is called twice: it may, where it cannot know that they are new.
    ///
    /// - Parameter newest: The newest time stamp of its records.
    func passes(_ passed: PassedOver, newest: Int64?, of partition: TopicPartition) {
        let place = cluster.current(place(partition))
        let log = cluster[place]
        if passed.cause == .foreign, !log.foreignOffsets.contains(passed.offsets.upperBound) {
            checkers.fail("offsets are a stranger's, and there is none: \(passed)")
        }
        if passed.cause == .replaced { cluster[place].replaced = min(log.replaced, passed.offsets.lowerBound) }
        let first = max(log.kept, passed.offsets.lowerBound)
        for offset in first..<max(first, min(passed.offsets.upperBound, log.end))
        where passed.cause == .unproven
            || passed.cause == .cut && newest.map({ log.records[Int(offset)].timestamp <= $0 }) == true
        {
            checkers.passedUnknown(place, offset..<offset + 1, records: log.records)
        }
    }
}
