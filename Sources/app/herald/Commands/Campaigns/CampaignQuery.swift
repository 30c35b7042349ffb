import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldSettings
import HeraldText
import HeraldTools

/// What the campaigns topic says, for one run of a command.
struct CampaignQuery {
    let context: CampaignContext
    let layout: CampaignContext.Layout
    let reader: CampaignReader
    let users: UserRule
    private let console: Console

    /// Reads the topic to its end.
    ///
    /// - Parameter isWriting: whether something is to be decided by it: then what is under way now is waited for.
    init(_ invocation: Invocation, isWriting: Bool = false) throws {
        let settings = try invocation.settings(requiring: [.kafka])
        console = invocation.console
        users = settings.backend.users
        let context = settings.campaignContext(environment: invocation.environment)
        let layout = try context.layout(
            reach: settings.clusterReach, admin: settings.adminClient(), isWriting: isWriting)
        (self.context, self.layout) = (context, layout)
        reader = try context.campaigns(layout)
        try reader.catchUp(throughOpenTransactions: isWriting)
        for damage in reader.index.damages {
            console.remark(
                SafeText.escaped(
                    "Ignored: the record \(damage.place) of \(context.topics.campaigns), key "
                        + "\(SafeText.quoted(damage.key)): \(damage.reason)."))
        }
    }

    func campaign(_ name: String) throws -> CampaignIndex.Campaign {
        if let campaign = reader.index.campaign(name) { return campaign }
        let suggestion = Suggestion.nearest(to: name, in: reader.index.names).map { "; did you mean \($0)?" }
        throw CommandFailure(
            "there is no campaign \(name)" + (suggestion ?? "; herald campaign status lists all of them")
                + ". Events that others published with this label are in herald dlq list --where \"campaign = '\(name)'\" "
                + "when they fail")
    }

    /// The campaign's definition, which only `herald campaign start` writes.
    func definition(of campaign: CampaignIndex.Campaign) throws -> CampaignDefinition {
        if let definition = campaign.definition { return definition }
        throw CommandFailure(
            "campaign \(campaign.name) is \(campaign.state.rawValue), and nothing else is known of it: it was not started "
                + "with herald campaign start")
    }

    /// How campaigns stand, in their order, with a bar while their outcomes are counted, and whether all were counted.
    ///
    /// - Parameter end: when the counting ends, however far it came; `nil` for never.
    func statuses(
        of campaigns: [CampaignIndex.Campaign], until end: ContinuousClock.Instant? = nil
    ) throws -> [(status: CampaignStatus, isWhole: Bool)] {
        var line = ProgressLine(console)
        defer { line.clear() }
        return try context.statuses(of: campaigns, layout) { passed, total in
            line.show(share: passed, of: total, "\(passed) of \(total) results read")
            return end.map { ContinuousClock.now < $0 } ?? true
        }
    }
}
