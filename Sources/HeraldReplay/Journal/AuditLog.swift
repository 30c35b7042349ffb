internal import HeraldEvents
internal import HeraldKafka
public import HeraldTime
public import HeraldTools

extension ReplayWorld {
    private static let patienceMilliseconds = 30_000

    /// Writes down that somebody reads messages' texts, and returns when the brokers have it.
    ///
    /// Who cannot be written down does not get to see them.
    public func recordReveal(_ selection: String, at moment: WallTime) throws(ToolFailure) {
        var entry = AuditEntry(action: "dlq.reveal", phase: "done", at: moment.text, by: operatorName)
        entry.selection = selection
        var failure: KafkaError?
        do throws(KafkaError) {
            let producer = try Producer(properties: auditProperties)
            let record = OutgoingRecord(topic: topics.audit, key: Array(operatorName.utf8), value: entry.encoded())
            failure = try record.produce(with: producer, token: 1)
            try producer.flush(timeoutMilliseconds: Self.patienceMilliseconds) { _, error in
                failure = failure ?? error
            }
            producer.close()
        } catch {
            failure = error
        }
        guard let failure else { return }
        throw ToolFailure(
            "nothing is revealed, because it cannot be written to \(topics.audit) who did it: \(failure)",
            kind: ClusterReach.isSilence(failure) ? .unreachable : .failed)
    }
}
