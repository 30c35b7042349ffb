import HeraldCommandLine
import HeraldTools

/// `herald topics check`: whether anything differs, for scripts.
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
