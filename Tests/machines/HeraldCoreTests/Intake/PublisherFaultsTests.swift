import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Publishers' faults, counted by the engine")
struct PublisherFaultsTests {
    private let harness = EngineHarness()

    private func record(
        _ offset: Int64, key: String?, source: Int = EngineHarness.request, headers: [(String, String)] = [],
        from publisher: String = "shop"
    ) {
        let event = #"{"id":"e\#(offset)","user":"ann","message":"m","pns":"apns","source":"\#(publisher)"}"#
        let value = Array(event.utf8)
        var list = HeaderList()
        for (name, text) in headers { list.append(name, text) }
        func offer(_ key: RawSpan?) {
            _ = harness.engine.record(
                source: source, partition: 0, offset: offset, timestamp: nil, key: key, value: value.span.bytes,
                headers: list, now: harness.now)
        }
        if let key { offer(key.utf8.span.bytes) } else { offer(nil) }
    }

    private func count(_ fault: PublisherFault, ofTopic topic: Int = 0) -> Int {
        harness.engine.publishers.count(fault, ofTopic: topic)
    }

    @Test("Counting begins when the number of partitions is known, and restarts with another number")
    func partitionCounts() {
        record(0, key: nil)
        #expect(count(.noKey) == 0)
        harness.engine.use(partitionCounts: [6, 6])
        record(1, key: nil)
        record(2, key: "order-17")
        record(3, key: "ann")
        #expect(count(.noKey) == 1 && count(.keyNotUser) == 1 && count(.partitioner) == 0)
        #expect(count(.noKey, ofTopic: 1) == 0)
        harness.engine.use(partitionCounts: [6, 12])
        #expect(count(.noKey) == 1)
        harness.engine.use(partitionCounts: [12, 12])
        #expect(count(.noKey) == 0 && harness.engine.publishers.example(.noKey, ofTopic: 0) == nil)
        #expect(harness.engine.publishers.partitionCounts == [12, 12])
    }

    @Test("Retries, replays and invalid events are not judged")
    func others() {
        harness.engine.use(partitionCounts: [6, 6])
        record(0, key: nil, source: EngineHarness.oneSecond, headers: [("herald-origin", "notifications/0/7")])
        record(0, key: nil, headers: [("herald-origin", "elsewhere/0/7"), ("herald-replays", "1")])
        harness.record("no event")
        #expect(PublisherFault.allCases.allSatisfy { count($0) == 0 && count($0, ofTopic: 1) == 0 })
    }

    @Test("The example is one of the latest ten seconds, with its source shortened")
    func example() {
        harness.engine.use(partitionCounts: [6, 6])
        record(0, key: nil, from: String(repeating: "s", count: 100))
        record(1, key: nil)
        var example = harness.engine.publishers.example(.noKey, ofTopic: 0)
        #expect(example?.offset == 0 && example?.source == String(repeating: "s", count: 64))
        harness.time += PublisherFaults.exampleLifetime.count
        record(2, key: nil)
        example = harness.engine.publishers.example(.noKey, ofTopic: 0)
        #expect(example == .init(partition: 0, offset: 2, source: "shop") && count(.noKey) == 3)
    }
}
