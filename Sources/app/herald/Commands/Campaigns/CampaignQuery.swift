import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

/// What the campaigns topic says, for one run of a command.
struct CampaignQuery {
    let context: CampaignContext
    let layout: CampaignContext.Layout
    let reader: CampaignReader
    private let console: Console

    /// Reads the topic to its end.
    ///
    /// - Parameter isWriting: whether something is to be decided by it: then what is under way now is waited for.
    init(_ invocation: Invocation, isWriting: Bool = false) throws {
        let settings = try invocation.settings(requiring: [.kafka])
        console = invocation.console
        let context = settings.campaignContext(environment: invocation.environment)
        let layout = try settings.campaignLayout(context, isWriting: isWriting)
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

    /// What is known of the campaign.
    func campaign(_ name: String) throws -> CampaignIndex.Campaign {
        if let campaign = reader.index.campaign(name) { return campaign }
        let suggestion = Suggestion.nearest(to: name, in: reader.index.names).map { "; did you mean \($0)?" }
        throw CommandFailure(
            "there is no campaign \(name)" + (suggestion ?? "; herald campaign status lists all of them"))
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
    /// The publisher's own count is where it begins: what came since then is added, replays of a finished campaign too.
    ///
    /// - Parameter end: when the counting ends, however far it came; `nil` for never.
    func statuses(
        of campaigns: [CampaignIndex.Campaign], until end: ContinuousClock.Instant? = nil
    ) throws -> [(status: CampaignStatus, isWhole: Bool)] {
        let now = SystemClock.wall()
        var statuses = campaigns.map { campaign in
            let known = OutcomeCount(snapshot: campaign.progress?.outcomes ?? [:])
            return (status: CampaignStatus(campaign: campaign, count: known, now: now), isWhole: true)
        }
        // First those that change: who has finished long ago is far back in the topic, and may have to wait too long.
        for isFinished in [false, true] {
            let indices = statuses.indices.filter {
                statuses[$0].status.isFinished == isFinished && campaigns[$0].definition != nil
            }
            let subjects = indices.compactMap { index in
                campaigns[index].definition.map { OutcomeReader.Subject($0, after: campaigns[index].progress) }
            }
            guard !subjects.isEmpty else { continue }
            let (counts, isWhole) = try count(subjects, until: end)
            for index in indices {
                statuses[index].isWhole = isWhole
                if let count = counts[campaigns[index].name]?.count { statuses[index].status.count = count }
            }
        }
        return statuses
    }

    private func count(
        _ subjects: [OutcomeReader.Subject], until end: ContinuousClock.Instant?
    ) throws -> ([String: OutcomeReader.Subject], isWhole: Bool) {
        var line = ProgressLine(console)
        defer { line.clear() }
        let reader = try context.outcomes(of: subjects, layout)
        defer { reader.close() }
        let isWhole = try reader.catchUp(onProgress: { passed, total in
            line.show(share: passed, of: total, "\(passed) of \(total) results read")
            return end.map { ContinuousClock.now < $0 } ?? true
        })
        return (reader.subjects, isWhole)
    }
}

extension ProgressLine {
    /// Shows a bar of a part of a whole.
    mutating func show(share part: Int64, of whole: Int64, _ text: @autoclosure () -> String) {
        show(share: whole > 0 ? Double(part) / Double(whole) : 1, text())
    }
}
