package import HeraldKernel
package import HeraldTime

extension CampaignMachine {
    /// How far a publisher is.
    package enum Phase: CheckedState {
        case idle
        /// It claims the campaign's name.
        case claiming
        /// It reads what the campaigns topic says, through every transaction that is open.
        case learning
        /// It finds the ends of the topics, where a new campaign begins.
        case placing
        /// It reads what is published.
        case readingBack
        /// It begins to count outcomes.
        case counting
        /// It writes that it publishes the campaign.
        case opening
        case publishing
        /// Nothing is published until the campaign is resumed.
        case paused
        /// It counts what workers have settled by now, so that its last words are not about a moment before.
        case closing(PublishEnd)
        /// It writes how it ended.
        case finishing(PublishEnd)
        /// It waits before it begins again.
        case resting(until: MonotonicTime)
        case ended(PublishEnd)

        package enum Name: String, CaseIterable, Sendable {
            case idle, claiming, learning, placing, readingBack, counting, opening, publishing, paused, closing
            case finishing, resting, ended
        }

        package var name: Name {
            switch self {
            case .idle: .idle
            case .claiming: .claiming
            case .learning: .learning
            case .placing: .placing
            case .readingBack: .readingBack
            case .counting: .counting
            case .opening: .opening
            case .publishing: .publishing
            case .paused: .paused
            case .closing: .closing
            case .finishing: .finishing
            case .resting: .resting
            case .ended: .ended
            }
        }

        package static let transitions = TransitionTable<Name>([
            .init([.idle], "at once", [.claiming]),
            .init([.claiming], "the name is its own, and what others had begun is ended", [.learning]),
            .init([.learning], "the campaign is new", [.placing]),
            .init([.learning], "it was begun before", [.readingBack]),
            .init([.placing], "it is known where it begins", [.counting]),
            .init([.readingBack], "all that is published is marked", [.counting]),
            .init([.counting], "what came before this start is counted", [.opening]),
            .init([.opening], "durable", [.publishing, .paused]),
            .init([.publishing], "a pause is read", [.paused]),
            .init([.paused], "it is resumed", [.publishing]),
            .init(
                [.publishing, .paused], "complete, interrupted, cancelled, expired, or paused for good", [.closing]),
            .init([.closing], "the last outcomes are counted, or it takes too long", [.finishing]),
            .init([.finishing], "durable, or what was asked for is done without it", [.ended]),
            .init(
                [.claiming, .learning, .placing, .readingBack, .counting, .opening, .publishing, .paused, .finishing],
                "no broker answers, a transaction is in doubt or refused for now, or a topic has grown", [.resting]),
            .init([.resting], "the pause is over", [.claiming]),
            .init(
                [.idle, .claiming, .learning, .placing, .readingBack, .counting, .resting], "it is told to stop",
                [.ended]),
            .init([.opening, .publishing, .paused], "it is told to stop, and no broker answers", [.ended]),
            .init([.opening, .publishing, .paused, .finishing], "another publisher has the name", [.ended]),
            .init(
                [.claiming, .learning, .placing, .readingBack, .counting, .opening, .publishing, .paused, .finishing],
                "it can't go on: forbidden, another audience, deleted …", [.ended]),
        ])
    }

    /// The reading of what workers have settled by now, before the last words.
    struct LastLook: Sendable {
        /// So long the outcomes are waited for that workers are about to commit.
        static let patience: Milliseconds = .seconds(3)
        /// When none has come for so long, no worker is about to commit some.
        static let quiet: Milliseconds = .milliseconds(700)

        /// Whether workers may have outcomes that they are still about to write: they have paused the campaign because of
        /// them.
        let isOpenEnded: Bool
        /// What is not read by then is open, as before.
        let deadline: MonotonicTime
        /// Since when nothing has come, after everything was read; `nil` before.
        var quietSince: MonotonicTime?

        init(isOpenEnded: Bool, now: MonotonicTime) {
            self.isOpenEnded = isOpenEnded
            deadline = now.advanced(by: Self.patience)
        }

        /// When it is over whatever comes.
        var wake: MonotonicTime {
            min(deadline, quietSince?.advanced(by: Self.quiet) ?? deadline)
        }
    }
}

extension CampaignMachine.Phase {
    /// Whether orders are read as they come.
    package var hearsOrders: Bool {
        switch name {
        case .placing, .readingBack, .counting, .opening, .publishing, .paused, .closing: true
        case .idle, .claiming, .learning, .finishing, .resting, .ended: false
        }
    }

    /// Whether outcomes are read as they come.
    package var isFollowing: Bool {
        switch name {
        case .opening, .publishing, .paused, .closing: true
        case .idle, .claiming, .learning, .placing, .readingBack, .counting, .finishing, .resting, .ended: false
        }
    }
}
