import HeraldKafka
import HeraldTime
import Testing

@testable import HeraldWorker

@Suite("The time since which a partition has not been consumed")
struct BacklogTimesTests {
    private static let partition = TopicPartition(topic: "notifications", partition: 3)
    private var times = BacklogTimes()

    private func at(_ second: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000) }

    private mutating func note(done: Int64?, end: Int64?, at second: Int) {
        times.note(
            [PartitionReport(Self.partition, done: done)], ends: end.map { [Self.partition: $0] } ?? [:],
            at: at(second))
    }

    private func since(_ done: Int64?) -> MonotonicTime? { times.since(PartitionReport(Self.partition, done: done)) }

    @Test("An event waits at least since it was first seen; a done one does not wait")
    mutating func first() {
        note(done: 10, end: 10, at: 0)
        #expect(since(10) == nil)
        note(done: 10, end: 15, at: 10)
        note(done: 10, end: 20, at: 20)
        #expect(since(10) == at(10) && since(14) == at(10))
        #expect(since(15) == at(20) && since(19) == at(20))
        #expect(since(20) == nil)
        note(done: 17, end: 20, at: 30)
        #expect(since(17) == at(20))
        note(done: 20, end: 20, at: 40)
        note(done: 20, end: 22, at: 50)
        #expect(since(20) == at(50))
    }

    @Test("A partition without a committed offset begins with its first observation")
    mutating func fresh() {
        note(done: nil, end: 0, at: 0)
        #expect(since(nil) == nil)
        note(done: nil, end: 4, at: 10)
        #expect(since(nil) == at(10) && since(4) == nil)
    }

    @Test("A partition whose end is unknown keeps its times; a partition that another member has is forgotten")
    mutating func unknown() {
        note(done: 0, end: 5, at: 0)
        note(done: 0, end: nil, at: 10)
        #expect(since(0) == at(0))
        times.note([], ends: [Self.partition: 5], at: at(20))
        #expect(since(0) == nil)
        note(done: 0, end: 5, at: 30)
        #expect(since(0) == at(30))
    }

    @Test("Days without consumption take no more memory than minutes, and the oldest event keeps its age")
    mutating func bounded() {
        for round in 0..<10_000 { note(done: 0, end: Int64(round) + 1, at: round * 10) }
        #expect(since(0) == at(0))
        let seen = since(9_990)
        #expect(seen.map { $0 >= at(99_900) && $0 <= at(99_990) } == true)
    }
}
