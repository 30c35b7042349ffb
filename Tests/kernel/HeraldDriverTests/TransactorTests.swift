import HeraldKafka
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@testable import HeraldDriver

/// A writer on a broker that waits for the outcomes of its transactions.
private final class Writer {
    private let wakeup: Wakeup
    private let transactor: Transactor
    private var writer = BatchWriter(BatchWriter.Configuration(transactionTimeout: .minutes(1)))

    init(_ properties: ClientProperties) throws {
        wakeup = try Wakeup()
        transactor = Transactor(properties: properties + [("transactional.id", "w")], wakeup: wakeup)
        try claim()
    }

    func claim() throws(BatchWriter.Failure) {
        writer.claim(now: SystemClock.monotonic())
        try finish()
    }

    func write(_ records: [OutgoingRecord]) throws(BatchWriter.Failure) {
        writer.write(BatchWriter.Batch(records: records), now: SystemClock.monotonic())
        try finish()
    }

    func close() { transactor.close() }

    private func finish() throws(BatchWriter.Failure) {
        while true {
            for event in writer.takeEvents() {
                switch event {
                case .claimed, .written: return
                case .waiting: break
                case .refused(let error): throw .refused(error)
                case .lost(let loss): throw .lost(loss)
                }
            }
            writer.takeActions().forEach(transactor.perform)
            _ = wakeup.wait(for: .milliseconds(20))
            wakeup.drain()
            transactor.serve { writer.receive($0, now: SystemClock.monotonic()) }
            writer.advance(now: SystemClock.monotonic())
        }
    }
}

@Suite("Transactions that fail")
struct TransactorTests {
    private typealias WriteFailure = BatchWriter.Failure

    /// The broker does not know the producer (any more).
    private static let unknownProducer: Int32 = 59

    private let cluster: MockCluster
    private let record = OutgoingRecord(topic: "t", key: nil, value: [1])

    init() throws {
        cluster = try MockCluster()
        try cluster.createTopic("t", partitions: 1)
    }

    private func writer() throws -> Writer {
        try Writer([("bootstrap.servers", cluster.bootstrapServers), ("linger.ms", "0")])
    }

    /// The number of records in the topic, of any transactions: the embedded broker does not distinguish them.
    private func count() throws -> Int {
        let reader = try TopicReader(
            properties: [("bootstrap.servers", cluster.bootstrapServers), ("group.id", "g")])
        defer { reader.close() }
        try reader.begin([TopicPartition(topic: "t", partition: 0): .beginning], to: .committed)
        var count = 0
        while true {
            switch try reader.next(wait: .milliseconds(50)) {
            case .record(let message):
                message.release()
                count += 1
            case .nothing: continue
            case .end: return count
            }
        }
    }

    @Test("A failed commit is in doubt, and nothing is written again before the name is claimed")
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

    @Test("A forbidden topic is refused for certain, and the writer continues")
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

    @Test("A permanent refusal stands even if the coordinator has nothing to abort")
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

    @Test("A writer in doubt claims its name again, and continues")
    func claimedAgain() throws {
        let writer = try writer()
        defer { writer.close() }
        cluster.pushRequestErrors(.endTransaction, [Self.unknownProducer])
        let failure = #expect(throws: WriteFailure.self) { try writer.write([record]) }
        #expect(failure?.needsClaim == true)
        try writer.claim()
        try writer.write([record])
    }
}
