public import HeraldTime

/// Where one assigned partition stands.
public struct PartitionProgress: Sendable, Equatable {
    /// Its topic.
    public var topic: String
    /// Its number in the topic.
    public var number: Int32
    /// The offset below which everything is done; `nil` before the first record, when nothing was committed yet.
    public var done: Int64?
    /// The offset that is taken next; `nil` likewise.
    public var next: Int64?
    /// Whether it is not fetched until there is room.
    public var isHeld: Bool
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
        let paused = Set(sources.all.lazy.filter { !$0.pauses.isEmpty }.flatMap(\.partitions))
        return partitions.all.enumerated().map { index, partition in
            PartitionProgress(
                topic: partitions.topics[partition.topic].name, number: partition.number,
                done: partition.tracker?.watermark, next: partition.tracker?.next,
                isHeld: partition.isFull || paused.contains(Int32(index)))
        }
    }

    /// Since when the oldest event of each request topic waits of those that this engine knows of and that are not final,
    /// by the topic's place (``RequestTopics``); `nil` without any.
    ///
    /// An event before its `notBefore` does not wait yet. Looks at every event in memory: to be asked now and then.
    public func oldestEvents(now: Moment) -> [WallTime?] {
        var oldest = (0...requestTopics.unknown).map { delayed.oldest(topic: $0, now: now.wall) }
        events.forEachPresent { slot in
            let since = events.waitsSince(slot)
            let place = Int(events[slot].requestTopic)
            if since < now.wall { oldest[place] = min(oldest[place] ?? since, since) }
        }
        return oldest
    }

    /// Whether outcomes of events wait for a commit.
    public var hasOutcomesToRecord: Bool { committer.isRecording(productions.count) }

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
