import HeraldAccount
import HeraldCommandLine
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

/// `herald account`: counts what was published and what became of it.
enum AccountCommand: HeraldCommand {
    private static let since = CommandOption.optional(
        "since", .text("TIME"),
        "Events published since a moment (2026-11-21T08:40:26Z), a time of the last 24 hours (22:00), or so long ago "
            + "(2d).")
    private static let until = CommandOption.optional(
        "until", .text("TIME"), "Events published before a moment; now if not given.")
    private static let limit = CommandOption.standard(
        "limit", .wholeNumber(0...1_000_000), default: "1000",
        "Missing notifications that are named at most, and repeated ones.")
    private static let failIfMissing = CommandOption.flag(
        "fail-if-missing",
        "Exit with 1 when a notification is missing or lost and nobody has acknowledged it (herald offsets skip-lost), and with 3 when "
            + "that cannot be said yet, or because not all could be read."
    )

    static let declaration = CommandDeclaration(
        "account", "Count what was published, and what became of it.",
        details:
            "It reads the request topics from --since on, the retry topics and the results, each once and up to what is "
            + "committed now, and looks for one result of each notification: an event for two push services asks for "
            + "two. What has no result yet is open if the workers have not passed its record or if it waits in a retry "
            + "topic, unknown if results were deleted or cannot be read yet, and otherwise missing: it is named by its "
            + "place. Records that were deleted before they were read are counted as lost. Memory: a byte for each notification and two for each event, whatever they hold.",
        options: [since, until, limit, failIfMissing, OutputFormat.option],
        examples: [
            .init("herald account --since 22:00", "What became of the night's notifications."),
            .init("herald account --since 1d --fail-if-missing -o json", "From cron: a missing one is a failure."),
        ])
    static let usedSettings: UsedSettings =
        .cluster + .topics("requests", "results", "retry", "audit") + .events + ["retry.delays"]

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        let settings = try invocation.settings(requiring: [.kafka])
        let now = SystemClock.wall()
        let span = (
            since: try DeadLetterOptions.moment(since, parsed, now),
            until: try DeadLetterOptions.moment(until, parsed, now)
        )
        if let since = span.since, since >= span.until ?? now {
            throw parsed.mistake("--since: \(since.text) is not before \(span.until == nil ? "now" : "--until")")
        }
        let reader = try settings.accountReader()
        let stop = try StopRequest.listen()
        var line = ProgressLine(console)
        let account = try reader.account(
            since: span.since, until: span.until, naming: parsed[limit], reach: settings.clusterReach,
            admin: try settings.adminClient()
        ) { stage, passed, total in
            line.show(share: passed, of: total, "\(passed) of \(total) records of \(stage.rawValue) read")
            return !stop.isMade
        }
        line.clear()
        guard let account else { throw CommandFailure("interrupted", status: .partlyDone) }
        try parsed[OutputFormat.option].write(account.json, lines: [], to: console)
        if parsed[OutputFormat.option] == .table {
            console.remark(
                "Published \(account.since.map { "from \($0.text) " } ?? "")until \(account.until.text); an event asks "
                    + "for one notification on each of its push services.")
            try table(account, console)
        }
        for sentence in account.sentences { console.remark(SafeText.escaped(sentence)) }
        guard parsed[failIfMissing] else { return .done }
        if account.hasLoss { return .failed }
        return account.doubtful > 0 || account.unknownCount > 0 || !account.gaps.isEmpty ? .partlyDone : .done
    }

    /// A row for everything, for each topic, source and push service, and for replays, without columns that are empty.
    private static func table(_ account: Account, _ console: Console) throws {
        let rows = account.rows
        let names = account.total.columns.map(\.name)
        let shown = names.indices.filter { column in
            ["events", "notifications", "delivered", "missing"].contains(names[column])
                || rows.contains { $0.counts.columns[column].count > 0 }
        }
        let columns =
            [RecordWriter.Column("of"), RecordWriter.Column("name")]
            + shown.map { RecordWriter.Column(names[$0], isNumber: true) }
        let records: [[JSONValue]] = rows.map { row in
            [.string(row.group), .string(row.name ?? (row.group == "all" || row.group == "replays" ? "" : "(none)"))]
                + shown.map { .integer(row.counts.columns[$0].count) }
        }
        try RecordWriter.write(records, columns, as: .table, to: console)
    }
}

extension Settings {
    /// What counts the notifications of this cluster.
    func accountReader() throws -> AccountReader {
        AccountReader(
            topics: topicNames, delays: retry.delays, readerProperties: KafkaClientSettings.toolReader(self),
            decoder: try recordDecoder(),
            group: WorkerGroup(name: kafka.group, listen: adminAddress, named: namedWorkers, token: adminToken))
    }
}
