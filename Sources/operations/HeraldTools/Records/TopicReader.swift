package import HeraldKafka

/// Reads partitions of a topic to their present ends, and on from there as often as asked; hands out nothing twice,
/// whatever the client does when a broker dies.
///
/// One thread.
package final class TopicReader {
    /// What "to the end" means.
    package enum End: Sendable {
        /// To what is committed at this moment; what lies behind an open transaction is not waited for.
        case committed
        /// To what was written last, committed or not: waits for the end of every transaction that is open now.
        case written
    }

    private static let requestMilliseconds = 10_000
    /// Nothing for so long means that the brokers are gone, or that a transaction does not end.
    private static let patience = Duration.seconds(60)
    private static let recordsPerTurn = 10_000
    /// Progress is told so often, in records.
    private static let recordsPerReport = 1_024

    private let reader: AssignedReader
    private let properties: [(String, String)]
    private let topic: String
    private let partitions: [TopicPartition]
    private let wantedStarts: [Int32: Int64]
    private let moment: Int64?
    private var isAssigned = false
    private var lastNews = ContinuousClock.now
    private var trouble: KafkaError?

    /// The next offset to read, by partition; empty before the first reading.
    package private(set) var positions: [Int32: Int64] = [:]
    /// Offsets that were asked for and were deleted before they could be read.
    package private(set) var deletedCount: Int64 = 0

    /// A reader of the topic.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's: `read_committed`, with end-of-partition events; nothing is committed.
    ///   - starts: where to begin, by partition; what is not named begins at its first record.
    ///   - moment: epoch milliseconds; begins at the records of that time where these come before `starts`.
    package init(
        properties: [(String, String)], topic: String, partitions: [Int32], from starts: [Int32: Int64] = [:],
        lookingBackTo moment: Int64? = nil
    ) throws(ToolFailure) {
        self.moment = moment
        self.topic = topic
        self.properties = properties
        self.partitions = partitions.map { TopicPartition(topic: topic, partition: $0) }
        wantedStarts = starts
        do throws(KafkaError) {
            reader = try AssignedReader(properties: properties)
        } catch {
            throw ToolFailure("\(topic) cannot be read: \(error)")
        }
    }

    /// Reads to the end that the topic has when this begins, and perhaps a little further.
    ///
    /// - Parameters:
    ///   - onProgress: called now and then with how many of how many offsets have been passed; `false` ends the reading.
    ///   - body: takes a record, which is released for it.
    /// - Returns: whether the end was reached.
    @discardableResult
    package func catchUp(
        to end: End = .committed, onProgress: (_ passed: Int64, _ total: Int64) -> Bool = { _, _ in true },
        _ body: (Message) throws(ToolFailure) -> Void
    ) throws(ToolFailure) -> Bool {
        let ends = try asking { () throws(KafkaError) in
            try assign()
            return try self.ends(end)
        }
        noteNews()
        let starts = positions
        let total = ends.reduce(Int64(0)) { $0 + max(0, $1.value - (starts[$1.key] ?? 0)) }
        var steps = 0
        while !hasReached(ends) {
            let isNews = try step(waitMilliseconds: 50, body)
            steps += 1
            if !isNews || steps % Self.recordsPerReport == 0 {
                let passed = positions.reduce(Int64(0)) {
                    $0 + max(0, min($1.value, ends[$1.key] ?? 0) - (starts[$1.key] ?? 0))
                }
                guard onProgress(passed, total) else { return false }
            }
            guard ContinuousClock.now - lastNews < Self.patience else {
                if let trouble { throw failure(trouble) }
                throw ToolFailure(
                    "\(topic) cannot be read to its end: nothing has come for a minute; either no broker answers, "
                        + "or a transaction on it does not end", kind: .unreachable)
            }
        }
        return true
    }

    /// Takes what has come, waiting up to this long for the first record; how many records there were.
    ///
    /// No more than some ten thousand, so that the caller gets his turn however much keeps coming.
    @discardableResult
    package func takeArrived(
        waitMilliseconds: Int32, _ body: (Message) throws(ToolFailure) -> Void
    ) throws(ToolFailure) -> Int {
        try asking(assign)
        var count = 0
        while count < Self.recordsPerTurn, try step(waitMilliseconds: count == 0 ? waitMilliseconds : 0, body) {
            count += 1
        }
        return count
    }

    /// Ends the client.
    package func close() { reader.close() }

    // MARK: Places

    /// Begins, once: offsets as numbers, because the client asks for the beginning only half a second after a first try.
    private func assign() throws(KafkaError) {
        guard !isAssigned else { return }
        var starts: [(TopicPartition, offset: Int64)] = []
        var deleted: Int64 = 0
        var times: [TopicPartition: Int64] = [:]
        if let moment {
            times = try reader.consumer.queries.offsets(
                of: partitions, at: max(0, moment), timeoutMilliseconds: Self.requestMilliseconds)
        }
        for partition in partitions {
            let marks = try reader.consumer.queries.watermarks(
                of: partition, timeoutMilliseconds: Self.requestMilliseconds)
            let wanted = wantedStarts[partition.partition] ?? marks.low
            // What lies beyond the end is of a topic that was made anew since.
            var start = wanted > marks.high ? marks.low : max(wanted, marks.low)
            if let earlier = times[partition] { start = max(marks.low, min(start, earlier)) }
            if wanted < marks.low { deleted += marks.low - wanted }
            starts.append((partition, offset: start))
        }
        try reader.assign(starts)
        deletedCount = deleted
        for (partition, offset) in starts { positions[partition.partition] = offset }
        isAssigned = true
    }

    private func ends(_ end: End) throws(KafkaError) -> [Int32: Int64] {
        var found: [TopicPartition: Int64]
        switch end {
        case .committed:
            found = try reader.consumer.queries.ends(of: partitions, timeoutMilliseconds: Self.requestMilliseconds)
        case .written:
            // As a client sees them that reads what is not committed, too.
            let other = try Consumer(properties: properties + [("isolation.level", "read_uncommitted")])
            defer { other.close() }
            found = try other.queries.ends(of: partitions, timeoutMilliseconds: Self.requestMilliseconds)
        }
        // An embedded broker answers no question about ends.
        for partition in partitions where found[partition] == nil {
            found[partition] =
                try reader.consumer.queries.watermarks(of: partition, timeoutMilliseconds: Self.requestMilliseconds)
                .high
        }
        return Dictionary(uniqueKeysWithValues: found.map { ($0.key.partition, $0.value) })
    }

    private func hasReached(_ ends: [Int32: Int64]) -> Bool {
        ends.allSatisfy { positions[$0.key] ?? 0 >= $0.value }
    }

    // MARK: Records

    /// Takes one record; whether there was one.
    private func step(
        waitMilliseconds: Int32, _ body: (Message) throws(ToolFailure) -> Void
    ) throws(ToolFailure) -> Bool {
        let next = try asking { () throws(KafkaError) in try reader.next(waitMilliseconds: waitMilliseconds) }
        guard let message = next else { return false }
        defer { message.release() }
        let position = positions[message.partition] ?? 0
        if let error = message.error {
            switch error.code {
            case KafkaError.Code.partitionEOF:
                // Behind the last record lie the ends of transactions.
                noteNews()
                positions[message.partition] = max(position, message.offset)
            case KafkaError.Code.topicAuthorizationFailed: throw failure(error)
            default:
                // A partition without a leader, a broker that is gone: the client goes on by itself.
                trouble = error
            }
            return false
        }
        noteNews()
        positions[message.partition] = message.offset + 1
        try body(message)
        return true
    }

    private func noteNews() {
        lastNews = .now
        trouble = nil
    }

    /// Asks again while a topic that was just made, or a leader that moves, is not known everywhere.
    private func asking<Answer>(_ body: () throws(KafkaError) -> Answer) throws(ToolFailure) -> Answer {
        do throws(KafkaError) {
            return try KafkaError.outwaiting(within: Self.patience, body)
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: KafkaError) -> ToolFailure { ToolFailure(reading: topic, error) }
}

extension Message {
    /// A copy of its key.
    package var keyCopy: [UInt8]? { withKey(Self.copy) }

    /// A copy of its value.
    package var valueCopy: [UInt8]? { withValue(Self.copy) }

    private static func copy(_ bytes: RawSpan?) -> [UInt8]? {
        guard let bytes else { return nil }
        return bytes.withUnsafeBytes { Array($0) }
    }
}
