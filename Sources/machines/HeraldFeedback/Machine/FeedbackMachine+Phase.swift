internal import HeraldKernel
internal import HeraldTime

extension FeedbackMachine {
    /// The progress of a follower.
    enum Phase: CheckedState {
        case idle
        /// It claims the group's name.
        case claiming
        /// It finds out the group's offsets.
        case finding
        case following
        /// It waits before it begins again.
        case resting(until: MonotonicTime)
        /// It was asked to stop, and makes known conclusions durable.
        case finishing
        case ended(End)

        enum Name: String, CaseIterable, Sendable {
            case idle, claiming, finding, following, resting, finishing, ended
        }

        var name: Name {
            switch self {
            case .idle: .idle
            case .claiming: .claiming
            case .finding: .finding
            case .following: .following
            case .resting: .resting
            case .finishing: .finishing
            case .ended: .ended
            }
        }

        static let transitions = TransitionTable<Name>([
            .init([.idle], "at once", [.claiming]),
            .init([.claiming], "the name is its own", [.finding]),
            .init([.finding], "it is known where the group stands", [.following]),
            .init([.claiming, .finding, .following], "trouble, or other partitions or credentials", [.resting]),
            .init([.resting], "the pause is over", [.claiming]),
            .init([.following], "it is asked to stop", [.finishing]),
            .init([.idle, .claiming, .finding, .resting], "it is asked to stop", [.ended]),
            .init([.finishing], "all is durable, or cannot become so now", [.ended]),
            .init([.claiming, .finding, .following, .finishing], "another follower has the name", [.ended]),
            .init([.claiming, .finding], "it is forbidden, or not there", [.ended]),
        ])
    }
}
