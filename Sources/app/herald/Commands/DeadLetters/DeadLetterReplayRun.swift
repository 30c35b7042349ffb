import HeraldCommandLine
import HeraldEvents
import HeraldReplay
import HeraldSettings
import HeraldTelemetry
import HeraldText
import HeraldTime
import HeraldTools

struct DeadLetterReplayRun {

    private typealias Command = DeadLetterReplayCommand

    private let invocation: Invocation
    private let console: Console
    private let settings: Settings
    private let selection: Selection
    private let replayer: Replayer
    private let rules: ReplayRules
    private let options: ReplayOptions

    init(_ invocation: Invocation, _ settings: Settings, _ selection: Selection) throws {
        self.invocation = invocation
        self.selection = selection
        self.settings = settings
        let parsed = invocation.parsed
        console = invocation.console
        let only = try parsed[Command.onlyPushServices].map {
            try settings.pushServices($0, of: "only-pns", in: parsed)
        }
        let foreign = try DeadLetterOptions.foreignTopic(parsed, settings, destination: parsed[Command.destination])
        replayer = try settings.replayer(
            environment: invocation.environment, foreign: foreign, isWriting: !parsed[Command.dryRun])
        var rules = replayer.context.rules
        rules.onlyPushServices = only
        rules.hasFreshKey = parsed[Command.freshKey]
        rules.isAgain = parsed[Command.again]
        rules.correction = try CorrectionRequest(
            invocation: invocation, settings: settings, replayer: replayer, selection: selection
        ).correction()
        if try !replayer.lookUpCampaigns(for: &rules) {
            console.remark(
                "Which campaigns are cancelled or paused is not known: this user may not read "
                    + "\(replayer.context.topics.campaigns). Workers deliver nothing of them.")
        }
        self.rules = rules
        var options = ReplayOptions()
        options.ramp = parsed[Command.ramp]
        options.stopShare = parsed[Command.stopShare]
        options.rate = parsed[Command.rate]
        options.patience =
            parsed[Command.wait]
            ?? (replayer.context.watchedTopic == nil ? options.patience : ReplayOptions.returnPatience)
        options.reason = parsed[Command.reason]
        options.selection = selection.text
        options.isAgain = rules.isAgain
        self.options = options
    }

    mutating func run() throws -> ExitStatus {
        let stop = try StopRequest.listen()
        let state = try replayer.context.state(replayer.layout)
        let plan = try stop.reading(console, interruption: "interrupted; nothing was replayed") { bar in
            try replayer.plan(selection, rules, state) { passed, total in
                bar.show(passed, of: total, "looking through \(passed) of \(total)\(bar.pace)")
            }
        }
        if let failure = DeadLetterOptions.failure(ofMissing: plan.missing, consequence: "; nothing was replayed") {
            throw failure
        }
        try replayer.context.checkDestinations(
            of: plan, reach: settings.clusterReach, admin: try settings.adminClient())
        let watchedTopic = replayer.context.watchedTopic
        let isEstimated = options.rate == nil && plan.count > 0 && watchedTopic == nil
        let forecast = ReplayForecast(
            plan, options, outcomesPerSecond: isEstimated ? replayer.outcomesPerSecond(now: SystemClock.wall()) : nil,
            hasOutcomes: watchedTopic == nil)
        let output = ReplayOutput(
            format: invocation.format, plan: plan, options: options,
            warnings: PlanWarnings(plan, isCorrected: rules.correction != nil, deadServices: []).sentences,
            forecast: forecast, watchedTopic: watchedTopic)
        let trouble = watchedTopic == nil && plan.count > 0 ? settings.workerTrouble() : nil
        if invocation.parsed[Command.dryRun] {
            try output.writePlan(console)
            if let trouble { console.complain(SafeText.escaped(trouble)) }
            return .done
        }
        if !console.isQuiet { for text in output.planLines { console.complain(text) } }
        guard plan.count > 0, let state else {
            console.remark("There is nothing to replay.")
            try console.report(output.writeNothing)
            // A command that names dead letters and gets none of them has been refused.
            return invocation.parsed[DeadLetterOptions.ids].isEmpty ? .done : .failed
        }
        if let trouble { console.complain(SafeText.escaped(trouble)) }
        let question = "Replay \(TopicsTool.counted(plan.count, "dead letter"))?"
        let isAssumed = invocation.parsed[Confirmation.option]
        guard
            try stop.confirm(
                question, count: plan.count, isAssumed: isAssumed, console, refusal: "Nothing was replayed.")
        else { return .needsConfirmation }
        let report = try replay(plan, state, stop, output)
        try console.report { console in try output.write(report, console) }
        let sentence = report.sentence(
            again: "run it again to continue with the rest", watchedTopic: replayer.context.watchedTopic)
        return report.end.conclude(
            sentence, published: report.progress.replayed, isWhole: report.progress.tooLarge == 0, console)
    }

    private func replay(
        _ plan: ReplayPlan, _ state: StateReader, _ stop: StopRequest, _ output: ReplayOutput
    ) throws -> ReplayReport {
        let screen = ReplayScreen(console, output)
        let trace = ToolTrace(settings)
        var replayer = replayer
        replayer.context.trace = trace?.context
        let report = try replayer.replay(
            plan, rules, options, state: state, isStopping: { stop.isMade }, onTurn: { screen.show($0, now: $1) })
        screen.clear()
        trace?.end(
            "replay", to: nil, count: report.progress.replayed, [SpanAttribute("herald.replay", report.job)], console)
        return report
    }
}
