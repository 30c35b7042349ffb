internal import HeraldEvents
internal import HeraldKafka
internal import HeraldReplay
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// The *Audit* page: the actions with their person, time and reason, newest first.
final class AuditPart: ConsolePart {
    private let context: ConsoleContext

    init(_ context: ConsoleContext) { self.context = context }

    var routes: [ConsoleRoute] { [.get("/api/audit") { [self] in try page($0) }] }

    private func page(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        var filter = AuditFilter(who: request.text("who"), what: request.text("what"))
        filter.since = try request.text("since").map {
            try MomentText.parse($0, name: "since", now: SystemClock.wall())
        }
        let place = try request.text("before").map { try AuditPager.Place($0) }
        let name = context.replay.topics.audit
        guard let topic = try context.reach.topics([name], context.admin).topics.first else {
            throw ToolFailure("the cluster does not say whether there is a topic \(name)")
        }
        if let error = topic.error { throw ToolFailure(topic: name, error, allow: .read) }
        let reader = try AuditReader(
            properties: context.replay.readerProperties, topic: name, partitions: topic.partitions.map(\.id))
        defer { reader.close() }
        var pager = AuditPager(filter, ranges: try reader.ranges(), from: place)
        let page = try pager.page(reader.records)
        let answer: JSONValue = [
            "entries": .array(page.records.map(\.json)), "searched": .integer(page.searchedCount),
            "next": .text(page.next?.text),
        ]
        return .json(answer.safe)
    }
}

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
