internal import FoundationEssentials
internal import HeraldEvents
internal import HeraldKafka
package import HeraldTime
package import HeraldTools

extension ReplayContext {
    /// What was written down when a job began; `nil` when the audit topic does not have it.
    ///
    /// - Parameter since: when it began at the earliest, epoch milliseconds.
    package func beginning(ofJob job: String, since: Int64) throws -> AuditEntry? {
        let reader = try ToolFailure.reading(topics.audit) { () throws(KafkaError) in
            try TopicReader(properties: readerProperties)
        }
        defer { reader.close() }
        try ToolFailure.reading(topics.audit) { () throws(KafkaError) in
            let partitions = try reader.consumer.queries.partitions(
                of: topics.audit, timeout: Self.auditTimeout)
            let start = TopicReader.Start.moment(since - Self.auditLookBack.count)
            let starts = partitions.map { ($0, start) }
            try reader.begin(Dictionary(uniqueKeysWithValues: starts))
        }
        var found: AuditEntry?
        try reader.catchUp { message in
            guard let value = message.valueCopy,
                let entry = try? JSONDecoder().decode(AuditEntry.self, from: Data(value)),
                entry.job == job, entry.phase == "started"
            else { return }
            found = entry
        }
        return found
    }

    private static var auditTimeout: Milliseconds { .seconds(5) }
    /// Clocks of machines and brokers differ by so much at most.
    private static var auditLookBack: Milliseconds { .minutes(5) }
}

extension ReplayContext {
    /// Writes down that the operator reads messages' texts, and returns when the brokers have it.
    ///
    /// Without that record the texts are not shown.
    package func recordReveal(_ selection: String, at moment: WallTime) throws {
        var entry = AuditEntry(action: "dlq.reveal", phase: "done", at: moment.text, by: operatorName)
        entry.selection = selection
        try entry.recordReveal(topic: topics.audit, properties: auditProperties)
    }
}
