import HeraldCommandLine
import HeraldReplay
import HeraldText

enum DeadLetterShowCommand: HeraldCommand {
    private static let id = CommandOption.required(
        "PARTITION:OFFSET|ID", .text("PARTITION:OFFSET|ID"),
        "The place of a dead letter, or the id of an event, which may have several.")

    static let declaration = CommandDeclaration(
        "show", "Show a dead letter: where it came from, each attempt, what became of it, how to replay it.",
        details: "The message is masked unless --reveal, which goes into the audit topic.",
        arguments: [id],
        options: [DeadLetterOptions.topic, DeadLetterOptions.reveal, OutputFormat.option],
        examples: [.init("herald dlq show 3:1742", "The dead letter with offset 1742 in partition 3.")])
    static let usedSettings: UsedSettings =
        .cluster + .topics("results", "deadLetter", "state", "audit") + .events + .words

    /// An id of which there are more is no id.
    private static let limit = 100

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        var request = Selection.Request()
        request.topic = invocation.parsed[DeadLetterOptions.topic]
        request.ids = [invocation.parsed[id]]
        let selection = try DeadLetterOptions.compile(request, invocation.parsed)
        let isRevealed = invocation.parsed[DeadLetterOptions.reveal]
        var query = try DeadLetterQuery(invocation, selection)
        if isRevealed { try query.recordReveal("show") }
        var found: [(entry: DeadLetterEntry, marks: MarkIndex?, outcomes: ReplayOutcomes)] = []
        try query.visit { entry, marks, outcomes in
            found.append((entry, marks, outcomes))
            return found.count < limit
        }
        var letters: [DeadLetterView] = []
        for index in found.indices {
            let original = try query.original(of: found[index].entry)
            letters.append(
                DeadLetterView(&found[index].entry, found[index].marks, found[index].outcomes, original: original))
        }
        guard !letters.isEmpty else {
            throw CommandFailure("there is no dead letter \(SafeText.escaped(invocation.parsed[id]))")
        }
        query.noteWords(in: &letters)
        let foreign = query.replayer.context.foreign
        let page = DeadLetterPage(
            isRevealed: isRevealed, configuration: invocation.configuration, foreign: foreign,
            decoder: query.replayer.context.decoder, marks: try query.marks(of: letters))
        let objects = letters.map { letter in
            letter.object(isRevealed: isRevealed, configuration: invocation.configuration, foreign: foreign)
        }
        try invocation.format.writeAll(
            objects, lines: Array(letters.map(page.lines).joined(separator: [""])), to: invocation.console)
        return .done
    }
}
