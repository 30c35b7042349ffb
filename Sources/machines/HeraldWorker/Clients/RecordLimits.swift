import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldThreads
import HeraldTime

/// The largest record of each topic (`max.message.bytes`), and the number of brokers that must have it
/// (`min.insync.replicas`), by the brokers' latest answer.
///
/// Lanes use the first to omit parts before a record is produced: a refused record costs a transaction.
final class RecordLimits: Sendable {
    /// The setting's name.
    static let property = "max.message.bytes"
    /// The largest batch of several records, whatever the topics allow: librdkafka's default for `batch.size`.
    static let largestBatch = 1_000_000

    private let bytes = Guarded([String: Int]())
    private let copies = Guarded([String: Int]())
    private let configurations = Guarded([String: [String: String]]())

    /// Whether the brokers have answered.
    var isKnown: Bool { bytes.withLock { !$0.isEmpty } }

    /// The limit of a topic; none while unknown.
    func limit(of topic: String) -> Int { bytes.withLock { $0[topic] ?? .max } }

    /// The number of brokers that must have a topic's record before it counts as written; `nil` while unknown.
    func copies(of topic: String) -> Int? { copies.withLock { $0[topic] } }

    /// A topic's configuration; `nil` while unknown.
    func configuration(of topic: String) -> [String: String]? { configurations.withLock { $0[topic] } }

    /// The largest batch that each of these topics allows.
    func batch(for topics: [String]) -> Int {
        topics.reduce(Self.largestBatch) { min($0, limit(of: $1)) }
    }

    /// Asks the brokers; missing answers leave the former ones.
    ///
    /// - Returns: the reason why nothing is known of a topic, if so.
    func ask(_ admin: Admin, about topics: [String], timeout: Milliseconds) -> KafkaError? {
        do throws(KafkaError) {
            var refusal: KafkaError?
            for answer in try admin.describeConfigs(topics: topics, timeout: timeout) {
                refusal = refusal ?? answer.error
                if answer.error == nil { configurations.withLock { $0[answer.topic] = answer.values } }
                func number(_ name: String) -> Int? {
                    answer.entries.first { $0.name == name }?.value.flatMap { Int($0) }
                }
                if let number = number("min.insync.replicas") { copies.withLock { $0[answer.topic] = number } }
                if let limit = number(Self.property) { bytes.withLock { $0[answer.topic] = limit } }
            }
            return refusal
        } catch {
            return error
        }
    }
}

/// The size of a record that counts against a topic's limit.
enum RecordSize {
    /// The overhead of a batch.
    private static let batchOverhead = 61
    /// The size of the largest result, with its key.
    static let largestResult = ResultEncoder.maximumByteCount + Omissions.longestKey + 128

    /// The bytes of a batch that holds only this record, uncompressed.
    static func alone(keyByteCount: Int?, valueByteCount: Int?, headers: HeaderList?) -> Int {
        // Attributes, and two zero differences to the first record of the batch.
        var record = 3 + field(keyByteCount) + field(valueByteCount) + 1
        if let headers {
            record += number(headers.count) - 1
            for index in 0..<headers.count {
                record += field(headers.name(at: index).byteCount) + field(headers.value(at: index)?.byteCount)
            }
        }
        return batchOverhead + number(record) + record
    }

    /// A field behind its length, which is -1 for null.
    private static func field(_ byteCount: Int?) -> Int {
        guard let byteCount else { return 1 }
        return number(byteCount) + byteCount
    }

    /// The bytes of a number as a varint in zigzag coding.
    private static func number(_ number: Int) -> Int {
        (Int.bitWidth - (number << 1 | 1).leadingZeroBitCount + 6) / 7
    }
}
