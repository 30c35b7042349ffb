import HeraldCommandLine
import HeraldReplay
import HeraldText
import HeraldTools

/// `herald dlq export`: dead letters as a file for other tools.
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
        arguments: [DeadLetterOptions.ids.declaration],
        options: DeadLetterOptions.selection + [format.declaration, DeadLetterOptions.reveal.declaration],
        examples: [
            .init("herald dlq export --group reason=rejected -o csv > rejected.csv", "For a spreadsheet.")
        ])
    static let heeds: HeededSettings = .cluster + .topics("results", "deadLetter", "state", "audit") + .events

    private static let columns = [
        "place", "deadLetteredAt", "id", "user", "pns", "reason", "status", "attempts", "replays", "state", "origin",
        "source", "campaign", "detail", "replayOutcome",
    ]

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let selection = try DeadLetterOptions.selection(invocation.parsed, needsChoice: false)
        let isRevealed = invocation.parsed[DeadLetterOptions.reveal]
        var query = try DeadLetterQuery(invocation, selection)
        if isRevealed { try query.recordReveal("export") }
        let format = invocation.parsed[format]
        let page = DeadLetterPage(isRevealed: isRevealed, configuration: invocation.parsed[GlobalOptions.config])
        var writer = BufferedOutput(invocation.console.output)
        if format == .csv { writer.write(CSVText.line(columns + (isRevealed ? ["message"] : []))) }
        let count = try query.visit { entry, marks, outcomes in
            let letter = DeadLetterView(&entry, marks, outcomes)
            switch format {
            case .jsonl: writer.write(page.object(letter).compact + "\n")
            case .csv: writer.write(CSVText.line(cells(letter, isRevealed)))
            }
            return writer.failure == nil
        }
        try writer.finish()
        invocation.console.remark("\(TopicsTool.counted(count, "dead letter")) exported.")
        return query.statusOfNamed()
    }

    private static func cells(_ letter: DeadLetterView, _ isRevealed: Bool) -> [String] {
        let cells: [String?] =
            [
                letter.place, letter.deadLetteredAt.text, letter.id, letter.user,
                letter.pushServices.joined(separator: " "), letter.reason, letter.status.map { "\($0)" },
                letter.attempts.map { "\($0)" }, "\(letter.replays)", letter.state.rawValue, letter.origin,
                letter.source, letter.campaign, letter.detail, letter.replayOutcome?.rawValue,
            ] + (isRevealed ? [letter.message ?? letter.value.map { String(decoding: $0, as: UTF8.self) }] : [])
        return cells.map { $0 ?? "" }
    }
}
