import HeraldCampaigns
import HeraldCommandLine

/// `herald campaign resume`: a paused campaign goes on.
enum CampaignResumeCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "resume", "Resume a paused campaign where it was.",
        details:
            "Suspended events are delivered when their delay ends. A running publisher continues by itself; if none "
            + "runs, start the campaign again with the same audience. --pause-if-failures stays as it was.",
        arguments: [CampaignOptions.name], options: [OutputFormat.option],
        examples: [.init("herald campaign resume spring", "Go on.")])
    static let usedSettings: UsedSettings = .cluster + .topics("results", "campaigns", "audit")

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try CampaignControlRun(order: .resume).run(invocation)
    }
}
