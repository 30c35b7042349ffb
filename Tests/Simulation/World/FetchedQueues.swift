import HeraldEvents
import HeraldTime

/// The records that a worker's client has fetched and its lane has not taken, as in librdkafka.
///
/// Each of the lane's sources has a queue. Records stay in it until the lane takes them, or until they are void because
/// their partition was paused, or is read from another offset: void ones still count, and are dropped on the way to the
/// next.
struct FetchedQueues {
    /// A record, or an error in a record's place.
    struct Entry {
        enum Kind { case record, end, outOfRange, unreadable }

        var partition: Int
        /// In a recreated topic, the place in which the record really is.
        var place: Place
        var offset: Int64
        var kind: Kind
        fileprivate var version: Int
    }

    /// The start of reading a partition.
    struct Start {
        /// The place that its reader has in mind: a recreated topic may have its name now.
        var place: Place
        var offset: Int64
        /// The next offset that its reader takes, when all before it counts as done.
        var wanted: Int64?
    }

    private struct Partition {
        var place: Place
        var wanted: Int64?
        /// The client's next offset to fetch.
        var next: Int64
        /// The client's next offset after a pause: behind the records handed out.
        var position: Int64
        /// The offset behind the lane's records.
        var taken: Int64
        /// The end that was last reported.
        var endTold: Int64 = -1
        /// The batch that was last reported as unreadable.
        var damageTold: Int64 = -1
        /// Entries of an older version are void.
        var version = 0
        var isPaused = false
        /// Its offset does not exist: it is no longer fetched.
        var isLost = false
        /// The lane's queue; without one, records go to the consumer's own.
        var queue: Int?
    }

    /// The limit of records fetched ahead in a queue.
    private let limit: Int
    private var partitions: [Partition] = []
    private var queues: [[Entry]] = []
    private var unforwarded: [Entry] = []
    /// The entries taken out of each queue.
    private var retained: [[Entry]] = []
    /// The queues that were empty and have filled, and are not reported yet.
    private var filled: Set<Int> = []
    /// Whether there may be records to fetch.
    private var isDue = false
    /// Partitions of which another topic's records were fetched, and the offset up to which their reader skips records.
    private var unknown: [(partition: Int, offset: Int64)] = []
    /// The records that could not be read once.
    private var flukes: Set<RecordName> = []
    /// The bytes fetched in the client's life.
    private(set) var bytes = 0

    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { partitions.isEmpty }
    var places: [Place] { partitions.map(\.place) }
    /// The offset behind the lane's records, for each partition.
    var taken: [Int64] { partitions.map(\.taken) }
    /// The number of entries in each queue, including void ones.
    var counts: [Int] { queues.indices.map { queues[$0].count + retained[$0].count } }

    // MARK: What the lane wants

    mutating func assign(_ starts: [Start]) {
        let versions = partitions
        partitions = starts.enumerated().map { index, start in
            var partition = Partition(
                place: start.place, wanted: start.wanted, next: start.offset, position: start.offset,
                taken: start.offset)
            // The same partitions are read again.
            if versions.indices.contains(index) {
                partition.version = versions[index].version + 1
                let same = versions.count == starts.count ? versions[index] : versions.first { $0.place == start.place }
                partition.isPaused = same?.isPaused ?? false
            }
            return partition
        }
        for queue in retained.indices { dropRetained(queue) }
        isDue = true
    }

    mutating func openQueues(_ count: Int) {
        queues = Array(repeating: [], count: count)
        retained = queues
        filled = []
    }

    mutating func forward(_ partition: Int, to queue: Int) {
        partitions[partition].queue = queue
        isDue = true
    }

    mutating func pause(_ partition: Int) {
        partitions[partition].isPaused = true
        void(partition)
    }

    mutating func resume(_ partition: Int) {
        partitions[partition].isPaused = false
        isDue = true
    }

    /// A lost partition stays so: only an assignment moves it.
    mutating func seek(_ partition: Int, to offset: Int64) {
        guard !partitions[partition].isLost else { return }
        partitions[partition].position = offset
        partitions[partition].taken = offset
        void(partition)
        isDue = true
    }

    private mutating func void(_ partition: Int) {
        partitions[partition].version += 1
        partitions[partition].next = partitions[partition].position
        partitions[partition].endTold = -1
        partitions[partition].damageTold = -1
    }

    /// Takes the queue's entries out; these are handed out first.
    mutating func retain(_ queue: Int) {
        var entries = retained[queue]
        while let entry = popFetched(queue) { entries.append(entry) }
        retained[queue] = entries
    }

    mutating func dropRetained(_ queue: Int) { retained[queue].removeAll { $0.kind != .outOfRange } }

    mutating func next(from queue: Int) -> Entry? {
        let entry = retained[queue].isEmpty ? popFetched(queue) : retained[queue].removeFirst()
        return given(entry)
    }

    mutating func nextUnforwarded() -> Entry? {
        while !unforwarded.isEmpty {
            let entry = unforwarded.removeFirst()
            if isValid(entry) { return given(handedOut(entry)) }
        }
        return nil
    }

