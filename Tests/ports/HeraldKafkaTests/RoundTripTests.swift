import HeraldKafka
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@Suite("Records through the embedded broker", .realTime)
struct RoundTripTests {
    let cluster: MockCluster

    init() throws {
        cluster = try MockCluster()
        try cluster.createTopic("t", partitions: 1)
    }

    private func producer(_ properties: ClientProperties = []) throws -> Producer {
        try Producer(properties: [("bootstrap.servers", cluster.bootstrapServers), ("linger.ms", "0")] + properties)
    }

    private func member(_ group: String = "g") throws -> Member {
        try Member(cluster.bootstrapServers, group: group)
    }

    @Test(
        "Null, empty and binary keys, values and header values come back as they were, headers in order",
        arguments: [
            (nil, nil, []), ([], [], []), ([0, 1, 255], [0], [("n", nil)]),
            (
                Array("k".utf8), Array("v".utf8),
                [("a", [1]), ("b", nil), ("a", []), ("a", [1]), ("ü", [0, 255, 0]), ("", [7])]
            ),
        ] as [([UInt8]?, [UInt8]?, [(String, [UInt8]?)])])
    func roundTrip(key: [UInt8]?, value: [UInt8]?, headers: [(String, [UInt8]?)]) async throws {
        let headers = headers.map { Record.Header(name: $0.0, value: $0.1) }
        let producer = try producer()
        #expect(try producer.produce("t", key: key, value: value, headers: headers.isEmpty ? nil : headers) == nil)
        try producer.flush(timeout: Patience.timeout) { _, error in #expect(error == nil) }
        let member = try member()
        try member.assign("t", partitions: 0..<1)
        try await member.poll("the record arrives") { member.records.count == 1 }
        let record = try #require(member.records.first)
        #expect(record.key == key)
        #expect(record.value == value)
        #expect(record.headers == headers)
    }

    @Test(
        "A held record is the same before and after it is copied",
        arguments: [
            (nil, nil, []), ([], [], []), ([0, 1, 255], [0], [("n", nil)]),
            (
                Array("k".utf8), Array(repeating: 7, count: 100_000),
                [("a", [1]), ("b", nil), ("a", []), ("ü", [0, 255, 0]), ("", [7])]
            ),
        ] as [([UInt8]?, [UInt8]?, [(String, [UInt8]?)])])
    func held(key: [UInt8]?, value: [UInt8]?, headers: [(String, [UInt8]?)]) async throws {
        let headers = headers.map { Record.Header(name: $0.0, value: $0.1) }
        let producer = try producer()
        #expect(try producer.produce("t", key: key, value: value, headers: headers) == nil)
        try producer.flush(timeout: Patience.timeout) { _, error in #expect(error == nil) }
        let member = try member()
        try member.assign("t", partitions: 0..<1)
        var record = try await member.retained()
        for isCopy in [false, true, true] {
            #expect(record.isCopy == isCopy)
            #expect(record.withKey { optionalBytes($0) } == key)
            #expect(record.withValue { optionalBytes($0) } == value)
            var seen: [Record.Header] = []
            record.forEachHeader { name, value in
                seen.append(
                    Record.Header(name: String(decoding: bytes(name), as: UTF8.self), value: optionalBytes(value)))
            }
            #expect(seen == headers)
            record.keep()
        }
        record.release()
    }

    @Test("A message knows its topic, place, sizes and time")
    func facts() async throws {
        let producer = try producer()
        try producer.fill("t", 0..<2)
        let member = try member()
        let topic = try member.consumer.topicID(of: "t")
        try member.assign("t", partitions: 0..<1)
        var messages: [Message] = []
        while messages.count < 2 {
            if let message = member.consumer.queue.next() {
                messages.append(message)
            } else {
                _ = await member.wakeUp.waiting(milliseconds: 1_000)
            }
        }
        for (index, message) in messages.enumerated() {
            #expect(message.error == nil)
            #expect(message.topic == topic)
            #expect(message.topicName() == "t")
            #expect(message.partition == 0)
            #expect(message.offset == Int64(index))
            #expect(message.valueCount == 3)
            #expect(message.keyCount == 0)
            #expect(message.timestampMilliseconds > 1_500_000_000_000)
            message.release()
        }
    }

    @Test("Each delivery comes back with the token of its record, whatever its bits")
    func tokens() async throws {
        let producer = try producer()
        let tokens: [UInt64] = [0, 1, .max, 0x8000_0000_0000_0001]
        for token in tokens { #expect(try producer.produce("t", value: [1], token: token) == nil) }
        var delivered: [UInt64] = []
        try producer.flush(timeout: Patience.timeout) { token, error in
            #expect(error == nil)
            delivered.append(token)
        }
        #expect(delivered == tokens)
        #expect(producer.outstanding == 0)
    }

    @Test("The same key goes to the partition that Java's client chooses")
    func partitioner() async throws {
        try cluster.createTopic("six", partitions: 6)
        let producer = try producer()
        // murmur2 of these keys, as in Apache Kafka's own UtilsTest; the sign bit is dropped, then modulo 6.
        let expected: [(key: String, hash: Int32)] = [
            ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829), ("abc", 479_470_107),
        ]
        for (key, _) in expected {
            #expect(try producer.produce("six", key: Array(key.utf8), value: Array(key.utf8)) == nil)
        }
        try producer.flush(timeout: Patience.timeout)
        let member = try member()
        try member.assign("six", partitions: 0..<6)
        try await member.poll("all records arrive") { member.records.count == expected.count }
        for (key, hash) in expected {
            let record = member.records.first { $0.text == key }
            #expect(record?.partition == (hash & 0x7fff_ffff) % 6, "key \(key)")
        }
    }

    @Test("Of many queues, the filling ones are named, with one wake-up, and again after they were empty")
    func arrivals() async throws {
        try cluster.createTopic("u", partitions: 1)
        let producer = try producer()
        let member = try member()
        let wakeup = try Wakeup()
        let arrivals = QueueArrivals(wakeup)
        let queues = (0..<3).map { _ in member.consumer.makeQueue() }
        for (number, queue) in queues.enumerated() { queue.notify(arrivals, as: number) }
        let partitions = ["t", "u"].map { TopicPartition(topic: $0, partition: 0) }
        try member.consumer.assign(partitions.map { ($0, offset: Offset.beginning) })
        for (partition, queue) in zip(partitions, queues) { member.consumer.forward(partition, to: queue) }
        for round in 0..<2 {
            try producer.fill("u", round..<round + 1)
            var named: Set<Int> = []
            while member.records.isEmpty {
                try #require(await eventually { wakeup.wait(for: .zero) })
                wakeup.drain()
                arrivals.take { number in
                    named.insert(number)
                    member.drain(queues[number])
                }
            }
            // An error of "t", which is not a record, may have come to its queue; nothing is sent to the third.
            #expect(named.contains(1) && !named.contains(2))
            member.records = []
        }
        // A released queue wakes no thread.
        queues[1].stopNotifying()
        try producer.fill("u", 2..<3)
        try #require(await eventually { queues[1].count > 0 })
        arrivals.take { #expect($0 != 1) }
    }

    @Test("Forwarded partitions come out of their own queues, and each queue wakes its own descriptor")
    func forwarding() async throws {
        try cluster.createTopic("u", partitions: 1)
        let producer = try producer()
        let member = try member()
        let queues = [member.consumer.makeQueue(), member.consumer.makeQueue()]
        let wakeUps = [try Wakeup(), try Wakeup()]
        for (queue, wakeUp) in zip(queues, wakeUps) { queue.notify(wakeUp) }
        let partitions = ["t", "u"].map { TopicPartition(topic: $0, partition: 0) }
        try member.consumer.assign(partitions.map { ($0, offset: Offset.beginning) })
        for (partition, queue) in zip(partitions, queues) { member.consumer.forward(partition, to: queue) }
        for (index, topic) in ["t", "u"].enumerated() {
            try producer.fill(topic, 0..<3, prefix: topic)
            while member.records.count < 3 {
                try #require(await wakeUps[index].waiting(milliseconds: 10_000))
                member.drain(queues[index])
            }
            #expect(member.records.map(\.text) == (0..<3).map { "\(topic)-\($0)" })
            member.records = []
            // The consumer's own queue holds none of it.
            member.drain(member.consumer.queue)
            #expect(member.records.isEmpty)
        }
        queues[0].stopNotifying()
        try producer.fill("t", 3..<4)
        let woken = await wakeUps[0].waiting(milliseconds: 300)
        #expect(!woken)
    }

    @Test("Messages in the consumer's own queue before a forward still come out there")
    func lateForwarding() async throws {
        let producer = try producer()
        try producer.fill("t", 0..<5)
        let member = try member()
        try member.assign("t", partitions: 0..<1)
        // A message has arrived and is not taken.
        try #require(await member.wakeUp.waiting(milliseconds: 10_000))
        let later = member.consumer.makeQueue()
        member.consumer.forward(TopicPartition(topic: "t", partition: 0), to: later)
        try producer.fill("t", 5..<10)
        try await member.poll("nothing is lost") {
            member.drain(later)
            return member.records.count == 10
        }
        #expect(member.records.map(\.offset).sorted() == Array(0..<10))
    }

    @Test("A paused partition is silent and resumes where it was")
    func pausing() async throws {
        let producer = try producer()
        let member = try member()
        let partition = TopicPartition(topic: "t", partition: 0)
        try member.assign("t", partitions: 0..<1)
        try producer.fill("t", 0..<3)
        try await member.poll("the first come") { member.records.count == 3 }
        try member.consumer.pause([partition])
        try producer.fill("t", 3..<6)
        let end = ContinuousClock.now + .milliseconds(700)
        while ContinuousClock.now < end {
            try member.poll()
            _ = await member.wakeUp.waiting(milliseconds: 50)
        }
        #expect(member.records.count == 3)
        try member.consumer.resume([partition])
        try await member.poll("the others come") { member.records.count == 6 }
        try member.consumer.seek([(partition, offset: 1)], timeout: .minutes(1))
        try await member.poll("they come again") { member.records.count == 11 }
        #expect(member.records.map(\.offset) == [0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5])
    }

    @Test("Offsets are committed with metadata and read back")
    func commits() async throws {
        let member = try member()
        try member.consumer.subscribe(["t"])
        try await member.poll("the group assigns") { !member.history.isEmpty }
        let partition = TopicPartition(topic: "t", partition: 0)
        let none = try member.consumer.queries.committed([partition], timeout: Patience.timeout)
        #expect(none == [CommitPosition(partition: partition, offset: Offset.none)])
        let position = CommitPosition(partition: partition, offset: 0, metadata: "bits=")
        let outcome = try await member.commit([position])
        #expect(outcome.whole == nil)
        #expect(outcome.parts.map(\.partition) == [partition])
        #expect(outcome.parts.allSatisfy { $0.offset == 0 && $0.error == nil })
        #expect(
            try member.consumer.queries.committed([partition], timeout: Patience.timeout) == [position]
        )
        let marks = try member.consumer.queries.watermarks(of: partition, timeout: Patience.timeout)
        #expect(marks.low == 0 && marks.high == 0)
        member.consumer.close()
    }
}
