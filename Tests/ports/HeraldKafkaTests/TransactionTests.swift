import Foundation
import HeraldKafka
import TestSupport
import Testing

@Suite("Transactions on a real broker", .realKafka("Transactions on a real broker"))
struct TransactionTests {
    private func producer(_ kafka: RealKafka, id: String, _ properties: ClientProperties = []) throws -> Producer {
        try Producer(
            properties: [
                ("bootstrap.servers", kafka.bootstrapServers), ("transactional.id", id), ("linger.ms", "0"),
                ("retry.backoff.ms", "5"),
            ] + properties)
    }

    @Test("A partition's end and its offset at a moment are those of a reader of committed records")
    func offsetsAtMoments() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("moments")
        let partition = TopicPartition(topic: topic, partition: 0)
        let producer = try producer(kafka, id: topic)
        try producer.initTransactions(timeout: Patience.timeout)
        for _ in 0..<3 {
            try producer.beginTransaction()
            #expect(try producer.produce(topic, value: [1], token: 1) == nil)
            _ = try await serving(producer) { try $0.commitTransaction(timeout: Patience.timeout) }
        }
        let member = try Member(
            kafka.bootstrapServers, group: topic, properties: [("isolation.level", "read_committed")])
        let queries = member.consumer.queries
        // Each record is followed by the end of its transaction.
        #expect(
            try await eventually {
                try queries.ends(of: [partition], timeout: Patience.timeout) == [partition: 6]
            })
        #expect(
            try queries.offsets(of: [partition], at: 0, timeout: Patience.timeout) == [partition: 0])
        let never = Int64(Date.distantFuture.timeIntervalSince1970) * 1_000
        #expect(try queries.offsets(of: [partition], at: never, timeout: Patience.timeout).isEmpty)
    }

    @Test("Records and offsets become visible together; aborted ones are never read")
    func commitAndAbort() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("atomic")
        let input = try kafka.makeTopic("input")
        let member = try Member(kafka.bootstrapServers, group: topic)
        try member.consumer.subscribe([input])
        try await member.poll("the member has its partition") { !member.history.isEmpty }
        let group = try #require(member.consumer.groupMetadata())
        let position = CommitPosition(
            partition: TopicPartition(topic: input, partition: 0), offset: 5, metadata: "AAE=")

        let producer = try producer(kafka, id: topic)
        try producer.initTransactions(timeout: Patience.timeout)
        try producer.beginTransaction()
        #expect(try producer.produce(topic, value: Array("aborted".utf8), token: 1) == nil)
        _ = try await serving(producer) { try $0.abortTransaction(timeout: Patience.timeout) }

        try producer.beginTransaction()
        #expect(try producer.produce(topic, value: Array("first".utf8), token: 2) == nil)
        let deliveries = try await serving(producer) { producer in
            try producer.sendOffsets([position], group: group, timeout: Patience.timeout)
            try producer.commitTransaction(timeout: Patience.timeout)
        }
        #expect(deliveries.map(\.token) == [2])
        #expect(deliveries.allSatisfy { $0.error == nil })
        try await write("second", to: topic, by: producer)

        #expect(try await committed(kafka, topic, count: 2) == ["first", "second"])
        #expect(
            try member.consumer.queries.committed([position.partition], timeout: Patience.timeout) == [
                position
            ])
        member.consumer.close()
    }

    @Test("A second producer with the same id fences the first: fatal, with its name")
    func fencing() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("fencing")
        let first = try producer(kafka, id: topic)
        try first.initTransactions(timeout: Patience.timeout)
        try first.beginTransaction()
        #expect(try first.produce(topic, value: Array("old".utf8)) == nil)
        try first.flush(timeout: Patience.timeout)
        let second = try producer(kafka, id: topic)
        try second.initTransactions(timeout: Patience.timeout)
        var caught: KafkaError?
        do {
            _ = try await serving(first) { try $0.commitTransaction(timeout: Patience.timeout) }
        } catch let error as KafkaError {
            caught = error
        }
        #expect(caught?.code == KafkaError.Code.fenced)
        #expect(caught?.isFatal == true)
        #expect(first.fatalError()?.code == KafkaError.Code.fenced)
        first.close()

        try await write("new", to: topic, by: second)
        #expect(try await committed(kafka, topic, count: 1) == ["new"])
    }

    @Test("Offsets of a member that has left are refused: abortable, and the next transaction works")
    func staleMember() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("member")
        let member = try Member(kafka.bootstrapServers, group: topic)
        try member.consumer.subscribe([topic])
        try await member.poll("the member has its partition") { !member.history.isEmpty }
        let group = try #require(member.consumer.groupMetadata())
        member.consumer.close()

        let producer = try producer(kafka, id: topic)
        try producer.initTransactions(timeout: Patience.timeout)
        try producer.beginTransaction()
        #expect(try producer.produce(topic, value: Array("lost".utf8)) == nil)
        let position = CommitPosition(partition: TopicPartition(topic: topic, partition: 0), offset: 1)
        let error = #expect(throws: KafkaError.self) {
            try producer.sendOffsets([position], group: group, timeout: Patience.timeout)
        }
        #expect(error?.isAbortable == true)
        #expect(error?.isFatal == false)
        _ = try await serving(producer) { try $0.abortTransaction(timeout: Patience.timeout) }
        try await write("kept", to: topic, by: producer)
        #expect(try await committed(kafka, topic, count: 1) == ["kept"])
    }

    @Test("A produce outside of a transaction is refused")
    func outside() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("outside")
        let producer = try producer(kafka, id: topic)
        try producer.initTransactions(timeout: Patience.timeout)
        #expect(try producer.produce(topic, value: [1])?.code == KafkaError.Code.state)
    }
}

