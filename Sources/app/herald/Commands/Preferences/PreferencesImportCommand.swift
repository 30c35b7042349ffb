import HeraldCommandLine
import HeraldEvents
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

enum PreferencesImportCommand: HeraldCommand {
    private static let file = CommandOption.required(
        "FILE", .file(),
        "CSV with the heading user,opt_out or user,opt_out,quiet, or JSON lines with user, optOut and quiet; - is standard "
            + "input.")
    /// The mistakes that are shown.
    private static let shownMistakes = 10

    static let declaration = CommandDeclaration(
        "import", "Set what many users have opted out of, and their quiet hours, from a file.",
        details:
            "All lines are checked before the first is written; if one is wrong, the first ten mistakes are named and the "
            + "exit status is 2. A cell of opt_out has its entries with | between them, or none; one of quiet has hours, as herald preferences set "
            + "takes them, or nothing. Each line is the user's "
            + "whole word, in place of what was said before; users that the file does not name keep theirs. Before it asks "
            + "it reads what stands there, and says how many words it overwrites, and how many users get something again; without a terminal it needs --yes, or exits with 4. When it breaks off, import the file again.",
        arguments: [file],
        options: [DeadLetterReplayCommand.dryRun, Confirmation.option, PreferencesTool.reason, OutputFormat.option],
        examples: [
            .init("herald preferences import opt-outs.csv --dry-run", "Only check the file."),
            .init("herald preferences import opt-outs.csv", "Write it, after a confirmation."),
        ])
    static let usedSettings = PreferencesTool.usedSettings

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        let isDryRun = parsed[DeadLetterReplayCommand.dryRun]
        let lines = try LineFile(path: parsed[file], copyingInto: invocation.temporaryDirectory)
        let settings = try invocation.readSettings(requiring: isDryRun ? [] : [.kafka]).settings
        let (services, users) = (try settings.pushServices(), settings.backend.users)
        let zones = try? ZoneFolder.read()
        let named = try check(
            lines, WordFile(pushServices: services, users: users, zones: zones),
            UserHashes(kept: isDryRun ? nil : try settings.keptNames()), console)
        guard !isDryRun else {
            let changes = try changes(lines, WordFile(pushServices: services, users: users), nil)
            console.remark(changes.words(areFormerKnown: false))
            return .done
        }
        let stop = try StopRequest.listen()
        let tool = try PreferencesTool(invocation)
        _ = try tool.partitions(of: tool.context.topics.preferences, isWriting: true)
        let counts = try changes(
            lines, WordFile(pushServices: services, users: users), try tool.words(of: named))
        console.remark(counts.words(areFormerKnown: true))
        let question = "Write the words of \(TopicsTool.counted(counts.users, "user"))?"
        guard
            try stop.confirm(
                question, count: counts.users, isAssumed: parsed[Confirmation.option], console,
                refusal: "Nothing was written.")
        else { return .needsConfirmation }
        var entry = tool.context.audit(
            "preferences.import", phase: "started", reason: parsed[PreferencesTool.reason],
            at: SystemClock.wall().text)
        entry.planned = counts.users
        try tool.context.record(entry)
        let written = try write(lines, WordFile(pushServices: services, users: users), tool, stop)
        (entry.phase, entry.at) = ("ended", SystemClock.wall().text)
        entry.counts = counts.counts.merging(["users": written]) { $1 }
        entry.end = written == counts.users ? "complete" : "stopped"
        try tool.context.record(entry)
        try invocation.format.write(
            [
                .init("users", .integer(written)), .init("planned", .integer(counts.users)),
                .init("overwritten", .integer(counts.overwritten)), .init("optedIn", .integer(counts.optedIn)),
                .init("quietEnded", .integer(counts.quietEnded)), .init("forgotten", .integer(counts.forgotten)),
            ],
            lines: ["\(TopicsTool.counted(written, "word")) written"], to: console)
        return written == counts.users ? .done : .partlyDone
    }

    /// Checks each line; the users.
    private static func check(
        _ lines: LineFile, _ file: WordFile, _ users: UserHashes, _ console: Console
    ) throws -> UserHashes {
        var (file, users) = (file, users)
        var mistakes = 0
        try lines.forEachLine(longest: WordFile.longestLine) { line in
            do throws(InputError) {
                guard let word = try file.read(line) else { return }
                users.insert(word.user)
            } catch {
                mistakes += 1
                if mistakes <= shownMistakes { console.complain(SafeText.escaped(error.description)) }
            }
        }
        guard mistakes == 0 else {
            throw CommandFailure(
                "\(TopicsTool.counted(mistakes, "line")) of the file \(mistakes == 1 ? "is" : "are") wrong; nothing was "
                    + "written", status: .usage)
        }
        guard !users.isEmpty else { throw CommandFailure("the file has no words", status: .usage) }
        return users
    }

    /// What its words change of what holds; `nil` when that was not asked.
    private static func changes(
        _ lines: LineFile, _ file: WordFile, _ former: ManyWords?
    ) throws -> WordChanges {
        var file = file
        var changes = WordChanges()
        try lines.forEachLine(longest: WordFile.longestLine) { line in
            guard let word = try file.read(line) else { return }
            changes.add(word, former: former?[word.user])
        }
        return changes
    }

    private static func write(
        _ lines: LineFile, _ file: WordFile, _ tool: PreferencesTool, _ stop: StopRequest
    ) throws -> Int {
        var file = file
        let now = SystemClock.wall()
        let writer = try WordWriter(tool.context)
        defer { writer.close() }
        try lines.forEachLine(longest: WordFile.longestLine) { line in
            guard !stop.isMade, let word = try file.read(line) else { return }
            try writer.write(
                Preference(
                    word.optOut, quiet: word.quiet, updatedAt: now, by: tool.context.operatorName), of: word.user)
        }
        try writer.finish()
        return writer.writtenCount
    }
}
