package import HeraldEvents

/// What a dead letter says of itself, as far as it decides what became of it.
package struct LetterFacts: Hashable, Sendable {
    package var partition: Int32
    package var offset: Int64
    /// The request record; `nil` when its headers do not say, or wrongly.
    package var origin: Origin?
    /// Those that failed; none of an event that does not decode.
    package var pushServices: [String]
    /// How often the event was replayed before it became this dead letter.
    package var replays: Int

    package init(partition: Int32, offset: Int64, origin: Origin?, pushServices: [String], replays: Int) {
        self.partition = partition
        self.offset = offset
        self.origin = origin
        self.pushServices = pushServices
        self.replays = replays
    }
}

/// What became of a dead letter: the one account that lists, pages, `explain` and `find` show.
package struct LetterFate: Hashable, Sendable {
    package enum State: String, Sendable {
        case open
        case partlyReplayed = "partly-replayed"
        case replayed
        /// An operator has dealt with it in another way.
        case resolved
    }

    package let state: State
    /// What came of its replay; `nil` when it was not replayed.
    package let outcome: ReplayOutcomes.Outcome?
    /// The push services that its last replay called in place of its own; none unless they were corrected.
    package let correctedPushServices: [String]

    /// Nothing was done about it.
    package static let open = Self(state: .open, outcome: nil, correctedPushServices: [])

    private init(state: State, outcome: ReplayOutcomes.Outcome?, correctedPushServices: [String]) {
        self.state = state
        self.outcome = outcome
        self.correctedPushServices = correctedPushServices
    }

    /// - Parameter marks: what was done about dead letters; `nil` while nothing was.
    package init(of letter: LetterFacts, _ marks: MarkIndex?, _ outcomes: ReplayOutcomes) {
        let (partition, offset) = (letter.partition, letter.offset)
        guard let marks, let highest = marks.highest[partition], offset <= highest else {
            self = .open
            return
        }
        let isTouched = marks.replayCount(partition: partition, offset: offset) > 0
        outcome = isTouched ? outcomes.outcome(of: letter, marks) : nil
        correctedPushServices = marks.correctedPushServices(partition: partition, offset: offset) ?? []
        state =
            if marks.isReplayed(letter.pushServices, partition: partition, offset: offset) {
                .replayed
            } else if marks.isResolved(partition: partition, offset: offset) {
                .resolved
            } else {
                isTouched ? .partlyReplayed : .open
            }
    }

    /// What a replay has left to do of it: nothing once it was replayed as a whole, or resolved.
    package var isOpen: Bool { state == .open || state == .partlyReplayed }

    /// What became of it, as the end of a sentence; `nil` while nothing was done.
    ///
    /// An outcome that is not known is left out: it may lie outside of what was read.
    package var words: String? {
        guard state != .resolved else { return "resolved" }
        guard let outcome else { return nil }
        var text = state == .partlyReplayed ? "replayed in part" : "replayed"
        if !correctedPushServices.isEmpty { text += " for \(correctedPushServices.joined(separator: ", ")) instead" }
        return switch outcome {
        case .delivered, .suppressed, .failedAgain: text + ", and \(outcome.words)"
        case .notKnown, .notReported: text
        }
    }
}
