import HeraldDriver
import HeraldKafka
import Testing

@testable import HeraldTools

@Suite("Transactions that end badly")
struct TransactionalPublisherTests {
    private typealias WriteFailure = TransactionalPublisher.WriteFailure

    /// The broker does not know the producer (any more).
    private static let unknownProducer: Int32 = 59

    private let cluster: MockCluster
    private let record = OutgoingRecord(topic: "t", key: nil, value: [1])

    init() throws {
        cluster = try MockCluster()
        try cluster.createTopic("t", partitions: 1)
    }

    private func writer() throws -> TransactionalPublisher {
        try TransactionalPublisher(
            properties: [("bootstrap.servers", cluster.bootstrapServers), ("linger.ms", "0")], name: "w",
            heartbeat: .zero)
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
        guard case .lost(.inDoubt)? = failure else {
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

    @Test("A publisher in doubt claims the name again, and writes on; one that is sure does not")
    func claimedAgain() throws {
        let publisher = try writer()
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
