import HeraldKafka
import HeraldTime
import TestSupport
import Testing

@Suite("Reading a topic between bounds", .realTime)
struct TopicReaderTests {
    private let cluster: MockCluster
    private let partition = TopicPartition(topic: "t", partition: 0)
    private let other = TopicPartition(topic: "t", partition: 1)

    init() throws {
        cluster = try MockCluster()
        try cluster.createTopic("t", partitions: 2)
    }

    private func publish(_ count: Int, to partition: Int32 = 0) throws {
        let producer = try Producer(properties: [
            ("bootstrap.servers", cluster.bootstrapServers), ("linger.ms", "0"),
        ])
        let topic = try producer.topic("t")
        for _ in 0..<count {
            let refusal = producer.produce(
                topic: topic, partition: partition, key: nil, value: [1].span.bytes, token: 0)
            #expect(refusal == nil)
        }
        try producer.flush(timeout: Patience.timeout) { _, error in #expect(error == nil) }
        producer.close()
    }

    private func reader(
        silence: Duration = .seconds(60), patience: Duration = .seconds(60)
    ) throws -> TopicReader {
        try TopicReader(
            properties: [
                ("bootstrap.servers", cluster.bootstrapServers), ("group.id", "g"), ("auto.offset.reset", "earliest"),
            ], silence: silence, patience: patience, questions: .seconds(5))
    }

    private struct Place: Hashable {
        var partition: Int32
        var offset: Int64
    }

    /// Reads to the end, or until there are this many records, or the time is over.
    private func read(
        _ reader: TopicReader, _ count: Int = .max, within time: Duration = .seconds(30)
    ) throws -> (places: [Place], isAtEnd: Bool) {
        var places: [Place] = []
        let end = ContinuousClock.now + time
        while places.count < count, ContinuousClock.now < end {
            switch try reader.next(wait: .milliseconds(20)) {
            case .end: return (places, true)
            case .nothing: continue
            case .record(let message):
                places.append(Place(partition: message.partition, offset: message.offset))
                message.release()
            }
        }
        return (places, false)
    }

    private func places(_ offsets: Range<Int64>, of partition: Int32 = 0) -> [Place] {
        offsets.map { Place(partition: partition, offset: $0) }
    }

    @Test("A new beginning in a partition that was read to its bound gets the next range")
    func again() throws {
        try publish(10)
        // Long enough that only the new beginning itself can help.
        let reader = try reader(silence: .seconds(600))
        defer { reader.close() }
        for range in [0..<2, 5..<8, 1..<3] as [Range<Int64>] {
            try reader.begin([partition: .offset(range.lowerBound)], to: .offsets([partition: range.upperBound]))
            let found = try read(reader)
            #expect(found.isAtEnd && found.places == places(range))
        }
    }

    @Test("More records than several wake-ups apart come once each, and in order")
    func many() throws {
        try publish(50_000)
        let reader = try reader()
        defer { reader.close() }
        try reader.begin([partition: .beginning], to: .offsets([partition: 50_000]))
        let found = try read(reader, within: .seconds(120))
        #expect(found.isAtEnd && found.places == places(0..<50_000))
    }

    @Test("A client that has fallen silent goes on where it was, and repeats nothing")
    func silence() throws {
        try publish(10)
        let reader = try reader(silence: .milliseconds(300))
        defer { reader.close() }
        try reader.begin([partition: .beginning])
        #expect(try read(reader, 10).places == places(0..<10))
        // It fetches nothing more, and does not report that.
        try reader.consumer.unassign()
        try publish(5)
        #expect(try read(reader, 5).places == places(10..<15))
    }

    @Test("Records repeated by a client that begins again are dropped")
    func once() throws {
        try publish(10)
        let reader = try reader()
        defer { reader.close() }
        try reader.begin([partition: .offset(3)])
        #expect(try read(reader, 7).places == places(3..<10))
        // A client that finds its offset out of range does the same.
        try reader.consumer.assign([(partition, offset: 0)])
        try publish(1)
        #expect(try read(reader, 1).places == places(10..<11))
        #expect(reader.positions == [partition: 11])
    }

    @Test("Given ends are kept exactly, and each partition has its own")
    func givenEnds() throws {
        try publish(10)
        try publish(10, to: 1)
        let reader = try reader()
        defer { reader.close() }
        try reader.begin(
            [partition: .offset(2), other: .beginning], to: .offsets([partition: 5, other: 8]))
        #expect(reader.progress == (0, 11))
        let (found, isAtEnd) = try read(reader)
        #expect(isAtEnd)
        #expect(found.filter { $0.partition == 0 } == places(2..<5))
        #expect(found.filter { $0.partition == 1 } == places(0..<8, of: 1))
        #expect(reader.progress == (11, 11))
    }

    @Test("A partition without a given end, or beyond it, is not read")
    func nothingToRead() throws {
        try publish(3)
        try publish(3, to: 1)
        let reader = try reader()
        defer { reader.close() }
        try reader.begin([partition: .beginning, other: .offset(3)], to: .offsets([other: 2]))
        #expect(try read(reader) == (places: [], isAtEnd: true))
    }

    @Test("The topics' end at the beginning of reading is reached, and later records follow")
    func presentEnd() throws {
        try publish(4)
        let reader = try reader()
        defer { reader.close() }
        try reader.begin([partition: .beginning, other: .beginning], to: .committed)
        #expect(try read(reader) == (places: places(0..<4), isAtEnd: true))
        try publish(2)
        #expect(try read(reader) == (places: [], isAtEnd: true), "the end stays where it was")
        try reader.setEnd(.committed)
        #expect(try read(reader) == (places: places(4..<6), isAtEnd: true))
        try reader.setEnd(.none)
        try publish(1)
        #expect(try read(reader, 1) == (places: places(6..<7), isAtEnd: false))
    }

    @Test("A reader that begins at the end gets only later records")
    func fromTheEnd() throws {
        try publish(4)
        let reader = try reader()
        defer { reader.close() }
        try reader.begin([partition: .end])
        try publish(1)
        #expect(try read(reader, 1).places == places(4..<5))
    }

    @Test("An offset beyond the end means a recreated topic: all of it is read")
    func beyondTheEnd() throws {
        try publish(4)
        let reader = try reader()
        defer { reader.close() }
        try reader.begin([partition: .offset(100)], to: .committed)
        #expect(try read(reader) == (places: places(0..<4), isAtEnd: true))
        #expect(reader.deletedCount == 0)
    }

    @Test("A reader that cannot reach the end fails after a while")
    func patience() throws {
        try publish(1)
        let reader = try reader(patience: .seconds(2))
        defer { reader.close() }
        try reader.begin([partition: .beginning], to: .offsets([partition: 5]))
        #expect(try read(reader, 1).places == places(0..<1))
        let error = #expect(throws: KafkaError.self) { try read(reader, 1) }
        #expect(error?.code == KafkaError.Code.timedOut)
        try reader.setEnd(.none)
        let later = try read(reader, 1, within: .seconds(3))
        #expect(later == (places: [], isAtEnd: false), "without an end there is nothing to wait for")
    }
}
