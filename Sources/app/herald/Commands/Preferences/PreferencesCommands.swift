import HeraldCommandLine
import HeraldEvents
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

enum PreferencesShowCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "show", "Show what a user has opted out of, the quiet hours, since when, and who wrote it.",
        details:
            "Reads the whole topic, and names the record and its time stamp. It shows what is written; herald_preferences_age_seconds says how old what a worker "
            + "has applied may be.",
        arguments: [PreferencesTool.user], options: [OutputFormat.option],
        examples: [.init("herald preferences show ann", "What ann does not want.")])
    static let usedSettings = PreferencesTool.usedSettings

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let tool = try PreferencesTool(invocation)
        let user = try tool.user(invocation, invocation.parsed[PreferencesTool.user])
        let (entry, hidden) = try tool.look(at: user)
        let word = entry?.preference
        let place = entry?.place
        try invocation.format.write(
            [
                .init("user", .string(user)), .init("optOut", PreferencesTool.json(entry)),
                .init("quiet", .text(word?.quiet?.text)), .init("updatedAt", .text(word?.updatedAt?.text)),
                .init("by", .text(word?.by)),
                .init("problem", .text(entry?.problem)),
                .init("partition", place.map { .integer(Int($0.partition)) } ?? .null),
                .init("offset", place.map { .integer(Int($0.offset)) } ?? .null),
                .init("writtenAt", .text(place?.at?.text)),
                .init("hiddenWords", .integer(hidden)),
            ],
            lines: [
                "user       \(SafeText.escaped(user))", "says       \(SafeText.escaped(LastWordContext.words(entry)))",
            ] + (word?.updatedAt.map { ["updated    \($0.text)"] } ?? [])
                + (word?.by.map { ["by         \(SafeText.escaped($0))"] } ?? [])
                + (place.map { ["record     \($0)" + ($0.at.map { ", written \($0.text)" } ?? "")] } ?? []),
            to: invocation.console)
        if entry == nil, hidden > 0 {
            tool.console.complain(
                "warning: the topic has \(hidden) \(hidden == 1 ? "opt-out" : "opt-outs") of forgotten users, and one of them "
                    + "may be this user's: only with preferences.forgetKeyFile can that be told")
        }
        return .done
    }
}

enum PreferencesSetCommand: HeraldCommand {
    private static let optOut = CommandOption.optional(
        "opt-out", .text("ENTRY,…"),
        "all, promotional, pns:NAME, source:SOURCE, separated by commas; or none: the user wants everything.")
    private static let quiet = CommandOption.optional(
        "quiet-hours", .text("HOURS"),
        "The hours in which promotional events wait, as '22:00-07:00 Europe/Berlin', with days if not each is meant: "
            + "'00:00-24:00 Europe/Berlin sat,sun'; or none.")

