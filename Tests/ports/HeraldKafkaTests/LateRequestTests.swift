import HeraldKafka
import TestSupport
import Testing

@Suite("A request that arrives after its transaction", .ownKafka("A request that arrives after its transaction"))
struct LateRequestTests {
    /// A producer whose requests pass the proxy, and a group with an offset to commit.
    private struct Setup {
        let kafka: RealKafka
        let proxy: KafkaProxy
        let topic: String
        let member: Member
        let position: CommitPosition

        static func run(_ body: (Setup) async throws -> Void) async throws {
            try await RealKafka.proxied.take { kafka in
                let setup = try await Setup(kafka)
                try await body(setup)
                setup.member.consumer.close()
            }
        }

        private init(_ kafka: RealKafka) async throws {
            self.kafka = kafka
            proxy = try #require(kafka.proxy)
            topic = try kafka.makeTopic("late")
            member = try Member(kafka.bootstrapServers, group: topic)
            let (member, input) = (member, try kafka.makeTopic("late-input"))
            try member.consumer.subscribe([input])
            try await member.poll("the member has its partition") { !member.history.isEmpty }
            position = CommitPosition(partition: TopicPartition(topic: input, partition: 0), offset: 5)
        }

        /// A producer that has claimed its name.
        func producer() throws -> Producer {
            let producer = try Producer(properties: [
                ("bootstrap.servers", proxy.bootstrapServers), ("transactional.id", topic), ("linger.ms", "0"),
                ("retry.backoff.ms", "5"), ("reconnect.backoff.ms", "5"),
            ])
            try producer.initTransactions(timeout: Patience.timeout)
            return producer
        }

        /// Delivers the one late request, and waits until the broker has answered it.
        func deliverLate() async throws {
            proxy.deliverLate()
            #expect(try await eventually { proxy.answeredLateCount == 1 })
        }

        /// Writes a record and the group's offset, and ends the transaction.
        func write(_ text: String, by producer: Producer, commits: Bool) async throws {
            let group = try #require(member.consumer.groupMetadata())
            try producer.beginTransaction()
            #expect(try producer.produce(topic, value: Array(text.utf8), token: 1) == nil)
            try producer.flush(timeout: Patience.timeout)
            _ = try await serving(producer) { [position] producer in
                try producer.sendOffsets([position], group: group, timeout: Patience.timeout)
                if commits {
                    try producer.commitTransaction(timeout: Patience.timeout)
                } else {
                    try producer.abortTransaction(timeout: Patience.timeout)
                }
            }
        }
    }

    @Test(
        "No transaction follows one with an unanswered request, and a new epoch keeps its copy out",
        arguments: [
            (KafkaProxy.Request.endTransaction, true), (.endTransaction, false), (.commitOffsets, true),
            (.addOffsets, true), (.addPartitions, true),
        ])
    func late(request: KafkaProxy.Request, commits: Bool) async throws {
        try await Setup.run { setup in
            let first = try setup.producer()
            setup.proxy.makeLate(request)
            try await setup.write("first", by: first, commits: commits)
            #expect(setup.proxy.lateCount == 1)
            let refusal = #expect(throws: KafkaError.self) { try first.beginTransaction() }
            #expect(refusal?.isFatal == true && refusal?.code == KafkaError.Code.inconsistent)
            first.close()

            let second = try setup.producer()
            try second.beginTransaction()
            #expect(try second.produce(setup.topic, value: Array("half".utf8), token: 1) == nil)
            try second.flush(timeout: Patience.timeout)
            try await setup.deliverLate()
            _ = try await serving(second) { try $0.abortTransaction(timeout: Patience.timeout) }
            try await setup.write("last", by: second, commits: true)
            let texts = commits ? ["first", "last"] : ["last"]
            #expect(try await committed(setup.kafka, setup.topic, count: texts.count) == texts)
        }
    }

    @Test("Transactions follow one another for ever when every request is answered, even after aborts")
    func quiet() async throws {
        try await Setup.run { setup in
            let producer = try setup.producer()
            for number in 0..<10 { try await setup.write("\(number)", by: producer, commits: number % 3 != 0) }
            #expect(
                try await committed(setup.kafka, setup.topic, count: 6) == ["1", "2", "4", "5", "7", "8"])
        }
    }

    @Test("A repeated claim of the name may come late and fences: the producer counts it")
    func lateClaim() async throws {
        try await Setup.run { setup in
            #expect(try setup.producer().unansweredClaims == 0)
            setup.proxy.makeLate(.initProducerID)
            let producer = try setup.producer()
            #expect(producer.unansweredClaims == 1)
            try producer.beginTransaction()
            // Delivered before the transaction has content: at its end, the coordinator would refuse the claim.
            try await setup.deliverLate()
            #expect(try producer.produce(setup.topic, value: [1], token: 1) == nil)
            let error = await #expect(throws: KafkaError.self) {
                try await serving(producer) { try $0.commitTransaction(timeout: Patience.timeout) }
            }
            #expect(error?.kind == .fenced)
        }
    }

    @Test("A request lost with its answer counts as one that may come late")
    func lostAnswer() async throws {
        try await Setup.run { setup in
            let producer = try setup.producer()
            setup.proxy.loseAnswers(to: .endTransaction)
            try await setup.write("first", by: producer, commits: true)
            #expect(throws: KafkaError.self) { try producer.beginTransaction() }
        }
    }
}
