import HeraldEvents
import HeraldTime

/// The assigned partitions and the progress of each.
///
/// No other part writes them.
///
/// A partition is *taken from*; *full* when the map beyond its watermark would not fit into a commit any more, until it
/// has much room again; and it may *expect* an offset that was not taken: records read ahead behind that come again
/// with it. It is *in question* while the readability of a batch that its client can't read is unknown.
struct PartitionTable: Sendable {
    struct Partition: Sendable {
        fileprivate(set) var topic: Int
        fileprivate(set) var number: Int32
        /// The hash of its topic's name.
        fileprivate(set) var hash: UInt64
        /// The identity that its commits' metadata is bound to.
        fileprivate(set) var identity: PartitionIdentity
        /// The offset below which records were settled before this assignment.
        fileprivate(set) var start: Int64
        /// The first offset that its log still has, as far as a question told.
        fileprivate(set) var logStart: Int64 = 0
        /// The next offset of those that are read again to remember them.
        fileprivate(set) var history: Int64
        /// `nil` until the first record shows the partition's start.
        fileprivate(set) var tracker: OffsetTracker?
        /// Whether taking has stopped, because the map beyond the watermark would not fit into a commit.
        fileprivate(set) var isFull = false
        /// The offset that was not taken and has to come next.
        fileprivate(set) var expected: Int64?
        /// The number of the first reading of these offsets: answers to earlier questions are outdated.
        fileprivate(set) var firstReading: Int
        /// The expected offset while it is in question: none.
        fileprivate static let inQuestion = Int64.min
        /// The failures of settled events; `nil` when unknown.
        fileprivate(set) var failed: [Int64: PushServiceSet]?
        /// The evidence about its log.
        fileprivate(set) var evidence: LogEvidence
        /// The end of doubtful offsets, which are settled up to the first record younger than all taken ones.
        fileprivate(set) var doubtful: Int64 = 0
    }

    private(set) var topics: [ConsumedTopic] = []
    private(set) var all: [Partition] = []
    /// The progress of the partitions of earlier assignments.
    private var former: [String: [Int32: Int64]] = [:]

    subscript(partition: Int32) -> Partition {
        @inline(__always) _read { yield all[Int(partition)] }
    }

    var indices: Range<Int32> { 0..<Int32(all.count) }
    var isEmpty: Bool { all.isEmpty }

    /// The name of the topic that a partition belongs to.
    func topicName(of partition: Int32) -> String { topics[all[Int(partition)].topic].name }

    /// The index in the assignment of a topic's partition.
    func index(of number: Int32, in topic: String) -> Int32? {
        all.firstIndex { $0.number == number && topics[$0.topic].name == topic }.map { Int32($0) }
    }

    /// Whether a commit would tell the broker something new.
    var hasUncommitted: Bool { all.contains { $0.tracker?.hasUncommitted == true } }

    /// Begins an assignment; reports foreign metadata of its offsets, and the offsets that others have passed over.
    mutating func assign(
        _ assigned: [AssignedPartition], of topics: [ConsumedTopic], in cluster: String, reading: Int,
        hashSeed: UInt64, actions: inout [Action]
    ) {
        self.topics = topics
        all = []
        for partition in assigned {
            let topic = topics[partition.topic].name
            let identity = PartitionIdentity(cluster: cluster, topic: topic, partition: partition.number)
            let map = map(of: partition, identity, in: topic, actions: &actions)
            let start = partition.startOffset
            all.append(
                Partition(
                    topic: partition.topic, number: partition.number,
                    hash: ByteHash.hash(topic.utf8.span.bytes, seed: hashSeed), identity: identity,
                    start: start ?? 0, history: partition.historyOffset ?? start ?? 0,
                    tracker: start.map { OffsetTracker(startingAt: $0, done: map) },
                    firstReading: reading,
                    failed: partition.failed, evidence: Self.evidence(map, from: start)))
        }
    }

