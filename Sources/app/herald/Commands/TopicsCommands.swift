import HeraldCommandLine
import HeraldDriver
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldTools

/// The common part of the `herald topics` commands: asks the cluster, and shows the differences.
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

    func showPlan() throws -> TopicPlan {
        let plan = try administrator.plan(wishes)
        // An empty table needs no heading.
        if plan.steps.isEmpty, invocation.format == .table { return plan }
        let columns = ["topic", "property", "now", "wanted", "action", "note"].map { RecordWriter.Column($0) }
        // Programs get numbers, people also days.
        let isForPeople = invocation.format == .table
        let records: [[JSONValue]] = plan.steps.map { step in
            func value(_ text: String) -> JSONValue { isForPeople ? .string(step.shown(text)) : Self.value(text) }
            return [
                .string(step.topic), .string(step.property.rawValue), step.now.map(value) ?? .null,
                value(step.wanted), .string(step.action.rawValue), step.note.isEmpty ? .null : .string(step.note),
            ]
        }
        try invocation.write(records, columns)
        return plan
    }

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

enum TopicsPlanCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "plan", "Show what differs between the topics and the settings, and what apply would do.",
        details: "Topics, partitions, copies, retention.ms, max.message.bytes, min.insync.replicas and cleanup.policy. "
            + "The action is create, change, by-hand (Kafka cannot change it, or records would be lost), or none "
            + "(more than wanted, which is fine).",
        options: [OutputFormat.option],
        examples: [.init("herald topics plan --config herald.yaml", "What would be created and changed.")])
    static let usedSettings: UsedSettings = .topicPlan

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        invocation.console.remark(TopicsTool.summary(of: try TopicsTool(invocation).showPlan()))
        return .done
    }
}

enum TopicsCheckCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "check", "Check that the topics match the settings.",
        details:
            "The exit status is 1 if something differs. More partitions or a longer retention than set is fine.",
        options: [OutputFormat.option],
        examples: [.init("herald topics check --config herald.yaml", "Fail when a topic is not as wanted.")])
    static let usedSettings: UsedSettings = .topicPlan

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let plan = try TopicsTool(invocation).showPlan()
        invocation.console.remark(TopicsTool.summary(of: plan))
        return plan.isFulfilled ? .done : .failed
    }
}

enum TopicsApplyCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "apply", "Create and change topics to match the settings; it never shrinks or deletes anything.",
        details: "It shows the differences, asks, applies them, and waits until the cluster shows them. Without a "
            + "terminal it needs --yes, or exits with 4. If something must be fixed by hand, or the cluster refused "
            + "it, it exits with 3, or with 1 if nothing was changed.",
        options: [Confirmation.option, OutputFormat.option],
        examples: [.init("herald topics apply --config herald.yaml --yes", "Create the topics without asking.")])
    static let usedSettings: UsedSettings = .topicPlan

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let tool = try TopicsTool(invocation)
        let console = invocation.console
        let plan = try tool.showPlan()
        guard plan.hasChanges else {
            console.remark(TopicsTool.summary(of: plan))
            return plan.needsHands ? .partlyDone : .done
        }
        let count = plan.steps.filter { $0.action == .create || $0.action == .change }.count
        let question = "Make \(TopicsTool.counted(count, "change"))?"
        guard try Confirmation.ask(question, isAssumed: invocation.parsed[Confirmation.option], console: console) else {
            console.complain("Nothing was changed.")
            return .needsConfirmation
        }
        let application = try await tool.administrator.apply(plan, for: tool.wishes)
        for refusal in application.refusals {
            console.complain("herald: topic \(refusal.topic): \(SafeText.escaped(refusal.reason))")
        }
        console.remark("\(TopicsTool.counted(application.changeCount, "change")) made.")
        if application.rest.isFulfilled { return .done }
        console.complain(TopicsTool.summary(of: application.rest))
        return application.changeCount > 0 ? .partlyDone : .failed
    }
}
