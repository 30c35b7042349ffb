import HeraldKafka
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@Suite("Consumer groups on a real broker", .realKafka("Consumer groups on a real broker"))
struct GroupTests {
    private func partitions(_ topic: String, _ range: Range<Int32>) -> [TopicPartition] {
        range.map { TopicPartition(topic: topic, partition: $0) }
    }

    private func producer(_ kafka: RealKafka) throws -> Producer {
        try Producer(properties: [("bootstrap.servers", kafka.bootstrapServers), ("linger.ms", "0")])
    }

    @Test("The group waits for a revoke that is answered late, and commits made meanwhile count")
    func deferredRevoke() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("deferred", partitions: 4)
        let all = partitions(topic, 0..<4)
        let first = try Member(kafka.bootstrapServers, group: topic)
        try first.consumer.subscribe([topic])
        try await first.poll("the first member gets everything") { first.history == [.assign(all)] }

        first.answers = false
        let second = try Member(kafka.bootstrapServers, group: topic)
        try second.consumer.subscribe([topic])
        try await Member.poll([first, second], "the first member is asked to give up") { first.pending != nil }
        #expect(first.pending == .revoke(all, lost: false))

        let position = CommitPosition(partition: all[3], offset: 0, metadata: "after the revoke")
        let outcome = try await first.commit([position])
        #expect(outcome.whole == nil)
        #expect(outcome.parts.allSatisfy { $0.error == nil })
        // Longer than several heartbeats: the group waits, and no member is thrown out.
        let end = ContinuousClock.now + .seconds(2)
        try await Member.poll([first, second], "time passes") { ContinuousClock.now > end }
        #expect(second.history.isEmpty)

