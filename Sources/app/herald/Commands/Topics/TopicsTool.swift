import HeraldCommandLine
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldTools

/// What the three commands of `herald topics` share: asking the cluster, and showing what differs.
struct TopicsTool {
    let wishes: TopicWishes
    let administrator: TopicAdministrator
    private let invocation: Invocation

    init(_ invocation: Invocation) throws {
        self.invocation = invocation
        let settings = try invocation.settings(requiring: [.kafka])
        wishes = settings.topicWishes
        administrator = TopicAdministrator(admin: try settings.adminClient(), reach: settings.clusterReach)
    }

    /// Asks the cluster, and shows what differs.
    func showPlan() throws -> TopicPlan {
        let plan = try administrator.plan(wishes)
        // An empty table's heading says nothing.
        if plan.steps.isEmpty, invocation.parsed[OutputFormat.option] == .table { return plan }
        let columns = ["topic", "property", "now", "wanted", "action", "note"].map { RecordWriter.Column($0) }
        let records: [[JSONValue]] = plan.steps.map { step in
            [
                .string(step.topic), .string(step.property.rawValue), step.now.map(Self.value) ?? .null,
                Self.value(step.wanted), .string(step.action.rawValue), step.note.isEmpty ? .null : .string(step.note),
            ]
        }
        try RecordWriter.write(records, columns, as: invocation.parsed[OutputFormat.option], to: invocation.console)
        return plan
    }

    /// A sentence about the whole plan.
    static func summary(of plan: TopicPlan) -> String {
        if plan.isFulfilled { return "The topics are as the settings want them." }
        let byHand = plan.steps.filter { $0.action == .byHand }.count
        let other = plan.steps.filter { $0.action == .create || $0.action == .change }.count
        return [
            other > 0 ? "herald topics apply makes \(counted(other, "change"))." : "",
            byHand > 0 ? "\(counted(byHand, "difference")) must be fixed by hand." : "",
        ].filter { !$0.isEmpty }.joined(separator: " ")
    }

    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private static func value(_ text: String) -> JSONValue { Int(text).map(JSONValue.integer) ?? .string(text) }
}
