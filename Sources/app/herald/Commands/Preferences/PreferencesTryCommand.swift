import HeraldCommandLine
import HeraldEvents
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

enum PreferencesTryCommand: HeraldCommand {
    private static let caps = CommandOption.repeated(
        "caps", .text("LIMIT/PERIOD"),
        "At most so many promotional notifications in a time that slides, as 3/24h, or 1/1h,source=shop for one source; may be "
            + "repeated.")
    private static let quiet = CommandOption.optional(
        "quiet-default", .text("HOURS"),
        "Hours in which each user's promotional events would wait, as 22:00-07:00, with days if not each is meant.")
    private static let zone = CommandOption.optional(
        "zone", .text("ZONE"),
        "The time zone of events that name none, as Europe/Berlin; preferences.defaultZone if not given, else UTC.")
    private static let since = CommandOption.optional(
        "since", .text("TIME"),
        "What was delivered since a moment (2026-11-21T08:40:26Z), or so long ago (7d); all of it if not given.")

    static let declaration = CommandDeclaration(
        "try", "Count whom caps and quiet hours would have held or ended, before they are turned on.",
        details:
            "It reads requests and results once, up to what is committed now, calls nobody and writes nothing. Of what was "
            + "delivered it counts the notifications that would have waited for the end of quiet hours, and those that a cap "
            + "would have ended, by source, class and hour of the day. Only promotional events are meant: those of a topic "
            + "with that class (topics.classes), or that say so themselves. A cap counts an event once, whatever its push "
            + "services, and what would have waited at the moment at which it would have left. What it leaves out: users' own "
            + "words, expiry, and that a later notification might not have been published. Memory: the last deliveries of a "
            + "million users; of more it counts a part, and says so.",
        options: [caps, quiet, zone, since, OutputFormat.option],
        examples: [
            .init(
                "herald preferences try --caps 3/24h --quiet-default 22:00-07:00 --zone Europe/Berlin --since 7d",
                "What the last week would have been."),
            .init("herald preferences try --caps 1/1h,source=shop -o json", "One source, for a program."),
        ])
    static let usedSettings: UsedSettings =
        .cluster + .topics("requests", "results", "classes") + .events + ["preferences.defaultZone"]

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        guard !parsed[caps].isEmpty || parsed[quiet] != nil else {
            throw parsed.mistake("name what is to be tried: --caps or --quiet-default")
        }
        let settings = try invocation.settings(requiring: [.kafka])
        let zones = try ZoneFolder.read()
        let rules = try rules(parsed, settings, zones)
        let begin = try DeadLetterOptions.moment(since, parsed, SystemClock.wall())
        var reader = PreferenceTrialReader(
            try settings.lastWordContext(environment: invocation.environment), decoder: try settings.recordDecoder(),
            zones: zones, PreferenceTrial(rules))
        let stop = try StopRequest.listen()
        var line = ProgressLine(console)
        let isWhole = try reader.run(since: begin, reach: settings.clusterReach, admin: settings.adminClient()) {
            stage, passed, total in
            line.show(share: passed, of: total, "\(passed) of \(total) records of \(stage.rawValue) read")
            return !stop.isMade
        }
        line.clear()
        guard isWhole else { throw CommandFailure("interrupted", status: .partlyDone) }
        let trial = reader.trial
        let format = parsed[OutputFormat.option]
        try format.write(members(trial, since: begin), lines: [], to: console)
        if format == .table { try table(trial, console) }
        let users = trial.users
        console.remark(
            "\(TopicsTool.counted(users.affected, "user")) of \(users.promotional) who got something promotional would have got "
                + "less, or later.")
        if trial.sample > 1 {
            console.remark(
                "There are too many users to remember: one of \(trial.sample) was looked at, and stands for all.")
        }
        if reader.isFull {
            console.remark(
                "Of more than \(PreferenceTrialReader.mostRequests) events that name a class or a zone the rest counts by its "
                    + "topic.")
        }
        return .done
    }

    private static func rules(
        _ parsed: ParsedCommand, _ settings: Settings, _ zones: TimeZones
    ) throws -> PreferenceTrial.Rules {
        let name = parsed[zone] ?? settings.preferences.defaultZone ?? "UTC"
        guard let number = zones.number(of: name) else {
            throw parsed.mistake("--zone: \(SafeText.quoted(name)) is no time zone of \(ZoneFolder.path)")
        }
        var rules = PreferenceTrial.Rules(zone: zones[number])
        do throws(InvalidArgument) {
            for text in parsed[caps] { rules.caps.append(try CapRule(option: text)) }
        } catch {
            throw parsed.mistake("--caps: \(error)")
        }
        do throws(InvalidArgument) {
            if let text = parsed[quiet] { rules.quiet = try QuietHours(text: text) }
        } catch {
            throw parsed.mistake("--quiet-default: \(error)")
        }
        if let named = rules.quiet?.zone {
            throw parsed.mistake("--quiet-default names the zone \(SafeText.quoted(named)); name it with --zone")
        }
        return rules
    }

    private static func rows(_ trial: PreferenceTrial) -> [(of: String, name: String, counts: PreferenceTrial.Counts)] {
        [("all", "", trial.total)]
            + EventClass.allCases.compactMap { name in trial.byClass[name].map { ("class", name.rawValue, $0) } }
            + trial.bySource.sorted { ($1.value.delivered, $0.key) < ($0.value.delivered, $1.key) }
            .map { ("source", $0.key.isEmpty ? "(none)" : $0.key, $0.value) }
            + trial.byHour.enumerated().filter { $0.element.delivered > 0 }
            .map { ("hour", QuietHours.text(ofMinute: $0.offset * 60), $0.element) }
    }

    private static func members(_ trial: PreferenceTrial, since: WallTime?) -> [JSONValue.Member] {
        func json(_ of: String) -> JSONValue {
            .array(
                rows(trial).filter { $0.of == of }.map { row in
                    .object([.init("name", .string(row.name))] + members(row.counts))
                })
        }
        return [.init("since", .text(since?.text))] + members(trial.total) + [
            .init("users", .integer(trial.users.promotional)), .init("usersAffected", .integer(trial.users.affected)),
            .init("oneUserOf", .integer(trial.sample)), .init("byClass", json("class")),
            .init("bySource", json("source")), .init("byHour", json("hour")),
        ]
    }

    private static func members(_ counts: PreferenceTrial.Counts) -> [JSONValue.Member] {
        [
            .init("delivered", .integer(counts.delivered)), .init("held", .integer(counts.held)),
            .init("capped", .integer(counts.capped)),
        ]
    }

    private static func table(_ trial: PreferenceTrial, _ console: Console) throws {
        let columns: [RecordWriter.Column] = [
            .init("of"), .init("name"), .init("delivered", isNumber: true), .init("held", isNumber: true),
            .init("capped", isNumber: true),
        ]
        let records: [[JSONValue]] = rows(trial).map { row in
            [
                .string(row.of), .string(row.name), .integer(row.counts.delivered), .integer(row.counts.held),
                .integer(row.counts.capped),
            ]
        }
        try RecordWriter.write(records, columns, as: .table, to: console)
    }
}
