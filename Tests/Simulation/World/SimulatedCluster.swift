/// The broker's side: logs, one group with generations and eager rebalances, committed offsets, transactions.
///
/// | file | part |
/// |---|---|
/// | `SimulatedCluster+Group.swift` | members, rebalances, committed offsets |
/// | `SimulatedCluster+Transactions.swift` | transactional ids, epochs, transactions |
/// | `SimulatedCluster+Topics.swift` | topics that are deleted and recreated |
struct SimulatedCluster {
    /// One partition's log, and what the group has committed of it.
    struct Log {
        var records: [LogRecord] = []
        /// The first record that retention has left.
        var start: Int64 = 0
        /// The transactions with records here that have not ended here, and the first record of each.
        var open: [(transaction: Int, first: Int64)] = []
        /// Nothing is read or written before this moment.
        var leaderlessUntil: Int64 = 0
        /// The workers that take from it.
        var takers: [Int] = []
        var committed: Int64?
        var metadata = ""
        /// The offsets that another program has committed.
        var foreignOffsets: Set<Int64> = []
        /// That was said of the topic that had this name before.
        var isCommitOutdated = false
        /// So many records are those that it was said of.
        var known = Int64.max
        /// From here on a reader has found other records than those that commits tell of, and takes them anew.
        var replaced = Int64.max
        /// What lies below is taken for dealt with by readers who could not know that the topic was recreated.
        var passed: Int64 = 0
        /// So many records are those of the partition that had its name before: its log was cut off there.
        var kept: Int64 = 0
        /// Offsets that were sent in transactions which have not ended.
        var pendingOffsets = 0

        /// No reader of committed records gets further than this.
        var lastStable: Int64 { open.map(\.first).min() ?? end }
        var end: Int64 { Int64(records.count) }
        /// Where the group stands in these records.
        var standing: Int64 { isCommitOutdated ? max(start, min(committed ?? 0, known)) : committed ?? start }
    }

    struct Member {
        var generation = 0
        var assignment: [Place] = []
        /// The static member that it is.
        var instance: Int?
        /// It was told that its partitions are revoked and has not answered.
        var isRevoking = false
        /// It has no assignment of the coming generation yet.
        var isWaiting = true
    }

    /// What its brokers say that it is.
    static let identity = "simulated"

    /// The names of all topics, also of those that are deleted.
    var topics: [String]
    /// The first so many topics are consumed.
    let consumedTopics: Int
    /// Which topic each one of the list was at first, and which of the list each of those is now.
    var firstNumbers: [Int]
    var currentNumbers: [Int]
    /// What the group knows to be missing, by the topics' first numbers.
    var missingTopics: Set<Int> = []
    var logs: [[Log]]
    private(set) var partitions = 0
    /// No broker answers before this moment.
    var awayUntil: Int64 = 0
    /// The coordinators answer no request that is theirs before these moments, because they load.
    var groupsLoadUntil: Int64 = 0
    var transactionsLoadUntil: Int64 = 0
    /// This topic refuses every record before that moment.
    var refusing: (topic: Int, until: Int64) = (0, 0)
    /// The same of a topic that only jobs write to.
    var refusingJobs: (topic: Int, until: Int64) = (0, 0)

    // The group.
    var members: [Int: Member] = [:]
    var generation = 0
    var isRebalancing = false

    // Transactions.
    var producers: [Int: TransactionalProducer] = [:]
    var transactions = [Transaction(producer: -1, epoch: 0, number: 0, state: .aborted)]
    /// What somebody else wrote and took back.
    static let foreignAbortedTransaction = 0
    /// Transactions whose end was decided just now: their markers are to be written.
    var decided: [Int] = []
    /// The producers whose identifier somebody else has taken over.
    var rivalled: Set<Int> = []
    /// Until when the producers have used their quota up.
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

    /// Every topic gets one more partition: who is to give its partitions back.
    mutating func grow() -> [Int] {
        addPartition()
        return members.isEmpty ? [] : startRebalance()
    }

    /// The partition is of a topic that was made anew.
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

    /// Retention deletes what lies before this offset, as far as the group has dealt with it; where the log begins now.
    mutating func delete(before offset: Int64, in place: Place) -> Int64 {
        self[place].start = max(self[place].start, min(offset, self[place].standing))
        return self[place].start
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

    /// Moves `offset` to the next record that a reader of committed records gets; false when there is none yet.
    func seek(_ place: Place, from offset: inout Int64) -> Bool {
        let end = logs[place.topic][place.partition].lastStable
        while offset < end {
            if isVisible(place, offset) { return true }
            offset += 1
        }
        return false
    }

    /// What is wrong with what a reader of committed records gets from this offset on, and where that lies.
    func damage(_ place: Place, at offset: Int64) -> (offset: Int64, damage: LogRecord.Damage)? {
        var found = offset
        // A batch comes as a whole, whichever of its offsets is asked for.
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

    /// Whether there is, or may come to be, something to read at this offset.
    func isData(_ place: Place, _ offset: Int64) -> Bool {
        guard let record = record(RecordName(place: place, offset: offset)) else { return true }
        guard !record.isMarker else { return false }
        return record.transaction.map { transactions[$0].commits || transactions[$0].state == .open } ?? true
    }

    /// The first partition with an open transaction, or with something to read that the group has not committed.
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