        try first.answer()
        try await Member.poll([first, second], "both are asked to take their share") {
            first.pending != nil && second.history.count == 1
        }
        guard case .assign(let one) = first.pending, case .assign(let other) = second.history[0] else {
            Issue.record("no assignments: \(String(describing: first.pending)) \(second.history)")
            return
        }
        #expect(Set(one + other) == Set(all))
        #expect(one.count == 2 && other.count == 2)
        #expect(
            try second.consumer.queries.committed([all[3]], timeout: Patience.timeout) == [position])
        try first.answer()
        for member in [first, second] { member.consumer.close() }
    }

    @Test("An assignment that is answered late is consumed from its own queues, again after each rebalance")
    func deferredAssign() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("queues", partitions: 2)
        let all = partitions(topic, 0..<2)
        let producer = try producer(kafka)
        for partition: Int32 in 0..<2 { try producer.fill(topic, partition: partition, 0..<50) }
        let first = try Member(kafka.bootstrapServers, group: topic)
        first.answers = false
        try first.consumer.subscribe([topic])
        try await first.poll("the assignment is noted") { first.pending != nil }
        let later = ContinuousClock.now + .milliseconds(700)
        try await first.poll("time passes") { ContinuousClock.now > later }
        #expect(first.records.isEmpty)
        try first.answer()
        let queue = first.consumer.makeQueue()
        for partition in all { first.consumer.forward(partition, to: queue) }
        try await first.poll("everything comes") {
            first.drain(queue)
            return first.records.count == 100
        }

        // A second member takes a share; the first one's remaining partitions continue in their queue, from the commit.
        #expect(try await first.commit(all.map { CommitPosition(partition: $0, offset: 50) }).whole == nil)
        first.records = []
        first.answers = true
        let second = try Member(kafka.bootstrapServers, group: topic)
        try second.consumer.subscribe([topic])
        try await Member.poll([first, second], "both have a share") {
            guard case .assign(let share) = first.history.last, share.count == 1 else { return false }
            return second.history.count == 1
        }
        guard case .assign(let kept) = first.history.last, let mine = kept.first else { return }
        first.consumer.forward(mine, to: queue)
        try producer.fill(topic, partition: mine.partition, 50..<60)
        try await Member.poll([first, second], "the new records come") {
            first.drain(queue)
            return first.records.count == 10
        }
        #expect(first.records.map(\.offset) == Array(50..<60))
        #expect(second.records.isEmpty)
        for member in [first, second] { member.consumer.close() }
    }

    @Test("Fetched records of a revoked partition no longer come out of its queue")
    func staleMessages() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("stale")
        try producer(kafka).fill(topic, 0..<100)
        let member = try Member(kafka.bootstrapServers, group: topic)
        try member.assign(topic, partitions: 0..<1)
        let queue = member.consumer.makeQueue()
        let filled = try Wakeup()
        queue.notify(filled)
        member.consumer.forward(TopicPartition(topic: topic, partition: 0), to: queue)
        try #require(await filled.waiting(milliseconds: 10_000) || member.wakeUp.wait(milliseconds: 0))
        try member.consumer.unassign()
        member.drain(queue)
        member.drain(member.consumer.queue)
        #expect(member.records.isEmpty)
    }

    @Test(
        "A commit's metadata is read back; one character too many is refused, for its own partition alone"
    )
    func metadata() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("metadata", partitions: 2)
        let both = partitions(topic, 0..<2)
        let member = try Member(kafka.bootstrapServers, group: topic)
        try member.consumer.subscribe([topic])
        try await member.poll("the member has its partitions") { !member.history.isEmpty }
        let longest = String(repeating: "x", count: 4_096)
        let good = CommitPosition(partition: both[0], offset: 7, metadata: longest)
        let bad = CommitPosition(partition: both[1], offset: 9, metadata: longest + "x")
        let outcome = try await member.commit([good, bad])
        let refused = outcome.parts.filter { $0.error != nil }
        #expect(outcome.whole?.code == KafkaError.Code.offsetMetadataTooLarge)
        // librdkafka applies the one partition's error to all of them.
        #expect(refused.map(\.partition).contains(both[1]))
        let stored = try member.consumer.queries.committed(both, timeout: Patience.timeout)
        #expect(stored == [good, CommitPosition(partition: both[1], offset: Offset.none)])
        member.consumer.close()
    }

    @Test("Another group's commit is read with its metadata, and a missing group has none")
    func committedByOthers() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("others", partitions: 2)
        let all = partitions(topic, 0..<2)
        let other = try Consumer(properties: [("bootstrap.servers", kafka.bootstrapServers), ("group.id", topic)])
        defer { other.close() }
        let position = CommitPosition(partition: all[1], offset: 3, metadata: "a note")
        #expect(try other.commit([position], within: Patience.timeout.duration))
        let admin = try Admin(properties: [
            ("bootstrap.servers", kafka.bootstrapServers), ("group.id", "\(topic)-asking"),
        ])
        #expect(try admin.committed(by: topic, all, timeout: Patience.timeout) == [position])
        #expect(try admin.committed(by: "\(topic)-missing", all, timeout: Patience.timeout) == [])
        let groups = try admin.groups(timeout: Patience.timeout).filter { $0.name.hasPrefix(topic) }
        #expect(groups.map(\.name) == [topic] && groups.map(\.hasMembers) == [false])
    }

    @Test("An offset that is out of range becomes an error of its partition, with auto.offset.reset=error")
    func outOfRange() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("range")
        try producer(kafka).fill(topic, 0..<3)
        let member = try Member(
            kafka.bootstrapServers, group: topic, properties: [("auto.offset.reset", "error")])
        try member.assign(topic, partitions: 0..<1, offset: 1_000)
        try await member.poll("the error comes") { !member.errors.isEmpty }
        #expect(member.errors.first?.code == KafkaError.Code.autoOffsetReset)
        let marks = try member.consumer.queries.watermarks(
            of: TopicPartition(topic: topic, partition: 0), timeout: Patience.timeout)
        #expect(marks.low == 0 && marks.high == 3)
    }

    @Test("A member leaves without blocking while it is polled, and its partitions move at once")
    func drivenClose() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("leaving", partitions: 2)
        let first = try Member(kafka.bootstrapServers, group: topic)
        try first.consumer.subscribe([topic])
        try await first.poll("the first has all") { first.history.count == 1 }
        try first.consumer.beginClosing()
        try await first.poll("it has left") { first.consumer.isClosed }
        #expect(first.history.last == .revoke(partitions(topic, 0..<2), lost: false))
        let second = try Member(
            kafka.bootstrapServers, group: topic, properties: [("session.timeout.ms", "45000")])
        try second.consumer.subscribe([topic])
        try await second.poll("the second has all, long before the first's session ends", seconds: 8) {
            second.history == [.assign(partitions(topic, 0..<2))]
        }
        second.consumer.close()
    }

    @Test("A member that is closed after it began to leave, with a revoke unanswered, still leaves")
    func closeAfterBegin() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("deadline")
        let member = try Member(kafka.bootstrapServers, group: topic)
        try member.consumer.subscribe([topic])
        try await member.poll("it has its partition") { member.history.count == 1 }
        member.answers = false
        try member.consumer.beginClosing()
        try await member.poll("it is asked to give up") { member.pending != nil }
        #expect(!member.consumer.isClosed)
        member.consumer.close()
        #expect(member.consumer.isClosed)
    }

    @Test("A member that closes with partitions and an unanswered revoke does not hang")
    func closeWhileRevoked() async throws {
        let kafka = try await RealKafka.shared()
        let topic = try kafka.makeTopic("closing", partitions: 2)
        let first = try Member(kafka.bootstrapServers, group: topic)
        try first.consumer.subscribe([topic])
        try await first.poll("the first has all") { first.history.count == 1 }
        first.answers = false
        let second = try Member(kafka.bootstrapServers, group: topic)
        try second.consumer.subscribe([topic])
        try await Member.poll([first, second], "the first is asked to give up") { first.pending != nil }
        first.consumer.close()
        #expect(first.consumer.isClosed)
        try await second.poll("the second gets all") { second.history.last == .assign(partitions(topic, 0..<2)) }
        second.consumer.close()
    }
}
