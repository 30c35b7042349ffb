import HeraldCampaigns
import HeraldCommandLine

/// `herald campaign pause`: nothing more of it is delivered until it is resumed.
enum CampaignPauseCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "pause", "Pause a campaign: its publisher stops, and workers suspend its waiting events until it is resumed.",
        details:
            "Workers obey within a second, its publisher after one more batch at most. Calls in flight finish; "
            + "suspended events lose no attempt, and nobody else waits for them.",
        arguments: [CampaignOptions.name],
        options: [CampaignOptions.reason, OutputFormat.option],
        examples: [.init("herald campaign pause spring --reason 'the link is wrong'", "Nobody else gets the link.")])
    static let usedSettings: UsedSettings = .cluster + .topics("results", "campaigns", "audit")

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try CampaignControlRun(order: .pause).run(invocation)
    }
}
