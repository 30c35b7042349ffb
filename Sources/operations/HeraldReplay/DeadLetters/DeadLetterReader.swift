public import HeraldEvents
internal import HeraldKafka
internal import HeraldTime
public import HeraldTools

/// Reads the dead-letter topic between fixed ends, partition by partition in order, in bounded memory.
///
/// One thread.
public final class DeadLetterReader {
    /// What ``next(waitMilliseconds:)`` found.
    public enum Step: Sendable {
        /// A dead letter, which is in ``DeadLetterReader/entry``.
        case entry
        /// Nothing yet.
        case nothing
        /// Everything was read.
        case end
    }

    /// Offsets to read, by partition.
    public typealias Ranges = [Int32: Range<Int64>]

    private static let requestMilliseconds = 10_000
    /// Nothing for so long means that the brokers are gone.
    private static let patience = Duration.seconds(60)
    /// A dead letter's own moment may be so much later than its record's, when a broker's clock gives the latter.
    private static let clockDifference: Int64 = 300_000
    /// A record may be so much younger than the moment in it: transactions that were aborted, clocks of many machines.
    private static let longestWriting: Int64 = 3_600_000

    private let reader: AssignedReader
    private let topic: String
    private var rest: Ranges = [:]
    private var lastNews = ContinuousClock.now

    /// The dead letter that was read last.
    public var entry: DeadLetterEntry
    /// Whether the broker can find offsets by time; an embedded one cannot, and everything is read.
    public private(set) var knowsTimes = true
    /// How many offsets have been passed since ``start(_:)``.
    public private(set) var passedCount: Int64 = 0

    /// A reader of the topic.
    ///
    /// - Parameter properties: librdkafka's: `read_committed`, with end-of-partition events; nothing is committed.
    public init(properties: [(String, String)], topic: String, decoder: RecordDecoder) throws(ToolFailure) {
        self.topic = topic
        entry = DeadLetterEntry(decoder: decoder)
        do throws(KafkaError) {
            reader = try AssignedReader(properties: properties)
        } catch {
            throw ToolFailure("\(error)")
        }
    }

    /// Where to read for these bounds: from the earliest record that can count to the end that the partition has now.
    public func ranges(_ bounds: ReadBounds, partitions: [Int32]) throws(ToolFailure) -> Ranges {
        let wanted = partitions.filter { bounds.partitions?.contains($0) ?? true }
            .map { TopicPartition(topic: topic, partition: $0) }
        guard !wanted.isEmpty else { return [:] }
        return try asking { () throws(KafkaError) in
            let queries = reader.consumer.queries
            let ends = try queries.ends(of: wanted, timeoutMilliseconds: Self.requestMilliseconds)
            var lows: [TopicPartition: Int64] = [:]
            var highs: [TopicPartition: Int64] = [:]
            for partition in wanted {
                let marks = try queries.watermarks(of: partition, timeoutMilliseconds: Self.requestMilliseconds)
                (lows[partition], highs[partition]) = (marks.low, marks.high)
            }
            var ranges: Ranges = [:]
            // An embedded broker answers no question about moments and ends.
            knowsTimes = !ends.isEmpty
            let first = try offsets(of: wanted, at: bounds.earliest?.advanced(byMilliseconds: -Self.clockDifference))
            let last = try offsets(of: wanted, at: bounds.latest?.advanced(byMilliseconds: Self.longestWriting))
            for partition in wanted {
                var end = ends[partition] ?? highs[partition] ?? 0
                var start = lows[partition] ?? 0
                // A moment that no record reaches has no offset: there is nothing to read behind it.
                if knowsTimes, bounds.earliest != nil { start = max(start, first[partition] ?? end) }
                if bounds.latest != nil, let last = last[partition] { end = min(end, last) }
                start = max(start, bounds.offsets.lowerBound)
                if bounds.offsets.upperBound < end { end = bounds.offsets.upperBound + 1 }
                if start < end { ranges[partition.partition] = start..<end }
            }
            return ranges
        }
    }

    /// The offset that a partition's next record gets; `nil` for a partition that there is not.
    func end(of partition: Int32) throws(ToolFailure) -> Int64? {
        do throws(KafkaError) {
            return try reader.consumer.queries.watermarks(
                of: TopicPartition(topic: topic, partition: partition), timeoutMilliseconds: Self.requestMilliseconds
            ).high
        } catch {
            if error.code == KafkaError.Code.unknownPartition { return nil }
            throw failure(error)
        }
    }

