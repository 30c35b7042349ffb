import HeraldCommandLine
import HeraldText
import HeraldTime
import HeraldTimeline

enum ExplainCommand: HeraldCommand {
    private static let id = CommandOption.required(
        "ID", .text("ID"), "The event's id, or its request record TOPIC/PARTITION/OFFSET.")
    private static let user = CommandOption.optional(
        "user", .text("USER"), "The event's user: then one partition of each topic is read, and not all.")

    static let declaration = CommandDeclaration(
        "explain", "Say in sentences where an event stands, what it waits for, and what happens next.",
        details:
            "For each push service: what became of it and which rule decided, or what it waits for and until when, "
            + "what the settings let happen next, and which command changes it. It asks the group, and the workers at "
            + "their admin ports, whether anybody delivers, and names what it did not read. An id that several events have is "
            + "explained for the newest of them.",
        arguments: [id],
        options: [user, TimelineRun.since, TimelineRun.allPartitions, OutputFormat.option],
        examples: [.init("herald explain order-17 --user ann", "Why Ann has got nothing yet.")])
    static let usedSettings: UsedSettings =
        .cluster + .topics("requests", "results", "retry", "deadLetter", "campaigns", "feedback", "state", "audit")
        + .events
        + ["retry", "backend.statuses"] + .waiting + .words

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        guard !parsed[id].isEmpty else { throw parsed.mistake("the id is empty") }
        var query = TimelineQuery(user: parsed[user], id: parsed[id])
        query.since = try DeadLetterOptions.moment(TimelineRun.since, parsed, SystemClock.wall())
        query.readsAllPartitions = parsed[TimelineRun.allPartitions]
        let run = try TimelineRun(invocation)
        let found = try run.run(query)
        guard let event = found.timelines.last else {
            let why = try run.search.absence(query, found, reach: run.reach, admin: run.admin)
            throw CommandFailure("\(SafeText.quoted(parsed[id])): \(SafeText.escaped(why))")
        }
        if found.timelines.count > 1 {
            console.remark(
                "\(found.timelines.count) events have this id; this is the newest. herald find --id shows them all.")
        }
        let situation = run.settings.situation(now: SystemClock.wall(), configuration: invocation.configuration)
        let explanation = try run.search.explanation(
            of: event, in: found, situation, reach: run.reach, admin: run.admin)
        try invocation.format.write(explanation.json, lines: lines(explanation), to: console)
        return .done
    }

    private static func lines(_ explanation: Explanation) -> [String] {
        explanation.sentences.map { SafeText.escaped($0) }
            + (explanation.commands.isEmpty ? [] : [""] + explanation.commands.map { "  " + SafeText.escaped($0) })
    }
}
