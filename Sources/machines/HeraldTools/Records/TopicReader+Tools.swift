package import HeraldKafka
package import HeraldTime

extension ToolFailure {
    /// Asks something about a topic, or says why it cannot be read.
    package static func reading<Answer>(
        _ topic: @autoclosure () -> String, _ ask: () throws(KafkaError) -> Answer
    ) throws -> Answer {
        do throws(KafkaError) {
            return try ask()
        } catch {
            throw ToolFailure(reading: topic(), error)
        }
    }

    fileprivate init(reading topic: String, _ error: KafkaError) {
        switch error.kind {
        case .unknownTopic: self.init(topic: topic, error)
        default: self.init("\(topic) cannot be read", error, allow: KafkaPermission(.read, on: .topic(topic)))
        }
    }
}

extension TopicReader {
    /// What ``poll(wait:_:)`` takes at most, so that the caller gets his turn however much keeps coming.
    private static var recordsPerTurn: Int { 10_000 }
    private static var recordsPerReport: Int { 1_024 }

    /// A reader of a topic that has begun; blocks for the brokers' answers.
    ///
    /// - Parameter start: where a partition begins; at its first record unless told otherwise.
    package convenience init(
        properties: ClientProperties, topic: String, partitions: [Int32],
        from start: (Int32) -> Start = { _ in .beginning }
    ) throws {
        let starts = partitions.map { (TopicPartition(topic: topic, partition: $0), start($0)) }
        do throws(KafkaError) {
            try self.init(properties: properties)
            try begin(Dictionary(uniqueKeysWithValues: starts))
        } catch {
            throw ToolFailure(reading: topic, error)
        }
    }

    /// What could not be read, a phrase each.
    package var gaps: [String] {
        unreadable.map {
            "\($0.partition) from offset \($0.offsets.lowerBound) to \($0.offsets.upperBound - 1), which can't be read"
        }
    }

    /// Reads to the end that the topics have when this begins, and perhaps a little further.
    ///
    /// - Parameters:
    ///   - onProgress: called now and then with how many of how many offsets have been passed; `false` ends the reading.
    ///   - body: takes a record, which is released for it.
    /// - Returns: whether the end was reached.
    @discardableResult
    package func catchUp(
        to end: End = .committed, onProgress: (_ passed: Int64, _ total: Int64) -> Bool = { _, _ in true },
        _ body: (Message) throws -> Void
    ) throws -> Bool {
        try aim(at: end)
        while try !turn(wait: .milliseconds(50), body) {
            guard onProgress(progress.passed, progress.total) else { return false }
        }
        return true
    }

    /// Reads to this end from now on, by ``turn(wait:_:)``; blocks for the brokers' answers.
    package func aim(at end: End) throws { try asking { () throws(KafkaError) in try setEnd(end) } }

    /// Reads some records, until none has come for so long; whether the end is reached.
    package func turn(wait: Milliseconds, _ body: (Message) throws -> Void) throws -> Bool {
        for _ in 0..<Self.recordsPerReport {
            switch try step(wait: wait, body) {
            case .end: return true
            case .nothing: return false
            case .record: break
            }
        }
        return false
    }

    /// Takes what has come, waiting up to this long for the first record; how many records there were.
    @discardableResult
    package func poll(wait: Milliseconds, _ body: (Message) throws -> Void) throws -> Int {
        try aim(at: .none)
        var count = 0
        while count < Self.recordsPerTurn,
            case .record = try step(wait: count == 0 ? wait : .zero, body)
        {
            count += 1
        }
        return count
    }

    /// One step; a record's message is not to be used any more.
    private func step(wait: Milliseconds, _ body: (Message) throws -> Void) throws -> Step {
        let step = try asking { () throws(KafkaError) in try next(wait: wait) }
        guard case .record(let message) = step else { return step }
        defer { message.release() }
        try body(message)
        return step
    }

    private func asking<Answer>(_ ask: () throws(KafkaError) -> Answer) throws -> Answer {
        try ToolFailure.reading(Set(positions.keys.map(\.topic)).sorted().joined(separator: ", "), ask)
    }
}
