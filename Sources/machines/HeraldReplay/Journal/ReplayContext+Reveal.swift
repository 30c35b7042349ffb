internal import HeraldEvents
package import HeraldTime
internal import HeraldTools

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
