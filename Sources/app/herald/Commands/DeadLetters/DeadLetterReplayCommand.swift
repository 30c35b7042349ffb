import HeraldCommandLine
import HeraldReplay
import HeraldSettings
import HeraldText
import HeraldTools

enum DeadLetterReplayCommand: HeraldCommand {
    static let dryRun = CommandOption.flag("dry-run", "Only show the plan.")
    static let reason = CommandOption.optional("reason", .text("TEXT"), "Why; goes into the audit topic.")
    static let ramp = CommandOption.standard(
        "ramp",
        ValueType<Ramp>("N,…,all", allowed: "sizes of batches such as 1,5,50,all") { Ramp($0) },
        default: "1,5,50,all", "The sizes of growing batches; each waits for the outcomes of the one before.")
    static let stopShare = CommandOption.standard(
        "stop-if-failures", .percentage, default: "20%", "Stop when a larger share of a batch's outcomes is bad.")
    static let rate = CommandOption.optional("rate", .rate, "Dead letters per second at most, such as 200/s or 30/m.")
    static let wait = CommandOption.optional(
        "wait", .duration(),
        "How long to wait for the outcomes of a batch, 10m if not given; where others read it, for what comes back (10s). "
            + "0 does not wait.")
    static let destination = CommandOption.optional(
        "to", .text("TOPIC"),
        "With --topic: publish there; needed for what came from a topic that is not in topics.requests.")
    static let onlyPushServices = CommandOption.optional("only-pns", .pushServices, "Only these push services of each.")
    static let freshKey = CommandOption.flag(
        "fresh-key", "Use new idempotency keys, so that the backend notifies even if it has seen the old ones.")
    static let set = CommandOption.repeated(
        "set", .text("FIELD=VALUE"),
        "Correct each: user=bob, message=TEXT, pns=apns,gcm, title=TEXT and so on; may be given once for each field, and an "
            + "empty title, link, image, data, badge, sound or category takes it away.")
    static let edit = CommandOption.flag(
        "edit", "Correct one dead letter in $VISUAL or $EDITOR; that its message is shown goes into the audit topic.")
    static let again = CommandOption.flag("again", "Also what was replayed or resolved before.")

    static let declaration = CommandDeclaration(
        "replay", "Publish dead letters again: planned, confirmed, in growing batches, each of them once.",
        details: "The plan is fixed before anything moves: what comes later is not touched. It shows what is left out "
            + "and why: replayed already, resolved, expired, over retry.replays. A replay goes to the request topic that it came "
            + "from, or to the first of topics.requests. The record and the mark that it was replayed are one transaction; "
            + "Ctrl-C, a kill or a second operator never replays one twice, and starting again goes on with the rest.\n\n"
            + "--set and --edit correct what is invalid or was rejected: what is published is shown first, has a new "
            + "idempotency key, and must be a valid event; the dead letter stays as it is.\n\n"
            + "With --topic the dead letters of others go to the request topics that they came from, or all to the topic of "
            + "--to, with their own headers. For a request topic each has to be a valid event, and its outcomes count. Of any "
            + "other topic nobody reports an outcome: the replay waits after each batch, and stops when too many of it have come "
            + "back as new dead letters.\n\n"
            + "Over 100 dead letters the count has to be typed; without a terminal --yes is needed, or it ends with 4. "
            + "When it is stopped, paused or its outcomes do not come, it ends with 3.",
        arguments: [DeadLetterOptions.ids],
        options: DeadLetterOptions.selection + [
            dryRun, Confirmation.option, reason, ramp, stopShare, rate, wait, onlyPushServices, freshKey, destination,
            set, edit, again, OutputFormat.option,
        ],
        examples: [
            .init("herald dlq replay 3:1742 --set pns=apns,gcm --reason 'misspelt'", "Correct one and replay it."),
            .init("herald dlq replay --group status=503 --dry-run", "What would be replayed."),
            .init(
                "herald dlq replay --where \"status = 503 and age < 12h\" --rate 200/s --reason 'backend was down'",
                "Replay what failed last night."),
        ])
    static let usedSettings: UsedSettings =
        .cluster + .workers + .topics("requests", "results", "deadLetter", "campaigns", "state", "audit") + .events
        + ["retry.replays"] + .traces

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let selection = try DeadLetterOptions.selection(invocation.parsed, needsChoice: true)
        let settings = try invocation.settings(requiring: [.kafka])
        try checkOptions(invocation.parsed)
        var run = try DeadLetterReplayRun(invocation, settings, selection)
        return try run.run()
    }

    /// Throws when an option is given that means nothing for the topic.
    private static func checkOptions(_ parsed: ParsedCommand) throws {
        let isForeign = parsed[DeadLetterOptions.topic] != nil
        let strangers: [any DeclaredOption] = isForeign ? [onlyPushServices, freshKey, set, edit] : [destination]
        if let option = strangers.first(where: parsed.has)?.declaration {
            throw parsed.mistake(
                isForeign
                    ? "--\(option.name) is for Herald's own dead letters, and does not go with --topic"
                    : "--\(option.name) needs --topic")
        }
    }
}
