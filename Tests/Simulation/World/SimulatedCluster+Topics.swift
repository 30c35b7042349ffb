import HeraldCore

/// Topics that are deleted, and recreated under the same name, or whose logs are cut off.
extension SimulatedCluster {
    /// The number of the topic that has this name now.
    func number(of topic: String) -> Int? { topics.firstIndex(of: topic).map { currentNumbers[$0] } }

    /// The partition that has this one's name now.
    func current(_ place: Place) -> Place {
        Place(topic: currentNumbers[firstNumbers[place.topic]], partition: place.partition)
    }

    func isDeleted(_ place: Place) -> Bool { current(place) != place }

    /// Whether two places have the same name.
    func areNamesakes(_ one: Place, _ other: Place) -> Bool { current(one) == current(other) }

    /// The former partition of this one's name; `nil` for the first.
    func former(_ place: Place) -> Place? {
        let first = firstNumbers[place.topic]
        return firstNumbers[..<place.topic].lastIndex(of: first).map { Place(topic: $0, partition: place.partition) }
    }

    /// Deletes a topic with all of its records; an empty one replaces it at a moment.
    ///
    /// - Parameters:
    ///   - topic: Its first number.
    /// - keepsOffsets: Whether the group's offsets outlive it: those that wait for the end of a transaction, or were
    /// committed after the coordinator had processed the deletion.
    /// - Returns: the deleted partitions.
    mutating func recreate(_ topic: Int, at moment: Int64, keepsOffsets: Bool) -> [Place] {
        let former = currentNumbers[topic]
        let places = logs[former].indices.map { Place(topic: former, partition: $0) }
        logs.append(
            logs[former].map { log in
                var new = Log(leaderlessUntil: moment, takers: log.takers)
                guard keepsOffsets else { return new }
                (new.committed, new.metadata) = (log.committed, log.metadata)
                new.isCommitOutdated = log.committed != nil
                new.known = 0
                return new
            })
        topics.append(topics[former])
        firstNumbers.append(topic)
        currentNumbers[topic] = topics.count - 1
        if !keepsOffsets {
            for transaction in transactions.indices {
                transactions[transaction].offsets.removeAll { firstNumbers[$0.place.topic] == topic }
            }
        } else {
            for place in places { self[current(place)].pendingOffsets = self[place].pendingOffsets }
        }
        return places
    }

    /// Cuts off a partition's log, and the open ends of the others: another topic of that name begins with the same
    /// records.
    ///
    /// - Returns: the partitions that have another name.
    mutating func cut(_ topic: Int, partition: Int, at offset: Int64, absentUntil moment: Int64) -> [Place] {
        let places = recreate(topic, at: moment, keepsOffsets: true)
        for place in places {
            let log = self[place]
            let kept = log.boundary(place.partition == partition ? min(offset, log.lastStable) : log.lastStable)
            let new = current(place)
            self[new].records = Array(log.records.prefix(Int(kept)))
            self[new].start = min(log.start, kept)
            self[new].kept = kept
            self[new].known = min(log.known, kept)
            self[new].passed = min(log.passed, kept)
            let position = Position(place: place, offset: log.committed ?? 0, metadata: log.metadata)
            self[new].isCommitOutdated = log.isCommitOutdated || reach(of: position) > kept
        }
        return places
    }

    /// The number of records that the partition shares with the one that has its name now.
    func common(_ place: Place) -> Int64 {
        var least = Int64.max
        var later = current(place)
        while later != place, let former = former(later) {
            least = min(least, self[later].kept)
            later = former
        }
        return least
    }

    /// The offset behind all offsets that a commit marks as done.
    func reach(of position: Position) -> Int64 {
        let identity = PartitionIdentity(
            cluster: Self.identity, topic: topics[position.place.topic], partition: Int32(position.place.partition))
        let map = CompletionMap(text: position.metadata, committed: position.offset, of: identity)
        return max(position.offset, map?.done.last?.upperBound ?? 0)
    }

    /// The first record, or end of a transaction, that is younger than this and not behind an open transaction.
    func firstOffset(of place: Place, youngerThan timestamp: Int64) -> Int64? {
        let log = self[place]
        return (log.start..<max(log.start, log.lastStable)).first { log.records[Int($0)].timestamp > timestamp }
    }
}

extension SimulatedCluster.Log {
    /// The beginning of the batch that this offset would cut: logs are cut off between batches.
    fileprivate func boundary(_ offset: Int64) -> Int64 {
        guard offset < end, case .batch(let offsets, _)? = records[Int(offset)].damage else { return offset }
        return offsets.lowerBound
    }
}
