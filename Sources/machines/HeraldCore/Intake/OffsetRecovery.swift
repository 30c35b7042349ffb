package import HeraldEvents
package import HeraldTime

/// Recovers the position of a group whose offsets were lost, from the topics: pure, fed with the records of readers of
/// committed ones.
///
/// An event is settled as a whole: with each of its outcomes, and with the retry that it goes on as, its record is done.
/// So a request is done when a result or a retry names it as its origin, and a retry when a result or a later retry of the
/// event is about one of its push services. Give it the requests first, then the retries, then the results.
///
/// Memory: three bits for each offset of the partitions, and some hundred bytes for each retry and each replayed request.
package struct OffsetRecovery {
    /// A partition without an offset, and its readers' findings.
    package struct Place: Sendable {
        package var topic: String
        package var partition: Int32
        /// The first offset left, and the one after the last for readers of committed records.
        package var range: Range<Int64>

        package init(topic: String, partition: Int32, range: Range<Int64>) {
            self.topic = topic
            self.partition = partition
            self.range = range
        }
    }

    /// The group's position in a partition.
    package struct Position: Sendable, Equatable {
        /// The offset below which records are done, or passed over.
        package var offset: Int64
        /// The map of records done beyond it.
        package var map: CompletionMap
        /// The number of records proved to be done.
        package var done = 0
        /// The number of records that will be consumed.
        package var open = 0
        /// The number of records assumed to be done, because their outcomes would be older than the oldest remaining
        /// result.
        package var unknown = 0
        /// The number of undone records that are passed over, because the map beyond them would not fit into the
        /// group's metadata; the first and the last of them.
        package var passedOver = 0
        package var passedRange: ClosedRange<Int64>?

        /// A position with this many records beyond it.
        package init(offset: Int64, map: CompletionMap = CompletionMap(), open: Int = 0) {
            self.offset = offset
            self.map = map
            self.open = open
        }
    }

    private struct Bits {
        let start: Int64
        private var words: [UInt64]

        init(_ range: Range<Int64>) {
            start = range.lowerBound
            words = Array(repeating: 0, count: (range.count + 63) / 64)
        }

        subscript(offset: Int64) -> Bool {
            get { words[Int((offset - start) >> 6)] & 1 << UInt64((offset - start) & 63) != 0 }
            set {
                let bit: UInt64 = 1 << UInt64((offset - start) & 63)
                let word = Int((offset - start) >> 6)
                words[word] = newValue ? words[word] | bit : words[word] & ~bit
            }
        }
    }

    private struct Log {
        let range: Range<Int64>
        /// The time of its first record: earlier outcomes are of a former topic of this name.
        var since: WallTime?
        /// The offsets with a record.
        var present: Bits
        var done: Bits
        /// The offsets whose outcome would be older than the oldest result.
        var old: Bits
    }

    private struct Key: Hashable {
        var topic: String
        var partition: Int32
    }

    private struct Event: Hashable {
        var origin: Origin
        var replays: Int
    }

    /// A record that continues an event.
    private struct Step {
        /// Its partition, if it is in question.
        var log: Int?
        var offset: Int64
        var attempts: Int
        var at: WallTime
        var services: PushServiceSet?

        func concerns(_ other: PushServiceSet?) -> Bool {
            guard let services, let other else { return true }
            return !services.intersection(other).isEmpty
        }
    }

    private var logs: [Log]
    private var indices: [Key: Int] = [:]
    private var retries: [Event: [Step]] = [:]
    private var replays: [Event: [Step]] = [:]
    private let resultsSince: WallTime?

    /// - Parameters:
    ///   - places: the partitions without an offset.
    ///   - resultsSince: the time since which all results are left; `nil` when none was deleted.
    package init(_ places: [Place], resultsSince: WallTime?) {
        self.resultsSince = resultsSince
        logs = places.map {
            Log(range: $0.range, present: Bits($0.range), done: Bits($0.range), old: Bits($0.range))
        }
        for (index, place) in places.enumerated() {
            indices[Key(topic: place.topic, partition: place.partition)] = index
        }
    }

    /// Takes a record of a request partition.
    ///
    /// - Parameters:
    ///   - lineage: the lineage in its headers, which only a replay has.
    ///   - isEmpty: whether it has no value: it is passed without an outcome.
    package mutating func request(
        _ topic: String, _ partition: Int32, _ offset: Int64, at time: WallTime, lineage: EventLineage?, isEmpty: Bool
    ) {
        guard let log = note(topic, partition, offset, at: time, isEmpty: isEmpty), let lineage else { return }
        replays[Event(origin: lineage.origin, replays: lineage.replays), default: []].append(
            Step(log: log, offset: offset, attempts: 0, at: time, services: lineage.services))
    }

    /// Takes a record of a retry topic, also of partitions that have their offset.
    package mutating func retry(
        _ topic: String, _ partition: Int32, _ offset: Int64, at time: WallTime, lineage: EventLineage?, isEmpty: Bool
    ) {
        // It was not settled before it was due.
        let log = note(topic, partition, offset, at: max(time, lineage?.dueAt ?? time), isEmpty: isEmpty)
        guard let lineage else { return }
        settle(lineage.origin, replays: lineage.replays, lineage.services, at: time)
        retries[Event(origin: lineage.origin, replays: lineage.replays), default: []].append(
            Step(log: log, offset: offset, attempts: lineage.attempts, at: time, services: lineage.services))
    }

    /// Takes a result of this moment.
    ///
    /// - Parameter service: its push service; `nil` when it concerns all, or an unknown one.
    package mutating func result(origin: Origin, replays: Int, service: Int?, at time: WallTime) {
        let services = service.map { PushServiceSet(index: $0) }
        settle(origin, replays: replays, services, at: time)
        for step in retries[Event(origin: origin, replays: replays)] ?? [] where step.concerns(services) {
            complete(step)
        }
    }

    /// The positions of the group, in the order of the places; `identity` names the partition that the metadata is
    /// bound to.
    package mutating func positions(_ identity: (Place) -> PartitionIdentity, of places: [Place]) -> [Position] {
        for steps in retries.values where steps.count > 1 { completeFormer(steps) }
        return zip(places, logs).map { place, log in Self.position(log, identity(place)) }
    }

    // MARK: What is done

    private mutating func note(
        _ topic: String, _ partition: Int32, _ offset: Int64, at time: WallTime, isEmpty: Bool
    ) -> Int? {
        guard let log = indices[Key(topic: topic, partition: partition)], logs[log].range.contains(offset) else {
            return nil
        }
        logs[log].present[offset] = true
        logs[log].since = logs[log].since ?? time
        if isEmpty { logs[log].done[offset] = true }
        if let resultsSince, time < resultsSince { logs[log].old[offset] = true }
        return log
    }

    /// Settles the request record, and the one that replayed it, by an outcome or a retry.
    private mutating func settle(
        _ origin: Origin, replays count: Int, _ services: PushServiceSet?, at time: WallTime
    ) {
        if let log = indices[Key(topic: origin.topic, partition: origin.partition)],
            logs[log].range.contains(origin.offset), time >= logs[log].since ?? time
        {
            logs[log].done[origin.offset] = true
        }
        for step in replays[Event(origin: origin, replays: count)] ?? [] where step.concerns(services) {
            complete(step)
        }
    }

    private mutating func complete(_ step: Step) {
        if let log = step.log { logs[log].done[step.offset] = true }
    }

    /// Completes each of an event's retries but the last for its push services.
    private mutating func completeFormer(_ steps: [Step]) {
        let sorted = steps.sorted { ($0.attempts, $0.at) < ($1.attempts, $1.at) }
        for (index, step) in sorted.enumerated()
        where sorted[(index + 1)...].contains(where: { later in
            (step.attempts, step.at) < (later.attempts, later.at) && step.concerns(later.services)
        }) {
            complete(step)
        }
    }

    // MARK: What fits

    private static func position(_ log: Log, _ identity: PartitionIdentity) -> Position {
        var position = Position(offset: log.range.upperBound, map: CompletionMap())
        /// The records that have to be consumed, in runs without a done one between them.
        var open: [(range: Range<Int64>, count: Int)] = []
        var lastDone: Int64 = -1
        for offset in log.range where log.present[offset] {
            if log.done[offset] || log.old[offset] {
                lastDone = offset
                if log.done[offset] { position.done += 1 } else { position.unknown += 1 }
            } else if let last = open.last, last.range.lowerBound > lastDone {
                open[open.count - 1] = (last.range.lowerBound..<offset + 1, last.count + 1)
            } else {
                open.append((offset..<offset + 1, 1))
            }
        }
        let runs = open.map(\.range)
        let first = firstThatFits(runs, lastDone, identity)
        position.passedOver = open[..<first].reduce(0) { $0 + $1.count }
        position.open = open[first...].reduce(0) { $0 + $1.count }
        if let low = runs[..<first].first?.lowerBound, let high = runs[..<first].last?.upperBound {
            position.passedRange = low...high - 1
        }
        if first < runs.count {
            position.offset = runs[first].lowerBound
            position.map = map(runs[first...], lastDone)
        }
        return position
    }

    /// The map of work done beyond the first of the open runs.
    private static func map(_ open: ArraySlice<Range<Int64>>, _ lastDone: Int64) -> CompletionMap {
        var map = CompletionMap()
        for (run, next) in zip(open, open.dropFirst()) { map.add(run.upperBound..<next.lowerBound) }
        if let last = open.last, last.upperBound <= lastDone { map.add(last.upperBound..<lastDone + 1) }
        return map
    }

    /// The first of the open runs from which the whole map fits into the metadata.
    private static func firstThatFits(
        _ open: [Range<Int64>], _ lastDone: Int64, _ identity: PartitionIdentity
    ) -> Int {
        var (low, high) = (0, open.count)
        while low < high {
            let middle = (low + high) / 2
            let offset = open[middle].lowerBound
            let map = map(open[middle...], lastDone)
            let text = map.text(committing: offset, of: identity)
            if CompletionMap(text: text, committed: offset, of: identity) == map {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }
}
