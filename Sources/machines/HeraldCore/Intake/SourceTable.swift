import HeraldTime

/// One queue to take from: a request topic, or one partition of a retry topic.
public struct Source: Sendable {
    /// The reasons why it is not fetched.
    struct Pauses: OptionSet, Sendable {
        var rawValue: UInt8
        /// Its first record is due in a while.
        static let farOff = Pauses(rawValue: 1)
        /// The queues of all hold too much.
        static let crowded = Pauses(rawValue: 2)
    }

    /// The topic's index.
    public fileprivate(set) var topic: Int
    /// The indices of its partitions in the assignment.
    public fileprivate(set) var partitions: [Int32] = []
    /// The delay of a retry topic's records.
    fileprivate(set) var delay: Milliseconds?
    fileprivate(set) var weight: Int
    /// The place of its topic among the request topics; an invalid one for retries, whose records name their own.
    fileprivate(set) var requestTopic: Int
    /// The class of its events' calls; 0 for retries.
    fileprivate(set) var callClass = 0
    fileprivate var credit = 0
    /// Whether its queue may have records.
    fileprivate var mayHaveRecords = true
    /// Whether its first record is not due.
    fileprivate(set) var isBlocked = false
    fileprivate(set) var pauses: Pauses = []
    /// Whether its queue was taken out before it was paused, so that its records are still there.
    fileprivate(set) var isRetained = false
    /// From a partition's number to its index in the assignment; -1 for those of others.
    fileprivate var indices: [Int32] = []

    fileprivate init(topic: Int, requestTopic: Int, delay: Milliseconds? = nil, weight: Int) {
        self.topic = topic
        self.requestTopic = requestTopic
        self.delay = delay
        self.weight = weight
    }

    /// Whether its records are in its queue, or were taken out of it.
    var isThere: Bool { pauses.isEmpty || isRetained }

    /// Whether it is paused with its records retained.
    var isWaiting: Bool { isRetained && pauses.contains(.crowded) }
}

/// The queues of an assignment, and their turns.
///
/// No other part writes them.
///
/// A source is *blocked* while its first record, of a retry topic, is not due; *exhausted* until something may have
/// arrived; *paused* while there is any reason for it, which voids its queue's records unless they were *retained*.
struct SourceTable: Sendable {
    /// Retry topics are taken with the weight of the most urgent request topic.
    static let retryWeight = 10

    private(set) var all: [Source] = []
    private var cursor = 0

    subscript(source: Int) -> Source {
        @inline(__always) _read { yield all[source] }
    }

    var count: Int { all.count }
    var indices: Range<Int> { all.indices }

    mutating func removeAll() { all.removeAll(keepingCapacity: true) }

    /// A queue for each request topic, one for each partition of a retry topic.
    ///
    /// - Returns: The weight of each class in which wanted calls wait: one for all retries, and one for each request topic.
    mutating func assign(_ partitions: PartitionTable, _ requestTopics: RequestTopics) -> [Int] {
        all = []
        cursor = 0
        for index in partitions.all.indices { add(Int32(index), partitions, requestTopics) }
        var weights = [Self.retryWeight]
        for index in all.indices {
            if all[index].delay == nil {
                all[index].callClass = weights.count
                weights.append(all[index].weight)
            } else {
                // A retry topic has one weight, however many partitions of it there are.
                let topic = all[index].topic
                all[index].weight = max(1, Self.retryWeight / all.count { $0.topic == topic })
            }
        }
        return weights
    }

    private mutating func add(_ partition: Int32, _ partitions: PartitionTable, _ requestTopics: RequestTopics) {
        let topic = partitions[partition].topic
        let number = Int(partitions[partition].number)
        let source: Int
        switch partitions.topics[topic].role {
        case .request(let weight):
            let name = partitions.topics[topic].name
            let place = requestTopics.place(of: name.utf8.span.bytes)
            source =
                all.firstIndex { $0.topic == topic }
                ?? append(Source(topic: topic, requestTopic: place, weight: max(1, weight)))
        case .retry(let delay):
            source = append(
                Source(topic: topic, requestTopic: requestTopics.unknown, delay: delay, weight: Self.retryWeight))
        }
        all[source].partitions.append(partition)
        while all[source].indices.count <= number { all[source].indices.append(-1) }
        all[source].indices[number] = partition
    }

    private mutating func append(_ source: Source) -> Int {
        all.append(source)
        return all.count - 1
    }

    /// The facts of a queue for an event, at once: each access to a source costs.
    @inline(__always)
    func kind(of source: Int) -> (callClass: Int, requestTopic: Int, isRetry: Bool) {
        (all[source].callClass, all[source].requestTopic, all[source].delay != nil)
    }

