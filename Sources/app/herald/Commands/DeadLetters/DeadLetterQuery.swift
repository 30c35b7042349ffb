import HeraldCommandLine
import HeraldEvents
import HeraldReplay
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

/// Going through the dead letters that a command line means, with a bar while it takes its time.
struct DeadLetterQuery {
    let replayer: Replayer
    let selection: Selection
    /// What became of dead letters; `nil` without a state topic.
    let state: StateReader?
    /// What came of replays, as far as it is known.
    let outcomes: ReplayOutcomes
    /// The places and ids that were named, and that no dead letter has.
    private(set) var missing: [String] = []
    private let console: Console
    private let settings: Settings
    let stop: StopRequest
    /// A command that only shows does not wait for millions of results.
    private static let outcomePatience = Duration.seconds(10)

    init(_ invocation: Invocation, _ selection: Selection, isWriting: Bool = false) throws {
        let settings = try invocation.settings(requiring: [.kafka])
        console = invocation.console
        self.settings = settings
        self.selection = selection
        stop = try StopRequest.listen()
        let replayer = try settings.replayer(
            environment: invocation.environment,
            foreign: try DeadLetterOptions.foreignTopic(invocation.parsed, settings), isWriting: isWriting)
        self.replayer = replayer
        state = try replayer.context.state(replayer.layout)
        try state?.catchUp()
        if state == nil {
            console.remark("There is no topic \(settings.topics.state) yet, so nothing was replayed.")
        }
        outcomes = isWriting ? ReplayOutcomes() : try Self.outcomes(replayer, selection, state?.marks, console, stop)
    }

    private static func outcomes(
        _ replayer: Replayer, _ selection: Selection, _ marks: MarkIndex?, _ console: Console, _ stop: StopRequest
    ) throws -> ReplayOutcomes {
        guard let marks else { return ReplayOutcomes() }
        let end = ContinuousClock.now + outcomePatience
        let (outcomes, isWhole) = try stop.reading(console) { bar in
            try replayer.outcomes(of: marks, since: selection.condition.bounds.earliest) { passed, total in
                bar.show(passed, of: total, "\(passed) of \(total) results read") && ContinuousClock.now < end
            }
        }
        if !isWhole {
            console.remark(
                "The outcomes of the latest replays are not known: there are too many results to read in "
                    + "\(outcomePatience.components.seconds) s. --since leaves out what is older.")
        }
        return outcomes
    }

    /// Says which of the named were not found; the exit status.
    func statusOfNamed() -> ExitStatus {
        guard let failure = DeadLetterOptions.failure(ofMissing: missing) else { return .done }
        console.complain("herald: \(failure)")
        return failure.status
    }

    /// Writes down that messages are shown, before they are.
    func recordReveal(_ command: String) throws {
        try replayer.context.recordReveal("\(command) \(selection.text)", at: SystemClock.wall())
    }

    /// What became of these dead letters, by their places, the oldest first.
    func marks(of letters: [DeadLetterView]) throws -> [String: [MarkRecord]] {
        var found: [String: [MarkRecord]] = [:]
        guard let state = try replayer.context.state(replayer.layout) else { return found }
        defer { state.close() }
        try state.catchUp { mark in
            for letter in letters where mark.contains(partition: letter.partition, offset: letter.offset) {
                found[letter.place, default: []].append(mark)
            }
        }
        return found
    }

    /// Has open letters say what users and recalls say of a replay now; those of others' topics no worker calls.
    func noteWords(in letters: inout [DeadLetterView]) {
        guard let words = settings.standingWords(), replayer.context.foreign == nil else { return }
        do {
            let events = letters.compactMap(\.named)
            guard !events.isEmpty else { return }
            let standing = try words().standing(
                about: events, reach: settings.clusterReach, admin: settings.adminClient())
            for index in letters.indices { letters[index].note(standing) }
        } catch {
            console.remark(SafeText.escaped("What users and recalls say of a replay now is not known: \(error)."))
        }
    }

    /// The request that a dead letter without its value was made of, while its topic has it.
    func original(of entry: DeadLetterEntry) throws -> DeadLetterEntry? {
        guard entry.omissions.contains(.value) else { return nil }
        return try replayer.context.original(of: entry)
    }

    /// Calls `body` for each until it answers `false`; how many there were.
    ///
    /// Ends the command when the operator asked it to stop.
    @discardableResult
    mutating func visit(_ body: (inout DeadLetterEntry, MarkIndex?, ReplayOutcomes) -> Bool) throws -> Int {
        var named = selection.named
        var count = 0
        let reader = try replayer.context.deadLetters()
        defer { reader.close() }
        try stop.reading(console) { bar in
            try replayer.scan(selection, reader) { passed, total in
                bar.show(passed, of: total, "\(passed) of \(total) read, \(count) found\(bar.pace)")
            } _: { entry in
                count += 1
                named.note(&entry)
                return body(&entry, state?.marks, outcomes)
            }
            if !reader.knowsTimes {
                console.remark("This broker cannot find records by their time: all of them were read.")
            }
        }
        missing = named.missing
        return count
    }
}
