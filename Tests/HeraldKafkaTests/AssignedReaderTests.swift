import HeraldKafka
import Testing

@Suite("Reading without a group")
struct AssignedReaderTests {
    private let cluster: MockCluster
    private let partition = TopicPartition(topic: "t", partition: 0)

    init() throws {
        cluster = try MockCluster()
        try cluster.createTopic("t", partitions: 1)
    }

    private func publish(_ count: Int) throws {
        let producer = try Producer(properties: [
            ("bootstrap.servers", cluster.bootstrapServers), ("linger.ms", "0"),
        ])
        for _ in 0..<count { #expect(try producer.produce("t", key: nil, value: [1], headers: nil) == nil) }
        try producer.flush(timeoutMilliseconds: 10_000) { _, error in #expect(error == nil) }
        producer.close()
    }

    private func reader(silence: Duration) throws -> AssignedReader {
        try AssignedReader(
            properties: [("bootstrap.servers", cluster.bootstrapServers), ("group.id", "g")], silence: silence)
    }

    /// Reads until there are so many records, or the time is over; their offsets.
    private func read(_ reader: AssignedReader, _ count: Int, within time: Duration = .seconds(30)) throws -> [Int64] {
        var offsets: [Int64] = []
        let end = ContinuousClock.now + time
        while offsets.count < count, ContinuousClock.now < end {
            guard let message = try reader.next(waitMilliseconds: 20) else { continue }
            if !message.isError { offsets.append(message.offset) }
            message.release()
        }
        return offsets
    }

    @Test("A client that has fallen silent goes on where it was, and repeats nothing")
    func silence() throws {
        try publish(10)
        let reader = try reader(silence: .milliseconds(300))
        defer { reader.close() }
        try reader.assign([(partition, offset: Offset.beginning)])
        #expect(try read(reader, 10) == Array(0..<10))
        // It fetches nothing more, and does not say so.
        try reader.consumer.unassign()
        try publish(5)
        #expect(try read(reader, 5) == Array(10..<15))
    }

    @Test("What it was begun for anew comes only once, and nothing of a partition that is finished")
    func once() throws {
        try publish(10)
        let reader = try reader(silence: .seconds(60))
        defer { reader.close() }
        try reader.assign([(partition, offset: 3)])
        #expect(try read(reader, 7) == Array(3..<10))
        // As a client does that finds its offset out of range.
        try reader.consumer.assign([(partition, offset: 0)])
        try publish(1)
        #expect(try read(reader, 1) == [10])
        try reader.finish(partition)
        try publish(1)
        #expect(try read(reader, 1, within: .seconds(1)) == [])
    }
}
