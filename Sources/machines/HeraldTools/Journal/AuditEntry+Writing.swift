package import HeraldDriver
package import HeraldKafka

extension AuditEntry {
    /// It as a record of the audit topic, which lies with the others of the same operator.
    package func record(topic: String) -> OutgoingRecord {
        OutgoingRecord(topic: topic, key: Array(by.utf8), value: encoded())
    }

    /// Writes down that the operator reads messages' texts, and returns when the brokers have it.
    ///
    /// Without that record the texts are not shown.
    package func recordReveal(topic: String, properties: ClientProperties) throws {
        var failure: KafkaError?
        do throws(KafkaError) {
            failure = try PlainWriter.write([record(topic: topic)], properties: properties)[0]
        } catch {
            failure = error
        }
        guard let failure else { return }
        throw ToolFailure(
            "nothing is revealed, because it cannot be written to \(topic) who did it", failure,
            allow: KafkaPermission(.write, on: .topic(topic)))
    }
}
