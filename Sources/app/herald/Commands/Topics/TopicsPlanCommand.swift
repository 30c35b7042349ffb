import HeraldCommandLine

/// `herald topics plan`: what apply would do.
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
