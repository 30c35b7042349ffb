package import HeraldKafka
import HeraldTime
internal import HeraldTools

/// Reads the state topic: as a whole to its present end, and on from there as often as asked.
///
/// One thread.
package final class StateReader {
    private let reader: TopicReader
    private let topic: String

    /// What the topic says, as far as it was read.
    package private(set) var known: KnownState

    /// What became of dead letters, as far as it was read.
    package var marks: MarkIndex { known.marks }
    /// The job that works on them, as far as it was read.
    package var lease: Lease? { known.lease }

    /// A reader of the topic; blocks for the brokers' answers.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's: `read_committed`, with end-of-partition events; nothing is committed.
    ///   - foreignTopic: whose dead letters are asked for; `nil` for Herald's own.
    package init(
        properties: ClientProperties, topic: String, partitions: [Int32], foreignTopic: String? = nil
    ) throws {
        self.topic = topic
        known = KnownState(foreignTopic: foreignTopic)
        reader = try TopicReader(properties: properties, topic: topic, partitions: partitions)
    }

    /// Reads everything that is committed at this moment.
    ///
    /// - Parameter throughOpenTransactions: reads to what was written last, committed or not, and so waits for the end of
    ///   every transaction that is open now.
    package func catchUp(throughOpenTransactions: Bool = false, onRecord: (MarkRecord) -> Void = { _ in }) throws {
        try reader.catchUp(to: throughOpenTransactions ? .written : .committed) { add($0, onRecord) }
        try known.checkDamages(of: topic)
    }

    /// Takes what has come since, without a question to the brokers; whether there was anything.
    package func poll() throws -> Bool {
        let hasRecords = try reader.poll(wait: .zero) { add($0) { _ in } } > 0
        try known.checkDamages(of: topic)
        return hasRecords
    }

    private func add(_ message: Message, _ onRecord: (MarkRecord) -> Void) {
        guard let key = message.keyCopy else { return }
        let mark = known.add(
            key: key, value: message.valueCopy, partition: message.partition, offset: message.offset)
        if let mark { onRecord(mark) }
    }

    package func close() { reader.close() }
}