    private func offsets(
        of partitions: [TopicPartition], at moment: WallTime?
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        guard let moment else { return [:] }
        return try reader.consumer.queries.offsets(
            of: partitions, at: max(0, moment.milliseconds), timeoutMilliseconds: Self.requestMilliseconds)
    }

    /// Begins to read exactly this.
    public func start(_ ranges: Ranges) throws(ToolFailure) {
        rest = ranges
        passedCount = 0
        lastNews = .now
        try asking { () throws(KafkaError) in
            try reader.assign(
                ranges.map { (TopicPartition(topic: topic, partition: $0.key), offset: $0.value.lowerBound) })
        }
    }

    /// The next dead letter, waiting up to this long for the brokers.
    public func next(waitMilliseconds: Int32) throws(ToolFailure) -> Step {
        guard !rest.isEmpty else { return .end }
        let next = try asking { () throws(KafkaError) in try reader.next(waitMilliseconds: waitMilliseconds) }
        guard let message = next else {
            guard ContinuousClock.now - lastNews < Self.patience else {
                throw ToolFailure("\(topic) cannot be read: no broker has answered for a minute", kind: .unreachable)
            }
            return .nothing
        }
        defer { message.release() }
        if let error = message.error { return try take(error, message) }
        lastNews = .now
        guard let range = rest[message.partition] else { return .nothing }
        guard message.offset < range.upperBound else { return try finish(message.partition, range) }
        passedCount += message.offset + 1 - range.lowerBound
        rest[message.partition] = message.offset + 1..<range.upperBound
        if message.offset + 1 == range.upperBound { _ = try finish(message.partition, range) }
        entry.fill(message)
        return .entry
    }

    private func take(_ error: KafkaError, _ message: Message) throws(ToolFailure) -> Step {
        switch error.code {
        case KafkaError.Code.partitionEOF:
            lastNews = .now
            // Behind the last record lie the ends of transactions.
            guard let range = rest[message.partition], message.offset >= range.upperBound else { return .nothing }
            return try finish(message.partition, range)
        case KafkaError.Code.topicAuthorizationFailed, KafkaError.Code.unknownTopicOrPartition,
            KafkaError.Code.unknownTopic, KafkaError.Code.unknownPartition:
            throw failure(error)
        default:
            // A partition without a leader, a broker that is gone: the client goes on by itself.
            return .nothing
        }
    }

    private func finish(_ partition: Int32, _ range: Range<Int64>) throws(ToolFailure) -> Step {
        if let left = rest.removeValue(forKey: partition) { passedCount += Int64(left.count) }
        if rest.isEmpty { return .end }
        try asking { () throws(KafkaError) in
            try reader.finish(TopicPartition(topic: topic, partition: partition))
        }
        return .nothing
    }

    /// Goes through everything in these ranges.
    ///
    /// - Parameters:
    ///   - onProgress: called now and then with the number of offsets passed; `false` ends the reading.
    ///   - body: `false` ends the reading.
    public func scan(
        _ ranges: Ranges, onProgress: (Int64) -> Bool, _ body: (inout DeadLetterEntry) throws(ToolFailure) -> Bool
    ) throws(ToolFailure) {
        try start(ranges)
        var steps = 0
        while true {
            steps += 1
            let step = try next(waitMilliseconds: 100)
            if step.isNothing || steps % 1_024 == 0, !onProgress(passedCount) { return }
            switch step {
            case .entry: if try !body(&entry) { return }
            case .nothing: continue
            case .end:
                _ = onProgress(passedCount)
                return
            }
        }
    }

    /// Ends the client.
    public func close() { reader.close() }

    /// Asks again while a topic that was just made, or a leader that moves, is not known everywhere.
    private func asking<Answer>(_ body: () throws(KafkaError) -> Answer) throws(ToolFailure) -> Answer {
        do throws(KafkaError) {
            return try KafkaError.outwaiting(within: .milliseconds(Self.requestMilliseconds), body)
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: KafkaError) -> ToolFailure { ToolFailure(reading: topic, error) }
}

extension DeadLetterReader.Step {
    fileprivate var isNothing: Bool { if case .nothing = self { true } else { false } }
}
