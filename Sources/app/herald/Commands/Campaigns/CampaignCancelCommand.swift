import HeraldCampaigns
import HeraldCommandLine

/// `herald campaign cancel`: nothing more of it is delivered, ever.
enum CampaignCancelCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "cancel", "End a campaign for ever: what was not delivered yet never is.",
        details:
            "Its publisher ends, and events that wait end with the outcome cancelled. A cancelled campaign cannot be "
            + "resumed or started again. Without a terminal --yes is needed, or it ends with 4.",
        arguments: [CampaignOptions.name.declaration],
        options: [
            CampaignOptions.yes.declaration, CampaignOptions.reason.declaration, OutputFormat.option.declaration,
        ],
        examples: [.init("herald campaign cancel spring --reason 'wrong audience'", "After a confirmation.")])
    static let heeds: HeededSettings = .cluster + .topicNames + .events

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try CampaignControlRun(order: .cancel, isAsking: true).run(invocation)
    }
}
