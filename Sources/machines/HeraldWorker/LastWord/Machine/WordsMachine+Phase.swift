internal import HeraldKernel
internal import HeraldTime

extension WordsMachine {
    /// The progress with the topics.
    enum Phase: CheckedState {
        case idle
        /// It asks for the topics' partitions.
        case looking
        /// There is neither topic; it looks again at this moment.
        case absent(until: MonotonicTime)
        /// It reads everything, to the ends that were there at this moment.
        case reading(asOf: MonotonicTime)
        /// It has applied everything up to the last known ends, and asks for new ones at this moment.
        case following(until: MonotonicTime)
        /// It reads on, to the ends that were there at this moment.
        case approaching(asOf: MonotonicTime)
        /// It follows, and asks whether the topics have the same partitions.
        case counting
        /// It waits before it looks for the topics again.
        case resting(until: MonotonicTime)
        case ended

        enum Name: String, CaseIterable, Sendable {
            case idle, looking, absent, reading, following, approaching, counting, resting, ended
        }

        var name: Name {
            switch self {
            case .idle: .idle
            case .looking: .looking
            case .absent: .absent
            case .reading: .reading
            case .following: .following
            case .approaching: .approaching
            case .counting: .counting
            case .resting: .resting
            case .ended: .ended
            }
        }

        static let transitions = TransitionTable<Name>([
            .init([.idle], "at once", [.looking]),
            .init([.looking, .counting], "there are topics, other than before", [.reading]),
            .init([.looking, .counting], "there is neither topic, twice in a row", [.absent]),
            .init([.absent, .resting], "it is time", [.looking]),
            .init([.reading, .approaching], "the ends are reached", [.following]),
            .init([.following], "it is time", [.approaching, .counting]),
            .init([.approaching, .counting], "no broker says, or it is said for the first time", [.following]),
            .init([.counting], "the partitions are the same", [.following]),
            .init(
                [.looking, .reading, .following, .approaching, .counting],
                "a topic is missing for the first time, or can't be read", [.resting]),
            .init(
                [.idle, .looking, .absent, .reading, .following, .approaching, .counting, .resting],
                "it is told to stop", [.ended]),
        ])
    }
}
