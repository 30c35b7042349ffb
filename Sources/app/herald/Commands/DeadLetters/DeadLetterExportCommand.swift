import HeraldCommandLine
import HeraldReplay
import HeraldText
import HeraldTools

enum DeadLetterExportCommand: HeraldCommand {
    enum Format: String, CaseIterable, Sendable {
        case jsonl, csv
    }

    private static let format = CommandOption.standard(
        "output", short: "o", .choice(Format.self), default: "jsonl", "JSON lines, or CSV for spreadsheets.")

    static let declaration = CommandDeclaration(
        "export", "Write dead letters to standard output as JSON lines or CSV.",
        details:
            "Messages are left out unless --reveal, which goes into the audit topic. In CSV control characters are "
            + "escaped, and what a spreadsheet would take for a formula begins with an apostrophe.",
        arguments: [DeadLetterOptions.ids],
        options: DeadLetterOptions.selection + [format, DeadLetterOptions.reveal],
        examples: [
            .init("herald dlq export --group reason=rejected -o csv > rejected.csv", "For a spreadsheet.")
        ])
    static let usedSettings: UsedSettings = .cluster + .topics("results", "deadLetter", "state", "audit") + .events

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let selection = try DeadLetterOptions.selection(invocation.parsed, needsChoice: false)
        let isRevealed = invocation.parsed[DeadLetterOptions.reveal]
        var query = try DeadLetterQuery(invocation, selection)
        if isRevealed { try query.recordReveal("export") }
        let format = invocation.parsed[format]
        let foreign = query.replayer.context.foreign
        var writer = BufferedOutput(invocation.console.output)
        if format == .csv { writer.write(DeadLetterView.csvHeading(isRevealed: isRevealed)) }
        let count = try query.visit { entry, marks, outcomes in
            let letter = DeadLetterView(&entry, marks, outcomes)
            switch format {
            case .jsonl:
                let object = letter.object(
                    isRevealed: isRevealed, configuration: invocation.configuration, foreign: foreign)
                writer.write(object.compact + "\n")
            case .csv: writer.write(letter.csvLine(isRevealed: isRevealed))
            }
            return writer.failure == nil
        }
        try writer.finish()
        invocation.console.remark("\(TopicsTool.counted(count, "dead letter")) exported.")
        return query.statusOfNamed()
    }
}
