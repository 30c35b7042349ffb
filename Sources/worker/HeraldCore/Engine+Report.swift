/// Where one assigned partition stands.
public struct PartitionProgress: Sendable, Equatable {
    /// Its topic.
    public var topic: String
    /// Its number in the topic.
    public var number: Int32
    /// The offset below which everything is done; `nil` before the first record, when nothing was committed yet.
    public var done: Int64?
}

/// What a lane is at.
public enum LanePhase: Sendable, Equatable {
    /// Nothing is assigned: the group has not given it partitions yet, or has just taken them.
    case unassigned
    /// It takes records.
    case taking
    /// Partitions go, or the worker stops: what is under way is waited for.
    case stopping
    /// It has left.
    case left
}

extension Engine {
    /// Where every assigned partition stands.
    public var progress: [PartitionProgress] {
        partitions.all.map {
            PartitionProgress(topic: partitions.topics[$0.topic].name, number: $0.number, done: $0.tracker?.watermark)
        }
    }

    /// What the lane is at.
    public var phase: LanePhase {
        switch membership {
        case .none: .unassigned
        case .assigned: .taking
        case .stopping, .lastCommit: .stopping
        case .left: .left
        }
    }
}