    /// The source of one of the assignment's partitions.
    func index(of partition: Int32) -> Int? { all.firstIndex { $0.partitions.contains(partition) } }

    /// The index in the assignment of a topic's partition; `nil` when it is another worker's.
    func partition(_ number: Int32, of source: Int) -> Int32? {
        guard Int(number) < all[source].indices.count else { return nil }
        let index = all[source].indices[Int(number)]
        return index >= 0 ? index : nil
    }
}

// MARK: Turns

extension SourceTable {
    /// The limits of all sources.
    struct Room: Sendable {
        /// Whether there are too many bytes of all in memory.
        var isFull: Bool
        /// The bytes that a class may always take.
        var reserved: Int
        /// In an outage: the number of further events of each class that are taken.
        var outageRoom: [Int]?
    }

    /// The source to take the next record from, by weight; `nil` when none is open.
    mutating func next(_ room: borrowing Room, _ events: borrowing EventTable) -> Int? {
        if let source = takeByWeight(room, events) { return source }
        var isAnyOpen = false
        for index in all.indices where isOpen(index, room, events) {
            all[index].credit = all[index].weight
            isAnyOpen = true
        }
        return isAnyOpen ? takeByWeight(room, events) : nil
    }

    private mutating func takeByWeight(_ room: borrowing Room, _ events: borrowing EventTable) -> Int? {
        for step in 0..<all.count {
            var index = cursor + step
            if index >= all.count { index -= all.count }
            if all[index].credit > 0 && isOpen(index, room, events) {
                all[index].credit -= 1
                cursor = index
                return index
            }
        }
        return nil
    }

    private func isOpen(_ index: Int, _ room: borrowing Room, _ events: borrowing EventTable) -> Bool {
        guard all[index].mayHaveRecords, !all[index].isBlocked else { return false }
        let number = all[index].callClass
        guard !room.isFull || events.bytesByClass[number] < room.reserved else { return false }
        if let outageRoom = room.outageRoom { return outageRoom[number] > 0 }
        return true
    }

    /// Notes that the source was empty.
    mutating func exhaust(_ source: Int) { all[source].mayHaveRecords = false }

    /// Notes that its queue may have records again.
    mutating func recordsArrived(in source: Int) { all[source].mayHaveRecords = true }

    /// Notes that its first record is not due.
    mutating func block(_ source: Int) { all[source].isBlocked = true }

    /// Notes that its first record has gone on.
    mutating func unblock(_ source: Int) {
        all[source].isBlocked = false
        all[source].mayHaveRecords = true
    }
}

// MARK: Pauses

extension SourceTable {
    mutating func pause(_ source: Int, for reason: Source.Pauses, actions: inout [Action]) {
        let wasOpen = all[source].pauses.isEmpty
        all[source].pauses.insert(reason)
        guard wasOpen else { return }
        for partition in all[source].partitions { actions.append(.pause(partition: partition)) }
    }

    mutating func resume(
        _ source: Int, from reasons: Source.Pauses, _ partitions: borrowing PartitionTable, actions: inout [Action]
    ) {
        guard !all[source].pauses.isDisjoint(with: reasons) else { return }
        all[source].pauses.subtract(reasons)
        guard all[source].pauses.isEmpty else { return }
        for partition in all[source].partitions where !partitions[partition].isFull {
            actions.append(.resume(partition: partition))
        }
    }

    /// Retains its fetched records although it will be paused.
    mutating func retain(_ source: Int, actions: inout [Action]) {
        all[source].isRetained = true
        actions.append(.retainQueue(source: source))
    }

    /// Gives up its retained records, which are read again.
    mutating func dropRetained(_ source: Int, actions: inout [Action]) {
        guard all[source].isRetained else { return }
        all[source].isRetained = false
        actions.append(.dropRetained(source: source))
        for partition in all[source].partitions { actions.append(.rewind(partition: partition)) }
    }
}

/// The request topics of the settings, each with its place, by which events are counted.
///
/// There is one place more, ``unknown``, for events whose request topic the settings do not name any more: so however many
/// topics records tell of, the places stay as many as the settings have.
public struct RequestTopics: Sendable {
    private let names: [[UInt8]]

    /// The topics in the order of the settings.
    public init(_ names: [String]) {
        self.names = names.map { Array($0.utf8) }
    }

    /// The place of events from any other topic, which is the last.
    public var unknown: Int { names.count }

    /// A topic's place.
    func place(of name: RawSpan) -> Int {
        name.withUnsafeBytes { name in
            names.firstIndex { $0.count == name.count && $0.elementsEqual(name) } ?? unknown
        }
    }
}
