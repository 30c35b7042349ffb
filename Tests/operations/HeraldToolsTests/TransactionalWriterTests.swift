import HeraldKafka
import HeraldTools
import Testing

@Suite("Transactions that end badly")
struct TransactionalWriterTests {
    private typealias WriteFailure = TransactionalWriter.WriteFailure

    /// The broker does not know the producer (any more).
    private static let unknownProducer: Int32 = 59

    private let cluster: MockCluster
    private let record = OutgoingRecord(topic: "t", key: nil, value: [1])

    init() throws {
        cluster = try MockCluster()
        try cluster.createTopic("t", partitions: 1)
    }

    private func writer() throws -> TransactionalWriter {
        let writer = try TransactionalWriter(properties: [
            ("bootstrap.servers", cluster.bootstrapServers), ("transactional.id", "w"), ("linger.ms", "0"),
        ])
        try writer.claim()
        return writer
    }

    /// How many records the topic holds, whatever became of their transactions: the embedded broker does not tell.
    private func count() throws -> Int {
        let reader = try TopicReader(
            properties: [("bootstrap.servers", cluster.bootstrapServers), ("group.id", "g")], topic: "t",
            partitions: [0])
        defer { reader.close() }
        var count = 0
        try reader.catchUp { _ in count += 1 }
        return count
    }

    @Test("A commit that did not succeed is in doubt, and nothing is written again before the name is claimed")
    func doubt() throws {
        let writer = try writer()
        defer { writer.close() }
        cluster.pushRequestErrors(.endTransaction, [Self.unknownProducer])
        let failure = #expect(throws: WriteFailure.self) { try writer.write([record]) }
        guard case .inDoubt? = failure else {
            Issue.record("\(failure.map { "\($0)" } ?? "it was written")")
            return
        }
        #expect(failure?.needsClaim == true)
        #expect(try count() == 1)
    }

    @Test("A topic that may not be written to is refused for certain, and the writer goes on")
    func refused() throws {
        let writer = try writer()
        defer { writer.close() }
        cluster.pushRequestErrors(.addPartitionsToTransaction, [KafkaError.Code.topicAuthorizationFailed])
        let failure = #expect(throws: WriteFailure.self) { try writer.write([record]) }
        guard case .refused(let error)? = failure else {
            Issue.record("\(failure.map { "\($0)" } ?? "it was written")")
            return
        }
        #expect(error.kind == .forbidden && failure?.needsClaim == false)
        #expect(throws: Never.self) { try writer.write([record]) }
    }

    @Test("What was refused for good stays so when the coordinator has nothing to abort")
    func nothingToAbort() throws {
        let writer = try writer()
        defer { writer.close() }
        cluster.pushRequestErrors(.addPartitionsToTransaction, [KafkaError.Code.topicAuthorizationFailed])
        cluster.pushRequestErrors(.endTransaction, [KafkaError.Code.invalidTransactionState])
        let failure = #expect(throws: WriteFailure.self) { try writer.write([record]) }
        guard case .refused(let error)? = failure else {
            Issue.record("\(failure.map { "\($0)" } ?? "it was written")")
            return
        }
        #expect(error.kind == .forbidden)
    }

    @Test("Who cannot be sure claims the name again, and writes on; who can be sure does not")
    func claimedAgain() throws {
        let publisher = try TransactionalPublisher(
            properties: [("bootstrap.servers", cluster.bootstrapServers), ("linger.ms", "0")], name: "w",
            heartbeat: .zero)
        defer { publisher.close() }
        cluster.pushRequestErrors(.endTransaction, [Self.unknownProducer])
        do throws(WriteFailure) {
            try publisher.write([record])
            Issue.record("it was written")
        } catch {
            try publisher.reclaim(after: error)
        }
        try publisher.write([record])
        #expect(publisher.isHeartbeatDue)
        let refusal = WriteFailure.refused(KafkaError(code: KafkaError.Code.messageSizeTooLarge))
        #expect(throws: WriteFailure.self) { try publisher.reclaim(after: refusal) }
    }
}

@Suite("One publisher, whatever it publishes")
struct PublishPolicyTests {
    private final class Policy: PublishPolicy {
        var admission = PublishAdmission(
            outcomesPerEvent: 1, batchLimit: 100, rate: nil, ramp: Ramp(steps: [1, 10]), published: 0)
        var left = 50
        var known = 0
        var batches: [Int] = []
        var waits: [PublishAdmission.Wait] = []
        /// After so many waits for a step it is enough.
        var patience = Int.max

        var openOutcomes: (all: Int, step: Int) { (admission.published - known, admission.published - known) }

        func poll(waitMilliseconds: Int32) { if waitMilliseconds > 0 { known = admission.published } }
        func keepAlive() {}
        func standing() -> Standing<String> { left == 0 ? .ended("all") : .publishing }
        func publish(atMost count: Int) -> Int {
            batches.append(min(count, left))
            left -= batches[batches.count - 1]
            return batches[batches.count - 1]
        }
        func holdBack(_ reason: PublishAdmission.Wait) -> String? {
            waits.append(reason)
            return waits.count > patience ? "patience" : nil
        }
        func report() {}
    }

    @Test("It publishes step by step, waits for the outcomes of each, and ends as the policy says")
    func steps() throws {
        let policy = Policy()
        #expect(try policy.run() == "all")
        #expect(policy.batches == [1, 10, 39] && policy.waits == [.ramp, .ramp])
    }

    @Test("A policy that has waited for long enough ends it")
    func patience() throws {
        let policy = Policy()
        policy.patience = 1
        #expect(try policy.run() == "patience")
        #expect(policy.batches == [1, 10])
    }

    /// One record, whose outcome comes with a look that does not wait, and is its end.
    private final class OneRecord: PublishPolicy {
        var admission = PublishAdmission(
            outcomesPerEvent: 1, batchLimit: 1, rate: nil, ramp: Ramp(steps: []), published: 0)
        private(set) var openOutcomes = (all: 0, step: 0)
        private(set) var reported: [Int] = []

        func poll(waitMilliseconds: Int32) { openOutcomes = (0, 0) }
        func keepAlive() {}
        func standing() -> Standing<String> { admission.published == 1 ? .ended("all") : .publishing }
        func publish(atMost count: Int) -> Int {
            openOutcomes = (1, 1)
            return 1
        }
        func holdBack(_ reason: PublishAdmission.Wait) -> String? { nil }
        func report() { reported.append(openOutcomes.all) }
    }

    @Test("The outcome with which it ends is reported, too")
    func lastOutcome() throws {
        let policy = OneRecord()
        #expect(try policy.run() == "all")
        #expect(policy.reported == [1, 0])
    }
}
