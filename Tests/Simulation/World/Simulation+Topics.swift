import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldWorker

/// Topics that somebody deletes with all that lies there, and recreates some time later.
extension Simulation {
    /// No topic is away for longer (milliseconds).
    private static let longestAbsence: Int64 = 10_000

    /// A topic that workers consume is deleted and recreated.
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

    func topicIsBack(_ topic: Int) {
        log("\(cluster.topics[topic]) is there again")
        for partition in 0..<cluster.partitions {
            wake(Place(topic: cluster.currentNumbers[topic], partition: partition))
        }
        guard cluster.missingTopics.remove(topic) != nil else { return }
        rebalance(telling: cluster.startRebalance())
    }

    /// Whether the topic of this partition's name is not there.
    func isMissing(_ place: Place) -> Bool { topicsBackAt[cluster.current(place).topic, default: 0] > now }

    /// Where a partition begins and ends, for a worker that asks; it may hear of it when it has asked again and reads on.
    func tellRange(_ process: Process, _ partition: TopicPartition, _ question: RangeQuestion) {
        let place = place(partition)
        guard !isMissing(place) else {
            return schedule(.range(process, partition, question), after: topicsBackAt[place.topic, default: 0] - now)
        }
        let range = OffsetRange(
            low: cluster[place].start, high: cluster[place].end, committed: cluster[place].committed)
        let isLate = scenario.recreations > 0 && chance[.recreation].below(4) == 0
        let wait = isLate ? chance[.recreation].between(500, 5_000) : 0
        schedule(.news(process, .range(partition, question, range)), after: wait + travel())
    }

    /// Whether a partition can be read from an offset on, for a worker that could not.
    func tellBatch(_ process: Process, _ partition: TopicPartition, _ question: RangeQuestion) {
        let place = place(partition)
        var reading = Result<BatchReading, KafkaError>.failure(.timedOut)
        if !isMissing(place), isReachable(place), cluster[place].start <= question.wanted {
            reading = .success(batch(in: place, at: question.wanted, partition))
        }
        schedule(
            .news(process, .batch(partition, question, reading)), after: travel() + chance[.damage].between(0, 3_000))
    }

    private func batch(in place: Place, at wanted: Int64, _ partition: TopicPartition) -> BatchReading {
        guard case (_, .batch(let offsets, _))? = cluster.damage(place, at: wanted) else { return .readable }
        return .unreadable(
            UnreadableBatch(
                partition: partition, offsets: max(wanted, offsets.lowerBound)..<offsets.upperBound,
                failure: KafkaError(code: KafkaError.Code.badCompression)))
    }

    /// A worker has come to an offset of a topic that was recreated and has grown past that offset, or was told of one:
    /// it takes what lies before for dealt with, and nobody can tell it better.
    ///
    /// - Parameter told: what it was told to be committed, which may say more.
    func passesUnknown(_ place: Place, below offset: Int64, _ told: Committed?) {
        log("\(cluster.name(place)) was recreated, and has grown past \(offset) before anybody looked")
        var ranges = [0..<offset]
        let identity = PartitionIdentity(
            cluster: SimulatedCluster.identity, topic: cluster.topics[place.topic], partition: Int32(place.partition))
        if let told, let committed = told.offset,
            let map = CompletionMap(text: told.metadata, committed: committed, of: identity)
        {
            ranges += map.done
        }
        for range in ranges { checkers.passedUnknown(place, range, records: cluster[place].records) }
        cluster[place].passed = max(cluster[place].passed, offset)
    }
}
