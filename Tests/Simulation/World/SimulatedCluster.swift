import HeraldCore

/// The broker's side: logs, one group with generations and eager rebalances, committed offsets, transactions.
///
/// | file | part |
/// |---|---|
/// | `SimulatedCluster+Group.swift` | members, rebalances, committed offsets |
/// | `SimulatedCluster+Transactions.swift` | transactional ids, epochs, transactions |
/// | `SimulatedCluster+Topics.swift` | topics that are deleted and recreated |
struct SimulatedCluster {
    /// One partition's log, and the group's committed offset in it.
    struct Log {
        var records: [LogRecord] = []
        /// The first record that retention has left.
        var start: Int64 = 0
        /// The transactions with records here that have not ended here, and the first record of each.
        var open: [(transaction: Int, first: Int64)] = []
        /// Before this moment it can be neither read nor written.
        var leaderlessUntil: Int64 = 0
        /// The workers that consume it.
        var takers: [Int] = []
        var committed: Int64?
        var metadata = ""
        /// The offsets that another program has committed.
        var foreignOffsets: Set<Int64> = []
        /// The committed offset belongs to the former topic of this name.
        var isCommitOutdated = false
        /// The number of records that the committed offset refers to.
        var known = Int64.max
        /// From here on a reader has found other records than those that commits refer to, and takes them anew.
        var replaced = Int64.max
        /// Records below this are regarded as done by readers that could not know that the topic was recreated.
        var passed: Int64 = 0
        /// The number of records from the former partition of this name: its log was cut off there.
        var kept: Int64 = 0
        /// The number of offsets sent in open transactions.
        var pendingOffsets = 0

        /// The end for readers of committed records.
        var lastStable: Int64 { open.map(\.first).min() ?? end }
        var end: Int64 { Int64(records.count) }
        /// The group's position in these records.
        var standing: Int64 { isCommitOutdated ? max(start, min(committed ?? 0, known)) : committed ?? start }
    }

    struct Member {
        var generation = 0
        var assignment: [Place] = []
        /// Its static instance.
        var instance: Int?
        /// It was told that its partitions are revoked and has not answered.
        var isRevoking = false
        /// It has no assignment of the coming generation yet.
        var isWaiting = true
    }

    /// The identity that its brokers report.
    static let identity = "simulated"

    /// The names of all topics, including deleted ones.
    var topics: [String]
    /// The number of consumed topics, which are the first ones.
    let consumedTopics: Int
    /// The first number of each topic in the list, and the current number of each of those.
    var firstNumbers: [Int]
    var currentNumbers: [Int]
    /// The topics that the group knows to be missing, by their first numbers.
    var missingTopics: Set<Int> = []
    var logs: [[Log]]
    private(set) var partitions = 0
    /// No broker answers before this moment.
    var awayUntil: Int64 = 0
    /// The coordinators load, and answer none of their requests before these moments.
    var groupsLoadUntil: Int64 = 0
    var transactionsLoadUntil: Int64 = 0
    /// This topic refuses every record before that moment.
    var refusing: (topic: Int, until: Int64) = (0, 0)
    /// The same for a topic that only jobs write to.
    var refusingJobs: (topic: Int, until: Int64) = (0, 0)

    // The group.
    var members: [Int: Member] = [:]
    var generation = 0
    var isRebalancing = false

    // Transactions.
    var producers: [Int: TransactionalProducer] = [:]
    var transactions = [Transaction(producer: -1, epoch: 0, number: 0, state: .aborted)]
    /// Marks records of other programs in aborted transactions.
    static let foreignAbortedTransaction = 0
    /// Transactions whose end was decided just now: their markers have to be written.
    var decided: [Int] = []
    /// The producers whose identifier another process has taken over.
    var rivalled: Set<Int> = []
    /// The moments until which the producers' quotas are used up.
    var throttledUntil: [Int: Int64] = [:]

    init(partitions: Int, topics: [String], consumedTopics: Int) {
        self.topics = topics
        self.consumedTopics = consumedTopics
        firstNumbers = Array(topics.indices)
        currentNumbers = firstNumbers
        logs = topics.map { _ in [] }
        for _ in 0..<partitions { addPartition() }
    }

    private mutating func addPartition() {
        for topic in logs.indices { logs[topic].append(Log()) }
        partitions += 1
    }

