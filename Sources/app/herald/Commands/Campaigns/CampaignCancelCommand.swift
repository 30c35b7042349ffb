import HeraldCampaigns
import HeraldCommandLine

/// `herald campaign cancel`: nothing more of it is delivered, ever.
enum CampaignCancelCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "cancel", "End a campaign for good: undelivered notifications are never sent.",
        details:
            "Its publisher stops, and waiting events end with the outcome cancelled. A cancelled campaign cannot be "
            + "resumed or started again. Without a terminal it needs --yes, or exits with 4.",
        arguments: [CampaignOptions.name],
        options: [Confirmation.option, CampaignOptions.reason, OutputFormat.option],
        examples: [.init("herald campaign cancel spring --reason 'wrong audience'", "After a confirmation.")])
    static let usedSettings: UsedSettings = .cluster + .topics("results", "campaigns", "audit")

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try CampaignControlRun(order: .cancel, isAsking: true).run(invocation)
    }
}
