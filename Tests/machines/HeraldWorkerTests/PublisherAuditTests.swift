import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore
@testable import HeraldWorker

@Suite("Publishers' faults of all lanes")
struct PublisherAuditTests {
    private static let now = MonotonicTime(nanoseconds: 1)
    private var audit = PublisherAudit()
    private var lanes = (0..<2).map { LaneReport(number: $0, at: Self.now, services: 1, requestTopics: 2) }

    private mutating func tell(_ counts: [Int]) {
        for index in lanes.indices { lanes[index].publishers.use(partitionCounts: counts) }
    }

    private mutating func fault(lane: Int, _ fault: PublisherFault, topic: Int = 0, offset: Int64 = 1) {
        _ = lanes[lane].publishers.count(fault, ofTopic: topic, now: Self.now)
        lanes[lane].publishers.show(.init(partition: 2, offset: offset, source: "shop"), of: fault, ofTopic: topic)
    }

    private mutating func look(_ counts: [String: Int]) -> [FaultyRecords] {
        audit.look(
            at: lanes, topics: ["a", "b"], partitionCounts: counts,
            now: Moment(monotonic: Self.now, wall: WallTime(milliseconds: 0)))
    }

    @Test("Each record counts once, across lanes, after the brokers confirm the number of partitions")
    mutating func sum() {
        tell([6, 6])
        fault(lane: 0, .noKey)
        fault(lane: 1, .noKey)
        fault(lane: 1, .partitioner, topic: 1, offset: 9)
        #expect(look([:]).isEmpty, "nobody answered")
        let news = look(["a": 6, "b": 6])
        #expect(news.map(\.count) == [2, 1] && news.map(\.topic) == ["a", "b"])
        #expect(news.last?.exampleText == "b/2/9, source shop")
        #expect(look(["a": 6, "b": 6]).isEmpty)
        fault(lane: 0, .noKey)
        #expect(look(["a": 6, "b": 6]).map(\.count) == [1])
        #expect(audit.found.map(\.count) == [3, 1])
    }

    @Test("Records judged by fewer partitions than there are now do not count")
    mutating func morePartitions() {
        tell([6, 6])
        fault(lane: 0, .partitioner)
        #expect(look(["a": 12, "b": 6]).isEmpty)
        tell([12, 6])
        #expect(look(["a": 12, "b": 6]).isEmpty)
        fault(lane: 0, .partitioner)
        #expect(look(["a": 12, "b": 6]).map(\.count) == [1])
        #expect(audit.found.map(\.count) == [1])
    }
}
