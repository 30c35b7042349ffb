import HeraldCommandLine
import HeraldEvents
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

enum PublishCommand: HeraldCommand {
    static let user = CommandOption.optional("user", .text("USER"), "Whom to notify.").withForeignNames
    static let pushServices = CommandOption.optional("pns", .pushServices, "The push services, separated by commas.")
    static let message = CommandOption.optional("message", .text("TEXT"), "The message's text.")
        .withForeignNames
    static let id = CommandOption.optional(
        "id", .text("ID"),
        "The event's id, random if not given; with --file the prefix of ids of lines that have none.")
    static let source = CommandOption.optional("source", .text("SOURCE"), "Which service sends it.")
    static let campaign = CommandOption.optional(
        "campaign", .text("CAMPAIGN"),
        "A label that results and dead letters carry; herald campaign knows only what it started.")
    static let eventClass = CommandOption.optional(
        "class", .choice(EventClass.self), "What it is for; its topic's class may be stricter (topics.classes).")
    static let zone = CommandOption.optional(
        "zone", .text("ZONE"), "Its user's time zone, as Europe/Berlin, for quiet hours that name none.")
    static let expiresIn = CommandOption.optional("expires-in", .duration(), "Never sent later than this from now.")
    static let expiresAt = CommandOption.optional("expires-at", .moment, "Never sent after this moment.")
    static let notBefore = CommandOption.optional("not-before", .moment, "Never sent before this moment.")
    static let file = CommandOption.optional(
        "file", short: "f", .file(),
        "Events as JSON, one on each line, structured CloudEvents too; - is standard input.")
    static let topic = CommandOption.optional(
        "topic", .text("TOPIC"), "The request topic; the first of topics.requests if not given.")
    static let check = CommandOption.flag("check", "Only check the events; needs no broker, and publishes nothing.")
    static let wait = CommandOption.optional("wait", .duration(), "Wait for the final results, at most for this long.")

    static let declaration = CommandDeclaration(
        "publish", "Publish events: one from options, or many from a file.",
        details: "Every event is checked before the first is sent: if one is invalid, the exit status is 2 and "
            + "nothing is sent. All mistakes are named, and warnings of what is allowed and probably not meant, such as "
            + "expiresat for expiresAt, or a notification that is larger than a push service behind the hub of the settings takes. --check does only that, without a broker, and exits with 0 if all are valid; "
            + "with -o json or jsonl it prints a record for each event. A publication prints each event's topic, partition and offset. With --wait it prints a line with the outcome for "
            + "each push service, \"pending\" if there is none in time or its user's quiet hours last longer, and exits with 3 unless all are "
            + "delivered; a duplicate of one that was delivered counts as such. At its end it says why the last of the "
            + "others was not, as far as that is recorded.\n\n"
            + "After a partial publication (status 3, or 5 if no broker answers) publish again with "
            + "the same --id: Herald then uses the same idempotency keys.",
        options: [
            user, pushServices, message,
        ] + ContentOptions.all + [
            id, source, campaign, eventClass, zone, expiresIn, expiresAt, notBefore, file, topic, check, wait,
            OutputFormat.option,
        ],
        examples: [
            .init(
                "herald publish --user ann --pns apns,gcm --message 'Hello' --wait 30s", "One event, to its outcome."),
            .init(
                "herald publish --user ann --pns apns,gcm --title 'Your parcel' --message 'is here' --link shop://orders/17",
                "One that is more than a sentence."),
            .init("herald publish --file events.jsonl -o jsonl", "Many events, one on each line."),
            .init("herald publish --check --file events.jsonl", "Only check, without a broker."),
        ])
    static let usedSettings: UsedSettings =
        .cluster + .allTopics + .events + [
            "retry.delays", "backend.kind", "backend.hub.formats", "preferences.enabled",
        ]

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        var run = try PublishRun(invocation)
        return try run.run()
    }
}

extension ValueType<WallTime> {
    fileprivate static var moment: Self {
        Self("TIME", allowed: "an RFC 3339 date-time such as 2026-11-21T08:40:26Z") {
            RFC3339.parse($0.utf8.span.bytes)
        }
    }
}
