import HeraldCommandLine
import HeraldReplay
import HeraldText
import HeraldTime
import HeraldTools

enum DeadLetterListCommand: HeraldCommand {
    enum Grouping: String, CaseIterable, Sendable {
        case reason, detail, topic, status, pns, campaign, source, hour, none
    }

    static let groupBy = CommandOption.standard(
        "group-by", .choice(Grouping.self), default: "reason", "What each line counts; none: one line per dead letter.")
    static let limit = CommandOption.optional(
        "limit", .wholeNumber(1...100_000), "Lines at most; 50 groups, or 100 dead letters, if not given.")

    static let declaration = CommandDeclaration(
        "list", "List dead letters in groups: how many, since when, replayed or not, and what to do.",
        details: "A group's name (status=503) is what --group of the other commands takes. With --group-by none each "
            + "line is a dead letter, the newest first; its place PARTITION:OFFSET is what herald dlq show takes, and "
            + "herald dlq export writes all of them. In a topic of others the reason is the exception's class, the detail its "
            + "message, and the source the consumer group or the connector. Of those that were replayed it says how many "
            + "were delivered and how many have failed again; the rest has no outcome yet, and of what went to a topic that "
            + "Herald does not read nobody reports one.",
        arguments: [DeadLetterOptions.ids],
        options: [groupBy] + DeadLetterOptions.selection + [limit, OutputFormat.option],
        examples: [
            .init("herald dlq list", "Why events failed."),
            .init("herald dlq list --group-by hour --where 'status = 503' --since 1d", "When they failed."),
        ])
    static let usedSettings: UsedSettings = .cluster + .topics("results", "deadLetter", "state") + .events

    private static let standardGroups = 50
    private static let standardLetters = 100

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let selection = try DeadLetterOptions.selection(invocation.parsed, needsChoice: false)
        var query = try DeadLetterQuery(invocation, selection)
        let limit = invocation.parsed[limit]
        guard let field = GroupField(rawValue: invocation.parsed[groupBy].rawValue) else {
            return try listLetters(&query, invocation, limit ?? standardLetters)
        }
        var table = GroupTable(field)
        var doubts = 0
        let count = try query.visit { entry, marks, outcomes in
            table.add(entry, marks, outcomes)
            if isInDoubt(entry, marks, outcomes) { doubts += 1 }
            return true
        }
        try writeGroups(table, of: count, atMost: limit ?? standardGroups, invocation)
        warn(ofDoubts: doubts, invocation.console)
        return query.statusOfNamed()
    }

    private static func writeGroups(
        _ found: GroupTable, of count: Int, atMost limit: Int, _ invocation: Invocation
    ) throws {
        let (groups, console) = (found.sorted, invocation.console)
        var table = RecordWriter(
            invocation.format,
            columns: [
                .init("group"), .init("count", heading: "LETTERS", isNumber: true),
                .init("notifications", isNumber: true, isForWide: true), .init("replayed", isNumber: true),
                .init("delivered", isNumber: true, absence: "–"),
                .init("failedAgain", heading: "FAILED AGAIN", isNumber: true, absence: "–"),
                .init("resolved", isNumber: true), .init("first", isForWide: true), .init("last"), .init("sample"),
                .init("mayHaveArrived", heading: "MAY HAVE ARRIVED", isNumber: true, isForWide: true),
                .init("action", isForWide: true),
            ], console: console)
        for group in groups.prefix(limit) {
            try table.write(
                group.members.map { member in
                    switch member.name {
                    case "first": table.time(group.first)
                    case "last": table.time(group.last)
                    default: member.value
                    }
                })
        }
        try table.finish()
        if table.isNarrow {
            for group in groups.prefix(limit) {
                console.remark(SafeText.escaped("\(group.name ?? "(all others)"): \(group.suggestion)"))
            }
        }
        let hidden = groups.count - min(groups.count, limit)
        console.remark(
            sum(count, found.notificationCount, invocation)
                + (hidden > 0 ? "; \(hidden) more groups, see --limit" : "") + ".")
    }

    /// Whether it is open and may have reached the person all the same.
    private static func isInDoubt(
        _ entry: DeadLetterEntry, _ marks: MarkIndex?, _ outcomes: ReplayOutcomes
    ) -> Bool {
        entry.mayHaveArrived && LetterFate(of: entry.facts, marks, outcomes).isOpen
    }

    /// How many dead letters, and how many notifications they are: campaigns and replays count those.
    ///
    /// For a foreign topic that is unknown.
    private static func sum(_ letters: Int, _ notifications: Int, _ invocation: Invocation) -> String {
        TopicsTool.counted(letters, "dead letter")
            + (invocation.parsed[DeadLetterOptions.topic] == nil
                ? ", " + TopicsTool.counted(notifications, "notification") : "")
    }

    private static func warn(ofDoubts count: Int, _ console: Console) {
        guard count > 0 else { return }
        console.remark(
            "\(count) of those that are open may have arrived: a call for \(count == 1 ? "it" : "them") got no answer "
                + "(time-out, reset). A replay notifies again unless the backend honours the idempotency key.")
    }

    private static func listLetters(
        _ query: inout DeadLetterQuery, _ invocation: Invocation, _ limit: Int
    ) throws -> ExitStatus {
        var table = RecordWriter(
            invocation.format,
            columns: [
                .init("place"), .init("at"), .init("id", isForWide: true), .init("user"), .init("pns"), .init("reason"),
                .init("status", isNumber: true), .init("attempts", isNumber: true, isForWide: true),
                .init("replays", isNumber: true, isForWide: true),
                .init("state"), .init("replayOutcome", heading: "REPLAY"), .init("campaign", isForWide: true),
                .init("detail", isElastic: true),
            ], console: invocation.console)
        var newest = NewestLetters<DeadLetterView>(limit: limit)
        var (notifications, doubts) = (0, 0)
        let count = try query.visit { entry, marks, outcomes in
            notifications += entry.notificationCount
            if isInDoubt(entry, marks, outcomes) { doubts += 1 }
            newest.add(entry.order) { DeadLetterView(&entry, marks, outcomes).withoutBytes }
            return true
        }
        for (_, letter) in newest.letters {
            try table.write(
                letter.listed.map { $0.name == "at" ? table.time(letter.deadLetteredAt) : $0.value })
        }
        try table.finish()
        if count > limit { invocation.console.remark("The newest \(limit) of \(count); see --limit.") }
        invocation.console.remark(sum(count, notifications, invocation) + ".")
        warn(ofDoubts: doubts, invocation.console)
        return query.statusOfNamed()
    }
}

extension RecordWriter {
    /// A moment; on a narrow terminal month, day, hour and minute.
    func time(_ moment: WallTime) -> JSONValue {
        guard isNarrow else { return .string(moment.text) }
        return .string(String(moment.text.dropFirst(5).prefix(11)).replacing("T", with: " "))
    }
}
