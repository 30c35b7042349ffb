public import HeraldTime

/// The progress of one assigned partition.
public struct PartitionProgress: Sendable, Equatable {
    /// Its topic.
    public var topic: String
    /// Its number in the topic.
    public var number: Int32
    /// The offset below which everything is done; `nil` before the first record when nothing was committed yet.
    public var done: Int64?
    /// The next offset to take; `nil` likewise.
    public var next: Int64?
    /// Whether its fetching is held until there is room.
    public var isHeld: Bool
}

/// The phase of a lane.
public enum LanePhase: Sendable, Equatable {
    /// Nothing is assigned: the group has not given it partitions yet, or has just revoked them.
    case unassigned
    /// It takes records.
    case taking
    /// Partitions are revoked, or the worker stops: the lane waits for everything under way.
    case stopping
    /// It has left.
    case left
}

extension Engine {
    /// The progress of every assigned partition.
    public var progress: [PartitionProgress] {
        let paused = Set(sources.all.lazy.filter { !$0.pauses.isEmpty }.flatMap(\.partitions))
        return partitions.all.enumerated().map { index, partition in
            PartitionProgress(
                topic: partitions.topics[partition.topic].name, number: partition.number,
                done: partition.tracker?.watermark, next: partition.tracker?.next,
                isHeld: partition.isFull || paused.contains(Int32(index)))
        }
    }

    /// The time since which the oldest pending event of each request topic has waited, among those known to this
    /// engine, by the topic's place (``RequestTopics``); `nil` without any.
    ///
    /// An event before its `notBefore` does not wait yet. This looks at every event in memory, so it is for occasional
    /// use.
    public func oldestEvents(now: Moment) -> [WallTime?] {
        var oldest = (0...requestTopics.unknown).map { delayed.oldest(topic: $0, now: now.wall) }
        events.forEachPresent { slot in
            let since = events.waitsSince(slot)
            let place = Int(events[slot].requestTopic)
            if since < now.wall { oldest[place] = min(oldest[place] ?? since, since) }
        }
        return oldest
    }

    /// When the first event that waits in memory for its moment is due; `nil` without any.
    ///
    /// This looks at every reminder, so it is for occasional use.
    public var nextEventDue: MonotonicTime? {
        due.earliest { if case .event(let id) = $0 { events.isCurrent(id) } else { false } }
    }

    /// Whether outcomes of events wait for a commit.
    public var hasOutcomesToRecord: Bool { committer.isRecording(productions.count) }

    /// The lane's phase.
    public var phase: LanePhase {
        switch membership {
        case .none: .unassigned
        case .assigned: .taking
        case .stopping, .lastCommit: .stopping
        case .left: .left
        }
    }
}
