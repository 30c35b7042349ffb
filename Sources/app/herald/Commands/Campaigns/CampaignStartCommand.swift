import HeraldCampaigns
import HeraldCommandLine
import HeraldText
import HeraldTools

/// `herald campaign start`: notifies each recipient of an audience once.
enum CampaignStartCommand: HeraldCommand {
    static let name = CommandOption.optional(
        "name", CampaignOptions.nameType, "What the campaign is called; the same name continues it.")
    static let audience = CommandOption.optional(
        "audience", .file("FILE"), "The recipients: CSV with a column user, or JSON lines; - is standard input.")
    static let format = CommandOption.optional(
        "format", .choice(AudienceFormat.self), "How the audience is written, if its name does not say.")
    static let message = CommandOption.optional(
        "message", .text("TEXT"), "What they get, with fields of the audience such as {{first_name}}.")
    static let messageFile = CommandOption.optional(
        "message-file", .file("FILE"), "The same from a file, without its last line's end.")
    static let pushServices = CommandOption.optional(
        "pns", .pushServices, "The push services, such as apns,gcm.")
    static let topic = CommandOption.optional(
        "topic", .text("TOPIC"), "The request topic; the second of topics.requests if not given.")
    static let rate = CommandOption.optional(
        "rate", .rate, "Recipients per second at most, such as 200/s or 12000/m.")
    static let ramp = CommandOption.optional(
        "ramp",
        ValueType<Ramp>("N,…", allowed: "numbers of recipients such as 1,10,100") { text in
            Ramp(text).flatMap { $0.sizes.dropLast().contains(nil) || $0.sizes == [nil] ? nil : $0 }
        },
        "Begin with so many, then so many more; the outcomes of each step are waited for.")
    static let pauseShare = CommandOption.optional(
        "pause-if-failures", .percentage,
        "Pause when a larger share of the outcomes is bad, after 200 or a step of the ramp; workers watch it, too.")
    static let expiresIn = CommandOption.optional(
        "expires-in", .duration(), "Notify nobody later than this after the first start.")
    static let invalidFile = CommandOption.optional(
        "invalid-file", .file("FILE"),
        "Where lines go that are no recipients; NAME.invalid.csv if not given, made when there are any.")
    static let dryRun = CommandOption.flag("dry-run", "Only look through the audience; needs no broker.")

    static let declaration = CommandDeclaration(
        "start", "Publish a campaign: previewed, confirmed, each recipient once; the same command continues it.",
        details: "The audience is read to its end first: the preview counts recipients, repeats and invalid lines, "
            + "and shows three messages. A field that the audience does not have is an error before anything is sent.\n\n"
            + "Who was notified is remembered in Kafka as a set, not as a place in the file. Whatever interrupts it (Ctrl-C, a "
            + "kill, a lost machine), the same command goes on with those who are left, on any machine. A second "
            + "publisher of a campaign takes over from the first. It stays at most 10000 notifications ahead of their "
            + "outcomes, so that pause and cancel take hold at once.\n\n"
            + "Over 100 recipients the count has to be typed; without a terminal --yes is needed, or it ends with 4. "
            + "It ends with 0 when all are delivered, and with 3 when some are not, or when it was interrupted or cancelled, "
            + "or, without a terminal, paused because of failures.",
        options: [
            name.declaration, audience.declaration, format.declaration, message.declaration, messageFile.declaration,
            pushServices.declaration, topic.declaration, rate.declaration, ramp.declaration, pauseShare.declaration,
            expiresIn.declaration, invalidFile.declaration, dryRun.declaration, CampaignOptions.yes.declaration,
            OutputFormat.option.declaration,
        ],
        examples: [
            .init(
                "herald campaign start --name spring --audience users.csv --message 'Hi {{first_name}}' --pns apns,gcm --dry-run",
                "What would happen."),
            .init(
                "herald campaign start --name spring --audience users.csv --message-file hi.txt --pns apns,gcm --ramp 1,10,100 "
                    + "--rate 200/s --pause-if-failures 5% --expires-in 6h",
                "Slowly, and with an eye on failures."),
        ])
    static let heeds: HeededSettings = .cluster + .topicNames + .events

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let request = try CampaignStartRequest(invocation.parsed)
        var run = try CampaignStartRun(request, invocation)
        return try run.run()
    }
}
