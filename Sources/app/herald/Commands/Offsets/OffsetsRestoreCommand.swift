import HeraldCommandLine
import HeraldCore
import HeraldDriver
import HeraldKafka
import HeraldOffsets
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

enum OffsetsRestoreCommand: HeraldCommand {
    private static let from = CommandOption.standard(
        "from", .choice(OffsetRestorer.Source.self), default: "results",
        "Where the group is to stand: where the results say, at the first record that is left, or at the end.")
    private static let withWorkers = CommandOption.flag(
        "with-workers",
        "Write although the group has members: only if all of them are workers of this version, which wait for the offsets "
            + "and go on by themselves.")
    private static let withOtherGroups = CommandOption.flag(
        "with-other-groups",
        "Write although another group has Herald's offsets on the request topics: for a second group on purpose, not for one "
            + "whose name was changed.")
    private static let reason = CommandOption.optional("reason", .text("TEXT"), "Why; goes into the audit topic.")

    static let declaration = CommandDeclaration(
        "restore", "Give the group offsets where it has lost them, from the results.",
        details:
            "Only partitions that have records and no offset get one. From the results: what has an outcome, or lives on as "
            + "a retry, is done; the group stands at the first record that is not, and its metadata says what is done "
            + "beyond that. Events that are older than the oldest result are taken for done, and counted (unknown). If "
            + "not all that is done fits into the metadata, nobody is called twice: the first records that are not done "
            + "are passed over, and named (passedOver). If another group has Herald's offsets on these topics, kafka.group may "
            + "have been changed, and nothing is written without --with-other-groups. Offsets, metadata and an entry of the audit topic are one "
            + "transaction. earliest calls everything that is left, latest nothing: for a second group on purpose.",
        options: [
            from, DeadLetterReplayCommand.dryRun, withWorkers, withOtherGroups, reason, Confirmation.option,
            OutputFormat.option,
        ],
        examples: [
            .init("herald offsets restore --dry-run", "What would be written."),
            .init("herald offsets restore --yes", "Write it, while no worker runs."),
            .init(
                "herald offsets restore --from latest --kafka-group green --with-other-groups",
                "A second group that begins with what is published from now on."),
        ])
    static let usedSettings: UsedSettings =
        .cluster + .topics("requests", "results", "retry", "audit") + .pushServices

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        let settings = try invocation.settings(requiring: [.kafka])
        let context = try settings.offsetContext(invocation)
        let stop = try StopRequest.listen()
        let survey = try OffsetSurvey(context, admin: settings.adminClient())
        defer { survey.close() }
        let all = try survey.partitions()
        let missing = all.filter(\.isMissing)
        guard !missing.isEmpty else {
            console.remark(
                "The group \(SafeText.escaped(context.group)) has an offset for each partition with records.")
            return .done
        }
        let isDry = parsed[DeadLetterReplayCommand.dryRun]
        try tell(survey.otherGroups(of: all), of: context.group, invocation)
        if !isDry { try refuse(members: survey.members(), of: context.group, isAllowed: parsed[withWorkers]) }
        let restorer = OffsetRestorer(context, survey)
        let plan = try stop.reading(console, interruption: "interrupted; nothing was written") { bar in
            try restorer.plan(parsed[from], of: missing, all: all) { bar.show($0, of: $1, "\($0) of \($1) offsets") }
        }
        guard let plan else { return .partlyDone }
        try show(plan, invocation)
        guard !isDry else { return .done }
        let question =
            "Write \(TopicsTool.counted(plan.partitions.count, "offset")) of \(SafeText.escaped(context.group))?"
        guard
            try stop.confirm(
                question, isAssumed: parsed[Confirmation.option], console, refusal: "Nothing was written.")
        else { return .needsConfirmation }
        // A worker may have started meanwhile.
        try refuse(members: survey.members(), of: context.group, isAllowed: parsed[withWorkers])
        let count = try restorer.write(plan, reason: parsed[reason])
        console.remark("\(TopicsTool.counted(count, "offset")) written.")
        return .done
    }

    /// Names the other groups with offsets; refuses to go on when one of them may be this group under an earlier name.
    private static func tell(_ others: OtherGroups, of group: String, _ invocation: Invocation) throws {
        let (parsed, console) = (invocation.parsed, invocation.console)
        for remark in others.remarks { console.remark(remark) }
        guard let question = others.question else { return }
        guard !parsed[DeadLetterReplayCommand.dryRun], !parsed[withOtherGroups] else {
            return console.complain(question)
        }
        throw CommandFailure(
            "\(question) Then set it back, and restore nothing: what the group \(SafeText.escaped(group)) does, that "
                + "one does not know, and does again. If a second group is meant: --with-other-groups",
            status: .failed)
    }

    private static func refuse(members: Int, of group: String, isAllowed: Bool) throws {
        guard members > 0, !isAllowed else { return }
        throw CommandFailure(
            "\(TopicsTool.counted(members, "member")) of the group \(SafeText.escaped(group)) would go on as if nothing had "
                + "been written: stop all workers; if all are of this version, which wait for their offsets: --with-workers",
            status: .failed)
    }

    private static func show(_ plan: OffsetRestorer.Plan, _ invocation: Invocation) throws {
        let numbers = ["partition", "offset", "doneBeyond", "done", "open", "unknown", "passedOver"]
        let columns =
            [RecordWriter.Column("topic")] + numbers.map { RecordWriter.Column($0, isNumber: true) }
            + [RecordWriter.Column("passedOffsets")]
        let records: [[JSONValue]] = plan.partitions.map { restored in
            let position = restored.position
            let beyond = position.map.done.reduce(0) { $0 + $1.count }
            return [
                .string(restored.partition.topic), .integer(Int(restored.partition.partition)),
                .integer(Int(position.offset)), .integer(beyond), .integer(position.done), .integer(position.open),
                .integer(position.unknown), .integer(position.passedOver),
                position.passedRange.map { JSONValue.string("\($0.lowerBound)-\($0.upperBound)") } ?? .null,
            ]
        }
        try invocation.write(records, columns)
        let console = invocation.console
        console.remark(
            "\(plan.sum(\.done)) records are done; \(plan.sum(\.open)) are not, and will be consumed.")
        if let since = plan.resultsSince, plan.sum(\.unknown) > 0 {
            console.remark(
                "\(plan.sum(\.unknown)) are older than the oldest result (\(since.text)) and are taken for done: nobody "
                    + "is called for them.")
        }
        if plan.sum(\.passedOver) > 0 {
            console.complain(
                "\(plan.sum(\.passedOver)) records without an outcome are passed over, because what is done beyond them "
                    + "does not fit into the group's metadata: publish them again under other ids, if they still matter."
            )
        }
    }
}
