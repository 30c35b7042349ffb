package import HeraldEvents
package import HeraldReplay
package import HeraldTime

/// One thing that happened to an event.
package struct TimelineStep: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// A service published it.
        case published(notBefore: WallTime?, expiresAt: WallTime?)
        /// Its dead letter was published again, for the so-manieth time, for these push services.
        case replayed(number: Int, pushServices: [String])
        /// The backend was called, and it was not the last word.
        case called(AttemptEntry)
        /// It was put into a delay topic, until a moment.
        case delayed(reason: String?, detail: String?, until: WallTime?, pushServices: [String])
        /// It came to the dead-letter topic.
        case deadLettered(reason: DeadLetterReason, detail: String?, pushServices: [String])
        /// One push service's outcome was recorded; none for an event that does not decode.
        case settled(NotificationResult)
        /// The hub has said what became of a notification that it took.
        case reported(NotificationFeedback)
    }

    package let at: WallTime
    package let kind: Kind
    /// The record that tells it.
    package let record: Origin
    /// Of a dead letter: what decides what became of it.
    package internal(set) var letter: LetterFacts?
    /// Of a dead letter: what became of it; `nil` until that was asked.
    package internal(set) var fate: LetterFate?

    /// What comes first among things of the same moment.
    var rank: Int {
        switch kind {
        case .published: 0
        case .replayed: 1
        case .called: 2
        case .delayed: 3
        case .settled: 4
        case .deadLettered: 5
        case .reported: 6
        }
    }
}

extension TimelineStep {
    /// Of a dead letter: what was wrong.
    var detail: String? { if case .deadLettered(_, let detail, _) = kind { detail } else { nil } }
}
