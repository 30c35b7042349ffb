import HeraldKafka
import HeraldTime
import Testing

@testable import HeraldWorker

@Suite("The highest known end of a partition")
struct PartitionReachTests {
    private static let partition = TopicPartition(topic: "notifications", partition: 0)

    @Test("is remembered for a while after its log became shorter, and forgotten with the partition")
    func remembered() {
        let reach = PartitionReach()
        let start = MonotonicTime(nanoseconds: 0)
        func end(after seconds: Int64) -> Int64? {
            reach.end(of: Self.partition, now: start.advanced(by: .seconds(seconds)))
        }
        #expect(end(after: 0) == nil)
        for (second, size) in [(0, 40), (10, 42), (20, 30), (30, 33)] as [(Int64, Int64)] {
            reach.note(
                [Self.partition: size], of: [Self.partition], now: start.advanced(by: .seconds(second)))
        }
        #expect(end(after: 30) == 42 && end(after: 319) == 42 && end(after: 320) == 33)
        reach.note([:], of: [], now: start)
        #expect(end(after: 30) == nil)
    }
}