    /// Adds one partition to every topic; returns the members that have to give their partitions back.
    mutating func grow() -> [Int] {
        addPartition()
        return members.isEmpty ? [] : startRebalance()
    }

    /// Empties the partition of a recreated topic.
    mutating func empty(_ place: Place) { self[place] = Log(leaderlessUntil: self[place].leaderlessUntil) }

    subscript(place: Place) -> Log {
        get { logs[place.topic][place.partition] }
        _modify { yield &logs[place.topic][place.partition] }
    }

    /// Whether a topic refuses every record now.
    func isRefusing(_ topic: Int, now: Int64) -> Bool {
        let first = firstNumbers[topic]
        return refusing.topic == first && refusing.until > now
            || refusingJobs.topic == first && refusingJobs.until > now
    }

    /// The partitions that the group consumes.
    var consumed: [Place] {
        (0..<consumedTopics).filter { !missingTopics.contains($0) }.flatMap { topic in
            (0..<partitions).map { Place(topic: currentNumbers[topic], partition: $0) }
        }
    }

    /// Deletes the records before this offset, as far as the group is done with them; returns the new beginning.
    mutating func delete(before offset: Int64, in place: Place) -> Int64 {
        self[place].start = max(self[place].start, min(offset, self[place].standing))
        return self[place].start
    }

    /// The offsets that were deleted before the group was done with them.
    func lost(_ place: Place) -> [Int64] {
        let log = self[place]
        guard let committed = log.committed, committed < log.start else { return [] }
        let identity = PartitionIdentity(
            cluster: Self.identity, topic: topics[place.topic], partition: Int32(place.partition))
        let done = CompletionMap(text: log.metadata, committed: committed, of: identity)?.done ?? []
        return (committed..<log.start).filter { offset in !done.contains { $0.contains(offset) } }
    }

    func name(_ place: Place) -> String { "\(topics[place.topic])/\(place.partition)" }

    mutating func append(_ record: LogRecord, to place: Place) -> Int64 {
        self[place].records.append(record)
        return Int64(logs[place.topic][place.partition].records.count - 1)
    }

    func record(_ name: RecordName) -> LogRecord? {
        let records = logs[name.place.topic][name.place.partition].records
        return name.offset >= 0 && name.offset < Int64(records.count) ? records[Int(name.offset)] : nil
    }

    /// Moves `offset` to the next record for a reader of committed records; returns false when there is none yet.
    func seek(_ place: Place, from offset: inout Int64) -> Bool {
        let end = logs[place.topic][place.partition].lastStable
        while offset < end {
            if isVisible(place, offset) { return true }
            offset += 1
        }
        return false
    }

    /// The next damage for a reader of committed records from this offset on, with its offset.
    func damage(_ place: Place, at offset: Int64) -> (offset: Int64, damage: LogRecord.Damage)? {
        var found = offset
        // A batch comes as a whole, whichever of its offsets is requested.
        if offset < self[place].lastStable, case .batch? = self[place].records[Int(offset)].damage {
        } else if !seek(place, from: &found) {
            return nil
        }
        return self[place].records[Int(found)].damage.map { (found, $0) }
    }

    private func isVisible(_ place: Place, _ offset: Int64) -> Bool {
        let record = logs[place.topic][place.partition].records[Int(offset)]
        guard !record.isMarker else { return false }
        guard let transaction = record.transaction else { return true }
        // Below the last stable offset the transaction's marker has been written.
        return transactions[transaction].commits
    }

    /// Whether this offset has, or may come to have, a readable record.
    func isData(_ place: Place, _ offset: Int64) -> Bool {
        guard let record = record(RecordName(place: place, offset: offset)) else { return true }
        guard !record.isMarker else { return false }
        return record.transaction.map { transactions[$0].commits || transactions[$0].state == .open } ?? true
    }

    /// The first partition with an open transaction, or with readable records that the group has not committed.
    var unsettled: Place? {
        for (first, topic) in currentNumbers.enumerated() {
            for partition in 0..<partitions {
                let log = logs[topic][partition]
                guard log.open.isEmpty else { return Place(topic: topic, partition: partition) }
                guard first < consumedTopics else { continue }
                var offset = max(log.standing, log.passed)
                guard log.pendingOffsets == 0, !seek(Place(topic: topic, partition: partition), from: &offset)
                else { return Place(topic: topic, partition: partition) }
            }
        }
        return nil
    }
}
