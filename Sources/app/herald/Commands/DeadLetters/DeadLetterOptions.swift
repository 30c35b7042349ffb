import HeraldCommandLine
import HeraldEvents
import HeraldReplay
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

/// What the commands of `herald dlq` share: how dead letters are chosen.
enum DeadLetterOptions {
    static let groups = CommandOption.repeated(
        "group", .text("FIELD=VALUE").completing(groupNames),
        "Those of a group, as herald dlq list shows it, such as status=503.")
    /// The beginnings of groups, and those that are known without a look at the dead letters.
    private static let groupNames =
        DeadLetterReason.allCases.map { "reason=\($0.rawValue)" } + PushServices.standard.names.map { "pns=\($0)" }
        + ["status=", "campaign=", "source=", "hour="]
    static let condition = CommandOption.optional(
        "where", .text("CONDITION"),
        "Those that match it, such as: status = 503 and age < 2h and pns in (apns, wns) and user ~ 'test-*'.")
    static let since = CommandOption.optional(
        "since", .text("TIME"), "Those that came at or after a moment (2026-11-21T08:40:26Z), or so long ago (2h).")
    static let until = CommandOption.optional(
        "until", .text("TIME"), "Those that came before a moment, or so long ago.")
    static let partitions = CommandOption.optional(
        "partition", .commaSeparated("N,…"), "Those in these partitions of the dead-letter topic.")
    static let reveal = CommandOption.flag("reveal", "Show the messages' texts; who did it goes into the audit topic.")
    static let ids = CommandOption.repeated("ID", .text("ID"), "Places PARTITION:OFFSET, or ids of events.")

    static let topic = CommandOption.optional(
        "topic", .text("TOPIC"),
        "The dead-letter topic of others: Spring Kafka's, Kafka Connect's or any; Herald's own if not given.")

    static let selection: [any DeclaredOption] = [topic, groups, condition, since, until, partitions]

    static func selection(_ parsed: ParsedCommand, needsChoice: Bool, hasIDs: Bool = true) throws -> Selection {
        let now = SystemClock.wall()
        var request = Selection.Request()
        request.topic = parsed[topic]
        request.groups = parsed[groups]
        request.condition = parsed[condition]
        if hasIDs { request.ids = parsed[ids] }
        request.since = try moment(since, parsed, now)
        request.until = try moment(until, parsed, now)
        request.partitions = try (parsed[partitions] ?? []).map { text in
            guard let number = Int32(text), number >= 0 else {
                throw parsed.mistake("--partition: \(SafeText.quoted(text)) is no number")
            }
            return number
        }
        guard !needsChoice || request.isChosen else {
            throw parsed.mistake("say which: --group, --where or ids; --where 'offset >= 0' is all of them")
        }
        return try compile(request, now: now, parsed)
    }

    /// The topic of others that the command line names; `nil` for Herald's own.
    ///
    /// - Parameter destination: where replays go, if not to where they came from.
    static func foreignTopic(
        _ parsed: ParsedCommand, _ settings: Settings, destination: String? = nil
    ) throws -> ForeignTopic? {
        guard let name = parsed[topic] else { return nil }
        for (option, name) in [("topic", name), ("to", destination)] {
            guard let name, !Topics.isName(name) else { continue }
            throw parsed.mistake("--\(option): \(SafeText.quoted(name)) is no topic's name")
        }
        let own = settings.topicNames
        guard !ForeignTopic.isOwn(name, of: own) else {
            throw parsed.mistake(
                name == own.deadLetter
                    ? "--topic: \(name) is Herald's own; leave --topic out" : "--topic: \(name) has no dead letters")
        }
        let foreign = ForeignTopic(name: name, destination: destination, own: own)
        if let destination, foreign.isForbiddenDestination(destination) {
            throw parsed.mistake(
                "--to: \(destination) is "
                    + (destination == name ? "where these dead letters lie" : "written by Herald alone"))
        }
        return foreign
    }

    /// What is said when nothing has one of the names that were given; `nil` when all were found.
    static func failure(ofMissing names: [String], consequence: String = "") -> CommandFailure? {
        guard !names.isEmpty else { return nil }
        let shown = names.prefix(20).map { SafeText.quoted($0) }.joined(separator: ", ")
        let more = names.count > 20 ? " and \(names.count - 20) more" : ""
        return CommandFailure("no dead letter matches \(shown)\(more)\(consequence)")
    }

    /// The selection of a request; what is wrong with it in words of the command line.
    static func compile(
        _ request: Selection.Request, now: WallTime = SystemClock.wall(), _ parsed: ParsedCommand
    ) throws -> Selection {
        do {
            return try Selection(request, now: now)
        } catch let error as InputError {
            throw parsed.mistake(pointing(at: error, in: request.condition ?? ""))
        } catch let error as ToolFailure {
            throw parsed.mistake("--group: \(SafeText.escaped(error.description))")
        }
    }

    private static func pointing(at error: InputError, in condition: String) -> String {
        let column = error.column ?? 1
        // One that is too long is shown by its beginning.
        let text = condition.count > 10_000 ? String(condition.prefix(80)) : condition
        let before = String(text.prefix(max(0, column - 1)))
        let padding = String(repeating: " ", count: SafeText.escaped(before).displayWidth)
        return "--where, column \(column): \(SafeText.escaped(error.message))\n"
            + "  \(SafeText.escaped(text))\n  \(padding)^"
    }

    /// The moment that an option names, or that lies so long ago.
    static func moment(
        _ option: CommandOption<String?>, _ parsed: ParsedCommand, _ now: WallTime
    ) throws -> WallTime? {
        guard let text = parsed[option] else { return nil }
        guard let moment = MomentText.parse(text, now: now) else {
            throw parsed.mistake(
                "--\(option.declaration.name): \(SafeText.quoted(text)) is neither a moment such as 2026-11-21T08:40:26Z "
                    + "nor a duration such as 2h")
        }
        return moment
    }
}