    /// The map of work done beyond a partition's start.
    private func map(
        of partition: AssignedPartition, _ identity: PartitionIdentity, in topic: String, actions: inout [Action]
    ) -> CompletionMap {
        guard let offset = partition.startOffset else { return CompletionMap() }
        let map = CompletionMap(text: partition.metadata, committed: offset, of: identity)
        if map == nil {
            actions.append(.notice(.foreignMetadata(topic: topic, partition: partition.number)))
        }
        // Herald's commits are never without metadata.
        if map == nil || partition.metadata.isEmpty, let former = former[topic]?[partition.number], former < offset {
            let passed = PassedOver(
                topic: topic, partition: partition.number, cause: .foreign, offsets: former..<offset, stood: former)
            actions.append(.notice(.passedOver(passed)))
        }
        return map ?? CompletionMap()
    }

    /// The evidence about a log at its start: none about earlier work where nothing was noted.
    private static func evidence(_ map: CompletionMap, from start: Int64?) -> LogEvidence {
        map.evidence ?? LogEvidence(begin: max(start ?? 0, map.done.last?.upperBound ?? 0))
    }

    mutating func removeAll() {
        // A partition that waited for its offset until now keeps its former position.
        for partition in all {
            guard let done = partition.tracker?.watermark else { continue }
            former[topics[partition.topic].name, default: [:]][partition.number] = done
        }
        all.removeAll(keepingCapacity: true)
    }

    /// Begins a partition that waited for an offset.
    mutating func begin(
        _ partition: Int32, _ assigned: AssignedPartition, reading: Int, actions: inout [Action]
    ) {
        let place = Int(partition)
        let done = map(of: assigned, all[place].identity, in: topicName(of: partition), actions: &actions)
        all[place].tracker = assigned.startOffset.map { OffsetTracker(startingAt: $0, done: done) }
        all[place].evidence = Self.evidence(done, from: assigned.startOffset)
        all[place].start = assigned.startOffset ?? 0
        all[place].history = assigned.historyOffset ?? all[place].start
        all[place].firstReading = reading
        all[place].failed = assigned.failed
    }

    /// Restarts a partition whose topic was recreated: its offsets begin here.
    ///
    /// - Parameter reading: The first reading of them.
    mutating func restart(_ partition: Int32, at offset: Int64, reading: Int) {
        all[Int(partition)].tracker = OffsetTracker(restartingAt: offset)
        resume(partition, at: offset, reading: reading)
    }

    /// Cuts a partition whose log was cut off, or holds other records from this offset on.
    ///
    /// - Parameters:
    ///   - end: The offset below which records are taken only from the first one on that is younger than all taken
    ///     ones.
    ///   - reading: The first reading of the new records.
    mutating func cut(_ partition: Int32, at offset: Int64, passing end: Int64, isProven: Bool, reading: Int) {
        all[Int(partition)].tracker?.cut(at: offset)
        resume(partition, at: offset, reading: reading)
        all[Int(partition)].doubtful = end
        // The time stamps of records passed over without proof are unknown.
        if !isProven { all[Int(partition)].evidence.begin = offset }
    }

    private mutating func resume(_ partition: Int32, at offset: Int64, reading: Int) {
        all[Int(partition)].firstReading = reading
        all[Int(partition)].start = offset
        all[Int(partition)].logStart = offset
        all[Int(partition)].history = offset
        all[Int(partition)].expected = nil
        all[Int(partition)].evidence.begin = 0
        all[Int(partition)].doubtful = 0
    }

    /// Doubts the log from this offset on: its records are read again, up to the next one to take.
    mutating func doubt(_ partition: Int32, from offset: Int64) {
        guard let next = all[Int(partition)].tracker?.next else { return }
        let isHistoryRead = next > all[Int(partition)].start
        all[Int(partition)].history = isHistoryRead ? offset : min(offset, all[Int(partition)].history)
        all[Int(partition)].doubtful = next
        all[Int(partition)].expected = nil
    }

