import HeraldCommandLine
import HeraldText
import HeraldTools

/// `herald topics apply`: makes and changes topics; never shrinks or deletes.
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
