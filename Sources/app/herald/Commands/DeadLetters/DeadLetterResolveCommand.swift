import HeraldCommandLine
import HeraldReplay
import HeraldText
import HeraldTools

enum DeadLetterResolveCommand: HeraldCommand {
    private static let note = CommandOption.required(
        "note", .text("TEXT"), "What was done about them; goes into the audit topic.")

    static let declaration = CommandDeclaration(
        "resolve", "Mark dead letters that were dealt with otherwise, so that no replay includes them.",
        details: "Nothing is deleted: the topic's retention does that. What was replayed or resolved before is left "
            + "out. Over 100 dead letters the count has to be typed; without a terminal --yes is needed, or it ends with 4.",
        arguments: [DeadLetterOptions.ids],
        options: [note] + DeadLetterOptions.selection + [Confirmation.option, OutputFormat.option],
        examples: [
            .init(
                "herald dlq resolve --group reason=malformed --note 'the producer has sent them again'",
                "What cannot be replayed anyway.")
        ])
    static let usedSettings: UsedSettings = .cluster + .topics("results", "deadLetter", "state", "audit") + .events

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        let selection = try DeadLetterOptions.selection(parsed, needsChoice: true)
        var query = try DeadLetterQuery(invocation, selection, isWriting: true)
        var plan = ResolvePlan()
        try query.visit { entry, marks, _ in
            plan.add(entry, marks)
            return true
        }
        let (matched, count) = (plan.matched, plan.count)
        if let failure = DeadLetterOptions.failure(ofMissing: query.missing, consequence: "; nothing was resolved") {
            throw failure
        }
        console.remark("\(matched) of the dead letters match; \(count) would be resolved.")
        guard count > 0, let state = query.state else {
            try write(invocation, matched: matched, resolved: 0, job: nil)
            return .done
        }
        let question = "Resolve \(TopicsTool.counted(count, "dead letter"))?"
        let isAssumed = parsed[Confirmation.option]
        guard
            try query.stop.confirm(
                question, count: count, isAssumed: isAssumed, console, refusal: "Nothing was resolved.")
        else { return .needsConfirmation }
        let screen = ReplayScreen(console)
        let end = try query.replayer.resolve(
            plan, selection: selection.text, note: parsed[note], state: state, onTurn: { screen.show($0, now: $1) })
        try write(invocation, matched: matched, resolved: end.count, job: end.job)
        if let failure = end.failure {
            let status = CommandFailure(failure).status
            throw CommandFailure(
                "\(CommandFailure(failure)); \(TopicsTool.counted(end.count, "dead letter")) resolved",
                status: status == .failed && end.count > 0 ? .partlyDone : status)
        }
        return .done
    }

    private static func write(_ invocation: Invocation, matched: Int, resolved: Int, job: String?) throws {
        try invocation.write(
            [[.text(job), .integer(matched), .integer(resolved)]],
            [.init("job"), .init("matched", isNumber: true), .init("resolved", isNumber: true)])
    }
}
