import HeraldKafka
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldConsole

@Suite("What Kafka alone shows")
struct GroupObservationTests {
    private let place = TopicPartition(topic: "t", partition: 3)

    private func time(_ seconds: Int64) -> WallTime { WallTime(milliseconds: seconds * 1_000) }

    private func positions(_ committed: Int64, note: String = "", end: Int64 = 100) -> GroupPositions {
        GroupPositions(partitions: [.init(partition: place, committed: committed, note: note, begin: 0, end: end)])
    }

    @Test("A partition stands still from the second look on at which nothing was done, nor in the note")
    func stillness() {
        var tracker = ProgressTracker()
        let due: (TopicPartition) -> Int64 = { _ in 1 }
        #expect(tracker.look(at: positions(5), due: due, now: time(0)) == [:])
        #expect(tracker.look(at: positions(5), due: due, now: time(3)) == [place: time(0)])
        #expect(tracker.look(at: positions(5), due: due, now: time(6)) == [place: time(0)])
        #expect(tracker.look(at: positions(5, note: "more is done behind it"), due: due, now: time(9)) == [:])
        #expect(
            tracker.look(at: positions(5, note: "more is done behind it"), due: due, now: time(12)) == [place: time(9)])
        #expect(tracker.look(at: positions(6), due: due, now: time(15)) == [:])
    }

    @Test("A partition in which nothing is due does not stand still, however long nothing moves")
    func nothingDue() {
        var tracker = ProgressTracker()
        for second in 0..<5 {
            #expect(tracker.look(at: positions(5), due: { _ in 0 }, now: time(Int64(second))) == [:])
        }
        // It counts from when something became due.
        #expect(tracker.look(at: positions(5), due: { _ in 1 }, now: time(10)) == [place: time(4)])
    }

    @Test("A client's error becomes a sentence")
    func words() {
        let error = KafkaError(code: KafkaError.Code.timedOut, message: "Local: Timed out")
        let knowledge = GroupWatch.knowledge(error, nil, silentBrokers: { [] })
        #expect(knowledge == .unreachable("no broker answered in time", last: nil))
    }
}
