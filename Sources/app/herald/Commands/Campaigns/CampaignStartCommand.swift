import HeraldCampaigns
import HeraldCommandLine
import HeraldText
import HeraldTools

enum CampaignStartCommand: HeraldCommand {
    static let name = CommandOption.optional(
        "name", CampaignOptions.nameType, "What the campaign is called; the same name continues it.")
    static let audience = CommandOption.optional(
        "audience", .file("FILE"), "The recipients: CSV with a header, or JSON lines; - is standard input.")
    static let message = CommandOption.optional(
        "message", .text("TEXT"), "What they get, with fields of the audience such as {{first_name}}.")
    static let messageFile = CommandOption.optional(
        "message-file", .file("FILE"), "The same from a file, without its last line's end.")
    static let messageColumn = CommandOption.optional(
        "message-column", .text("COLUMN"), "The audience's column that has each recipient's own message.")
    static let pushServices = CommandOption.optional("pns", .pushServices, "The push services, such as apns,gcm.")
    static let topic = CommandOption.optional(
        "topic", .text("TOPIC"), "The request topic; the second of topics.requests if not given.")
    static let rate = CommandOption.optional("rate", .rate, "Recipients per second at most, such as 200/s or 12000/m.")
    static let ramp = CommandOption.optional(
        "ramp",
        ValueType<[Int]>("N,…", allowed: "numbers of recipients such as 1,10,100, or none") { text in
            guard text != "none" else { return [] }
            return Ramp(text).flatMap { ramp in
                ramp.sizes.dropLast().contains(nil) || ramp.sizes == [nil] ? nil : ramp.sizes.compactMap { $0 }
            }
        },
        "Begin with this many, then this many more, waiting for the outcomes of each step; none drops the ramp that the "
            + "campaign has.")
    static let holds = CommandOption.optional(
        "hold-after",
        ValueType<[Int]>("N,…", allowed: "rising numbers of recipients such as 100,1000, or none") {
            CampaignHolds.parse($0)
        },
        "Wait when so many are published in all, until herald campaign resume; none drops the holds that the campaign has."
    )
    static let pauseShare = CommandOption.optional(
        "pause-if-failures", .percentage,
        "Pause if a larger share of the outcomes is bad, after 200 outcomes or a step of the ramp; workers check it "
            + "too.")
    static let at = CommandOption.optional(
        "at", .text("MOMENT"),
        "Begin then: 2026-12-24T09:00+01:00, or 2026-12-24T09:00 with --zone; now for at once, of a campaign that was to begin "
            + "later.")
    static let detach = CommandOption.flag(
        "detach",
        "Keep the audience in topics.audiences and end: a console or herald campaign run publishes it at --at.")
    static let zone = CommandOption.optional(
        "zone", .text("ZONE"), "The time zone of the moment of --at, such as Europe/Berlin.")
    static let expiresIn = CommandOption.optional(
        "expires-in", .duration(), "Notify nobody later than this after the first start, or the moment of --at.")
    static let invalidFile = CommandOption.optional(
        "invalid-file", .file("FILE"),
        "The file for invalid lines; NAME.invalid.csv if not given; written only if there are any.")
    static let maxInvalid = CommandOption.optional(
        "max-invalid", .percentage,
        "Start nothing if a larger share of the audience's lines is invalid, of 20 lines or more; 1% if not given. 0% "
            + "allows none.")
    static let exclude = CommandOption.repeated(
        "exclude", .file("FILE"), "Leave the users of this file out, which is read as an audience is; once for each.")
    static let excludeCampaign = CommandOption.repeated(
        "exclude-campaign", CampaignOptions.nameType,
        "Leave out who was delivered a notification of this campaign, on any push service; once for each.")
    static let excludeDelivered = CommandOption.optional(
        "exclude-delivered", .duration(),
        "Leave out who was delivered any campaign's notification within this time before the start, such as 7d.")
    static let replaceAudience = CommandOption.flag(
        "replace-audience", "Let another audience take the place of the one that the campaign had.")
    static let addPeople = CommandOption.flag(
        "add-people",
        "The audience has people to be added to a campaign that is fully published, alone or among those that it had.")
    static let dryRun = CommandOption.flag("dry-run", "Only read and check the audience; needs no broker.")

