internal import HeraldKernel
internal import HeraldTime

extension ControlMachine {
    /// The progress with the topic.
    enum Phase: CheckedState {
        case idle
        /// It asks for the topic's partitions.
        case looking
        /// It reads the topic's content, to the end.
        case reading
        /// It has read everything, and reads new records; the partitions are counted again at this moment.
        case following(countsAt: MonotonicTime)
        /// It follows, and asks whether the topic has the same partitions.
        case counting
        /// It waits before it looks for the topic again.
        case resting(until: MonotonicTime)
        case ended

        enum Name: String, CaseIterable, Sendable {
            case idle, looking, reading, following, counting, resting, ended
        }

        var name: Name {
            switch self {
            case .idle: .idle
            case .looking: .looking
            case .reading: .reading
            case .following: .following
            case .counting: .counting
            case .resting: .resting
            case .ended: .ended
            }
        }

        static let transitions = TransitionTable<Name>([
            .init([.idle], "at once", [.looking]),
            .init([.looking], "the topic is there", [.reading]),
            .init([.reading], "the end is reached", [.following]),
            .init([.following], "it is time", [.counting]),
            .init([.counting], "the partitions are the same, or no broker says", [.following]),
            .init([.counting], "they are others", [.reading]),
            .init([.looking, .reading, .following, .counting], "the topic is missing or can't be read", [.resting]),
            .init([.resting], "the pause is over", [.looking]),
            .init([.idle, .looking, .reading, .following, .counting, .resting], "it is told to stop", [.ended]),
        ])
    }
}
