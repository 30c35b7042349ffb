import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

/// What the campaigns topic says, for one run of a command.
struct CampaignLook {
    let world: CampaignWorld
    let layout: CampaignWorld.Layout
    let reader: CampaignReader
    private let console: Console

    /// Reads the topic to its end.
    ///
    /// - Parameter isWriting: whether something is to be decided by it: then what is under way now is waited for.
    init(_ invocation: Invocation, isWriting: Bool = false) throws {
        let settings = try invocation.settings(requiring: [.kafka])
        console = invocation.console
        let world = settings.campaignWorld(environment: invocation.environment)
        let layout = try settings.campaignLayout(world, isWriting: isWriting)
        (self.world, self.layout) = (world, layout)
        reader = try CommandFailure.translating { () throws(ToolFailure) in
            let reader = try world.campaigns(layout)
            try reader.catchUp(throughOpenTransactions: isWriting)
            return reader
        }
        for damage in reader.book.damages {
            console.remark(
                SafeText.escaped(
                    "Ignored: the record \(damage.place) of \(world.topics.campaigns), key "
                        + "\(SafeText.quoted(damage.key)): \(damage.reason)."))
        }
    }

    /// What is known of the campaign.
    func campaign(_ name: String) throws(CommandFailure) -> CampaignBook.Campaign {
        if let campaign = reader.book.campaign(name) { return campaign }
        let suggestion = Suggestion.nearest(to: name, in: reader.book.names).map { "; did you mean \($0)?" }
        throw CommandFailure(
            "there is no campaign \(name)" + (suggestion ?? "; herald campaign status lists all of them"))
    }

    /// The campaign's definition, which only `herald campaign start` writes.
    func definition(of campaign: CampaignBook.Campaign) throws(CommandFailure) -> CampaignDefinition {
        if let definition = campaign.definition { return definition }
        throw CommandFailure(
            "campaign \(campaign.name) is \(campaign.state.rawValue), and nothing else is known of it: it was not started "
                + "with herald campaign start")
    }

    /// The outcomes that are known, with a bar while they are counted, and whether all of them were counted.
    ///
    /// - Parameter end: when the counting ends, however far it came; `nil` for never.
    func status(
        of campaign: CampaignBook.Campaign, until end: ContinuousClock.Instant? = nil
    ) throws(CommandFailure) -> (CampaignStatus, isWhole: Bool) {
        var status = CampaignStatus(
            campaign: campaign, count: OutcomeCount(snapshot: campaign.progress?.outcomes ?? [:]),
            now: SystemClock.wall())
        // What the publisher has seen to its end need not be counted again; only replays can change it.
        guard let definition = campaign.definition, !status.isFinished else { return (status, isWhole: true) }
        var line = ProgressLine(console)
        defer { line.clear() }
        var isWhole = true
        try CommandFailure.translating { () throws(ToolFailure) in
            let reader = try world.outcomes(of: definition, after: campaign.progress, layout)
            defer { reader.close() }
            isWhole = try reader.catchUp(onProgress: { passed, total in
                line.show(share: passed, of: total, "\(campaign.name): \(passed) of \(total) results looked at")
                return end.map { ContinuousClock.now < $0 } ?? true
            })
            status.count = reader.count
        }
        return (status, isWhole)
    }
}

extension ProgressLine {
    /// Shows a bar of a part of a whole.
    mutating func show(share part: Int64, of whole: Int64, _ text: @autoclosure () -> String) {
        show(share: whole > 0 ? Double(part) / Double(whole) : 1, text())
    }
}
