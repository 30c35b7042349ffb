import HeraldCommandLine
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools

enum RecallCommand: HeraldCommand {
    private static let id = CommandOption.optional("id", .text("ID"), "The event's id; needs --user.")
    private static let user = CommandOption.optional("user", .text("USER"), "The event's user.")
    private static let source = CommandOption.optional("source", .text("SOURCE"), "The event's source, if it has one.")
    private static let campaign = CommandOption.optional("campaign", .text("NAME"), "All events of this campaign.")
    private static let reason = CommandOption.optional(
        "reason", .text("TEXT"), "Why; results of recalled notifications have it, and the audit topic.")
    private static let withdraw = CommandOption.flag("withdraw", "Take a recall back.")

    static let declaration = CommandDeclaration(
        "recall", "Recall an event or a campaign: what is not called yet ends as suppressed, whenever it comes.",
        details:
            "Workers with preferences.enabled obey within a second on a quiet cluster. Retries and replays are recalled "
            + "too. What it cannot do: calls that have begun finish, and what a push service has taken is not taken back. An "
            + "event is known by its id, user and source together; one without a source is recalled without --source. A "
            + "campaign's publisher goes on publishing: herald campaign cancel ends it. --withdraw lets later calls begin; "
            + "what ended meanwhile stays suppressed. A campaign needs a confirmation; without a terminal --yes, or it "
            + "exits with 4.",
        options: [
            id, user, source, campaign, reason, withdraw, Confirmation.option, OutputFormat.option,
        ],
        examples: [
            .init("herald recall --id order-17 --user ann --source shop --reason 'wrong price'", "One event."),
            .init("herald recall --campaign spring --reason 'wrong link'", "All events of a campaign."),
            .init("herald recall --campaign spring --withdraw", "What has not ended goes on."),
        ])
    static let usedSettings = PreferencesTool.usedSettings

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let parsed = invocation.parsed
        let isWithdrawn = parsed[withdraw]
        let stop = try StopRequest.listen()
        let subject = try subject(parsed)
        let tool = try PreferencesTool(invocation)
        let topic = tool.context.topics.recalls
        _ = try tool.partitions(of: topic, isWriting: true)
        if case .campaign(let name) = subject, !isWithdrawn {
            let question = "Recall campaign \(SafeText.quoted(name))?"
            guard
                try stop.confirm(
                    question, isAssumed: parsed[Confirmation.option], tool.console, refusal: "Nothing was recalled.")
            else { return .needsConfirmation }
        } else {
            stop.beginWork()
        }
        let now = SystemClock.wall()
        let recall = Recall(at: now, by: tool.context.operatorName, reason: parsed[reason])
        var entry = tool.context.audit(
            isWithdrawn ? "recall.withdraw" : "recall", reason: parsed[reason], at: now.text)
        entry.selection = words(subject)
        try tool.context.write(
            to: topic, key: subject.key, value: isWithdrawn ? nil : recall.encoded(), entry,
            otherwise: isWithdrawn ? "the recall stays" : "nothing is recalled")
        try invocation.format.write(
            [.init("subject", .string(words(subject))), .init("isRecalled", .bool(!isWithdrawn))],
            lines: [
                SafeText.escaped(
                    isWithdrawn
                        ? "\(words(subject)): the recall is withdrawn; what ended meanwhile stays suppressed"
                        : "\(words(subject)) is recalled; calls that have begun are not undone")
            ], to: invocation.console)
        return .done
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

    private static func words(_ subject: Recall.Subject) -> String {
        switch subject {
        case .campaign(let name): "campaign \(name)"
        case .event(let id, let user, let source):
            "event \(id) of \(user)" + (source.map { " from \($0)" } ?? "")
        }
    }
}
