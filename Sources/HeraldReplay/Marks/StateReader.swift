internal import FoundationEssentials
internal import Glibc
internal import HeraldKafka
public import HeraldTools

/// Reads the state topic: as a whole to its present end, and on from there as often as asked.
///
/// One thread.
public final class StateReader {
    private static let requestMilliseconds = 10_000
    private static let patience = Duration.seconds(60)

    private let consumer: Consumer
    private let properties: [(String, String)]
    private let topic: String
    private let partitions: [TopicPartition]
    private var isAssigned = false
    private var positions: [TopicPartition: Int64] = [:]

    /// What became of dead letters, as far as it was read.
    public private(set) var book = MarkBook()
    /// Who works on them, as far as it was read.
    public private(set) var lease: Lease?

    /// A reader of the topic.
    ///
    /// - Parameter properties: librdkafka's: `read_committed`, with end-of-partition events; nothing is committed.
    public init(properties: [(String, String)], topic: String, partitions: [Int32]) throws(ToolFailure) {
        self.topic = topic
        self.properties = properties
        self.partitions = partitions.map { TopicPartition(topic: topic, partition: $0) }
        do throws(KafkaError) {
            consumer = try Consumer(properties: properties)
        } catch {
            throw ToolFailure("\(topic) cannot be read: \(error)")
        }
    }

    /// Reads everything that is committed at this moment.
    ///
    /// - Parameter throughOpenTransactions: reads to what was written last, committed or not, and so waits for the end of
    ///   every transaction that is open now.
    public func catchUp(
        throughOpenTransactions: Bool = false, onRecord: (MarkRecord) -> Void = { _ in }
    ) throws(ToolFailure) {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do throws(KafkaError) {
                return try read(throughOpenTransactions, until: deadline, onRecord)
            } catch {
                guard error.passesSoon, ContinuousClock.now < deadline else { throw failure(error) }
                usleep(100_000)
            }
        }
    }

    private func read(
        _ throughOpenTransactions: Bool, until deadline: ContinuousClock.Instant, _ onRecord: (MarkRecord) -> Void
    ) throws(KafkaError) {
        if !isAssigned {
            // As numbers: the client asks for the beginning only half a second after the first try.
            var starts: [(TopicPartition, offset: Int64)] = []
            for partition in partitions {
                let marks = try consumer.queries.watermarks(
                    of: partition, timeoutMilliseconds: Self.requestMilliseconds)
                starts.append((partition, offset: marks.low))
            }
            try consumer.assign(starts)
            isAssigned = true
        }
        let ends = throughOpenTransactions ? try writtenEnds() : try committedEnds()
        while !ends.allSatisfy({ positions[$0.key] ?? 0 >= $0.value }) {
            guard ContinuousClock.now < deadline else {
                throw KafkaError(code: KafkaError.Code.timedOut, message: "a transaction on it does not end")
            }
            guard let message = consumer.queue.next(waitMilliseconds: 50) else { continue }
            defer { message.release() }
            try take(message, onRecord)
        }
    }

    private func committedEnds() throws(KafkaError) -> [TopicPartition: Int64] {
        try consumer.queries.ends(of: partitions, timeoutMilliseconds: Self.requestMilliseconds)
    }

    /// The ends as a client sees them that reads what is not committed, too.
    private func writtenEnds() throws(KafkaError) -> [TopicPartition: Int64] {
        let other = try Consumer(properties: properties + [("isolation.level", "read_uncommitted")])
        defer { other.close() }
        return try other.queries.ends(of: partitions, timeoutMilliseconds: Self.requestMilliseconds)
    }

    private func take(_ message: Message, _ onRecord: (MarkRecord) -> Void) throws(KafkaError) {
        let partition = TopicPartition(topic: topic, partition: message.partition)
        if let error = message.error {
            switch error.code {
            case KafkaError.Code.partitionEOF:
                positions[partition] = max(positions[partition] ?? 0, message.offset)
            case KafkaError.Code.topicAuthorizationFailed, KafkaError.Code.unknownTopicOrPartition,
                KafkaError.Code.unknownTopic, KafkaError.Code.unknownPartition:
                throw error
            default: break
            }
            return
        }
        // A client whose broker has died may begin again: each mark counts once.
        guard message.offset >= positions[partition] ?? 0 else { return }
        positions[partition] = message.offset + 1
        let key = message.withKey { Self.bytes($0) }
        let value = message.withValue { Self.bytes($0) }
        guard let key, let value else { return }
        let name = String(decoding: key, as: UTF8.self)
        if name == Lease.key {
            lease = try? JSONDecoder().decode(Lease.self, from: Data(value))
        } else if name.hasPrefix(MarkRecord.keyPrefix) {
            guard let record = try? JSONDecoder().decode(MarkRecord.self, from: Data(value)) else {
                // Nobody can tell what it says, so nothing may be replayed on the strength of it.
                throw KafkaError(
                    code: KafkaError.Code.invalidArgument,
                    message: "the record \(partition.partition):\(message.offset) is damaged, or of a later version")
            }
            book.take(record)
            onRecord(record)
        }
    }

    private static func bytes(_ span: RawSpan?) -> [UInt8]? {
        guard let span else { return nil }
        return span.withUnsafeBytes { Array($0) }
    }

    /// Waits until the lease changes, ends, or has not changed for ``Lease/patience``: whether somebody lives behind it.
    public func isSomebodyAlive(_ onWait: (Lease) -> Void) throws(ToolFailure) -> Lease? {
        try catchUp()
        guard let seen = lease, !seen.isOver, !seen.process.hasEnded else { return nil }
        if seen.process.isCertainlyAlive { return seen }
        onWait(seen)
        let deadline = ContinuousClock.now + Lease.patience
        while ContinuousClock.now < deadline {
            try catchUp()
            guard let now = lease, !now.isOver, !now.process.hasEnded else { return nil }
            if now != seen { return now }
            // Nothing tells that a record will not come.
            usleep(100_000)
        }
        return nil
    }

    /// Ends the client.
    public func close() { consumer.close() }

    private func failure(_ error: KafkaError) -> ToolFailure {
        switch error.code {
        case KafkaError.Code.topicAuthorizationFailed:
            ToolFailure("\(topic) cannot be read: \(error); allow Read and Describe on it with kafka-acls")
        default:
            ToolFailure(
                "\(topic) cannot be read: \(error)", kind: ClusterReach.isSilence(error) ? .unreachable : .failed)
        }
    }
}
