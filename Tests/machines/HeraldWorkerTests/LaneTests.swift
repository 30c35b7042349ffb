import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldThreads
import HeraldTime
import Testing

@testable import HeraldWorker

@Suite("A lane carries out its engine's decisions")
struct LaneTests {
    private typealias Code = KafkaError.Code

    @Test("A record becomes a call, its answer a result, and the result's acknowledgement a commit")
    func event() {
        let fixture = LaneFixture()
        fixture.assign()
        let record = ScriptedRecord(LaneFixture.topic, at: 0, user: "anna")
        fixture.io.queues[0] = [record]
        #expect(fixture.turn() == ["call service 0 for anna: hello, id anna-0"])
        fixture.answer(200)
        #expect(fixture.turn(after: .milliseconds(10)) == ["produce result, key anna, headers []"])
        #expect(record.releases == 0)
        fixture.acknowledge()
        fixture.turn(after: .milliseconds(10))
        #expect(record.releases == 1)
        #expect(fixture.turn(after: .seconds(1)) == ["commit 1: notifications/0@1"])
        fixture.io.endedCommits.append((1, nil))
        fixture.turn()
        #expect(fixture.lane.meter.commits == 1)
        #expect(fixture.lane.engine.counters.accepted == 1)
    }

    @Test("A lane gives the reasons for waiting, by id, user or request record, and names the events ahead")
    func waiting() throws {
        let fixture = LaneFixture()
        fixture.assign()
        fixture.io.queues[0] = [
            ScriptedRecord(LaneFixture.topic, at: 0, user: "anna"),
            ScriptedRecord(LaneFixture.topic, at: 1, user: "anna"),
            ScriptedRecord(LaneFixture.topic, at: 2, user: "bert"),
        ]
        fixture.turn()
        func ask(_ query: WaitingQuery?) throws -> WaitingPage {
            let answer = Guarded<WaitingPage?>(nil)
            let question = WaitingQuestion(try #require(query)) { page in answer.withLock { $0 = page } }
            fixture.io.messages = [.question(question)]
            fixture.turn()
            return try #require(answer.withLock { $0 })
        }
        let anna = try ask(WaitingQuery(user: "anna"))
        #expect(anna.events.map(\.id) == ["anna-0", "anna-1"] && anna.hidden == 0)
        #expect(anna.events.flatMap(\.waits).map(\.reason) == ["calling", "behind-user"])
        #expect(anna.events.last?.waits.first?.phrase.contains("anna-0 (\(LaneFixture.topic)/0/0) is first") == true)
        #expect(try ask(WaitingQuery(id: "anna-1")).events.map(\.origin) == ["\(LaneFixture.topic)/0/1"])
        let place = Origin(topic: LaneFixture.topic, partition: 0, offset: 2)
        #expect(try ask(WaitingQuery(origin: place)).events.map(\.user) == ["bert"])
        #expect(try ask(WaitingQuery(user: "anna", id: "bert-2")).events == [])
        #expect(try ask(WaitingQuery(origin: Origin(topic: "other", partition: 0, offset: 2))).events == [])
    }

    @Test("A record that needs no slot is given back at once")
    func tombstone() {
        let fixture = LaneFixture()
        fixture.assign()
        let record = ScriptedRecord(LaneFixture.topic, 0, 0)
        fixture.io.queues[0] = [record]
        #expect(fixture.turn().filter { $0.hasPrefix("call") } == [])
        #expect(record.releases == 1)
    }

    @Test("A record that finds no room waits, and later ones are read again")
    func noRoom() {
        let fixture = LaneFixture { $0.maxInFlight = 1 }
        fixture.assign()
        let room = fixture.lane.records.count
        let records = (0...room + 1).map { ScriptedRecord(LaneFixture.topic, at: Int64($0), user: "user-\($0)") }
        fixture.io.unforwarded = records
        #expect(fixture.turn().last == "seek notifications/0 to \(room + 1)")
        #expect(fixture.lane.refused?.record.offset == Int64(room))
        #expect(records.suffix(2).map(\.releases) == [0, 1])
        fixture.answer(200)
        fixture.turn(after: .milliseconds(10))
        fixture.acknowledge()
        fixture.turn(after: .milliseconds(10))
        #expect(records[0].releases == 1)
        #expect(fixture.lane.refused == nil)
    }

    @Test("More calls in flight have connections, and a slot for each of their records")
    func moreInFlight() {
        let fixture = LaneFixture { $0.maxInFlight = 1 }
        fixture.assign()
        let room = fixture.lane.records.count
        var live = LiveConfiguration()
        live.maxInFlight = 500
        fixture.io.messages = [.settings(LaneSettings(engine: live, connectionLimit: 500))]
        #expect(fixture.turn() == ["up to 500 connections"])
        #expect(fixture.lane.records.count > room + 900)
        #expect(fixture.lane.records.count == fixture.lane.engine.capacity)
    }

    @Test("No records are taken while there are enough in memory")
    func fullMemory() {
        let fixture = LaneFixture { $0.maxBufferedBytes = 50 }
        fixture.assign()
        fixture.io.queues[0] = ["anna", "bert"].enumerated().map {
            ScriptedRecord(LaneFixture.topic, at: Int64($0.offset), user: $0.element)
        }
        #expect(fixture.turn() == ["call service 0 for anna: hello, id anna-0"])
        #expect(fixture.io.queues[0].count == 1)
        fixture.answer(200)
        fixture.turn(after: .milliseconds(10))
        fixture.acknowledge()
        #expect(fixture.turn(after: .milliseconds(10)).contains("call service 0 for bert: hello, id bert-1"))
    }

    @Test("A record that stays for long is copied")
    func keep() {
        let fixture = LaneFixture()
        fixture.assign()
        let record = ScriptedRecord(LaneFixture.topic, at: 0, user: "anna")
        fixture.io.queues[0] = [record]
        fixture.turn()
        for _ in 0..<30 where !record.isKept { fixture.turn(after: .seconds(1)) }
        #expect(record.isKept)
        #expect(record.releases == 0)
    }

    @Test("The backend's limits are applied, and its answers are recorded without the message")
    func refusal() {
        let fixture = LaneFixture()
        fixture.assign()
        fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, at: 0, user: "anna")]
        fixture.turn()
        fixture.answer(503, retryAfter: .hours(1), detail: "busy")
        let doings = fixture.turn(after: .milliseconds(10))
        #expect(doings.first?.hasPrefix("produce retry, key anna, headers [") == true)
        #expect(doings.first?.contains("herald-") == true)
        #expect(fixture.lane.meter.unansweredCalls == 0)
    }

    @Test(
        "An answer is recorded without title, link, image and data; a short word of data is any answer's word")
    func contentInAnswer() throws {
        let fixture = LaneFixture()
        fixture.assign()
        let value =
            #"{"user":"anna","message":"hello","pns":["apns"],"title":"a title","link":"shop://1","image":"https://a/b","#
            + #""data":{"order":"order-17","paid":"true","otp":"9988"},"category":"SHIPPED"}"#
        fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, 0, 0, key: "anna", value: value)]
        fixture.turn()
        fixture.answer(503, retryAfter: .hours(1), detail: "busy")
        fixture.turn(after: .milliseconds(10))
        let detail = try #require(fixture.io.producedHeaders.last?["herald-detail"])
        #expect(
            detail == "HTTP 503: busy without message 'hello' without title 'a title' without link 'shop://1' "
                + "without image 'https://a/b' "
                + "without data 'order-17' without data '9988'")
    }

    @Test("A call without an answer counts as a failed one")
    func failure() {
        let fixture = LaneFixture()
        fixture.assign()
        fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, at: 0, user: "anna")]
        fixture.turn()
        fixture.answer(0, failure: .reset)
        #expect(fixture.turn(after: .milliseconds(10)).first?.hasPrefix("produce retry") == true)
        #expect(fixture.lane.meter.lastFailure == .reset)
    }

    @Test("Refused credentials are renewed, and the call is repeated")
    func credentials() {
        let fixture = LaneFixture()
        fixture.assign()
        fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, at: 0, user: "anna")]
        fixture.turn()
        fixture.answer(401)
        #expect(
            fixture.turn(after: .milliseconds(10)) == ["credentials refused at 0, holding: false", "renew credentials"])
        fixture.io.messages.append(.credentialsRenewed)
        #expect(fixture.turn(after: .milliseconds(10)) == ["call service 0 for anna: hello, id anna-0"])
    }

    @Test("Without credentials no call is made until there are new ones")
    func noCredentials() {
        let fixture = LaneFixture()
        fixture.assign()
        fixture.io.messages.append(.credentialsUnavailable)
        #expect(fixture.turn() == ["announce outageBegan(HeraldEvents.OutageReason.tokenUnavailable)"])
        #expect(fixture.io.reports.last?.outage?.reason == .tokenUnavailable)
        fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, at: 0, user: "anna")]
        #expect(fixture.turn() == [])
        fixture.io.messages.append(.credentialsChanged)
        #expect(
            fixture.turn() == [
                "announce outageEnded(HeraldEvents.OutageReason.tokenUnavailable)",
                "call service 0 for anna: hello, id anna-0",
            ])
        #expect(fixture.io.reports.last.map { $0.outage == nil } == true)
    }

    @Test("A cancelled campaign's event is not called")
    func campaign() {
        let fixture = LaneFixture()
        fixture.assign()
        let control = CampaignControl(state: .cancelled, at: fixture.io.now.wall, by: "somebody")
        fixture.io.messages.append(.campaign("spring", control))
        fixture.io.queues[0] = [
            ScriptedRecord(
                LaneFixture.topic, 0, 0, key: "anna",
                value: #"{"user":"anna","message":"hello","pns":["apns"],"campaign":"spring"}"#)
        ]
        #expect(fixture.turn() == ["produce result, key anna, headers []"])
    }

    @Test("A drain ends with the group left, the clients closed, and a last report")
    func drain() {
        let fixture = LaneFixture()
        fixture.assign()
        fixture.io.messages.append(.drain)
        #expect(fixture.lane.run() == .drained(complete: true))
        #expect(fixture.io.takeDoings().suffix(2) == ["begin to leave", "close"])
        #expect(fixture.io.reports.last?.hasEnded == true)
    }

    @Test("The lane does not wait while there may be more records, and otherwise waits for the engine")
    func deadline() {
        let fixture = LaneFixture()
        fixture.assign()
        fixture.io.queues[0] = (0..<100).map { ScriptedRecord(LaneFixture.topic, at: $0, user: "user-\($0)") }
        fixture.turn()
        #expect(fixture.lane.mayHaveMore)
        fixture.turn()
        #expect(!fixture.lane.mayHaveMore)
        #expect(fixture.lane.engine.nextWake == fixture.lane.deadline)
    }

    @Test("An idle lane wakes for its reports, and soon again for a report that could not be left")
    func reports() {
        let fixture = LaneFixture(intervals: .usual)
        fixture.assign()
        let count = fixture.io.reports.count
        #expect(fixture.lane.deadline == fixture.io.now.monotonic.advanced(by: .milliseconds(250)))
        fixture.io.isReading = true
        fixture.turn(after: .milliseconds(250))
        #expect(fixture.io.reports.count == count)
        #expect(fixture.lane.deadline == fixture.io.now.monotonic.advanced(by: .milliseconds(5)))
        fixture.io.isReading = false
        fixture.turn(after: .milliseconds(5))
        #expect(fixture.io.reports.count == count + 1)
        #expect(fixture.lane.deadline == fixture.io.now.monotonic.advanced(by: .milliseconds(250)))
    }

    @Test("A group's permanent refusal is reported, not logged at each attempt, until it assigns partitions")
    func refusingGroup() {
        let fixture = LaneFixture()
        for code in [Code.invalidSessionTimeout, Code.groupMaxSizeReached, Code.inconsistentGroupProtocol] {
            fixture.io.unforwarded = [ScriptedRecord("", -1, -1, error: code)]
            fixture.turn()
            #expect(fixture.lane.groupObstacle == GroupObstacle(KafkaError(code: code)))
            #expect(fixture.lane.groupObstacle != nil && fixture.lane.end == nil)
        }
        fixture.assign()
        #expect(fixture.lane.groupObstacle == nil)
    }

    @Test("A consumer or plain producer with a fatal error ends the lane, with the remedy")
    func fatal() {
        var fixture = LaneFixture()
        fixture.io.consumerFailure = KafkaError(code: Code.fatal, message: "gone")
        fixture.turn()
        #expect(fixture.lane.end == .failed("the consumer failed fatally: _FATAL: gone. Restart the worker."))
        fixture = LaneFixture()
        fixture.io.producerFailure = KafkaError(code: Code.fatal, message: "gone")
        fixture.turn()
        #expect(
            fixture.lane.end
                == .failed("the producer failed fatally: _FATAL: gone. Restart the worker; nothing is lost."))
    }
}
