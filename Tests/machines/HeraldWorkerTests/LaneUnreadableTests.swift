import HeraldCore
import HeraldKafka
import Testing

@testable import HeraldWorker

@Suite("A lane whose client cannot read a batch")
struct LaneUnreadableTests {
    private typealias Code = KafkaError.Code
    private let partition = LaneFixture.partition()

    @Test("asks whether others can, waits for the answer, and then reads again once, by an assignment")
    func lostPlace() {
        let fixture = LaneFixture()
        fixture.assign()
        let errors = [Code.badMessage, Code.autoOffsetReset].map { ScriptedRecord(LaneFixture.topic, 0, 0, error: $0) }
        fixture.io.queues[0] = errors
        #expect(
            fixture.turn() == [
                "read batch of notifications/0, reading 1, offset 0",
                "find range of notifications/0, reading 1, offset 0",
            ])
        let question = RangeQuestion(reading: 1, wanted: 0)
        fixture.io.messages.append(.range(partition, question, .success(OffsetRange(low: 0, high: 9))))
        #expect(fixture.turn() == [])
        fixture.io.answerBatch(.readable)
        #expect(fixture.turn() == ["assign notifications/0@0", "forward notifications/0 to 0"])
        #expect(errors.map(\.releases) == [1, 1])
    }

    @Test("does not take a record that found no room before: it comes again, behind the other unreadable ones")
    func refused() {
        let fixture = LaneFixture { $0.maxInFlight = 1 }
        fixture.assign()
        let room = fixture.lane.records.count
        let records = (0...room).map { ScriptedRecord(LaneFixture.topic, at: Int64($0), user: "user-\($0)") }
        let error = ScriptedRecord(LaneFixture.topic, 0, 0, error: Code.badMessage)
        fixture.io.unforwarded = records + [error]
        fixture.turn()
        #expect(fixture.lane.refused?.record.offset == Int64(room))
        fixture.io.answerBatch(.readable)
        #expect(fixture.turn().first == "assign notifications/0@\(room)")
        #expect(fixture.lane.refused == nil)
        #expect(records.last?.releases == 1 && error.releases == 1)
    }

    @Test("asks likewise about a silent partition, and passes over an unreadable batch")
    func silent() {
        let fixture = LaneFixture()
        fixture.assign()
        fixture.io.messages.append(.standingStill([partition, LaneFixture.partition(9)]))
        #expect(fixture.turn() == ["read batch of notifications/0, reading 1, offset 0"])
        fixture.io.messages.append(.standingStill([partition]))
        #expect(fixture.turn() == [], "it is asked already")
        let batch = UnreadableBatch(
            partition: partition, offsets: 0..<3, failure: KafkaError(code: Code.badMessage))
        fixture.io.answerBatch(.unreadable(batch))
        let doings = fixture.turn()
        #expect(doings.contains("assign notifications/0@3"), "\(doings)")
        #expect(doings.contains { $0.hasPrefix("produce deadLetter, key none") }, "\(doings)")
    }
}