    /// Continues at an offset, because the records before it are deleted; false while too much before them is undone.
    mutating func skip(_ partition: Int32, to offset: Int64) -> Bool {
        guard all[Int(partition)].tracker?.reachEnd(offset) == true else { return false }
        all[Int(partition)].expected = nil
        deleted(before: offset, of: partition)
        return true
    }

    /// Notes where the log begins, below which nobody can read again what is in memory.
    mutating func begins(at offset: Int64, _ partition: Int32) { all[Int(partition)].logStart = offset }

    /// Notes that records below this offset are deleted.
    mutating func deleted(before offset: Int64, of partition: Int32) {
        all[Int(partition)].history = max(all[Int(partition)].history, offset)
    }

    /// The start of a new reading; `nil` until the first record shows it.
    func readOffset(of partition: Int32) -> Int64? {
        let partition = all[Int(partition)]
        guard let next = partition.tracker?.next else { return nil }
        return next > max(partition.start, partition.doubtful) ? next : min(next, partition.history)
    }
}

// MARK: Taking

extension PartitionTable {
    enum Taking {
        case new
        /// An earlier owner, or this worker, has settled it.
        case doneBefore(byOthers: Bool)
        /// Its offset is settled, but it is younger than all taken records: the log was cut off or recreated, and has
        /// grown since.
        case replaced
        /// It is read again, with the records before it.
        case unexpected
        /// It is the first without room: the partition is full from now on.
        case noRoom
    }

    /// Whether a record may be taken now, or has to be read again later.
    @inline(__always)
    mutating func accept(_ offset: Int64, stamped timestamp: WallTime?, of partition: Int32) -> Taking {
        all[Int(partition)].accept(offset, stamped: timestamp)
    }

    /// Notes that a partition was read to its end; true when that is news for a commit.
    mutating func reachEnd(of partition: Int32, at offset: Int64) -> Bool {
        let place = Int(partition)
        guard all[place].expected == nil, offset > 0 else { return false }
        if all[place].tracker == nil { all[place].tracker = OffsetTracker(startingAt: 0) }
        return all[place].tracker?.reachEnd(offset) == true
    }

    /// Resumes a full partition; false when it is not full.
    mutating func endFull(_ partition: Int32) -> Bool {
        guard all[Int(partition)].isFull else { return false }
        all[Int(partition)].isFull = false
        return true
    }

    /// Whether a full partition's map has room again.
    func hasRoomAgain(_ partition: Int32) -> Bool {
        guard all[Int(partition)].isFull, let expected = all[Int(partition)].expected else { return false }
        return all[Int(partition)].tracker?.hasMuchRoom(for: expected) == true
    }

    /// Whether it waits for an offset that was not taken, and not for room.
    func waitsForExpected(_ partition: Int32) -> Bool {
        guard let expected = all[Int(partition)].expected, expected != Partition.inQuestion else { return false }
        return !all[Int(partition)].isFull
    }
}

extension PartitionTable.Partition {
    /// The partition is accessed once for everything: this runs for each record.
    fileprivate mutating func accept(_ offset: Int64, stamped timestamp: WallTime?) -> PartitionTable.Taking {
        if tracker == nil { tracker = OffsetTracker(startingAt: offset) }
        if let expected {
            guard offset <= expected else { return .unexpected }
            if offset == expected { self.expected = nil }
        }
        if tracker?.mayTake(offset) == false {
            expected = offset
            isFull = true
            return .noRoom
        }
        let known = max(start, doubtful)
        // An earlier owner has taken everything below the end of its map, done or not.
        let mayBeAnother = offset < max(known, tracker?.mapEnd ?? 0)
        let taken = tracker?.accept(offset)
        var isTaken = taken != .new
        if mayBeAnother, evidence.isContradicted(by: timestamp, at: offset) {
            guard !isTaken, offset < doubtful else { return .replaced }
            doubtful = 0
        } else if offset < known {
            if !isTaken { tracker?.complete(offset) }
            isTaken = true
            history = offset + 1
        }
        if taken != .repeated { evidence.note(timestamp) }
        guard isTaken else { return .new }
        // This worker knows its own taken records better.
        return .doneBefore(byOthers: taken != .repeated || offset < start)
    }
}

