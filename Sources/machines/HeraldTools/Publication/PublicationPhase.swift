package import HeraldKernel
package import HeraldTime

/// How far a publication is.
package enum PublicationPhase: CheckedState {
    case idle
    /// It reads who works on the same source.
    case looking
    /// It watches whether another publication of that source lives.
    case watching(until: MonotonicTime)
    /// It claims the name that it writes under.
    case claiming
    /// It reads what is ordered, through every transaction that is open.
    case learning
    /// It finds the ends of the topics, where it begins.
    case placing
    /// It reads what is published, through every transaction that is open.
    case readingBack
    /// It begins to count outcomes.
    case counting
    /// It writes that it publishes.
    case opening
    /// It publishes, or waits until it may.
    case publishing
    /// It counts what workers have settled by now, so that its last words are not about a moment before.
    case closing(PublicationEnd)
    /// It writes how it ended.
    case finishing(PublicationEnd)
    /// It waits before it claims its name again.
    case resting(until: MonotonicTime)
    case ended(PublicationEnd)

    package enum Name: String, CaseIterable, Sendable {
        case idle, looking, watching, claiming, learning, placing, readingBack, counting, opening, publishing, closing
        case finishing, resting, ended
    }

    package var name: Name {
        switch self {
        case .idle: .idle
        case .looking: .looking
        case .watching: .watching
        case .claiming: .claiming
        case .learning: .learning
        case .placing: .placing
        case .readingBack: .readingBack
        case .counting: .counting
        case .opening: .opening
        case .publishing: .publishing
        case .closing: .closing
        case .finishing: .finishing
        case .resting: .resting
        case .ended: .ended
        }
    }

    package static let transitions = TransitionTable<Name>([
        .init([.idle], "at once, where no other can be at work under another name", [.claiming]),
        .init([.idle], "at once, where another job may have the lease", [.looking]),
        .init([.looking], "another job has the lease, and may live", [.watching]),
        .init([.watching], "its lease has not changed for long enough", [.looking]),
        .init([.looking, .watching], "no job that lives has it", [.claiming]),
        .init(
            [.claiming], "the name is its own, and what others had begun is ended", [.learning, .placing, .readingBack]),
        .init([.learning], "the campaign is new", [.placing]),
        .init([.learning], "it was begun before", [.readingBack]),
        .init([.placing], "it is known where it begins", [.counting, .opening]),
        .init([.readingBack], "all that is published is known", [.counting, .opening]),
        .init([.counting], "what came before this start is counted", [.opening]),
        .init([.opening], "durable", [.publishing]),
        .init(
            [.readingBack], "the lease is its own still: what was in doubt is written, or written again",
            [.publishing, .finishing]),
        .init([.publishing], "complete, interrupted, stopped, cancelled, expired or failed", [.closing, .finishing]),
        .init([.closing], "the last outcomes are counted, or it takes too long", [.finishing]),
        .init([.finishing], "durable, refused, or what was asked for is done without it", [.ended]),
        .init(
            [.claiming, .learning, .placing, .readingBack, .counting, .opening, .publishing, .finishing],
            "no broker answers, a transaction is in doubt or refused for now, or a topic has grown", [.resting]),
        .init([.resting], "the pause is over", [.claiming]),
        .init(
            [.idle, .looking, .watching, .claiming, .learning, .placing, .readingBack, .counting, .resting],
            "it is to stop, and has no lease to give back", [.ended]),
        .init(
            [
                .looking, .watching, .claiming, .learning, .placing, .readingBack, .counting, .opening, .publishing,
                .finishing,
            ], "another is at work, or it can't go on: forbidden, another audience, deleted …", [.ended]),
    ])
}