@Suite("A transaction whose answers are lost or late", .ownKafka("A transaction whose answers are lost or late"))
struct LostAnswerTests {
    private static func behindProxy(_ body: (KafkaProxy, RealKafka) async throws -> Void) async throws {
        try await RealKafka.proxied.take { kafka in try await body(try #require(kafka.proxy), kafka) }
    }

    @Test("A transaction aborted while its first partition is registered is over: it fences no producer")
    func abortBeforeAnswer() async throws {
        try await Self.behindProxy { proxy, kafka in
            let topic = try kafka.makeTopic("aborted")
            let witnessed = try kafka.makeTopic("witness")
            func producer(_ id: String) throws -> Producer {
                let producer = try Producer(properties: [
                    ("bootstrap.servers", proxy.bootstrapServers), ("transactional.id", id), ("linger.ms", "0"),
                    ("transaction.timeout.ms", "10000"),
                ])
                try producer.initTransactions(timeout: Patience.timeout)
                return producer
            }
            let producers = try (0..<5).map { try producer("\(topic)-\($0)") }
            // A producer that knows the topic registers its partition at once.
            for producer in producers { try await write("first", to: topic, by: producer) }
            proxy.delayAnswers(milliseconds: 20)
            for producer in producers {
                try producer.beginTransaction()
                #expect(try producer.produce(topic, value: Array("aborted".utf8), token: 1) == nil)
                // The coordinator is asked at once, and its answer takes four times as long. The abort waits for news
                // of the records that it took back, which is later still.
                usleep(5_000)
                _ = try await serving(producer, after: .milliseconds(60)) { producer in
                    try producer.abortTransaction(timeout: Patience.timeout)
                }
            }
            proxy.delayAnswers(milliseconds: 0)
            // A transaction younger than all of them expires: readers get past it when the broker has ended it.
            let witness = try producer(witnessed)
            try witness.beginTransaction()
            #expect(try witness.produce(witnessed, value: [1], token: 1) == nil)
            try witness.flush(timeout: Patience.timeout)
            let partition = TopicPartition(topic: witnessed, partition: 0)
            let reader = try Member(
                kafka.bootstrapServers, group: topic, properties: [("isolation.level", "read_committed")])
            #expect(
                try await eventually {
                    let ends = try reader.consumer.queries.ends(
                        of: [partition], timeout: Patience.timeout)
                    return ends == [partition: 2]
                })
            for producer in producers { try await write("last", to: topic, by: producer) }
            let texts = Array(repeating: "first", count: 5) + Array(repeating: "last", count: 5)
            #expect(try await committed(kafka, topic, count: 10) == texts)
        }
    }

    @Test(
        "If an aborted record may have arrived, no transaction follows, and a new producer loses nothing"
    )
    func abortAfterLostAnswer() async throws {
        try await Self.behindProxy { proxy, kafka in
            let topic = try kafka.makeTopic("lost-answer")
            func producer() throws -> Producer {
                // The record stays in the queue until it is sent again, so that the abort always finds it there.
                try Producer(properties: [
                    ("bootstrap.servers", proxy.bootstrapServers), ("transactional.id", topic), ("linger.ms", "0"),
                    ("retry.backoff.ms", "60000"),
                ])
            }
            let first = try producer()
            try first.initTransactions(timeout: Patience.timeout)
            try first.beginTransaction()
            proxy.loseAnswers(to: .produce)
            #expect(try first.produce(topic, value: Array("a record".utf8), token: 1) == nil)
            #expect(try await eventually { proxy.lostAnswers(to: .produce) == 1 })
            let deliveries = try await serving(first) { producer in
                try producer.abortTransaction(timeout: Patience.timeout)
            }
            #expect(deliveries.map(\.error?.code) == [KafkaError.Code.purgedInQueue])
            // It would be lost: acknowledged and committed, but never written (librdkafka 2.0.2).
            let refusal = #expect(throws: KafkaError.self) { try first.beginTransaction() }
            #expect(refusal?.isFatal == true)
            #expect(refusal?.code == KafkaError.Code.inconsistent)
            first.close()

            let second = try producer()
            try second.initTransactions(timeout: Patience.timeout)
            let again = try await write("a record", to: topic, by: second)
            #expect(again.map(\.error) == [nil])
            #expect(try await committed(kafka, topic, count: 1) == ["a record"])
        }
    }
}
