import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools

/// One run of `herald campaign pause`, `resume` or `cancel`.
struct CampaignControlRun {
    let order: ControlOrder
    /// Whether the operator is to be asked first.
    var isAsking = false

    /// Who wants to stop something does not wait for millions of results: what is not counted by then is not finished.
    private static let patience = Duration.seconds(5)

    func run(_ invocation: Invocation) throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        let reason = order == .resume ? nil : parsed[CampaignOptions.reason]
        let query = try CampaignQuery(invocation, isWriting: true)
        defer { query.reader.close() }
        let campaign = try query.campaign(parsed[CampaignOptions.name])
        let status = try status(of: campaign, query)
        guard let control = try control(campaign, status, by: query.context.operatorName, reason) else {
            console.remark("Campaign \(campaign.name) is \(campaign.state.rawValue) already.")
            try write(campaign, nil, invocation)
            return .done
        }
        if isAsking {
            let isAssumed = parsed[CampaignOptions.yes]
            if !isAssumed, !console.isQuiet { console.complain(Self.consequence(of: status)) }
            guard
                try Confirmation.ask("Cancel campaign \(campaign.name)?", isAssumed: isAssumed, console: console)
            else {
                console.complain("Nothing was cancelled.")
                return .needsConfirmation
            }
        }
        try query.context.write(control, order, of: campaign.name)
        try write(campaign, control, invocation)
        return .done
    }

    /// How it stands; outcomes are only counted when that can matter.
    private func status(of campaign: CampaignIndex.Campaign, _ query: CampaignQuery) throws -> CampaignStatus {
        guard order.needsUnfinished, campaign.state != .cancelled, campaign.state != order.state,
            campaign.progress?.isComplete ?? false || isAsking
        else { return CampaignStatus(campaign: campaign, count: OutcomeCount(), now: SystemClock.wall()) }
        return try query.statuses(of: [campaign], until: .now + Self.patience)[0].status
    }

    private func control(
        _ campaign: CampaignIndex.Campaign, _ status: CampaignStatus, by name: String, _ reason: String?
    ) throws -> CampaignControl? {
        switch order.decision(
            for: campaign, isFinished: status.isFinished, at: SystemClock.wall(), by: name, reason: reason)
        {
        case .write(let control): return control
        case .unchanged: return nil
        case .isCancelled(let control):
            throw CommandFailure(
                "campaign \(campaign.name) was cancelled \(CampaignWords.origin(of: control)), which is for ever; "
                    + "start another one under a new name")
        case .isFinished:
            throw CommandFailure(
                "campaign \(campaign.name) is finished: all of its \(status.count.known) outcomes are known, and there "
                    + "is nothing left to \(order.rawValue)")
        }
    }

    private static func consequence(of status: CampaignStatus) -> String {
        var text = "\(status.count.delivered) notifications are delivered; "
        text += "\(status.open) that are published end as cancelled"
        if status.unpublished > 0 { text += ", and \(status.unpublished) are never published" }
        return text + ". A cancelled campaign cannot be started again."
    }

    private func write(
        _ campaign: CampaignIndex.Campaign, _ control: CampaignControl?, _ invocation: Invocation
    ) throws {
        let present = control ?? campaign.control
        let state = present?.state ?? campaign.state
        try invocation.parsed[OutputFormat.option].write(
            [
                .init("name", .string(campaign.name)), .init("was", .string(campaign.state.rawValue)),
                .init("is", .string(state.rawValue)), .init("changed", .bool(control != nil)),
                .init("at", .text(present?.at.text)), .init("by", .text(present?.by)),
                .init("reason", .text(present?.reason)),
            ],
            lines: [
                "campaign  \(campaign.name)", "was       \(CampaignWords.state(campaign.state, campaign.control))",
                "is        \(CampaignWords.state(state, present))",
            ], to: invocation.console)
    }
}
