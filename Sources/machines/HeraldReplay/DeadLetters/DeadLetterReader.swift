package import HeraldEvents
package import HeraldKafka
package import HeraldTime
internal import HeraldTools

/// Reads the dead-letter topic between fixed ends, partition by partition in order, in bounded memory.
///
/// One thread.
package final class DeadLetterReader {
    /// What ``next(wait:)`` found.
    package enum Step: Sendable {
        /// A dead letter, which is in ``DeadLetterReader/entry``.
        case entry
        case nothing
        case end
    }

    private static let requestTimeout = Milliseconds.seconds(10)
    /// A dead letter's own moment may be so much later than its record's, when a broker's clock gives the latter.
    private static let clockDifference: Milliseconds = .minutes(5)
    /// A record may be so much younger than the moment in it: transactions that were aborted, clocks of many machines.
    private static let longestWriting: Milliseconds = .hours(1)

    private let properties: ClientProperties
    private let reader: TopicReader
    private let topic: String

    /// The dead letter that was read last.
    package var entry: DeadLetterEntry
    /// Whether the broker can find offsets by time; an embedded one cannot, and everything is read.
    package private(set) var knowsTimes = true
    /// How many offsets have been passed since ``start(_:)``.
    package var passedCount: Int64 { reader.progress.passed }

    /// A reader of the topic.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's: `read_committed`; nothing is committed.
    ///   - isForeign: whether others write it.
    ///   - patience: how long a leader that moves, or a step towards the end, is waited for.
    package init(
        properties: ClientProperties, topic: String, decoder: RecordDecoder, isForeign: Bool = false,
        patience: Duration = .seconds(60)
    ) throws {
        self.properties = properties
        self.topic = topic
        entry = DeadLetterEntry(decoder: decoder, foreignTopic: isForeign ? topic : nil)
        reader = try ToolFailure.reading(topic) { () throws(KafkaError) in
            try TopicReader(properties: properties, patience: patience)
        }
    }

    /// Where to read for these bounds: from the earliest record that can count to the end that the partition has now.
    package func ranges(_ bounds: ReadBounds, partitions: [Int32]) throws -> LetterRanges {
        let wanted = partitions.filter { bounds.partitions?.contains($0) ?? true }
            .map { TopicPartition(topic: topic, partition: $0) }
        guard !wanted.isEmpty else { return [:] }
        return try ToolFailure.reading(topic) { () throws(KafkaError) in
            try properties.outwaiting(within: Self.requestTimeout.duration) { () throws(KafkaError) in
                try ranges(bounds, wanted)
            }
        }
    }

    private func ranges(_ bounds: ReadBounds, _ wanted: [TopicPartition]) throws(KafkaError) -> LetterRanges {
        let queries = reader.consumer.queries
        let ends = try queries.ends(of: wanted, timeout: Self.requestTimeout)
        knowsTimes = queries.knowsTimes
        let first = answers(of: wanted, at: bounds.earliest?.advanced(by: -Self.clockDifference))
        let last = answers(of: wanted, at: bounds.latest?.advanced(by: Self.longestWriting))
        var ranges: LetterRanges = [:]
        for partition in wanted {
            let marks = try queries.watermarks(of: partition, timeout: Self.requestTimeout)
            var end = ends[partition] ?? marks.high
            var start = marks.low
            // A moment that no record reaches has no offset: there is nothing to read behind it.
            // Where no broker can say it, more is read.
            if knowsTimes, bounds.earliest != nil, first.failures[partition] == nil {
                start = max(start, first.found[partition] ?? end)
            }
            if knowsTimes, bounds.latest != nil, let last = last.found[partition] { end = min(end, last) }
            start = max(start, bounds.offsets.lowerBound)
            if bounds.offsets.upperBound < end { end = bounds.offsets.upperBound + 1 }
            if start < end { ranges[partition.partition] = start..<end }
        }
        return ranges
    }

    /// The offset that a partition's next record gets; `nil` for a partition that there is not.
    func end(of partition: Int32) throws -> Int64? {
        try ToolFailure.reading(topic) { () throws(KafkaError) in
            do throws(KafkaError) {
                return try reader.consumer.queries.watermarks(
                    of: TopicPartition(topic: topic, partition: partition),
                    timeout: Self.requestTimeout
                ).high
            } catch {
                guard error.code == KafkaError.Code.unknownPartition else { throw error }
                return nil
            }
        }
    }

    private func answers(of partitions: [TopicPartition], at moment: WallTime?) -> PartitionAnswers<Int64> {
        reader.consumer.queries.answers(
            max(0, moment?.milliseconds ?? 0), of: moment == nil ? [] : partitions, timeout: Self.requestTimeout)
    }

    package func start(_ ranges: LetterRanges) throws {
        let ends = ranges.map { (TopicPartition(topic: topic, partition: $0), $1.upperBound) }
        try begin(
            ranges.mapValues { .offset($0.lowerBound) }, to: .offsets(Dictionary(uniqueKeysWithValues: ends)))
    }

    /// From the present ends on, without an end.
    func follow(_ partitions: [Int32]) throws {
        try begin(Dictionary(uniqueKeysWithValues: partitions.map { ($0, .end) }), to: .none)
    }

    /// Begins to read from these offsets to the present end, and says ``Step/end`` there; ``goOn()`` reads what comes behind it.
    package func follow(from starts: [Int32: Int64]) throws {
        try begin(starts.mapValues { .offset($0) }, to: .committed)
    }

    private func begin(_ starts: [Int32: TopicReader.Start], to end: TopicReader.End) throws {
        let places = starts.map { (TopicPartition(topic: topic, partition: $0), $1) }
        try ToolFailure.reading(topic) { () throws(KafkaError) in
            try reader.begin(Dictionary(uniqueKeysWithValues: places), to: end)
        }
    }

    /// The next dead letter, waiting up to this long for the brokers.
    package func next(wait: Milliseconds) throws -> Step {
        switch try ToolFailure.reading(
            topic, { () throws(KafkaError) in try reader.next(wait: wait) })
        {
        case .end: return .end
        case .nothing: return .nothing
        case .record(let message):
            defer { message.release() }
            entry.fill(message)
            return .entry
        }
    }

    /// Reads on for ever: brokers that are away are waited for.
    package func goOn() throws {
        try ToolFailure.reading(topic) { () throws(KafkaError) in try reader.setEnd(.none) }
    }

    /// How far it has come since ``follow(from:)``: how many of how many offsets.
    package var progress: (passed: Int64, total: Int64) { reader.progress }

    /// The offsets that these partitions begin and end with now.
    package func extent(of partitions: [Int32]) throws -> LetterRanges {
        var extent: LetterRanges = [:]
        for number in partitions {
            let partition = TopicPartition(topic: topic, partition: number)
            let marks = try ToolFailure.reading(topic) { () throws(KafkaError) in
                try reader.consumer.queries.watermarks(
                    of: partition, timeout: Self.requestTimeout)
            }
            extent[number] = marks.low..<max(marks.low, marks.high)
        }
        return extent
    }

    /// Goes through everything in these ranges.
    ///
    /// - Parameters:
    ///   - onProgress: called now and then with the number of offsets passed; `false` ends the reading.
    ///   - body: `false` ends the reading.
    package func scan(
        _ ranges: LetterRanges, onProgress: (Int64) -> Bool, _ body: (inout DeadLetterEntry) throws -> Bool
    ) throws {
        try start(ranges)
        var count = 0
        while true {
            switch try next(wait: .milliseconds(100)) {
            case .entry:
                guard try body(&entry) else { return }
                count += 1
                if count % 1_024 != 0 { continue }
            case .nothing: break
            case .end:
                _ = onProgress(passedCount)
                return
            }
            guard onProgress(passedCount) else { return }
        }
    }

    package func close() { reader.close() }
}
