import HeraldKafka
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@Suite("Refusals and injected errors on the embedded broker", .realTime)
struct FaultTests {
    let cluster: MockCluster

    init() throws {
        cluster = try MockCluster()
        try cluster.createTopic("t", partitions: 1)
    }

    private func producer(_ properties: ClientProperties = []) throws -> Producer {
        try Producer(properties: [("bootstrap.servers", cluster.bootstrapServers), ("linger.ms", "0")] + properties)
    }

    @Test("A record that the client refuses returns an error, has no delivery, and its headers are freed")
    func tooLarge() async throws {
        let producer = try producer([("message.max.bytes", "1000")])
        for _ in 0..<100 {
            let error = try producer.produce(
                "t", value: [UInt8](repeating: 1, count: 2_000), headers: [.init(name: "h", value: [1])], token: 1)
            #expect(error?.code == KafkaError.Code.messageSizeTooLarge)
            #expect(error?.name == "MSG_SIZE_TOO_LARGE")
        }
        #expect(producer.outstanding == 0)
        #expect(try producer.produce("t", value: [1], headers: [.init(name: "h", value: [1])], token: 2) == nil)
        var tokens: [UInt64] = []
        try producer.flush(timeout: Patience.timeout) { token, _ in tokens.append(token) }
        #expect(tokens == [2])
    }

    @Test("A full queue refuses, and takes records again once deliveries were served")
    func queueFull() async throws {
        let producer = try producer([("queue.buffering.max.messages", "2"), ("linger.ms", "10000")])
        #expect(try producer.produce("t", value: [1], token: 1) == nil)
        #expect(try producer.produce("t", value: [1], token: 2) == nil)
        #expect(try producer.produce("t", value: [1], token: 3)?.code == KafkaError.Code.queueFull)
        try producer.flush(timeout: Patience.timeout)
        #expect(try producer.produce("t", value: [1], token: 3) == nil)
    }

    @Test("A partition that does not exist is refused, at once or as a failed delivery")
    func unknownPartition() async throws {
        let producer = try producer([("message.timeout.ms", "5000")])
        var failure = try producer.produce("t", partition: 7, value: [1], token: 9)
        try producer.flush(timeout: Patience.timeout) { token, error in
            #expect(token == 9)
            failure = error
        }
        #expect(failure?.code == KafkaError.Code.unknownPartition)
    }

    @Test("A broker's refusal is the delivery's error, with the record's token")
    func refusedByBroker() async throws {
        let producer = try producer()
        cluster.pushRequestErrors(.produce, [KafkaError.Code.topicAuthorizationFailed])
        #expect(try producer.produce("t", value: [1], token: 41) == nil)
        var seen: [(UInt64, KafkaError?)] = []
        try producer.flush(timeout: Patience.timeout) { seen.append(($0, $1)) }
        #expect(seen.map(\.0) == [41])
        #expect(seen.first?.1?.code == KafkaError.Code.topicAuthorizationFailed)
    }

    @Test("A passing error is retried invisibly")
    func transient() async throws {
        let producer = try producer([("enable.idempotence", "true"), ("retry.backoff.ms", "10")])
        cluster.pushRequestErrors(
            .produce, [KafkaError.Code.notLeaderForPartition, KafkaError.Code.transport])
        try producer.fill("t", 0..<3)
    }

    @Test("Deliveries wake a descriptor")
    func deliveryWakeUp() async throws {
        let producer = try producer()
        let wakeUp = try Wakeup()
        producer.notify(wakeUp)
        producer.deliveries { _, _ in }
        #expect(try producer.produce("t", value: [1], token: 5) == nil)
        var tokens: [UInt64] = []
        while tokens.isEmpty {
            try #require(await wakeUp.waiting(milliseconds: 10_000))
            producer.deliveries { token, _ in tokens.append(token) }
        }
        #expect(tokens == [5])
    }

    @Test("A wake-up lives as long as a client signals it, because its number could go to another file")
    func wakeUpsLife() throws {
        let member = try Member(cluster.bootstrapServers, group: "g")
        var producer: Producer? = try producer()
        var wakeUp: Wakeup? = try Wakeup()
        weak let life = wakeUp
        if let wakeUp {
            producer?.notify(wakeUp)
            member.consumer.queue.notify(wakeUp)
            member.outcomes.notify(wakeUp)
        }
        wakeUp = nil
        member.consumer.queue.stopNotifying()
        producer = nil
        #expect(life != nil, "commits still signal it")
        member.outcomes.notify(try Wakeup())
        #expect(life == nil)
    }

