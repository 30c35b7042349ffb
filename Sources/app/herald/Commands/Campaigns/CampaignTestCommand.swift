import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

enum CampaignTestCommand: HeraldCommand {
    private static let users = CommandOption.optional(
        "to", .text("USER,…"), "Who gets it, 20 users at most, such as me,anna.")
    private static let audience = CommandOption.optional(
        "audience", .file("FILE"),
        "The campaign's audience: a user's own line fills the texts in, or else its first recipient's.")
    private static let noWait = CommandOption.flag("no-wait", "Only publish; do not wait for the outcomes.")

    static let declaration = CommandDeclaration(
        "test", "Send a campaign's notification to yourself first; no campaign exists afterwards.",
        details:
            "It publishes an event for each of the users at once, to the campaign's request topic, so that the class of that "
            + "topic and the users' opt-outs and quiet hours hold as they would for the campaign. The events name no "
            + "campaign and have ids of their own: whoever gets a test gets the campaign, too.\n\n"
            + "It waits for the outcome on each push service, a minute at most. The exit status is 0 if all are delivered, and 3 "
            + "if some are not, or that is not known. The audit topic has who did it.",
        options: [users, audience] + AudienceOptions.all + [
            CampaignStartCommand.message, CampaignStartCommand.messageFile, CampaignStartCommand.messageColumn,
        ] + ContentOptions.all + [
            CampaignStartCommand.pushServices, CampaignStartCommand.topic, noWait, OutputFormat.option,
        ],
        examples: [
            .init(
                "herald campaign test --to me,anna --audience users.csv --message 'Hi {{first_name}}' --title 'For you' --pns apns,gcm",
                "See on two phones what the campaign will send.")
        ])
    static let usedSettings: UsedSettings =
        .cluster + .workers + .topics("requests", "results", "campaigns", "audit") + .events + .contentReach

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        guard let to = parsed[users], let services = parsed[CampaignStartCommand.pushServices] else {
            throw parsed.mistake("--to, --pns and --message, --message-file or --message-column are needed")
        }
        let names: [String]
        do throws(ToolFailure) {
            names = try CampaignTest.users(to)
        } catch {
            throw parsed.mistake("--to: \(error)")
        }
        let template = try CampaignStartRun.template(parsed)
        let settings = try invocation.settings(requiring: [.kafka])
        let topic = try CampaignStartRun.topic(parsed, settings)
        let text = CampaignText(
            name: "test", template: template, pushServices: try settings.pushServices(services, of: "pns", in: parsed),
            maximumEventBytes: settings.limits.eventBytes, users: settings.backend.users)
        let audience = try parsed[audience].map {
            try Audience(path: $0, AudienceOptions.form(parsed), copyingInto: invocation.temporaryDirectory)
        }
        let test = try CampaignTest(to: names, text, audience: audience)
        for warning in settings.contentReach.warnings(test.events[0].contentFields, to: text.pushServices) {
            console.complain("warning: \(SafeText.escaped(warning))")
        }
        if let user = test.filledBy {
            console.remark("Users without a line in the audience get the texts of \(SafeText.escaped(user)).")
        }
        let context = settings.campaignContext(environment: invocation.environment)
        let layout = try context.layout(reach: settings.clusterReach, admin: settings.adminClient(), isWriting: true)
        let stop = try StopRequest.listen()
        stop.beginWork()
        let isWaiting = !parsed[noWait]
        if let trouble = settings.workerTrouble(for: text.pushServices) { console.complain(SafeText.escaped(trouble)) }
        var output = PublishOutput(
            invocation.format, hasLines: false, hasOutcomes: isWaiting, naming: OutcomeCount.name, console: console)
        let missing = try context.send(
            test, to: topic, layout, text, pushServices: try settings.pushServices(),
            for: isWaiting ? CampaignTest.patience : nil, at: SystemClock.wall(), isStopping: { stop.isMade },
            onPublished: { if !isWaiting { output.write($0) } }, onOutcome: { output.write($0) })
        for entry in missing { output.write(entry) }
        try output.finish()
        if !missing.isEmpty {
            console.remark(
                "\(CampaignWords.counted(missing.count, "notification")) without an outcome so far; herald find --user USER says why."
            )
        }
        return output.isAllDelivered ? .done : .partlyDone
    }
}
