import HeraldCommandLine
import HeraldText
import HeraldTime
import HeraldTimeline

enum FindCommand: HeraldCommand {
    private static let user = CommandOption.optional("user", .text("USER"), "The events of this user.")
    private static let id = CommandOption.optional(
        "id", .text("ID"), "The events with this id, or the request record TOPIC/PARTITION/OFFSET.")
    private static let limit = CommandOption.standard(
        "limit", .wholeNumber(1...100_000), default: "1000", "Events of each partition at most, the newest.")

    static let declaration = CommandDeclaration(
        "find", "Find what became of a user's events, or of one event, in all topics.",
        details:
            "It reads request, retry, result and dead-letter topics up to what is committed now, and shows for each "
            + "event when it was published and by whom, each call that failed, each wait and why, replays, and how it "
            + "ended for each push service. A user's records lie in one partition of each topic, so only that one is "
            + "read, unless --all-partitions; with --id alone all are. Messages are not shown. The exit status is 1 when "
            + "nothing was found. Of events without an outcome it asks the workers, at their admin ports, what they wait "
            + "for. herald explain says in sentences where an event stands.",
        options: [user, id, TimelineRun.since, TimelineRun.allPartitions, limit, OutputFormat.option],
        examples: [
            .init("herald find --user ann --since 2d", "Ann says that she got nothing."),
            .init("herald find --id order-17 -o json", "One event's way, for a program."),
        ])
    static let usedSettings: UsedSettings =
        .cluster + .topics("requests", "results", "retry", "deadLetter", "feedback", "state", "audit") + .events + [
            "retry.delays"
        ] + .waiting + .words

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        var query = TimelineQuery(user: parsed[user], id: parsed[id])
        guard query.user?.isEmpty == false || query.id?.isEmpty == false else {
            throw parsed.mistake("say whose: --user, --id or both")
        }
        query.since = try DeadLetterOptions.moment(TimelineRun.since, parsed, SystemClock.wall())
        query.readsAllPartitions = parsed[TimelineRun.allPartitions]
        query.limit = parsed[limit]
        let run = try TimelineRun(invocation)
        let found = try run.run(query)
        let waiting = run.waiting(found, query)
        let losses = try run.search.losses(in: found, waiting, reach: run.reach, admin: run.admin)
        let said = run.said(found)
        func json(_ event: EventTimeline) -> JSONValue {
            guard case .object(let members) = event.json else { return event.json }
            let loss = losses[event.origin].map { [JSONValue.Member("loss", .string($0.words))] } ?? []
            return .object(members + (said[event.origin]?.members ?? []) + (waiting[event.origin]?.json ?? []) + loss)
        }
        let lines = found.timelines.map {
            TimelinePage.lines($0, waiting[$0.origin], losses[$0.origin], said[$0.origin] ?? [:])
        }
        try invocation.format.writeAll(
            found.timelines.map(json), lines: Array(lines.joined(separator: [""])), to: console)
        console.remark(TopicsTool.counted(found.timelines.count, "event") + ".")
        if query.user != nil || found.timelines.isEmpty { run.sayLostRequests(query) }
        if found.isNarrow, found.strayTopics.isEmpty, found.grownTopics.isEmpty {
            console.remark(
                "Not read: the other partitions. Events with another key than the user may be there: --all-partitions.")
        }
        return found.timelines.isEmpty ? .failed : .done
    }
}
