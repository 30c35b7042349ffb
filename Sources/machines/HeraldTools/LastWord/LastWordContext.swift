internal import HeraldBytes
internal import HeraldDriver
package import HeraldEvents
package import HeraldKafka
internal import HeraldTime

/// The topics of opt-outs and recalls as commands see them: what users said, and who changes it.
package struct LastWordContext: Sendable {
    package var topics: Topics
    package var pushServices: PushServices
    /// librdkafka's properties for readers: `read_committed`, end-of-partition events, the workers' group, which is not joined.
    package var readerProperties: ClientProperties
    /// librdkafka's properties for a plain producer.
    package var writerProperties: ClientProperties
    /// Who runs this: a user and a machine.
    package var operatorName: String

    package init(
        topics: Topics, pushServices: PushServices, readerProperties: ClientProperties,
        writerProperties: ClientProperties, operatorName: String
    ) {
        self.topics = topics
        self.pushServices = pushServices
        self.readerProperties = readerProperties
        self.writerProperties = writerProperties
        self.operatorName = operatorName
    }

    /// A user's word as the topic has it.
    package struct Entry: Sendable {
        package var preference: Preference
        /// What is wrong with the record, as a continuation of "the record"; `nil` for a sound one.
        package var problem: String?
    }

    /// The partitions of a topic, which has to be there.
    ///
    /// - Parameter isWriting: whether the audit topic has to be there too.
    package func partitions(
        of topic: String, isWriting: Bool, reach: ClusterReach, admin: Admin
    ) throws -> [Int32] {
        var partitions: [Int32] = []
        for found in try reach.topics([topic] + (isWriting ? [topics.audit] : []), admin).topics {
            if let error = found.error { throw ToolFailure(topic: found.name, error, allow: .read) }
            if found.name == topic { partitions = found.partitions.map(\.id) }
        }
        return partitions
    }

    /// Finds a user's word: reads the whole topic.
    ///
    /// - Parameter onProgress: called now and then with how many of how many records were passed.
    /// - Returns: `nil` when the user has said nothing, or is forgotten.
    package func word(
        of user: String, partitions: [Int32], onProgress: (Int64, Int64) -> Bool
    ) throws -> Entry? {
        let reader = try TopicReader(
            properties: readerProperties, topic: topics.preferences, partitions: partitions)
        defer { reader.close() }
        let wanted = Array(user.utf8)
        var value: [UInt8]?
        try reader.catchUp(to: .written, onProgress: onProgress) { message in
            message.withKey { key in
                guard let key, key.hasSameBytes(as: wanted.span.bytes) else { return }
                message.withValue { bytes in
                    guard let bytes else {
                        value = nil
                        return
                    }
                    value = []
                    value?.append(copying: bytes)
                }
            }
        }
        guard let value else { return nil }
        let (preference, problem) = Preference.reading(value.span.bytes, pushServices: pushServices)
        return Entry(preference: preference, problem: problem)
    }

    /// Writes one record and the audit's, and returns when the brokers have both.
    ///
    /// - Parameter consequence: what is so when the record was not written.
    package func write(
        to topic: String, key: [UInt8], value: [UInt8]?, _ entry: AuditEntry, otherwise consequence: String
    ) throws {
        let records = [OutgoingRecord(topic: topic, key: key, value: value), entry.record(topic: topics.audit)]
        let failures: [Int: KafkaError]
        do throws(KafkaError) {
            failures = try PlainWriter.write(records, properties: writerProperties)
        } catch {
            throw ToolFailure(
                "it is not known whether that was written", error,
                allow: KafkaPermission(.write, on: .topic(topic), .topic(topics.audit)))
        }
        if let error = failures[0] {
            throw ToolFailure(consequence, error, allow: KafkaPermission(.write, on: .topic(topic)))
        }
        if let error = failures[1] {
            throw ToolFailure(
                "it is written, but \(topics.audit) does not say by whom", error,
                allow: KafkaPermission(.write, on: .topic(topics.audit)))
        }
    }

    /// Writes an entry of the audit, and returns when the brokers have it.
    package func record(_ entry: AuditEntry) throws {
        do throws(KafkaError) {
            let failures = try PlainWriter.write([entry.record(topic: topics.audit)], properties: writerProperties)
            if let error = failures[0] { throw error }
        } catch {
            throw ToolFailure(
                "\(topics.audit) does not take who does this", error,
                allow: KafkaPermission(.write, on: .topic(topics.audit)))
        }
    }

    /// An entry of the audit by this operator.
    package func audit(_ action: String, phase: String = "done", reason: String?, at moment: String) -> AuditEntry {
        var entry = AuditEntry(action: action, phase: phase, at: moment, by: operatorName)
        entry.reason = reason
        return entry
    }
}

/// Writes many words, a bounded number of which is on its way at once.
///
/// One thread.
package final class WordWriter {
    private static let batch = 10_000
    private static let patience = Milliseconds.seconds(60)

    private let producer: Producer
    private let topic: String
    private var pending = 0
    package private(set) var writtenCount = 0

    /// A writer to this topic.
    package init(_ context: LastWordContext) throws {
        topic = context.topics.preferences
        do throws(KafkaError) {
            producer = try Producer(properties: context.writerProperties)
        } catch {
            throw ToolFailure(error)
        }
    }

    /// Writes a user's word.
    package func write(_ preference: Preference, of user: String) throws {
        do throws(KafkaError) {
            let record = OutgoingRecord(topic: topic, key: Array(user.utf8), value: preference.encoded())
            if let error = try record.produce(with: producer, token: UInt64(pending)) { throw error }
        } catch {
            throw failure(error)
        }
        pending += 1
        if pending == Self.batch { try finish() }
    }

    /// Waits until the brokers have everything.
    package func finish() throws {
        guard pending > 0 else { return }
        var failed = 0
        var cause: KafkaError?
        do throws(KafkaError) {
            try producer.flush(timeout: Self.patience) { _, error in
                guard let error else { return }
                (failed, cause) = (failed + 1, cause ?? error)
            }
        } catch {
            throw failure(error)
        }
        writtenCount += pending - failed
        pending = 0
        if let cause { throw failure(cause) }
    }

    package func close() { producer.close() }

    private func failure(_ error: KafkaError) -> ToolFailure {
        ToolFailure(
            "\(writtenCount) words are written, and then it failed (importing the file again writes the same)", error,
            allow: KafkaPermission(.write, on: .topic(topic)))
    }
}
