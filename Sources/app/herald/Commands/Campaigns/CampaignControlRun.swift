import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldTime

/// One run of `herald campaign pause`, `resume` or `cancel`.
struct CampaignControlRun {
    let order: ControlOrder
    /// Whether the operator is to be asked first.
    var isAsking = false

    /// A command that stops something does not wait for millions of results: what is not counted by then is not
    /// finished.
    private static let patience = Duration.seconds(5)

    func run(_ invocation: Invocation) throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        let reason = order == .resume ? nil : parsed[CampaignOptions.reason]
        let stop = try StopRequest.listen()
        let query = try CampaignQuery(invocation, isWriting: true)
        defer { query.reader.close() }
        let campaign = try query.campaign(parsed[CampaignOptions.name])
        let plan = ControlPlan(order, try status(of: campaign, query))
        guard let control = try plan.control(at: SystemClock.wall(), by: query.context.operatorName, reason: reason)
        else {
            console.remark(plan.unchanged)
            try write(plan, nil, invocation)
            return .done
        }
        if isAsking {
            let isAssumed = parsed[Confirmation.option]
            if !isAssumed, !console.isQuiet { console.complain(plan.consequence) }
            let question = "Cancel campaign \(campaign.name)?"
            guard try stop.confirm(question, isAssumed: isAssumed, console, refusal: "Nothing was cancelled.") else {
                return .needsConfirmation
            }
        }
        // What is written has a bound of its own.
        stop.beginWork()
        try query.context.write(control, order, of: campaign.name)
        try write(plan, control, invocation)
        return .done
    }

    /// How it stands; outcomes are only counted when that can matter.
    private func status(of campaign: CampaignIndex.Campaign, _ query: CampaignQuery) throws -> CampaignStatus {
        guard campaign.state != .cancelled, campaign.progress?.isComplete ?? false || isAsking
        else { return CampaignStatus(campaign: campaign, count: OutcomeCount(), now: SystemClock.wall()) }
        return try query.statuses(of: [campaign], until: .now + Self.patience)[0].status
    }

    private func write(_ plan: ControlPlan, _ control: CampaignControl?, _ invocation: Invocation) throws {
        let (campaign, present) = (plan.campaign, control ?? plan.campaign.control)
        let isOver = control == nil && plan.status.isFinished
        try invocation.parsed[OutputFormat.option].write(
            plan.members(control),
            lines: [
                "campaign  \(campaign.name)",
                "was       \(isOver ? "finished" : CampaignWords.state(campaign.state, campaign.control))",
                "is        \(isOver ? "finished" : CampaignWords.state(present?.state ?? campaign.state, present))",
            ], to: invocation.console)
    }
}
