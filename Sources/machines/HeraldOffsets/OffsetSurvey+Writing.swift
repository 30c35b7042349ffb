internal import HeraldCore
internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldKernel
internal import HeraldTime
internal import HeraldTools

extension OffsetSurvey {
    /// When the first records that are left were written, as far as they could be read in time.
    func firstRecords(
        of partitions: [PartitionOffsets], within limit: Duration
    ) throws -> [TopicPartition: WallTime] {
        let starts = partitions.map { ($0.partition, offset: $0.begin) }
        let names = Set(starts.map(\.0.topic)).sorted().joined(separator: ", ")
        return try ToolFailure.reading(names) { () throws(KafkaError) in
            try reader.consumer.recordsAhead(of: starts, within: limit, countsFromOrigin: false)
        }.compactMapValues { if case .published(let moment) = $0.first { moment } else { nil } }
    }

    /// Writes offsets with their metadata, and the audit entry that says who did it: one transaction.
    func write(_ positions: [CommitPosition], with entry: AuditEntry) throws {
        guard let group = groupMetadata else { throw ToolFailure("the client knows no group") }
        let id = "\(context.group).offsets"
        var refusal: KafkaError?
        do throws(KafkaError) {
            let producer = try Producer(properties: context.writerProperties + [("transactional.id", id)])
            defer { producer.close() }
            let writer = OffsetWriter(producer)
            defer { refusal = writer.refusal }
            try writer.call { (producer, limit) throws(KafkaError) in try producer.initTransactions(timeout: limit) }
            try producer.beginTransaction()
            let entry = entry.record(topic: context.topics.audit)
            if let refusal = try entry.produce(with: producer, token: 1) { throw refusal }
            try writer.call { (producer, limit) throws(KafkaError) in
                try producer.sendOffsets(positions, group: group, timeout: limit)
            }
            try writer.call { (producer, limit) throws(KafkaError) in try producer.commitTransaction(timeout: limit) }
        } catch {
            // Why its record was refused says more than that the transaction failed.
            if let refusal {
                let audit = ToolFailure(topic: context.topics.audit, refusal, allow: .write)
                throw ToolFailure(
                    "the offsets were not written, nor the audit entry: \(audit)", kind: audit.kind,
                    detail: audit.detail)
            }
            throw ToolFailure(
                "the offsets were not written", error,
                allow: KafkaPermission(
                    [.write], on: [.transactionalIDs(prefix: "\(context.group)."), .topic(context.topics.audit)]))
        }
    }
}

/// Makes transactional calls, each again as long as that can help.
private final class OffsetWriter {
    private static let patience = Duration.seconds(60)
    private static let callTimeout = Milliseconds.seconds(10)

    private let producer: Producer
    /// Why the record was not taken.
    private(set) var refusal: KafkaError?

    init(_ producer: Producer) { self.producer = producer }

    func call(
        _ body: @escaping @Sendable (Producer, Milliseconds) throws(KafkaError) -> Void
    ) throws(KafkaError) {
        let end = ContinuousClock.now + Self.patience
        while true {
            do throws(KafkaError) {
                return try producer.blocking(pollingReports: serve(wait:)) { (producer) throws(KafkaError) in
                    try body(producer, Self.callTimeout)
                }
            } catch {
                guard error.outcome == .failedForNow, ContinuousClock.now < end else { throw error }
            }
        }
    }

    private func serve(wait: Milliseconds) {
        producer.reports(wait: wait) { [self] report in refusal = refusal ?? report.error }
    }
}
