import HeraldCampaigns
import HeraldCommandLine

/// `herald campaign pause`: nothing more of it is delivered until it is resumed.
enum CampaignPauseCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "pause", "Hold a campaign: its publisher stops, and workers park what waits, until it is resumed.",
        details:
            "Workers honour it within a second, and its publisher at most one batch later. Calls that are under way "
            + "end; what is parked loses no attempt, and nobody else waits for it.",
        arguments: [CampaignOptions.name.declaration],
        options: [CampaignOptions.reason.declaration, OutputFormat.option.declaration],
        examples: [.init("herald campaign pause spring --reason 'the link is wrong'", "Nobody else gets the link.")])
    static let heeds: HeededSettings = .cluster + .topicNames + .events

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try CampaignControlRun(order: .pause).run(invocation)
    }
}
