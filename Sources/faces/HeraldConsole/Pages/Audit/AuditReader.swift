internal import HeraldKafka
internal import HeraldTime
internal import HeraldTools

/// Reads pieces of the audit topic.
///
/// Used by one thread.
final class AuditReader {
    private static let questionTimeout = Milliseconds.seconds(10)

    private let reader: TopicReader
    private let topic: String
    private let partitions: [Int32]

    init(properties: ClientProperties, topic: String, partitions: [Int32]) throws {
        self.topic = topic
        self.partitions = partitions
        reader = try ToolFailure.reading(topic) { () throws(KafkaError) in try TopicReader(properties: properties) }
    }

    func close() { reader.close() }

    /// The offsets of each partition, up to the last committed one.
    func ranges() throws -> [Int32: Range<Int64>] {
        try ToolFailure.reading(topic) { () throws(KafkaError) in
            let queries = reader.consumer.queries
            let places = partitions.map { TopicPartition(topic: topic, partition: $0) }
            let ends = try queries.ends(of: places, timeout: Self.questionTimeout)
            var ranges: [Int32: Range<Int64>] = [:]
            for place in places {
                let marks = try queries.watermarks(of: place, timeout: Self.questionTimeout)
                ranges[place.partition] = marks.low..<max(marks.low, ends[place] ?? marks.high)
            }
            return ranges
        }
    }

    func records(_ ranges: [Int32: Range<Int64>]) throws -> [AuditRecord] {
        var starts: [TopicPartition: TopicReader.Start] = [:]
        var ends: [TopicPartition: Int64] = [:]
        for (number, range) in ranges where !range.isEmpty {
            let place = TopicPartition(topic: topic, partition: number)
            starts[place] = .offset(range.lowerBound)
            ends[place] = range.upperBound
        }
        guard !starts.isEmpty else { return [] }
        try ToolFailure.reading(topic) { () throws(KafkaError) in try reader.begin(starts) }
        var records: [AuditRecord] = []
        try reader.catchUp(to: .offsets(ends)) { message in
            records.append(
                AuditRecord(
                    partition: message.partition, offset: message.offset,
                    at: WallTime(milliseconds: message.timestampMilliseconds), value: message.valueCopy))
        }
        return records
    }
}