    static let declaration = CommandDeclaration(
        "set", "Set what a user has opted out of, or the user's quiet hours.",
        details:
            "Reads what is there, writes the whole word, and says both. What is not named stays, as do members of the record "
            + "that Herald does not know. Of a broken record it warns first: what is not named is written as it counted. What the service of users' settings writes at the same moment may be overwritten. "
            + "Calls that have begun are not undone. The audit topic keeps who did it, with the user's name.",
        arguments: [PreferencesTool.user], options: [optOut, quiet, PreferencesTool.reason, OutputFormat.option],
        examples: [
            .init(
                "herald preferences set ann --opt-out promotional,pns:apns", "No advertisements, and nothing by apns."),
            .init("herald preferences set ann --opt-out none", "Everything again."),
            .init(
                "herald preferences set ann --quiet-hours '22:00-07:00 Europe/Berlin'", "No advertisements at night."),
        ])
    static let usedSettings = PreferencesTool.usedSettings

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let parsed = invocation.parsed
        let stop = try StopRequest.listen()
        let tool = try PreferencesTool(invocation)
        let user = try tool.user(invocation, parsed[PreferencesTool.user])
        guard parsed[optOut] != nil || parsed[quiet] != nil else {
            throw parsed.mistake("name what is to be set: --opt-out or --quiet-hours")
        }
        let wanted = try parsed[optOut].map { text in
            do throws(InputError) {
                return try OptOut.read(text, separatedBy: ",", pushServices: tool.context.pushServices)
            } catch {
                throw parsed.mistake("--opt-out: \(error)")
            }
        }
        let hours = try parsed[quiet].map { try quietHours($0, parsed) }
        if let hours = hours ?? nil, hours.zone == nil, tool.settings.preferences.defaultZone == nil {
            tool.console.complain(
                "warning: these hours name no zone, and preferences.defaultZone is not set: they hold only events that name "
                    + "one")
        }
        _ = try tool.partitions(of: tool.context.topics.preferences, isWriting: true)
        let former = try tool.word(of: user)
        if let warning = former?.warning { tool.console.complain(SafeText.escaped("warning: \(warning)")) }
        stop.beginWork()
        let written = try tool.context.set(user, insteadOf: former, reason: parsed[PreferencesTool.reason]) { word in
            if let wanted { word.optOut = wanted }
            if let hours { word.quiet = hours }
        }
        try invocation.format.write(
            [
                .init("user", .string(user)), .init("was", PreferencesTool.json(former)),
                .init("is", PreferencesTool.json(written)), .init("quiet", .text(written.preference.quiet?.text)),
            ],
            lines: [
                "user  \(SafeText.escaped(user))", "was   \(SafeText.escaped(LastWordContext.words(former)))",
                "is    \(SafeText.escaped(LastWordContext.words(written)))",
            ], to: invocation.console)
        return .done
    }

    /// The hours that the option names, in a zone that this machine knows; `nil` for none.
    private static func quietHours(_ text: String, _ parsed: ParsedCommand) throws -> QuietHours? {
        if text == "none" { return nil }
        let hours: QuietHours
        do throws(InvalidArgument) {
            hours = try QuietHours(text: text)
        } catch {
            throw parsed.mistake("--quiet-hours: \(error)")
        }
        if let zones = try? ZoneFolder.read(), let problem = hours.zoneProblem(among: zones) {
            throw parsed.mistake("--quiet-hours: \(problem)")
        }
        return hours
    }
}

enum PreferencesForgetCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "forget", "Delete a user's record; the opt-out is kept without the name if there is a secret for that.",
        details:
            "For a user who is to be erased. With preferences.forgetKeyFile the opt-out is kept under a keyed hash of the "
            + "user, so that erasure does not opt in again; without it the user gets everything again, "
            + "and events that are still on their way are called: publish none, or recall them. The topic's compaction removes "
            + "the bytes within the topic's delete.retention.ms. The audit topic keeps who did it, without the user's name. "
            + "Without a terminal it needs --yes, or exits with 4.",
        arguments: [PreferencesTool.user],
        options: [Confirmation.option, PreferencesTool.reason, OutputFormat.option],
        examples: [.init("herald preferences forget ann --reason 'erasure 4711'", "After a confirmation.")])
    static let usedSettings = PreferencesTool.usedSettings

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let parsed = invocation.parsed
        let stop = try StopRequest.listen()
        let tool = try PreferencesTool(invocation)
        let user = try tool.user(invocation, parsed[PreferencesTool.user])
        _ = try tool.partitions(of: tool.context.topics.preferences, isWriting: true)
        let former = tool.context.kept == nil ? nil : try tool.word(of: user)
        let (keeps, name) = (tool.context.kept != nil, SafeText.quoted(user))
        let question =
            keeps
            ? "Forget \(name), and keep the opt-out without the name?"
            : "Forget \(name), who gets everything again (preferences.forgetKeyFile would keep the opt-out)?"
        guard
            try stop.confirm(
                question, isAssumed: parsed[Confirmation.option], tool.console, refusal: "Nothing was written.")
        else { return .needsConfirmation }
        try tool.context.forget(user, former, reason: parsed[PreferencesTool.reason])
        try invocation.format.write(
            [.init("user", .string(user)), .init("isForgotten", true), .init("keepsOptOut", .bool(keeps))],
            lines: [
                "\(SafeText.escaped(user)) is forgotten; "
                    + (keeps
                        ? LastWordContext.Entry.kept(former) : "nothing is kept, and the user gets everything again")
            ], to: invocation.console)
        return .done
    }
}
