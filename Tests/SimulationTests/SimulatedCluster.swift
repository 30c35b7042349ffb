import HeraldEvents

/// A partition of a topic, in the simulation.
struct Place: Hashable, Comparable {
    var topic: String
    var partition: Int32

    static func < (left: Self, right: Self) -> Bool {
        (left.topic, left.partition) < (right.topic, right.partition)
    }
}

/// What a commit says about one partition.
struct Position {
    var place: Place
    var offset: Int64
    var metadata: String
}

/// A record in a simulated log.
struct LogRecord {
    var key: [UInt8]?
    var value: [UInt8]?
    var headers = HeaderList()
    var timestamp: Int64
    /// The end of a transaction: it has an offset, and no consumer sees it.
    var isMarker = false

    static func marker(_ timestamp: Int64) -> Self { Self(timestamp: timestamp, isMarker: true) }
}

/// The broker's side: logs, one group with generations and eager rebalances, committed offsets.
struct SimulatedCluster {
    struct Member {
        var generation = 0
        var assignment: [Place] = []
        /// It was told that its partitions are revoked and has not answered.
        var isRevoking = false
        /// It has no assignment of the coming generation yet.
        var isWaiting = true
    }

    private(set) var logs: [Place: [LogRecord]] = [:]
    private(set) var committed: [Place: Int64] = [:]
    private(set) var metadata: [Place: String] = [:]
    private(set) var members: [Int: Member] = [:]
    private(set) var generation = 0
    private(set) var isRebalancing = false
    private(set) var consumed: [Place] = []
    private(set) var partitions: Int32 = 0
    private let consumedTopics: [String]
    private let otherTopics: [String]

    init(partitions: Int32, consumedTopics: [String], otherTopics: [String]) {
        self.consumedTopics = consumedTopics
        self.otherTopics = otherTopics
        for _ in 0..<partitions { addPartition() }
    }

    private mutating func addPartition() {
        for topic in consumedTopics + otherTopics { logs[Place(topic: topic, partition: partitions)] = [] }
        for topic in consumedTopics { consumed.append(Place(topic: topic, partition: partitions)) }
        consumed.sort()
        partitions += 1
    }

    /// Every topic gets one more partition.
    mutating func grow() -> [Int] {
        addPartition()
        return members.isEmpty ? [] : startRebalance()
    }

    mutating func append(_ record: LogRecord, to place: Place) -> Int64 {
        logs[place, default: []].append(record)
        return Int64(logs[place, default: []].count - 1)
    }

    func record(at place: Place, _ offset: Int64) -> LogRecord? {
        guard let log = logs[place], offset >= 0, offset < Int64(log.count) else { return nil }
        return log[Int(offset)]
    }

    // MARK: The group

    /// A member joins.
    ///
    /// Those who have partitions are told to give them back: their identifiers are returned.
    mutating func join(_ member: Int) -> [Int] {
        members[member] = Member()
        return startRebalance()
    }

    /// A member left or its session ended.
    mutating func remove(_ member: Int) -> [Int] {
        guard members.removeValue(forKey: member) != nil else { return [] }
        return startRebalance()
    }

    private mutating func startRebalance() -> [Int] {
        isRebalancing = true
        var told: [Int] = []
        for (name, member) in members.sorted(by: { $0.key < $1.key }) where !member.isWaiting && !member.isRevoking {
            members[name]?.isRevoking = true
            told.append(name)
        }
        return told
    }

    /// A member has given its partitions back.
    mutating func unassigned(_ member: Int) {
        members[member]?.isRevoking = false
        members[member]?.isWaiting = true
        members[member]?.assignment = []
    }

    /// Ends the rebalance when every member waits for its partitions: the new assignments.
    mutating func finishRebalance() -> [(member: Int, places: [Place])] {
        guard isRebalancing, !members.isEmpty, members.values.allSatisfy(\.isWaiting) else { return [] }
        isRebalancing = false
        generation += 1
        let names = members.keys.sorted()
        var shares: [Int: [Place]] = [:]
        // As the range assignor: each topic's partitions in a row, so that some members may get none.
        let share = (Int(partitions) + names.count - 1) / names.count
        for place in consumed { shares[names[Int(place.partition) / share], default: []].append(place) }
        return names.map { name in
            members[name]?.generation = generation
            members[name]?.isWaiting = false
            members[name]?.assignment = shares[name] ?? []
            return (name, shares[name] ?? [])
        }
    }

    /// Whether a commit of this member and generation is accepted: the broker checks the generation only.
    func accepts(member: Int, generation: Int) -> Bool {
        members[member]?.generation == generation && members[member]?.isWaiting == false
    }

    /// Whether the member has this generation's partitions and was not asked for them back.
    func isMember(_ member: Int, of generation: Int) -> Bool {
        accepts(member: member, generation: generation) && members[member]?.isRevoking == false
    }

    mutating func commit(_ position: Position) {
        committed[position.place] = position.offset
        metadata[position.place] = position.metadata
    }
}
