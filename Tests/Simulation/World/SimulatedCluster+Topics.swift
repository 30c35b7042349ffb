/// Topics that are deleted, and recreated under the same name.
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

    /// The partition that had this one's name before; `nil` of the first.
    func former(_ place: Place) -> Place? {
        let first = firstNumbers[place.topic]
        return firstNumbers[..<place.topic].lastIndex(of: first).map { Place(topic: $0, partition: place.partition) }
    }

    /// A topic is deleted with all that lies there, and is there again, empty, at a moment.
    ///
    /// - Parameters:
    ///   - topic: The number that it had at first.
    ///   - keepsOffsets: The group's offsets outlive it: what waits for the end of a transaction, or what was committed when
    ///     the coordinator had dealt with the deletion already.
    /// - Returns: the partitions that are deleted.
    mutating func recreate(_ topic: Int, at moment: Int64, keepsOffsets: Bool) -> [Place] {
        let former = currentNumbers[topic]
        let places = logs[former].indices.map { Place(topic: former, partition: $0) }
        logs.append(
            logs[former].map { log in
                var new = Log(leaderlessUntil: moment, takers: log.takers)
                guard keepsOffsets else { return new }
                (new.committed, new.metadata) = (log.committed, log.metadata)
                new.isCommitOutdated = log.committed != nil
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
}