    /// Names each queue that has filled since the last time, or each that has entries.
    mutating func takeFilled(all: Bool) -> [Int] {
        defer { filled = [] }
        return all ? queues.indices.filter { counts[$0] > 0 } : filled.sorted()
    }

    private mutating func popFetched(_ queue: Int) -> Entry? {
        isDue = true
        while !queues[queue].isEmpty {
            let entry = queues[queue].removeFirst()
            if isValid(entry) { return handedOut(entry) }
        }
        return nil
    }

    /// An offset out of range is reported once, and no pause takes it back: librdkafka gives that error no version.
    private func isValid(_ entry: Entry) -> Bool {
        partitions.indices.contains(entry.partition)
            && (entry.kind == .outOfRange || partitions[entry.partition].version == entry.version)
    }

    /// Moves the client's position behind the entry.
    private mutating func handedOut(_ entry: Entry) -> Entry {
        if entry.kind == .record { partitions[entry.partition].position = entry.offset + 1 }
        return entry
    }

    private mutating func given(_ entry: Entry?) -> Entry? {
        if let entry, entry.kind == .record { partitions[entry.partition].taken = entry.offset + 1 }
        return entry
    }

    // MARK: What the broker gives

    /// Notes that a broker may have more records.
    mutating func mayFetch() { isDue = true }

    /// Names, once, the partitions whose reader takes another topic's records for its own.
    mutating func takeUnknown() -> [(partition: Int, offset: Int64)] {
        defer { unknown = [] }
        return unknown
    }

    /// Fetches records as far as there is room, beginning with any partition; returns whether an empty queue has
    /// filled.
    mutating func fetch(from cluster: SimulatedCluster, now: Int64, first: () -> Int) -> Bool {
        guard isDue, !partitions.isEmpty, cluster.awayUntil <= now else { return false }
        isDue = false
        let start = first()
        for step in partitions.indices {
            let index = (start + step) % partitions.count
            guard let queue = partitions[index].queue else { continue }
            while queues[queue].count < limit, let entry = fetched(index, from: cluster, now: now) {
                if queues[queue].isEmpty { filled.insert(queue) }
                queues[queue].append(entry)
            }
        }
        return !filled.isEmpty
    }

    /// Fetches a few records before the lane has named their queues.
    mutating func fetchUnforwarded(from cluster: SimulatedCluster, now: Int64, most: Int) {
        guard cluster.awayUntil <= now else { return }
        for index in partitions.indices {
            for _ in 0..<most {
                guard let entry = fetched(index, from: cluster, now: now) else { break }
                unforwarded.append(entry)
            }
        }
    }

    private mutating func fetched(_ index: Int, from cluster: SimulatedCluster, now: Int64) -> Entry? {
        let place = cluster.current(partitions[index].place)
        guard !partitions[index].isPaused, !partitions[index].isLost, cluster[place].leaderlessUntil <= now else {
            return nil
        }
        var entry = Entry(
            partition: index, place: place, offset: partitions[index].next, kind: .record,
            version: partitions[index].version)
        if entry.offset < cluster[place].start || entry.offset > cluster[place].end {
            partitions[index].isLost = true
            entry.kind = .outOfRange
            return entry
        }
        noteRecreation(of: index, place, end: cluster[place].end)
        if let (first, next) = unreadable(index, at: cluster.damage(place, at: entry.offset), place) {
            guard partitions[index].damageTold != first else { return nil }
            partitions[index].damageTold = first
            partitions[index].next = next ?? .max
            (entry.kind, entry.offset) = (.unreadable, first)
            return entry
        }
        if cluster.seek(place, from: &entry.offset),
            let record = cluster.record(RecordName(place: place, offset: entry.offset))
        {
            bytes += (record.key?.count ?? 0) + (record.value?.count ?? 0) + record.headers.byteCount
            partitions[index].next = entry.offset + 1
            return entry
        }
        partitions[index].next = entry.offset
        guard partitions[index].endTold != entry.offset else { return nil }
        partitions[index].endTold = entry.offset
        entry.kind = .end
        return entry
    }

    /// The next unreadable batch of the client, and the offset from which it continues to fetch, if it knows one.
    private mutating func unreadable(
        _ index: Int, at damage: (offset: Int64, damage: LogRecord.Damage)?, _ place: Place
    ) -> (first: Int64, next: Int64?)? {
        switch damage {
        case (_, .batch(let offsets, let client))?:
            switch client {
            case .stays: (offsets.lowerBound, partitions[index].next)
            case .goesOn: (offsets.lowerBound, offsets.upperBound)
            case .isLost: (offsets.lowerBound, nil)
            }
        case (let offset, .fluke)? where flukes.insert(RecordName(place: place, offset: offset)).inserted:
            (offset, partitions[index].next)
        case (_, .fluke)?, nil: nil
        }
    }

    /// Notes that the partition's name belongs to another topic now, which has the wanted offset too: a client cannot
    /// distinguish the two.
    private mutating func noteRecreation(of index: Int, _ place: Place, end: Int64) {
        guard partitions[index].place != place else { return }
        let wanted = partitions[index].wanted ?? partitions[index].next
        guard wanted <= end else { return }
        (partitions[index].place, partitions[index].wanted) = (place, nil)
        unknown.append((index, wanted))
    }
}
