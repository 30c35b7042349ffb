package import HeraldKafka
internal import HeraldTools

/// Reads the state topic: as a whole to its present end, and on from there as often as asked.
///
/// One thread.
package final class StateReader {
    private let reader: TopicReader
    private let topic: String
    private let keyPrefix: String
    private var damages = MarkDamages()

    /// What became of dead letters, as far as it was read.
    package private(set) var marks = MarkIndex()
    /// Who works on them, as far as it was read.
    package private(set) var lease: Lease?

    /// A reader of the topic; blocks for the brokers' answers.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's: `read_committed`, with end-of-partition events; nothing is committed.
    ///   - foreignTopic: whose dead letters are asked for; `nil` for Herald's own.
    package init(
        properties: ClientProperties, topic: String, partitions: [Int32], foreignTopic: String? = nil
    ) throws {
        self.topic = topic
        keyPrefix = MarkRecord.keyPrefix(foreignTopic)
        reader = try TopicReader(properties: properties, topic: topic, partitions: partitions)
    }

    /// Reads everything that is committed at this moment.
    ///
    /// - Parameter throughOpenTransactions: reads to what was written last, committed or not, and so waits for the end of
    ///   every transaction that is open now.
    package func catchUp(throughOpenTransactions: Bool = false, onRecord: (MarkRecord) -> Void = { _ in }) throws {
        func add(_ message: Message) throws { try self.add(message, onRecord) }
        try reader.catchUp(to: throughOpenTransactions ? .written : .committed, add)
        try checkDamages()
    }

    /// Takes what has come since, without a question to the brokers; whether there was anything.
    package func poll() throws -> Bool { try poll(waitMilliseconds: 0) }

    private func poll(waitMilliseconds: Int32) throws -> Bool {
        func add(_ message: Message) throws { try self.add(message) { _ in } }
        let hasRecords = try reader.poll(waitMilliseconds: waitMilliseconds, add) > 0
        try checkDamages()
        return hasRecords
    }

    /// Waits for the next record, a second at most: the reader looks after its client between two waits.
    private func waitForRecords(until deadline: ContinuousClock.Instant) throws {
        let left = min(.seconds(1), max(.milliseconds(1), deadline - .now))
        _ = try poll(waitMilliseconds: Int32((left / .milliseconds(1)).rounded(.up)))
    }

    private func add(_ message: Message, _ onRecord: (MarkRecord) -> Void) throws {
        guard let key = message.keyCopy else { return }
        let (name, value) = (String(decoding: key, as: UTF8.self), message.valueCopy)
        if name == Lease.key {
            lease = value.flatMap { Lease(decoding: $0) }
        } else if name.hasPrefix(keyPrefix) {
            let record = value.flatMap { MarkRecord(decoding: $0) }
            damages.note(
                isDamaged: value != nil && record == nil, key: name, place: "\(message.partition):\(message.offset)")
            guard let record else { return }
            marks.add(record)
            onRecord(record)
        }
    }

    /// Nobody can tell what a damaged mark says, so nothing may be replayed on the strength of the others.
    private func checkDamages() throws {
        guard let sentence = damages.sentence else { return }
        throw ToolFailure("\(topic) cannot be read: \(sentence)")
    }

    /// Waits until the lease changes, ends, or has not changed for ``Lease/patience``: whether somebody lives behind it.
    package func isSomebodyAlive(_ onWait: (Lease) -> Void) throws -> Lease? {
        try catchUp()
        guard let seen = lease, !seen.isOver, !seen.process.hasEnded else { return nil }
        if seen.process.isCertainlyAlive { return seen }
        onWait(seen)
        let deadline = ContinuousClock.now + Lease.patience
        while true {
            let isLast = ContinuousClock.now >= deadline
            // A renewal ends the wait. That none will come, only the time tells, and then the brokers' word on the end.
            if isLast { try catchUp() } else { try waitForRecords(until: deadline) }
            guard let now = lease, !now.isOver, !now.process.hasEnded else { return nil }
            if now != seen { return now }
            if isLast { return nil }
        }
    }

    package func close() { reader.close() }
}
