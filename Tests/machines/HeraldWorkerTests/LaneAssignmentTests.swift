import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldWorker

@Suite("The assignment of partitions to a lane")
struct LaneAssignmentTests {
    private typealias Code = KafkaError.Code
    private let partition = LaneFixture.partition()

    private func start(
        _ offset: Int64, history: Int64? = nil, number: Int32 = 0, of topic: String = LaneFixture.topic
    ) -> StartPosition {
        StartPosition(
            committed: CommitPosition(partition: LaneFixture.partition(number, of: topic), offset: offset),
            history: history)
    }

    @Test(
        "An assignment is answered when its start is known: the commit, before it, or the first record"
    )
    func starts() {
        let fixture = LaneFixture()
        fixture.io.rebalances.append(.assign([partition]))
        #expect(
            fixture.turn() == ["subscribe", "find starts of [notifications/0] for assignment 1 after 0"])
        let retry = "notifications.retry.5s"
        fixture.io.messages.append(
            .starts(
                assignment: 1,
                .success([
                    start(9, history: 4), start(Offset.none, of: retry), start(3, of: "notifications.retry.999d"),
                ])))
        #expect(
            fixture.turn() == [
                "assign notifications/0@4 notifications.retry.5s/0@\(Offset.beginning)",
                "forward notifications/0 to 0", "forward notifications.retry.5s/0 to 1",
            ])
    }

    @Test("Unknown starts are asked for again, a second later")
    func unknown() {
        let fixture = LaneFixture()
        fixture.io.rebalances.append(.assign([partition]))
        fixture.turn()
        fixture.io.messages.append(.starts(assignment: 1, .failure(KafkaError(code: Code.timedOut))))
        #expect(fixture.turn() == ["find starts of [notifications/0] for assignment 1 after 1000"])
    }

    @Test("With caps the home partitions are read, and only records of this assignment count")
    func caps() {
        let word = LastWord(hashSeed: 0, pushServices: .standard, maxLag: .days(1))
        word.noteCurrent(asOf: MonotonicTime(nanoseconds: 0))
        let fixture = LaneFixture {
            $0.lastWord = word
            $0.classes = [.promotional]
            $0.caps = [CapRule(limit: 1, per: .hours(1))]
        }
        fixture.io.rebalances.append(.assign([partition]))
        fixture.turn()
        fixture.answerAssignment(1)
        #expect(fixture.turn().contains("read caps of [0] for assignment 1"))
        func deliver(_ user: String, at offset: Int64) -> Bool {
            fixture.io.queues[0].append(ScriptedRecord(LaneFixture.topic, at: offset, user: user))
            let isCalled = fixture.turn().contains { $0.hasPrefix("call") }
            fixture.answer(200)
            return isCalled
        }
        let at = RFC3339.text(fixture.io.now.wall)
        let value = Array(#"{"delivered":[{"at":"\#(at)","event":"1"}]}"#.utf8)
        fixture.io.messages.append(.capsRead(assignment: 0, [0]))
        #expect(!deliver("ann", at: 0))
        fixture.io.messages.append(
            .caps(assignment: 1, [CapMessage(partition: 0, key: Array("ann".utf8), value: value)]))
        fixture.io.messages.append(
            .caps(assignment: 0, [CapMessage(partition: 0, key: Array("bob".utf8), value: value)]))
        fixture.io.messages.append(
            .caps(
                assignment: 1,
                [
                    CapMessage(partition: 0, key: Array("eve".utf8), value: [1]),
                    CapMessage(partition: 0, key: nil, value: value),
                ]))
        fixture.io.messages.append(.capsRead(assignment: 1, [0]))
        fixture.turn()
        #expect(!deliver("ann", at: 1))
        #expect(deliver("bob", at: 2) && deliver("eve", at: 3))
        #expect(fixture.turn().contains { $0.hasPrefix("produce caps of 0, key eve") })
        #expect(fixture.lane.engine.capsSize.users == 3)
    }

    @Test("Partitions revoked before that are given back at once, and a late answer is ignored")
    func revokedBefore() {
        let fixture = LaneFixture()
        fixture.io.rebalances.append(.assign([partition]))
        fixture.turn()
        fixture.io.rebalances.append(.revoke([partition], lost: false))
        #expect(fixture.turn() == ["unassign"])
        fixture.answerAssignment(1)
        #expect(fixture.turn() == [])
        fixture.io.rebalances.append(.assign([partition]))
        fixture.turn()
        fixture.answerAssignment(1)
        #expect(fixture.turn() == [])
        fixture.answerAssignment(3)
        #expect(fixture.turn().first == "assign notifications/0@0")
    }

    @Test("A revocation waits for the calls under way, a loss does not")
    func revoked() {
        for isLost in [false, true] {
            let fixture = LaneFixture()
            fixture.assign()
            let record = ScriptedRecord(LaneFixture.topic, at: 0, user: "anna")
            fixture.io.queues[0] = [record]
            fixture.turn()
            fixture.io.rebalances.append(.revoke([partition], lost: isLost))
            #expect(fixture.turn().contains("unassign") == isLost)
            #expect(record.releases == (isLost ? 1 : 0))
        }
    }

    @Test("Records from before their partition was forwarded are taken first, and others go back")
    func unforwarded() {
        let fixture = LaneFixture()
        fixture.assign()
        let mine = ScriptedRecord(LaneFixture.topic, at: 0, user: "anna")
        let other = ScriptedRecord("notifications.bulk", at: 7, user: "bert")
        fixture.io.unforwarded = [mine, other]
        #expect(
            fixture.turn() == ["call service 0 for anna: hello, id anna-0", "seek notifications.bulk/0 to 7"])
        #expect([mine.releases, other.releases] == [0, 1])
    }

    @Test("The end of a partition is not passed on while a record of it waits")
    func end() {
        let fixture = LaneFixture { $0.maxInFlight = 1 }
        fixture.assign()
        let room = fixture.lane.records.count
        fixture.io.unforwarded = (0...room).map {
            ScriptedRecord(LaneFixture.topic, at: Int64($0), user: "user-\($0)")
        }
        fixture.turn()
        #expect(fixture.lane.refused != nil)
        let end = ScriptedRecord(LaneFixture.topic, 0, 9_999, error: Code.partitionEOF)
        fixture.io.unforwarded = [end]
        fixture.turn()
        #expect(end.releases == 1)
        #expect(fixture.lane.engine.nextOffset(of: 0).map { $0 < 9_999 } == true)
    }

    @Test("An offset out of range is checked, and the result decides whether the partition is read or held")
    func range() throws {
        for (range, answer) in [
            (OffsetRange(low: 0, high: 9), ["assign notifications/0@0", "forward notifications/0 to 0"]),
            (
                OffsetRange(low: 5, high: 9, committed: 0),
                ["find range of notifications/0, reading 1, offset 0, after 3000"]
            ),
            (
                OffsetRange(low: 5, high: 9, committed: 5),
                ["assign notifications/0@5", "forward notifications/0 to 0"]
            ),
        ] {
            let fixture = LaneFixture()
            fixture.assign()
            fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, 0, 0, error: Code.autoOffsetReset)]
            #expect(fixture.turn() == ["find range of notifications/0, reading 1, offset 0"])
            fixture.io.messages.append(.range(partition, RangeQuestion(reading: 1, wanted: 0), .success(range)))
            #expect(fixture.turn() == answer)
            #expect(fixture.lane.end == nil)
        }
    }

    @Test("A partition with lost records is held alone and reported, until the group stands behind them")
    func recordsLost() {
        let fixture = assigned([start(5), start(7, number: 1)])
        fixture.turn()
        fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, 0, 5, error: Code.autoOffsetReset)]
        fixture.turn()
        let question = RangeQuestion(reading: 1, wanted: 5)
        func answer(_ low: Int64, committed: Int64) -> [String] {
            let range = OffsetRange(low: low, high: 40, committed: committed)
            fixture.io.messages.append(.range(partition, question, .success(range)))
            return fixture.turn()
        }
        let again = ["find range of notifications/0, reading 1, offset 5, after 3000"]
        #expect(answer(9, committed: 5) == again)
        let since = fixture.io.now.wall
        #expect(
            fixture.lane.lastReport().lostRecords == [LostRecords.Place(partition: partition, count: 4, since: since)])
        #expect(answer(12, committed: 5) == again, "more of them are deleted")
        #expect(fixture.lane.lastReport().lostRecords.map(\.count) == [7])
        fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, 1, 7)]
        fixture.turn()
        #expect(fixture.lane.engine.nextOffset(of: 1) == 8, "the other one goes on")
        #expect(answer(12, committed: 12).first == "assign notifications/0@12 notifications/1@8")
        #expect(fixture.lane.lastReport().lostRecords.isEmpty && fixture.lane.end == nil)
    }

    @Test("What is lost of a delay's partition is asked for while it is not fetched, and not of what is fetched")
    func overtaken() {
        let delay = "notifications.retry.1h"
        let fixture = LaneFixture { $0.retryDelays = ["1h"].compactMap { DelayName($0) } }
        let starts = [start(0), start(5, of: delay), start(5, number: 1, of: delay)]
        fixture.io.rebalances.append(.assign(starts.map(\.committed.partition)))
        fixture.turn()
        fixture.io.messages.append(.starts(assignment: 1, .success(starts)))
        fixture.turn()
        let headers = [
            ("herald-attempts", "1"),
            ("herald-not-before", "\(fixture.io.now.wall.advanced(by: .hours(1)).milliseconds)"),
            ("herald-reason", "transient"), ("herald-pns", "apns"),
        ].map { (name: $0.0, value: $0.1) }
        fixture.io.queues[1] = [ScriptedRecord(delay, at: 5, user: "ann", headers: headers)]
        #expect(fixture.turn().contains("pause \(delay)/0"))
        fixture.io.messages.append(.overtaken([0, 1].map { LaneFixture.partition($0, of: delay) }))
        #expect(fixture.turn() == ["find range of \(delay)/0, reading 1, offset 6"])
        let question = RangeQuestion(reading: 1, wanted: 6, newest: 1_700_000_000_000)
        let range = OffsetRange(low: 9, high: 9, committed: 5)
        fixture.io.messages.append(.range(LaneFixture.partition(0, of: delay), question, .success(range)))
        fixture.turn()
        #expect(fixture.lane.lastReport().lostRecords.map(\.count) == [3])
    }

    @Test("The history that retention has left is read, and other partitions keep their place in it")
    func historyDeleted() {
        let fixture = LaneFixture()
        fixture.io.rebalances.append(.assign([partition, LaneFixture.partition(1)]))
        fixture.turn()
        fixture.io.messages.append(
            .starts(assignment: 1, .success([start(100, history: 40), start(50, history: 20, number: 1)])))
        fixture.turn()
        func hear(_ records: [ScriptedRecord], reading: Int) -> String? {
            fixture.io.queues[0] = records + [ScriptedRecord(LaneFixture.topic, 0, 40, error: Code.autoOffsetReset)]
            fixture.turn()
            let question = RangeQuestion(reading: reading, wanted: 100)
            fixture.io.messages.append(.range(partition, question, .success(OffsetRange(low: 60, high: 120))))
            return fixture.turn().first
        }
        let records = [20, 21].map { ScriptedRecord(LaneFixture.topic, 1, $0) }
        #expect(hear(records, reading: 1) == "assign notifications/0@60 notifications/1@22")
        // Of the other one all is read, and more.
        #expect(
            hear([ScriptedRecord(LaneFixture.topic, 1, 50)], reading: 2)
                == "assign notifications/0@60 notifications/1@51")
    }

    @Test("A partition without a taken record is read again from its beginning")
    func rewind() {
        let fixture = LaneFixture()
        fixture.io.rebalances.append(.assign([partition]))
        fixture.turn()
        fixture.io.messages.append(.starts(assignment: 1, .success([start(Offset.none)])))
        fixture.turn()
        fixture.lane.rewind(0)
        #expect(fixture.io.takeDoings() == ["seek notifications/0 to \(Offset.beginning)"])
    }

    @Test("A recreated topic is read from its beginning")
    func recreated() {
        let fixture = LaneFixture()
        fixture.io.rebalances.append(.assign([partition]))
        fixture.turn()
        fixture.io.messages.append(.starts(assignment: 1, .success([start(100)])))
        fixture.turn()
        fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, 0, 100, error: Code.autoOffsetReset)]
        fixture.turn()
        let question = RangeQuestion(reading: 1, wanted: 100)
        fixture.io.messages.append(.range(partition, question, .success(OffsetRange(low: 0, high: 3, younger: 0))))
        #expect(fixture.turn().first == "assign notifications/0@0")
        // The answer about the former reading does not apply to this one, not even when more was taken since.
        fixture.io.queues[0] = (0..<5).map { ScriptedRecord(LaneFixture.topic, at: Int64($0), user: "user-\($0)") }
        fixture.turn()
        #expect(fixture.lane.engine.nextOffset(of: 0) == 5)
        fixture.io.messages.append(.range(partition, question, .success(OffsetRange(low: 0, high: 3, younger: 0))))
        fixture.turn()
        #expect(fixture.lane.engine.nextOffset(of: 0) == 5)
        #expect(!fixture.io.takeDoings().contains { $0.hasPrefix("assign") })
    }

    @Test("Nothing of a partition is taken while its range is asked for, although it is read again")
    func grown() {
        let fixture = assigned([start(2), start(7, number: 1)])
        fixture.turn()
        fixture.io.queues[0] = [2, 2].map { ScriptedRecord(LaneFixture.topic, 0, $0, error: Code.autoOffsetReset) }
        #expect(fixture.turn() == ["find range of notifications/0, reading 1, offset 2"], "it is asked for once")
        fixture.lane.readAgain()
        #expect(fixture.turn().contains("assign notifications/0@2 notifications/1@7"))
        fixture.io.queues[0] = (2..<5).map { ScriptedRecord(LaneFixture.topic, at: $0, user: "user") }
        #expect(fixture.turn() == [])
        let question = RangeQuestion(reading: 1, wanted: 2)
        fixture.io.messages.append(.range(partition, question, .success(OffsetRange(low: 0, high: 5))))
        #expect(fixture.turn().first == "assign notifications/0@2 notifications/1@7")
        #expect(fixture.lane.engine.nextOffset(of: 0) == 2)
    }

    @Test("A log that was cut off is read from its first younger record, or from its end, with a report")
    func cut() {
        for (younger, offset) in [(2, 2), (nil, 3)] as [(Int64?, Int64)] {
            let fixture = LaneFixture()
            fixture.io.rebalances.append(.assign([partition]))
            fixture.turn()
            fixture.io.messages.append(.starts(assignment: 1, .success([start(Offset.none)])))
            fixture.turn()
            fixture.io.queues[0] = [
                ScriptedRecord(LaneFixture.topic, at: 100, user: "user"),
                ScriptedRecord(LaneFixture.topic, 0, 101, error: Code.autoOffsetReset),
            ]
            fixture.turn()
            let question = RangeQuestion(
                reading: 1, wanted: 101, newest: fixture.lane.engine.newestTaken(of: 0))
            let range = OffsetRange(low: 0, high: 3, younger: younger)
            fixture.io.messages.append(.range(partition, question, .success(range)))
            #expect(fixture.turn().contains("assign notifications/0@\(offset)"))
            #expect(fixture.lane.meter.latestPassedOver.first?.what.stood == 101)
        }
    }

    private func assigned(_ starts: [StartPosition]) -> LaneFixture {
        let fixture = LaneFixture()
        fixture.io.rebalances.append(.assign(starts.map(\.committed.partition)))
        fixture.turn()
        fixture.io.messages.append(.starts(assignment: 1, .success(starts)))
        return fixture
    }

    private func lost(
        _ evidence: StartPosition.Evidence, number: Int32 = 0, retained: Range<Int64>? = nil
    ) -> StartPosition {
        var start = StartPosition(
            committed: CommitPosition(partition: LaneFixture.partition(number), offset: Offset.none), evidence: evidence
        )
        start.retained = retained
        return start
    }

    @Test("Partitions with events and without an offset are named, and their lag is all retained records")
    func lostAndEmpty() throws {
        let fixture = assigned([lost(.outcomes, retained: 4..<9), lost(.outcomes, number: 1, retained: 3..<3)])
        fixture.turn()
        let report = fixture.lane.lastReport()
        #expect(report.withoutOffsets == [partition] && report.lookedUp == [])
        #expect(fixture.lane.withoutOffsets.count == 2, "both wait")
        fixture.lane.leaveReport(now: fixture.io.now)
        #expect(fixture.lane.partitionReports.map(\.done) == [4, 3])
    }

    @Test("A partition whose offset was lost is not consumed, and all others are")
    func lostOffset() {
        let fixture = assigned([lost(.outcomes), start(7, number: 1)])
        #expect(
            fixture.turn() == [
                "assign notifications/1@7", "forward notifications/1 to 0",
                "find starts of [notifications/0] for assignment 1 after 3000",
            ])
        #expect(fixture.lane.lostOffsets.mapValues(\.evidence) == [partition: .outcomes])
        // Nor is it asked for again, paused or resumed.
        fixture.lane.rewind(0)
        fixture.lane.setPaused(true, 0)
        #expect(fixture.io.takeDoings() == [])
        fixture.io.messages.append(.starts(assignment: 1, .failure(KafkaError(code: Code.timedOut))))
        #expect(fixture.turn() == ["find starts of [notifications/0] for assignment 1 after 1000"])
        fixture.io.messages.append(.starts(assignment: 1, .success([lost(.outcomes)])))
        #expect(fixture.turn() == ["find starts of [notifications/0] for assignment 1 after 3000"])
    }

    @Test("Once it has an offset, the partition is consumed from there, and offsets done beyond it are skipped")
    func restoredOffset() {
        let fixture = assigned([lost(.outcomes), start(7, number: 1)])
        fixture.turn()
        var map = CompletionMap()
        map.add(6..<7)
        let identity = PartitionIdentity(cluster: "", topic: LaneFixture.topic, partition: 0)
        let restored = CommitPosition(
            partition: partition, offset: 5, metadata: map.text(committing: 5, of: identity))
        fixture.io.messages.append(.starts(assignment: 1, .success([StartPosition(committed: restored)])))
        #expect(
            fixture.turn() == [
                "assign notifications/0@5 notifications/1@7", "forward notifications/0 to 0",
                "forward notifications/1 to 0",
            ])
        fixture.io.queues[0] = [5, 6].map { ScriptedRecord(LaneFixture.topic, at: $0, user: "user-\($0)") }
        #expect(fixture.turn() == ["call service 0 for user-5: hello, id user-5-5"])
    }

    @Test("While the outcomes of its events are unknown, a partition waits, then begins at its first record")
    func soughtOffset() {
        let fixture = assigned([lost(.sought)])
        #expect(fixture.turn() == ["assign ", "find starts of [notifications/0] for assignment 1 after 1000"])
        fixture.io.messages.append(.starts(assignment: 1, .success([lost(.absent)])))
        #expect(fixture.turn() == ["assign notifications/0@\(Offset.beginning)", "forward notifications/0 to 0"])
        #expect(fixture.lane.lostOffsets.isEmpty)
    }

    @Test("The range of a partition is asked for again after a silence of the brokers, and all others continue")
    func unansweredRange() {
        let fixture = assigned([start(5), start(7, number: 1)])
        fixture.turn()
        fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, 0, 5, error: Code.autoOffsetReset)]
        #expect(fixture.turn() == ["find range of notifications/0, reading 1, offset 5"])
        let question = RangeQuestion(reading: 1, wanted: 5)
        fixture.io.messages.append(.range(partition, question, .failure(KafkaError(code: Code.timedOut))))
        #expect(fixture.turn() == ["find range of notifications/0, reading 1, offset 5, after 3000"])
        #expect(fixture.lane.end == nil)
    }

    @Test("A partition whose broker does not answer waits alone, is asked about again, and is reported")
    func unanswered() {
        let trouble = KafkaError(code: Code.leaderNotAvailable)
        let fixture = assigned([lost(.unanswered(trouble)), start(7, number: 1)])
        #expect(
            fixture.turn() == [
                "assign notifications/1@7", "forward notifications/1 to 0",
                "find starts of [notifications/0] for assignment 1 after 3000",
            ])
        #expect(fixture.lane.lastReport().unanswered == [.init(partition: partition, text: trouble.words)])
        fixture.io.messages.append(.starts(assignment: 1, .success([start(5)])))
        #expect(fixture.turn().first == "assign notifications/0@5 notifications/1@7")
        #expect(fixture.lane.lostOffsets.isEmpty)
    }

    @Test("An answer about a partition that was revoked meanwhile is ignored")
    func lostAndRevoked() {
        let fixture = assigned([lost(.outcomes)])
        fixture.turn()
        fixture.io.rebalances.append(.revoke([partition], lost: false))
        #expect(fixture.turn() == ["unassign"])
        fixture.io.messages.append(.starts(assignment: 1, .success([start(5)])))
        #expect(fixture.turn() == [])
    }

    @Test("A missing right to read ends the lane from the start, with the remedy", arguments: [true, false])
    func forbidden(isTopic: Bool) {
        let fixture = LaneFixture()
        let code = isTopic ? Code.topicAuthorizationFailed : Code.groupAuthorizationFailed
        fixture.io.unforwarded = [ScriptedRecord(LaneFixture.topic, 0, 0, error: code)]
        fixture.turn()
        guard case .failed(let sentence)? = fixture.lane.end else {
            Issue.record("the lane goes on")
            return
        }
        #expect(sentence.contains(isTopic ? "--topic notifications" : "--group"))
    }
}
