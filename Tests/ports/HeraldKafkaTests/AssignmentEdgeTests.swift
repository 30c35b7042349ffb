import HeraldKafka
import HeraldTime
import TestSupport
import Testing

/// The lane's assumptions about the edges of an assignment.
@Suite("Edges of an assignment on a real broker", .realKafka("Edges of an assignment on a real broker"))
struct AssignmentEdgeTests {
    private func producer(_ kafka: RealKafka) throws -> Producer {
        try Producer(properties: [("bootstrap.servers", kafka.bootstrapServers), ("linger.ms", "0")])
    }

    @Test("A member without partitions gets no revoke before its first assignment")
    func emptyAssignment() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("standby", partitions: 1)
        let one = TopicPartition(topic: topic, partition: 0)
        let first = try Member(kafka.bootstrapServers, group: topic)
        try first.consumer.subscribe([topic])
        try await first.poll("the first member has the partition") { first.history.count == 1 }
        let second = try Member(kafka.bootstrapServers, group: topic)
        try second.consumer.subscribe([topic])
        try await Member.poll([first, second], "one of them stands by") {
            first.history.count == 3 && second.history.count == 1
        }
        let standby = first.history.last == .assign([]) ? first : second
        let busy = standby === first ? second : first
        busy.consumer.close()
        let before = standby.history.count
        try await standby.poll("the other takes over") { standby.history.last == .assign([one]) }
        #expect(Array(standby.history[before...]) == [.revoke([], lost: false), .assign([one])])
        standby.consumer.close()
    }

    @Test("Leaving the group does not wait for the answer to a rebalance", arguments: [true, false])
    func closing(revoking: Bool) async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("closing", partitions: 2)
        let first = try Member(kafka.bootstrapServers, group: topic)
        let second = try Member(kafka.bootstrapServers, group: topic)
        first.answers = revoking
        try first.consumer.subscribe([topic])
        if revoking {
            try await first.poll("it has everything") { first.history.count == 1 }
            first.answers = false
            try second.consumer.subscribe([topic])
        }
        try await Member.poll([first, second], "a rebalance is noted") { first.pending != nil }
        try first.consumer.beginClosing()
        try await first.poll("it leaves", seconds: 5) { first.consumer.isClosed }
        for member in [first, second] { member.consumer.close() }
    }

    @Test("A reader whose topic was deleted reports it, and still ends", .timeLimit(.minutes(2)))
    func deletedTopic() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("deleted", partitions: 2)
        var reader: TopicReader? = try TopicReader(
            properties: [
                ("bootstrap.servers", kafka.bootstrapServers), ("group.id", "g"), ("debug", "topic"),
                ("topic.metadata.refresh.interval.ms", "200"), ("topic.metadata.propagation.max.ms", "0"),
            ], silence: .milliseconds(500))
        try reader?.begin([
            TopicPartition(topic: topic, partition: 0): .beginning,
            TopicPartition(topic: topic, partition: 1): .beginning,
        ])
        try await says(reader, "changed from 0 to 2")
        _ = try kafka.admin().deleteTopics([topic], timeout: Patience.timeout)
        var noticed: KafkaError?
        _ = try await eventually {
            do throws(KafkaError) {
                if case .record(let message)? = try reader?.next() { message.release() }
            } catch {
                noticed = error
            }
            return noticed != nil
        }
        #expect(noticed?.isOfTopic == true, "\(noticed.map { "\($0)" } ?? "nothing was thrown")")
        reader?.close()
        // The last reference: the test is whether the reader ends.
        reader = nil
    }

    private func says(_ reader: TopicReader?, _ text: String) async throws {
        let reader = try #require(reader)
        let isSaid = try await eventually {
            while case .record(let message) = try reader.next() { message.release() }
            return reader.consumer.takeNotices().notices.contains { $0.text.contains(text) }
        }
        #expect(isSaid, "\(text)")
    }

    @Test("A seek does not move a partition whose offset was out of range; a new assignment does")
    func outOfRange() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("range", partitions: 2)
        let producer = try producer(kafka)
        for partition: Int32 in 0..<2 { try producer.fill(topic, partition: partition, 0..<10) }
        let member = try Member(kafka.bootstrapServers, group: topic, properties: [("auto.offset.reset", "error")])
        let both = [TopicPartition(topic: topic, partition: 0), TopicPartition(topic: topic, partition: 1)]
        let queue = member.consumer.makeQueue()
        try member.consumer.assign([(both[0], offset: 1_000), (both[1], offset: 0)])
        for partition in both { member.consumer.forward(partition, to: queue) }
        func poll(_ what: Comment, until condition: () -> Bool) async throws {
            try await member.poll(what) {
                member.drain(queue)
                return condition()
            }
        }
        try await poll("one is out of range, the other is read") {
            member.records.count == 10 && !member.errors.isEmpty
        }
        #expect(member.errors.map(\.code) == [KafkaError.Code.autoOffsetReset])
        let refusal = #expect(throws: KafkaError.self) {
            try member.consumer.seek([(both[0], offset: 0)], timeout: Patience.timeout)
        }
        #expect(refusal?.code == KafkaError.Code.state)

        member.records = []
        try member.consumer.assign([(both[0], offset: 0), (both[1], offset: 5)])
        for partition in both { member.consumer.forward(partition, to: queue) }
        try await poll("both go on") { member.records.count == 15 }
        #expect(member.records.filter { $0.partition == 1 }.map(\.offset) == Array(5..<10))
        member.consumer.close()
    }

    @Test("Partitions that are assigned repeatedly go to the queue that they are forwarded to each time")
    func assignedAgain() async throws {
        let kafka = try await RealKafka.shared()
        let count: Int32 = 100
        let topic = try kafka.makeTopic("again", partitions: Int(count))
        let producer = try producer(kafka)
        for partition in 0..<count { try producer.fill(topic, partition: partition, 0..<1) }
        let member = try Member(kafka.bootstrapServers, group: topic)
        let queue = member.consumer.makeQueue()
        for round in 1...5 {
            member.records = []
            try member.assign(topic, partitions: 0..<count, offset: 0)
            // librdkafka's own thread ends the former assignment in this order.
            for partition in (0..<count).reversed() {
                member.consumer.forward(TopicPartition(topic: topic, partition: partition), to: queue)
            }
            try await member.poll("all are read, round \(round)") {
                member.drain(queue)
                return Set(member.records.map(\.partition)).count == Int(count)
            }
        }
        member.consumer.close()
    }

    @Test("Messages taken out of a queue before a pause are kept; the partition resumes after them")
    func retained() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("retained", partitions: 1)
        let one = TopicPartition(topic: topic, partition: 0)
        try producer(kafka).fill(topic, 0..<20)
        let member = try Member(kafka.bootstrapServers, group: topic)
        let queue = member.consumer.makeQueue()
        try member.consumer.assign([(one, offset: 0)])
        member.consumer.forward(one, to: queue)
        func read(_ count: Int) async throws -> [Int64] {
            member.records = []
            try await member.poll("\(count) records") {
                if member.records.count < count { member.take(from: queue) }
                return member.records.count == count
            }
            return member.records.map(\.offset)
        }
        try await member.poll("all of them are fetched") { queue.count >= 20 }
        #expect(try await read(3) == [0, 1, 2])
        queue.retain()
        try member.consumer.pause([one])
        #expect(try await read(7) == Array(3..<10))
        try producer(kafka).fill(topic, 20..<30)
        try member.consumer.resume([one])
        #expect(try await read(20) == Array(10..<30))

        try producer(kafka).fill(topic, 30..<40)
        try await member.poll("more of them are fetched") { queue.count >= 10 }
        queue.retain()
        try member.consumer.pause([one])
        #expect(try await read(2) == [30, 31])
        queue.dropRetained()
        try member.consumer.seek([(one, offset: 32)], timeout: .zero)
        try member.consumer.resume([one])
        #expect(try await read(8) == Array(32..<40))
        member.consumer.close()
    }

    @Test("Records from before a forward stay in the consumer's queue, later ones do not")
    func lateForward() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("late")
        let producer = try producer(kafka)
        try producer.fill(topic, 0..<10)
        let member = try Member(kafka.bootstrapServers, group: topic)
        try member.consumer.assign([(TopicPartition(topic: topic, partition: 0), offset: 0)])
        let patience = ContinuousClock.now + .seconds(Patience.seconds)
        var first: Message?
        while first == nil && ContinuousClock.now < patience { first = member.consumer.queue.next() }
        #expect(first?.offset == 0)
        first?.release()
        let queue = member.consumer.makeQueue()
        member.consumer.forward(TopicPartition(topic: topic, partition: 0), to: queue)
        try producer.fill(topic, 10..<20)
        let end = ContinuousClock.now + .seconds(Patience.seconds)
        while member.records.isEmpty && ContinuousClock.now < end { member.drain(queue) }
        #expect(member.records.first?.offset == 10, "who polls this queue first would skip what came before")
        member.drain(member.consumer.queue)
        #expect(member.records.contains { $0.offset == 1 })
        member.consumer.close()
    }
}
