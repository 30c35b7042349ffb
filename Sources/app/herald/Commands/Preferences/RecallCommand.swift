import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldReplay
import HeraldText
import HeraldTimeline
import HeraldTools

enum RecallCommand: HeraldCommand {
    private static let id = CommandOption.optional("id", .text("ID"), "The event's id; needs --user.")
    private static let user = CommandOption.optional("user", .text("USER"), "The event's user.")
    private static let source = CommandOption.optional("source", .text("SOURCE"), "The event's source, if it has one.")
    private static let campaign = CommandOption.optional("campaign", .text("NAME"), "All events of this campaign.")
    private static let reason = CommandOption.optional(
        "reason", .text("TEXT"), "Why; results of recalled notifications have it, and the audit topic.")
    private static let withdraw = CommandOption.flag("withdraw", "Take a recall back.")
    private static let dryRun = CommandOption.flag("dry-run", "Only say what is not called yet.")
    /// A recall is urgent: what is not counted by then is said to be so.
    private static let patience = Duration.seconds(5)

    static let declaration = CommandDeclaration(
        "recall", "Recall an event or a campaign: what is not called yet ends as suppressed, whenever it comes.",
        details:
            "It says first how many notifications have no outcome yet, and looks for five seconds at most; --dry-run "
            + "looks to the end, and writes nothing. herald campaign status, or herald explain, says afterwards how many "
            + "were suppressed. Workers with preferences.enabled obey within a second on a quiet cluster. Retries and replays are recalled "
            + "too. What it cannot do: calls that have begun finish, and what a push service has taken is not taken back. An "
            + "event is known by its id, user and source together; one without a source is recalled without --source. A "
            + "campaign's publisher goes on publishing: herald campaign cancel ends it. --withdraw lets later calls begin; "
            + "what ended meanwhile stays suppressed; of what is not recalled it exits with 1, and writes nothing. A campaign needs a confirmation; without a terminal --yes, or it "
            + "exits with 4.",
        options: [
            id, user, source, campaign, reason, withdraw, dryRun, Confirmation.option, OutputFormat.option,
        ],
        examples: [
            .init("herald recall --id order-17 --user ann --source shop --reason 'wrong price'", "One event."),
            .init("herald recall --campaign spring --dry-run", "How many of a campaign are not called yet."),
            .init("herald recall --campaign spring --reason 'wrong link'", "All events of a campaign."),
            .init("herald recall --campaign spring --withdraw", "What has not ended goes on."),
        ])
    static let usedSettings: UsedSettings =
        PreferencesTool.usedSettings
        + .topics("requests", "results", "retry", "deadLetter", "campaigns", "feedback", "state") + .events + ["retry"]

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let parsed = invocation.parsed
        let (isWithdrawn, isDryRun) = (parsed[withdraw], parsed[dryRun])
        let stop = try StopRequest.listen()
        let subject = try subject(parsed)
        let tool = try PreferencesTool(invocation)
        _ = try tool.partitions(of: tool.context.topics.recalls, isWriting: !isDryRun)
        let known = try tool.context.recall(
            of: subject, reach: tool.settings.clusterReach, admin: tool.settings.adminClient(),
            onProgress: { _, _ in !stop.isMade })
        if isWithdrawn, known == nil {
            throw CommandFailure(SafeText.escaped("\(subject.words) is not recalled: nothing was withdrawn"))
        }
        var scope = try scope(subject, invocation, stop, isDryRun: isDryRun)
        // They are of what a recall does.
        if isWithdrawn { scope.sentences = [] }
        if let known, isDryRun || !isWithdrawn { scope.sentences.append(sentence(known)) }
        var members: [JSONValue.Member] = [.init("subject", .string(subject.words)), .init("before", scope.json)]
        guard !isDryRun else {
            try invocation.format.write(
                members, lines: scope.sentences.map { SafeText.escaped($0) }, to: invocation.console)
            return .done
        }
        for sentence in scope.sentences { tool.console.remark(SafeText.escaped(sentence)) }
        if case .campaign(let name) = subject, !isWithdrawn {
            let question = "Recall campaign \(SafeText.quoted(name))?"
            guard
                try stop.confirm(
                    question, isAssumed: parsed[Confirmation.option], tool.console, refusal: "Nothing was recalled.")
            else { return .needsConfirmation }
        } else {
            stop.beginWork()
        }
        try tool.context.recall(subject, isWithdrawn: isWithdrawn, reason: parsed[reason])
        members.append(.init("isRecalled", .bool(!isWithdrawn)))
        try invocation.format.write(
            members,
            lines: [
                SafeText.escaped(
                    isWithdrawn
                        ? (known ?? Recall()).withdrawal(of: subject, left: scope.left)
                        : "\(subject.words) is recalled; calls that have begun are not undone")
            ], to: invocation.console)
        if !isWithdrawn, scope.isKnown {
            tool.console.remark(SafeText.escaped("\(follow(subject)) says how many were suppressed."))
        }
        return .done
    }

    /// That it is recalled already, since when and by whom.
    private static func sentence(_ recall: Recall) -> String {
        "It is recalled already" + (recall.at.map { ", since \($0.text)" } ?? "")
            + (recall.by.map { " by \($0)" } ?? "")
            + (recall.reason.map { ": \($0)" } ?? "") + "."
    }

    /// What it finds; a recall that cannot know goes on.
    private static func scope(
        _ subject: Recall.Subject, _ invocation: Invocation, _ stop: StopRequest, isDryRun: Bool
    ) throws -> RecallScope {
        let end = isDryRun ? nil : ContinuousClock.now + patience
        do {
            switch subject {
            case .campaign(let name):
                let query = try CampaignQuery(invocation)
                defer { query.reader.close() }
                guard let campaign = query.reader.index.campaign(name) else {
                    let nearest = Suggestion.nearest(to: name, in: query.reader.index.names)
                    return RecallScope(unknownCampaign: name, nearest: nearest)
                }
                let (status, isWhole) = try query.statuses(of: [campaign], until: end)[0]
                return RecallScope(status, isWhole: isWhole)
            case .event(let id, let user, let source):
                let run = try TimelineRun(invocation)
                let query = TimelineQuery(user: user, id: id)
                let found = try stop.reading(invocation.console) { bar in
                    try run.search.run(query, reach: run.reach, admin: run.admin) { passed, total in
                        bar.show(passed, of: total, "\(passed) of \(total) records read\(bar.pace)")
                            && end.map { ContinuousClock.now < $0 } ?? true
                    }
                }
                return RecallScope(found, source: source)
            }
        } catch  where !isDryRun && !stop.isMade {
            return RecallScope(left: nil, sentences: ["What is not called yet is not known: \(error)."])
        }
    }

    /// The command that shows what became of it.
    private static func follow(_ subject: Recall.Subject) -> String {
        switch subject {
        case .campaign(let name): "herald campaign status \(Selection.quoted(name))"
        case .event(let id, let user, _): "herald explain \(Selection.quoted(id)) --user \(Selection.quoted(user))"
        }
    }

    private static func subject(_ parsed: ParsedCommand) throws -> Recall.Subject {
        if let name = parsed[campaign] {
            guard parsed[id] == nil, parsed[user] == nil, parsed[source] == nil else {
                throw parsed.mistake("--campaign and --id, --user or --source do not go together")
            }
            guard !name.isEmpty else { throw parsed.mistake("--campaign is empty") }
            return .campaign(name)
        }
        guard let id = parsed[id], let user = parsed[user], !id.isEmpty, !user.isEmpty else {
            throw parsed.mistake("--id and --user are needed, or --campaign")
        }
        if parsed[source] == "" { throw parsed.mistake("--source is empty; leave it out for an event without one") }
        return .event(id: id, user: user, source: parsed[source])
    }
}
