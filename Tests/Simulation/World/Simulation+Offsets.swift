import HeraldCore
import HeraldEvents
import HeraldTime
import HeraldWorker

/// The group loses its offsets, and an operator restores them from the results.
extension Simulation {
    /// Deletes the group's state: no offset is committed, and it has no members.
    func loseOffsets() {
        let isFrozen = workers.contains { $0.isRunning && $0.frozenUntil != nil }
        // A group with open transactions is not deleted.
        guard !isFrozen, !cluster.hasPendingOffsets(cluster.consumed) else {
            schedule(.fault(.offsetLoss), after: 100)
            return
        }
        log("the group's offsets are lost")
        for worker in workers where worker.isRunning {
            worker.crash()
            rebalance(telling: cluster.remove(worker.process.member))
        }
        for place in cluster.consumed {
            cluster[place].committed = nil
            cluster[place].metadata = ""
        }
        schedule(.restoreOffsets, after: chance[.offsetLoss].between(100, 40_000))
    }

    /// The evidence of results and retries about a partition without a committed offset.
    func evidence(of place: Place) -> StartPosition.Evidence {
        guard cluster[place].committed == nil else { return .absent }
        // Where a topic has an offset, a partition without one is new.
        let wanted = cluster.consumed.filter { other in
            isRequest(other) && cluster[other].start < cluster[other].lastStable
                && cluster.consumed.allSatisfy { $0.topic != other.topic || cluster[$0].committed == nil }
        }
        guard !wanted.isEmpty else { return .absent }
        let outcomes = scenario.consumedTopics.map(\.name).filter { !scenario.topics.requests.contains($0) }
        let isFound = visible(in: outcomes + [scenario.topics.results]).contains { _, record in
            record.duties.contains {
                let origin = checkers.duties[$0].origin
                return wanted.contains(origin.place) && origin.offset >= cluster[origin.place].start
            }
        }
        return isFound ? .outcomes : .absent
    }

    /// Works like `herald offsets restore`, when all transactions with results and retries have ended.
    func restoreOffsets() {
        let retries = scenario.consumedTopics.map(\.name).filter { !scenario.topics.requests.contains($0) }
        let isOpen = (retries + [scenario.topics.results]).contains { name in
            cluster.number(of: name).map { cluster.logs[$0].contains { !$0.open.isEmpty } } ?? false
        }
        guard !isOpen, !cluster.hasPendingOffsets(cluster.consumed) else {
            schedule(.restoreOffsets, after: 200)
            return
        }
        let missing = cluster.consumed.filter {
            cluster[$0].committed == nil && cluster[$0].start < cluster[$0].lastStable
        }
        let places = missing.map {
            OffsetRecovery.Place(
                topic: cluster.topics[$0.topic], partition: Int32($0.partition),
                range: cluster[$0].start..<cluster[$0].lastStable)
        }
        var recovery = OffsetRecovery(places, resultsSince: nil)
        feed(&recovery, retries)
        let positions = recovery.positions(identity, of: places)
        for ((place, described), found) in zip(zip(missing, places), positions) {
            if found.passedOver > 0 { checkers.fail("what is done in \(cluster.name(place)) does not fit") }
            let position = Position(
                place: place, offset: found.offset,
                metadata: found.map.text(committing: found.offset, of: identity(described)))
            log("\(cluster.name(place)) has its offset again: \(found.offset), and done \(found.map.done)")
            checkCommit(position)
            cluster.commit(position)
        }
    }

    /// Deletes records of a partition that the group has not read, and those before them.
    func deleteUnread() {
        let place = chance[.deletion].pick(cluster.consumed)
        let first = max(cluster[place].standing, cluster[place].start)
        let end = cluster[place].lastStable
        guard first < end else { return }
        let former = cluster[place].start
        cluster[place].start = chance[.deletion].pick([end, chance[.deletion].between(first, end)])
        // An unreadable batch has one dead letter, so it is deleted as a whole.
        if case .batch(let offsets, _)? = cluster.damage(place, at: cluster[place].start)?.damage,
            offsets.contains(cluster[place].start)
        {
            cluster[place].start = offsets.upperBound
        }
        let start = cluster[place].start
        log("\(cluster.name(place)) begins at \(start) now, and the group stands at \(first)")
        checkers.passedUnknown(place, former..<start, records: cluster[place].records)
        cutPublishing(cluster[place].records[Int(former)..<Int(start)])
        schedule(.skipLost, after: chance[.deletion].between(100, 40_000))
    }

    /// Works like `herald offsets skip-lost`, again and again: what a worker records of before the loss may have moved the
    /// group back.
    func skipLost() {
        defer { schedule(.skipLost, after: 10_000) }
        guard !cluster.hasPendingOffsets(cluster.consumed) else { return }
        for place in cluster.consumed where !cluster.lost(place).isEmpty {
            let committed = cluster[place].committed ?? 0
            let done = map(cluster[place].metadata, committed, place) ?? CompletionMap()
            let (offset, map) = done.rebased(to: cluster[place].start)
            let identity = PartitionIdentity(
                cluster: SimulatedCluster.identity, topic: cluster.topics[place.topic],
                partition: Int32(place.partition))
            let position = Position(place: place, offset: offset, metadata: map.text(committing: offset, of: identity))
            log("lost records of \(cluster.name(place)) are skipped, from \(committed) to \(offset)")
            checkCommit(position)
            cluster.commit(position)
        }
    }

    private func identity(_ place: OffsetRecovery.Place) -> PartitionIdentity {
        PartitionIdentity(cluster: SimulatedCluster.identity, topic: place.topic, partition: place.partition)
    }

    private func feed(_ recovery: inout OffsetRecovery, _ retries: [String]) {
        let names = scenario.pushServices
        // Clocks differ, and no topic is recreated: outcomes are later than all requests.
        for (name, record) in visible(in: scenario.topics.requests) {
            recovery.request(
                cluster.topics[name.place.topic], Int32(name.place.partition), name.offset,
                at: WallTime(milliseconds: record.timestamp), lineage: EventLineage(record.headers, names),
                isEmpty: record.value == nil)
        }
        for (name, record) in visible(in: retries) {
            recovery.retry(
                cluster.topics[name.place.topic], Int32(name.place.partition), name.offset,
                at: WallTime(milliseconds: record.timestamp + .max / 4), lineage: EventLineage(record.headers, names),
                isEmpty: record.value == nil)
        }
        for (_, record) in visible(in: [scenario.topics.results]) {
            guard let value = record.value, let result = try? NotificationResult(decoding: value) else { continue }
            recovery.result(
                origin: result.origin, replays: result.replays,
                service: result.pushService.flatMap { names.names.firstIndex(of: $0) },
                at: WallTime(milliseconds: .max / 2))
        }
    }

    private func isRequest(_ place: Place) -> Bool { scenario.topics.requests.contains(cluster.topics[place.topic]) }

    /// The records of these topics for readers of committed records.
    private func visible(in topics: [String]) -> [(name: RecordName, record: LogRecord)] {
        var found: [(RecordName, LogRecord)] = []
        for topic in topics.compactMap({ cluster.number(of: $0) }) {
            for partition in 0..<cluster.partitions {
                let place = Place(topic: topic, partition: partition)
                var offset = cluster[place].start
                while cluster.seek(place, from: &offset) {
                    found.append((RecordName(place: place, offset: offset), cluster[place].records[Int(offset)]))
                    offset += 1
                }
            }
        }
        return found
    }
}