// MARK: What can't be read

extension PartitionTable {
    /// Puts a partition in question at an unreadable batch, or at an offset that is not there: nothing is taken until
    /// ``endQuestion(_:)``.
    ///
    /// - Returns: The offset from which it has to be readable; `nil` when there is no question.
    mutating func question(_ partition: Int32, at offset: Int64 = .min) -> Int64? {
        let place = Int(partition)
        // Records after the expected one come again, and so does everything once there is room.
        guard !all[place].isFull, offset <= all[place].expected ?? .max else { return nil }
        all[place].expected = Partition.inQuestion
        return readOffset(of: partition) ?? offset
    }

    /// Ends the question; false when there was none.
    mutating func endQuestion(_ partition: Int32) -> Bool {
        guard all[Int(partition)].expected == Partition.inQuestion else { return false }
        all[Int(partition)].expected = nil
        return true
    }

    enum Passing {
        /// An earlier owner has settled all of them.
        case doneBefore
        /// They would not fit into a commit: the partition is full from now on.
        case noRoom
        /// This one stands for all of them.
        case new(Int64)
    }

    /// Passes over unreadable offsets.
    mutating func pass(_ offsets: Range<Int64>, of partition: Int32, failedAt: WallTime?) -> Passing {
        let place = Int(partition)
        var tracker = all[place].tracker ?? OffsetTracker(startingAt: offsets.lowerBound)
        guard tracker.mayTake(offsets.upperBound - 1) else {
            all[place].expected = offsets.lowerBound
            all[place].isFull = true
            return .noRoom
        }
        let first = tracker.pass(offsets)
        all[place].tracker = tracker
        all[place].history = max(all[place].history, offsets.upperBound)
        guard let first else { return .doneBefore }
        // Their age is unknown, but they were there when the client failed. By now another log may be in its place, whose
        // records are younger. The evidence of what an earlier owner has settled came with its map: records that were
        // written since, behind a cut, would seem as old.
        all[place].evidence.note(failedAt)
        return .new(first)
    }
}

// MARK: Completing

extension PartitionTable {
    /// Notes that all records of an offset are durable.
    mutating func complete(_ offset: Int64, of partition: Int32) { all[Int(partition)].tracker?.complete(offset) }

    /// Notes the same, together with a commit that reported it.
    mutating func completeAcknowledged(_ offset: Int64, of partition: Int32) {
        if offset != Slot.noOffset { all[Int(partition)].tracker?.completeAcknowledged(offset) }
    }

    /// Notes that the next commit will report one more offset as done.
    mutating func decide(_ offset: Int64, of partition: Int32) {
        if offset != Slot.noOffset { all[Int(partition)].tracker?.decide() }
    }

    /// Notes that it will not report this one after all.
    mutating func undecide(_ offset: Int64, of partition: Int32) {
        if offset != Slot.noOffset { all[Int(partition)].tracker?.undecide() }
    }

    /// Notes that the broker has a commit's positions.
    mutating func acknowledge(_ positions: [CommittedPosition]) {
        for position in positions { all[Int(position.partition)].tracker?.acknowledge(position.mark) }
    }

    /// A partition's position for a commit, as if the members of the transaction were complete already; `nil` without
    /// news.
    ///
    /// - Parameter isUnproven: whether a position without news is useful as well, to show that this worker is still a
    ///   member.
    func position(_ index: Int32, _ tracker: OffsetTracker?, isUnproven: Bool) -> CommittedPosition? {
        guard let tracker, tracker.hasUncommitted || isUnproven else { return nil }
        var map = tracker.completions
        map.evidence = all[Int(index)].evidence
        let text = map.text(committing: tracker.watermark, of: all[Int(index)].identity)
        let mark = all[Int(index)].tracker?.mark ?? 0
        return CommittedPosition(partition: index, offset: tracker.watermark, metadata: text, mark: mark)
    }
}
