import HeraldCore
import HeraldDriver
import HeraldKafka
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldWorker

@Suite("A lane's records become durable")
struct LaneProducerTests {
    private typealias Code = KafkaError.Code

    /// A lane whose first event was answered with this status.
    private func answered(_ status: Int = 200, isAtomic: Bool = false, offers: [ProduceAnswer] = []) -> LaneFixture {
        let fixture = LaneFixture(isAtomic: isAtomic)
        if isAtomic { fixture.io.messages.append(.transaction(.ready(lateClaims: 0))) }
        fixture.turn()
        fixture.assign()
        fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, at: 0, user: "anna")]
        fixture.turn()
        fixture.answer(status)
        fixture.io.produceAnswers = offers
        return fixture
    }

    private let result = "produce result, key anna, headers []"

    @Test("A record that finds the producer's queue full is offered again a little later")
    func queueFull() {
        let fixture = answered(offers: [.refused(KafkaError(code: Code.queueFull))])
        #expect(fixture.turn(after: .milliseconds(10)) == [result])
        #expect(fixture.turn(after: .seconds(1)) == [result])
        fixture.acknowledge()
        fixture.turn(after: .milliseconds(10))
        #expect(fixture.lane.engine.load == (0, 0, 0))
    }

    @Test("A record that its topic refuses as too large is offered again, smaller")
    func doesNotFit() {
        let fixture = answered(503, offers: [.doesNotFit])
        let doings = fixture.turn(after: .milliseconds(10)) + fixture.turn(after: .seconds(1))
        #expect(doings.count { $0.hasPrefix("produce retry") } == 2)
        #expect(Set(doings).count == 2)
    }

    @Test("A record that the broker refuses is offered until it is accepted, with the reason in the log")
    func refused() {
        let fixture = answered()
        #expect(fixture.turn(after: .milliseconds(10)) == [result])
        fixture.acknowledge(Code.messageTimedOut)
        var doings: [String] = []
        for _ in 0..<10 { doings += fixture.turn(after: .seconds(1)) }
        #expect(doings.first == result)
        #expect(fixture.lane.refusal != nil)
        fixture.acknowledge()
        fixture.turn()
        #expect(fixture.lane.refusal == nil)
    }

    @Test("A missing right to write ends the lane from the start, with the remedy")
    func forbidden() {
        let fixture = answered()
        fixture.turn(after: .milliseconds(10))
        fixture.acknowledge(Code.topicAuthorizationFailed)
        fixture.turn(after: .milliseconds(10))
        guard case .failed(let sentence)? = fixture.lane.end else {
            Issue.record("the lane goes on")
            return
        }
        #expect(sentence.contains("--topic notifications.results"))
    }

    @Test("A last commit that the group refuses is not made again, a failed one is", arguments: [true, false])
    func commits(isRefused: Bool) {
        let fixture = answered()
        fixture.turn(after: .milliseconds(10))
        fixture.acknowledge()
        fixture.io.rebalances.append(.revoke([LaneFixture.partition()], lost: false))
        #expect(fixture.turn(after: .milliseconds(10)) == ["commit 1: notifications/0@1"])
        fixture.io.endedCommits.append(
            (1, KafkaError(code: isRefused ? Code.illegalGeneration : Code.coordinatorNotAvailable)))
        let doings = fixture.turn() + fixture.turn(after: .seconds(1))
        #expect(fixture.lane.meter.failedCommits == 1)
        #expect(doings == [isRefused ? "unassign" : "commit 2: notifications/0@1"])
    }

    @Test("An atomic lane joins its group when its producer is ready")
    func ready() {
        let fixture = LaneFixture(isAtomic: true)
        #expect(fixture.turn() == ["prepare the producer"])
        fixture.io.messages.append(.transaction(.waiting(KafkaError(code: Code.timedOut))))
        #expect(fixture.turn() == [])
        fixture.io.messages.append(.transaction(.ready(lateClaims: 0)))
        #expect(fixture.turn() == ["subscribe"])
    }

    @Test("A producer that cannot be made ready ends the lane")
    func notReady() {
        let fixture = LaneFixture(isAtomic: true)
        fixture.io.messages.append(.transaction(.notReady(KafkaError(code: Code.unsupportedFeature))))
        fixture.turn()
        guard case .failed(let sentence)? = fixture.lane.end else {
            Issue.record("the lane goes on")
            return
        }
        #expect(sentence.contains("delivery.guarantee"))
    }

    @Test("Records and offsets are committed together, for the generation of the assignment")
    func transaction() {
        let fixture = answered(isAtomic: true)
        fixture.io.generation = 2
        var doings: [String] = []
        for _ in 0..<5 { doings += fixture.turn(after: .milliseconds(100)) }
        #expect(
            doings == ["begin a transaction", result, "commit transaction 1 for generation 1: notifications/0@1"])
        fixture.io.messages.append(.transaction(.committed(sequence: 1, nil, .acknowledged)))
        fixture.turn()
        #expect(fixture.lane.engine.load.events == 0)
        #expect(fixture.lane.meter.commits == 1)
    }

    @Test("A record that the broker refuses in a transaction aborts it, and is written again")
    func abort() {
        let fixture = answered(isAtomic: true)
        fixture.turn()
        #expect(fixture.turn(after: .milliseconds(100)).contains(result))
        fixture.acknowledge(Code.messageTimedOut)
        var doings = fixture.turn(after: .milliseconds(10))
        #expect(doings.contains("abort"))
        fixture.io.messages.append(.transaction(.aborted(nil, .acknowledged)))
        doings = []
        for _ in 0..<20 where !doings.contains(result) { doings += fixture.turn(after: .seconds(1)) }
        #expect(doings.contains(result))
        #expect(fixture.lane.meter.aborts == 1)
    }

    @Test("A transaction time-out above the broker's limit ends the lane and names the settings, not a restart")
    func tooLongTransaction() {
        let fixture = LaneFixture(isAtomic: true)
        let error = KafkaError(code: Code.invalidTransactionTimeout, isFatal: true)
        fixture.io.messages.append(.transaction(.notReady(error)))
        fixture.turn()
        guard case .failed(let sentence)? = fixture.lane.end else {
            Issue.record("\(String(describing: fixture.lane.end))")
            return
        }
        #expect(sentence.contains("transaction.max.timeout.ms") && sentence.contains("transaction.timeout.ms"))
        #expect(!sentence.contains("Start the worker again"), "\(sentence)")
    }

    @Test("A commit of unknown outcome is looked up by a new producer")
    func inDoubt() {
        let fixture = answered(isAtomic: true)
        for _ in 0..<5 { fixture.turn(after: .milliseconds(100)) }
        // Old enough for the broker to have ended it by itself.
        fixture.turn(after: .minutes(2))
        fixture.io.producerFailure = KafkaError(code: Code.fenced, isFatal: true)
        #expect(fixture.turn().contains("renew the producer"))
        fixture.io.producerFailure = nil
        fixture.io.messages.append(.transaction(.ready(lateClaims: 0)))
        #expect(fixture.turn().contains("resolve commit 1: notifications/0@1"))
    }

    @Test("Another process that writes under the worker's name ends it")
    func rival() {
        let fixture = answered(isAtomic: true)
        fixture.io.transactionError = KafkaError(code: Code.fenced, isFatal: true)
        #expect(fixture.turn(after: .milliseconds(100)).contains("announce rival"))
        #expect(fixture.lane.end != nil)
    }
}