    static let declaration = CommandDeclaration(
        "start", "Publish a campaign: previewed, confirmed, each recipient once; the same command continues it.",
        details: "The audience is read to its end first: the preview counts recipients, repeats and invalid lines, "
            + "says how the file was read, and shows three messages. A field that the audience does not have is an error "
            + "before anything is sent, and so are more invalid lines than --max-invalid allows.\n\n"
            + "Title, link, image and data have fields of the audience, too. A link that is no URL when it is filled in, or a "
            + "title that is too long, is an invalid line; {{picture|}} leaves the image out for who has none.\n\n"
            + "Kafka keeps the set of notified recipients, not a position in the file. Whatever interrupts it "
            + "(Ctrl-C, a kill, a lost machine), the same command continues with the remaining recipients, on any "
            + "machine. Before it asks, it says how many remain, and whether the campaign's publisher lives: a second one takes "
            + "over from it. People that are appended to the audience are added; once all "
            + "are published, --add-people takes a file of them alone. An audience that may lack some of the former one "
            + "is refused without --replace-audience, and the status says so for ever. "
            + "Rate, ramp and --pause-if-failures of the last start stay, and are named, unless others are given. It publishes at most 10000 "
            + "notifications ahead of their outcomes, so that pause and cancel take effect at once.\n\n"
            + "Whom --exclude, --exclude-campaign and --exclude-delivered leave out is found before the preview, which counts them by "
            + "reason, and stays as it is: what is delivered later changes nothing, and the same command continues with the same "
            + "people. Name the same ones each time; others are refused.\n\n"
            + "With --at it waits: nobody is published before that moment, and the campaign is scheduled until then, as its status "
            + "says. It can be paused and cancelled, and another start with other texts, another audience or moment replaces it, as "
            + "its preview says. A publisher that ends before has to be started again, in time or late: then it begins at once. With --detach the "
            + "command ends when Kafka has the audience (users, and the fields of the texts), and any console that may make changes "
            + "or herald campaign run publishes it; it is deleted when the campaign is over.\n\n"
            + "Over 100 recipients you have to type the count; without a terminal it needs --yes, or exits with 4. "
            + "It exits with 0 if all are delivered, and with 3 if some are not, if it was interrupted or cancelled, "
            + "or if failures paused it without a terminal. Once all are published it waits for the last "
            + "outcome, but not for the end of quiet hours: when nothing else is open it says until when those sleep, which changes "
            + "no exit status, and herald campaign status has their outcomes later.",
        options: [name, audience] + AudienceOptions.all + [
            message, messageFile, messageColumn,
        ] + ContentOptions.all + [
            pushServices, topic, exclude, excludeCampaign, excludeDelivered, at, zone, detach, rate, ramp, holds,
            pauseShare,
            expiresIn, invalidFile, maxInvalid,
            replaceAudience, addPeople, dryRun, Confirmation.option, OutputFormat.option,
        ],
        examples: [
            .init(
                "herald campaign start --name spring --audience users.csv --message 'Hi {{first_name}}' --pns apns,gcm --dry-run",
                "What would happen."),
            .init(
                "herald campaign start --name spring --audience users.csv --title 'For you, {{first_name}}' --message 'Look inside' "
                    + "--link 'shop://offers/{{offer}}' --image https://shop.example/spring.png --pns apns,gcm --dry-run",
                "With a title, a link and a picture."),
            .init(
                "herald campaign start --name spring --audience users.csv --message-file hi.txt --pns apns,gcm --ramp 1,10,100 "
                    + "--rate 200/s --pause-if-failures 5% --expires-in 6h",
                "Slowly, pausing on failures."),
            .init(
                "herald campaign start --name spring --audience users.csv --message-file hi.txt --pns apns,gcm --hold-after 100,1000",
                "The first hundred, then the first thousand; herald campaign resume spring goes on each time."),
            .init(
                "herald campaign start --name spring --audience users.csv --message-file hi.txt --pns apns,gcm --at 2026-12-24T09:00 "
                    + "--zone Europe/Berlin",
                "On Christmas Eve at nine."),
            .init(
                "herald campaign start --name spring --audience users.csv --message-file hi.txt --pns apns,gcm --at 2026-12-24T09:00 "
                    + "--zone Europe/Berlin --detach",
                "The same, from Kafka: this machine need not stay on."),
            .init(
                "herald campaign start --name summer --audience users.csv --message-file hi.txt --pns apns,gcm --exclude staff.csv "
                    + "--exclude-campaign spring --exclude-delivered 7d",
                "Without the staff, those whom spring has reached, and whoever got something this week."),
        ])
    static let usedSettings: UsedSettings =
        .cluster + .workers + .topics("requests", "results", "campaigns", "audiences", "audit", "classes") + .events
        + .traces
        + .contentReach + ["preferences.enabled"]

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try CampaignStartRun(invocation).run()
    }
}
