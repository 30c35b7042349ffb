import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools

/// A command that changes a campaign's state: an order, and how it is asked for.
protocol CampaignControlCommand: HeraldCommand {
    static var order: ControlOrder { get }
}

enum CampaignPauseCommand: CampaignControlCommand {
    static let order = ControlOrder.pause
    static let declaration = CommandDeclaration(
        "pause", "Pause a campaign: its publisher stops, and workers suspend its waiting events until it is resumed.",
        details:
            "Workers obey within a second, its publisher after one more batch at most. Calls in flight finish; "
            + "suspended events lose no attempt, and nobody else waits for them.",
        arguments: [CampaignOptions.name],
        options: [CampaignOptions.reason, OutputFormat.option],
        examples: [.init("herald campaign pause spring --reason 'the link is wrong'", "Nobody else gets the link.")])
}

enum CampaignResumeCommand: CampaignControlCommand {
    static let order = ControlOrder.resume
    static let declaration = CommandDeclaration(
        "resume", "Resume a paused campaign where it was, or let it go on behind a hold.",
        details:
            "Suspended events are delivered when their delay ends. A running publisher continues by itself; if none "
            + "runs, start the campaign again with the same audience. --pause-if-failures stays as it was.\n\n"
            + "One that waits for you (--hold-after) goes on to its next hold, or to its end. Of one that is paused at a hold "
            + "the first resume ends the pause, and the second lets it go on.",
        arguments: [CampaignOptions.name], options: [OutputFormat.option],
        examples: [.init("herald campaign resume spring", "Go on.")])
}

enum CampaignCancelCommand: CampaignControlCommand {
    static let order = ControlOrder.cancel
    static let declaration = CommandDeclaration(
        "cancel", "End a campaign for good: undelivered notifications are never sent.",
        details:
            "Its publisher stops, and waiting events end with the outcome cancelled. A cancelled campaign cannot be "
            + "resumed or started again. Without a terminal it needs --yes, or exits with 4.",
        arguments: [CampaignOptions.name],
        options: [Confirmation.option, CampaignOptions.reason, OutputFormat.option],
        examples: [.init("herald campaign cancel spring --reason 'wrong audience'", "After a confirmation.")])
}

enum CampaignFinishCommand: CampaignControlCommand {
    static let order = ControlOrder.finish
    static let declaration = CommandDeclaration(
        "finish", "Declare a fully published campaign finished: what is open is left to its retries.",
        details:
            "One user whose calls are retried for hours keeps a campaign running otherwise. Its publisher ends; open "
            + "notifications may still be delivered, and then count. People can be added to it as to any finished one.",
        arguments: [CampaignOptions.name], options: [CampaignOptions.reason, OutputFormat.option],
        examples: [.init("herald campaign finish spring", "Do not wait for the last retries.")])
}

extension CampaignControlCommand {
    static var usedSettings: UsedSettings { .cluster + .topics("results", "campaigns", "audit") }

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        let stop = try StopRequest.listen()
        let query = try CampaignQuery(invocation, isWriting: true)
        defer { query.reader.close() }
        let campaign = try query.campaign(parsed[CampaignOptions.name])
        let plan = ControlPlan(order, try status(of: campaign, query))
        let reason = order == .resume ? nil : parsed[CampaignOptions.reason]
        guard let control = try plan.control(at: SystemClock.wall(), by: query.context.operatorName, reason: reason)
        else {
            console.remark(plan.unchanged)
            try write(plan, nil, invocation)
            return .done
        }
        if order == .cancel {
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
    private static func status(of campaign: CampaignIndex.Campaign, _ query: CampaignQuery) throws -> CampaignStatus {
        guard campaign.state != .cancelled,
            campaign.progress?.isComplete ?? false || order == .cancel || (order == .resume && campaign.hold != nil)
        else { return CampaignStatus(campaign: campaign, count: OutcomeCount(), now: SystemClock.wall()) }
        // It does not wait for millions of results: what is not counted by then is not finished.
        return try query.statuses(of: [campaign], until: .now + .seconds(5))[0].status
    }

    private static func write(_ plan: ControlPlan, _ control: ControlRecord?, _ invocation: Invocation) throws {
        let campaign = plan.campaign
        if case .go(let go) = control {
            return try invocation.format.write(
                plan.members(control),
                lines: [
                    "campaign  \(campaign.name)", "was       \(CampaignStatus.State.waiting.rawValue)",
                    "is        running since \(WallTime(milliseconds: go.at).text) by \(SafeText.escaped(go.by))",
                    plan.consequence,
                ], to: invocation.console)
        }
        let written: CampaignControl? = if case .state(let control) = control { control } else { nil }
        let present = written ?? campaign.control
        let isOver = control == nil && plan.status.isFinished
        try invocation.format.write(
            plan.members(control),
            lines: [
                "campaign  \(campaign.name)",
                "was       \(isOver ? "finished" : CampaignWords.state(campaign.state, campaign.control))",
                "is        \(isOver ? "finished" : CampaignWords.order(present, else: campaign.state))",
            ], to: invocation.console)
    }
}
