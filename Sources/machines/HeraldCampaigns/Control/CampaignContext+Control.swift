internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTools

extension CampaignContext {
    /// Writes what a campaign is to do, and who said so, and returns when the brokers have both.
    package func write(_ control: ControlRecord, _ order: ControlOrder, of campaign: String) throws {
        var entry = AuditEntry(
            action: "campaign.\(order.rawValue)", phase: "done", at: control.at.text, by: operatorName)
        entry.selection = campaign
        entry.reason = control.reason
        if case .go(let go) = control { entry.options = ["hold": "\(go.passed)"] }
        let (key, value) = control.record(order, of: campaign)
        let records = [
            OutgoingRecord(topic: topics.campaigns, key: key, value: value),
            entry.record(topic: topics.audit),
        ]
        let failures: [Int: KafkaError]
        do throws(KafkaError) {
            failures = try PlainWriter.write(records, properties: controlProperties)
        } catch {
            throw ToolFailure(
                "it is not known whether the campaign is \(control.state.rawValue) now", error,
                allow: KafkaPermission(.write, on: .topic(topics.campaigns), .topic(topics.audit)))
        }
        if let error = failures[0] {
            throw ToolFailure(
                "the campaign stays as it is", error, allow: KafkaPermission(.write, on: .topic(topics.campaigns)))
        }
        if let error = failures[1] {
            throw ToolFailure(
                "the campaign is \(control.state.rawValue), but \(topics.audit) does not say by whom", error,
                allow: KafkaPermission(.write, on: .topic(topics.audit)))
        }
    }

    /// Writes down that the operator reads a campaign's text, or takes a list of its people.
    ///
    /// - Parameter options: which list, as an option of the report has it; `nil` for the text.
    package func recordReveal(_ campaign: String, options: [String: String]? = nil, at moment: String) throws {
        var entry = AuditEntry(action: "campaign.reveal", phase: "done", at: moment, by: operatorName)
        entry.selection = campaign
        entry.options = options
        try entry.recordReveal(topic: topics.audit, properties: controlProperties)
    }
}
