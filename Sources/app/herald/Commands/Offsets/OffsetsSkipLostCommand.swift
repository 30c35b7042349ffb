import HeraldCommandLine
import HeraldKafka
import HeraldOffsets
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

enum OffsetsSkipLostCommand: HeraldCommand {
    private static let reason = CommandOption.optional("reason", .text("TEXT"), "Why; goes into the audit topic.")

    static let declaration = CommandDeclaration(
        "skip-lost", "Move the group past records that were deleted before they were read.",
        details:
            "Where retention, or a deletion of records, has passed the group's offset, workers consume nothing until this "
            + "is done, and all other partitions go on. It moves the offset to the first record that is left: never back, "
            + "and never over a record that is there. lost counts offsets without a known outcome, and may count marks of "
            + "transactions; the records were published between since and until (now, where no later record is left). Workers may run: they go on by themselves "
            + "within seconds. Offsets, metadata and an entry of the audit topic, which acknowledges the loss, are one "
            + "transaction.",
        options: [DeadLetterReplayCommand.dryRun, reason, Confirmation.option, OutputFormat.option],
        examples: [
            .init("herald offsets skip-lost --dry-run", "What is lost, and where the group would go on."),
            .init("herald offsets skip-lost --reason 'retention was 1 s'", "Go on without it."),
        ])
    static let usedSettings: UsedSettings = .cluster + .topics("requests", "results", "retry", "audit") + .pushServices

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        let stop = try StopRequest.listen()
        let settings = try invocation.settings(requiring: [.kafka])
        let survey = try OffsetSurvey(settings.offsetContext(invocation), admin: settings.adminClient())
        defer { survey.close() }
        let skipper = LossSkipper(survey)
        let plan = try skipper.plan()
        guard !plan.isEmpty else {
            console.remark("No record was deleted before it was read.")
            return .done
        }
        try show(plan, invocation)
        guard !parsed[DeadLetterReplayCommand.dryRun] else { return .done }
        let question = "Skip \(words(plan)), which are lost?"
        guard
            try stop.confirm(
                question, isAssumed: parsed[Confirmation.option], console, refusal: "Nothing was written.")
        else { return .needsConfirmation }
        let skipped = try skipper.write(reason: parsed[reason])
        console.remark("\(words(skipped)) skipped; workers go on there within seconds.")
        return .done
    }

    private static func words(_ skips: [LossSkipper.Skip]) -> String {
        "\(TopicsTool.counted(Int(skips.reduce(0) { $0 + $1.lost }), "record")) of "
            + TopicsTool.counted(skips.count, "partition")
    }

    private static func show(_ plan: [LossSkipper.Skip], _ invocation: Invocation) throws {
        let columns =
            [RecordWriter.Column("topic")]
            + ["partition", "committed", "offset", "lost"].map { RecordWriter.Column($0, isNumber: true) }
            + [RecordWriter.Column("since"), RecordWriter.Column("until")]
        let records: [[JSONValue]] = plan.map { skip in
            [
                .string(skip.partition.topic), .integer(Int(skip.partition.partition)), .integer(Int(skip.committed)),
                .integer(Int(skip.offset)), .integer(Int(skip.lost)), skip.since.map { .string($0.text) } ?? .null,
                skip.until.map { .string($0.text) } ?? .null,
            ]
        }
        try invocation.write(records, columns)
    }
}