    @Test("Purged records fail with their tokens; a flush that times out reports how many are left")
    func purge() async throws {
        let producer = try producer()
        try cluster.setRoundTripTime(milliseconds: 600_000)
        for token in 0..<3 { #expect(try producer.produce("t", value: [1], token: UInt64(token)) == nil) }
        let late = #expect(throws: KafkaError.self) { try producer.flush(timeout: .milliseconds(100)) }
        #expect(late?.code == KafkaError.Code.timedOut)
        #expect(late?.message.contains("3") == true)
        producer.purge()
        var codes: Set<Int32?> = []
        var count = 0
        try producer.flush(timeout: Patience.timeout) { _, error in
            codes.insert(error?.code)
            count += 1
        }
        #expect(count == 3)
        #expect(codes.isSubset(of: [KafkaError.Code.purgedInQueue, KafkaError.Code.purgedInFlight]))
    }

    @Test("Absent brokers become notices of consumer and producer, not fatal errors")
    func brokersDown() async throws {
        var mortal: MockCluster? = try MockCluster()
        let address = try #require(mortal).bootstrapServers
        try mortal?.createTopic("t", partitions: 1)
        let producer = try Producer(properties: [
            ("bootstrap.servers", address), ("reconnect.backoff.max.ms", "100"),
        ])
        let member = try Member(address, group: "g", properties: [("reconnect.backoff.max.ms", "100")])
        try member.assign("t", partitions: 0..<1)
        try producer.fill("t", 0..<1)
        try await member.poll("the first record arrives") { member.records.count == 1 }
        mortal = nil
        var ofConsumer: Set<String> = []
        var ofProducer: Set<String> = []
        try await member.poll("both notice it") {
            producer.deliveries { _, _ in }
            ofConsumer.formUnion(member.consumer.takeNotices().notices.compactMap(\.error?.name))
            ofProducer.formUnion(producer.takeNotices().notices.compactMap(\.error?.name))
            return ofConsumer.contains("_ALL_BROKERS_DOWN") && ofProducer.contains("_ALL_BROKERS_DOWN")
        }
        #expect(member.consumer.fatalError() == nil)
        #expect(producer.fatalError() == nil)
    }

    @Test("A commit's refusal is reported as its outcome")
    func refusedCommit() async throws {
        let member = try Member(cluster.bootstrapServers, group: "g")
        try member.consumer.subscribe(["t"])
        try await member.poll("the group assigns") { !member.history.isEmpty }
        cluster.pushRequestErrors(.offsetCommit, [KafkaError.Code.offsetMetadataTooLarge])
        let partition = TopicPartition(topic: "t", partition: 0)
        let outcome = try await member.commit([CommitPosition(partition: partition, offset: 1, metadata: "m")])
        let error = outcome.whole ?? outcome.parts.first?.error
        #expect(error?.code == KafkaError.Code.offsetMetadataTooLarge)
        member.consumer.close()
    }

    @Test("An admin request that the broker does not know times out with an error")
    func unknownAdminRequest() async throws {
        let admin = try Admin(properties: [("bootstrap.servers", cluster.bootstrapServers)])
        let metadata = try admin.metadata(topics: ["t"], timeout: Patience.timeout)
        #expect(metadata.brokers.count == 1)
        #expect(metadata.topics.map(\.name) == ["t"])
        #expect(metadata.topics.first?.partitions.count == 1)
        let topic = NewTopic(name: "new", partitions: 1)
        let error = #expect(throws: KafkaError.self) {
            _ = try admin.createTopics([topic], timeout: .milliseconds(500))
        }
        #expect(error != nil)
    }

    @Test("A broker without group requests differs from a silent one, and the client ends")
    func unknownGroupRequest() async throws {
        let admin = try Admin(properties: [("bootstrap.servers", cluster.bootstrapServers)])
        for _ in 0..<3 {
            let error = #expect(throws: KafkaError.self) {
                _ = try admin.describeGroup("g", timeout: Patience.timeout)
            }
            #expect(error?.kind == .unsupported)
        }
    }

    @Test("A partition without a leader is visible in the metadata")
    func leaderless() async throws {
        try cluster.createTopic("two", partitions: 2)
        try cluster.setLeader(of: TopicPartition(topic: "two", partition: 1), broker: -1)
        let admin = try Admin(properties: [("bootstrap.servers", cluster.bootstrapServers)])
        let topic = try #require(
            try admin.metadata(topics: ["two"], timeout: Patience.timeout).topics.first)
        #expect(topic.leaderlessPartitions == [1])
    }
}
