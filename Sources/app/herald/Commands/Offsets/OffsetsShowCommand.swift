import HeraldCommandLine
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldOffsets
import HeraldSettings
import HeraldText
import HeraldTools

enum OffsetsShowCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "show", "Show for each partition where the workers' group stands, and what there is.",
        details:
            "committed is the group's offset, below which everything is done; doneBeyond, how many offsets beyond it "
            + "are done; begin and end, the first offset that is left and the one behind the last record; stable, the "
            + "last stable offset, which no reader of committed records passes: if it stays below end, a transaction is "
            + "open.",
        options: [OutputFormat.option],
        examples: [.init("herald offsets show --config herald.yaml", "The request and the retry topics.")])
    static let usedSettings: UsedSettings = .cluster + .topics("requests", "retry")

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let settings = try invocation.settings(requiring: [.kafka])
        let survey = try OffsetSurvey(settings.offsetContext(invocation), admin: settings.adminClient())
        defer { survey.close() }
        let partitions = try survey.partitions()
        let numbers = ["partition", "committed", "doneBeyond", "begin", "stable", "end"]
        let columns = [RecordWriter.Column("topic")] + numbers.map { RecordWriter.Column($0, isNumber: true) }
        let records: [[JSONValue]] = partitions.map { partition in
            [
                .string(partition.partition.topic), .integer(Int(partition.partition.partition)),
                number(partition.committed), partition.doneBeyond.map(JSONValue.integer) ?? .null,
                number(partition.begin), number(partition.stable), number(partition.end),
            ]
        }
        try invocation.write(records, columns)
        let lost = LostRecords(of: partitions.map { ($0.partition, $0.lost) })
        if let finding = lost.finding { invocation.console.complain(finding.sentence) }
        let missing = partitions.filter(\.isMissing).count
        if missing > 0 {
            invocation.console.remark(
                "\(TopicsTool.counted(missing, "partition")) with records and without an offset: a worker begins at the "
                    + "first record if no event there has an outcome; else it waits for herald offsets restore.")
        }
        return .done
    }

    private static func number(_ offset: Int64?) -> JSONValue { offset.map { JSONValue.integer(Int($0)) } ?? .null }
}

extension Settings {
    func offsetContext(_ invocation: Invocation) throws -> OffsetContext {
        OffsetContext(
            topics: topicNames, pushServices: try pushServices(), group: kafka.group,
            surveyProperties: KafkaClientSettings.doctorReader(self),
            readerProperties: KafkaClientSettings.toolReader(self),
            writerProperties: KafkaClientSettings.replayWriter(self),
            operatorName: Operator.name(environment: invocation.environment))
    }
}
