package import HeraldKafka
package import HeraldTime
internal import HeraldTools

/// Reads the campaigns topic: as a whole to its present end, and on from there as often as asked.
///
/// One thread.
package final class CampaignReader {
    let reader: TopicReader

    /// What it says, as far as it was read.
    package private(set) var index = CampaignIndex()

    /// A reader of the topic; blocks for the brokers' answers.
    ///
    /// - Parameter properties: librdkafka's: `read_committed`, with end-of-partition events; nothing is committed.
    package init(properties: ClientProperties, topic: String, partitions: [Int32]) throws {
        reader = try TopicReader(properties: properties, topic: topic, partitions: partitions)
    }

    /// Reads to the present end.
    ///
    /// - Parameter throughOpenTransactions: to what was written last, committed or not: waits for the end of every
    ///   transaction that is open now, a publisher's batch for instance.
    package func catchUp(throughOpenTransactions: Bool = false) throws {
        try reader.catchUp(to: throughOpenTransactions ? .written : .committed) { add($0) }
    }

    /// Reads some records, until none has come for so long; whether the end is reached.
    func turn(wait: Milliseconds) throws -> Bool {
        try reader.turn(wait: wait) { add($0) }
    }

    /// Takes what has come since, waiting up to this long for the first record; whether something has.
    @discardableResult
    package func poll(wait: Milliseconds = .zero) throws -> Bool {
        try reader.poll(wait: wait) { add($0) } > 0
    }

    package func close() { reader.close() }

    private func add(_ message: Message) {
        index.add(key: message.keyCopy, value: message.valueCopy, place: "\(message.partition):\(message.offset)")
    }
}
