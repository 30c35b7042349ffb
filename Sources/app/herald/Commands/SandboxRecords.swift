import HeraldBackend
import HeraldEvents
import HeraldKafka
import HeraldSandbox
import HeraldSettings
import HeraldThreads
import HeraldTime
import HeraldTools

/// Reads a sandbox's request topics beside its worker, to find the record that a call is made for.
final class SandboxRecords: Sendable {
    private static let wait = Milliseconds.milliseconds(20)
    /// The number of calls that the backend keeps.
    private static let limit = 100_000

    private struct Known {
        var records: [String: RecordedCall.Record] = [:]
        /// The records forgotten next.
        var older: [String: RecordedCall.Record] = [:]
        var hasEnded = false
    }

    private let known = Guarded(Known())

    /// Reads new records until ``stop()``.
    init(_ settings: Settings) throws {
        let reader = try TopicReader(properties: KafkaClientSettings.watcher(settings))
        var starts: [TopicPartition: TopicReader.Start] = [:]
        var counts: [String: Int] = [:]
        for topic in settings.topicNames.requests {
            let partitions = try reader.consumer.queries.partitions(of: topic, timeout: .seconds(10))
            counts[topic] = partitions.count
            for partition in partitions { starts[partition] = .end }
        }
        try reader.begin(starts)
        // From here on only the thread uses it.
        nonisolated(unsafe) let begun = Reading(reader: reader, decoder: try settings.recordDecoder(), counts: counts)
        _ = try OwnThread(name: "records") { [self] in
            var reading = begun
            while !known.withLock({ $0.hasEnded }) {
                // The worker reports an absent broker.
                _ = try? reading.reader.poll(wait: Self.wait) { message in
                    for (key, record) in reading.records(of: message) { note(record, of: key) }
                }
            }
            reading.reader.close()
        }
    }

    func stop() { known.withLock { $0.hasEnded = true } }

    /// The record that a call with this `Idempotency-Key` is made for; `nil` when it has not been read (yet).
    func record(of key: String) -> RecordedCall.Record? {
        known.withLock { $0.records[key] ?? $0.older[key] }
    }

    private func note(_ record: RecordedCall.Record, of key: String) {
        known.withLock { known in
            if known.records.count >= Self.limit { (known.older, known.records) = (known.records, [:]) }
            known.records[key] = record
        }
    }

    private struct Reading {
        let reader: TopicReader
        let decoder: RecordDecoder
        /// The number of partitions of each topic.
        let counts: [String: Int]
        var event = DecodedEvent()
        var headers = HeaderList()

        /// The record by the keys of its calls; empty when it is not an event.
        mutating func records(of message: Message) -> [(String, RecordedCall.Record)] {
            guard let value = message.valueCopy else { return [] }
            let key = message.keyCopy
            let topic = message.topicName()
            headers.removeAll()
            message.forEachHeader { headers.append(name: $0, value: $1) }
            let failure = decoder.decode(
                topicKind: .request, topic: topic, partition: message.partition, offset: message.offset,
                value: value.span.bytes, headers: headers, into: &event)
            guard failure == nil else { return [] }
            let fault = event.publisherFault(
                key: key, value: value, partition: message.partition, of: counts[topic] ?? 0, headers: headers)
            let record = RecordedCall.Record(
                topic: topic, partition: Int(message.partition), offset: message.offset,
                key: key.map { String(decoding: $0, as: UTF8.self) }, fault: fault?.rawValue)
            let span = value.span.bytes
            return decoder.pushServices.names.indices.filter { event.pushServices.contains($0) }.map { service in
                var text: [UInt8] = []
                let id = event.bytes(of: event.replayKey.isPresent ? event.replayKey : event.id, value: span)
                let user = event.bytes(of: event.user, value: span)
                let name = decoder.pushServices.names[service].utf8.span.bytes
                if event.source.isPresent {
                    let source = event.bytes(of: event.source, value: span)
                    IdempotencyKey.append(id: id, user: user, source: source, pushService: name, to: &text)
                } else {
                    IdempotencyKey.append(id: id, user: user, source: nil, pushService: name, to: &text)
                }
                return (String(decoding: text, as: UTF8.self), record)
            }
        }
    }
}
