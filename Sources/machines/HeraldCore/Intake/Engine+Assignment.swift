import HeraldEvents
public import HeraldTime

extension Engine {
    /// Partitions were assigned; taking starts.
    ///
    /// The lane then gives each of ``sourceList`` a queue.
    ///
    /// - Parameters:
    ///   - cluster: The cluster's own identity; empty where brokers do not say it.
    ///   - fetched: How many bytes the client has fetched in its life.
    public mutating func assigned(
        _ assigned: [AssignedPartition], topics: [ConsumedTopic], cluster: String = "", fetched: Int = 0, now: Moment
    ) {
        precondition(partitions.isEmpty, "an assignment ends before the next begins (eager rebalances)")
        guard case .none = membership else { return }
        partitions.assign(
            assigned, of: topics, in: cluster, hashSeed: configuration.hashSeed, actions: &actions)
        let weights = sources.assign(partitions, requestTopics)
        hangingUsers.forgetDeferrals()
        loudUsers.removeAll()
        dispatcher.assigned(width: events.width, weights: weights)
        health.assigned(width: events.width, classes: weights.count)
        events.divide(classes: weights.count)
        readAhead.assigned(sources: sources.count, fetched: fetched)
        lifecycle.assigned()
        committer.assigned(now: now.monotonic)
        if !credentials.areThere { beginOutage(.tokenUnavailable, now: now) }
    }

    /// Continues from another offset in a partition whose topic was recreated.
    ///
    /// Events of the old topic that are under way end as always; its offsets mean nothing in the new one.
    public mutating func restart(partition: Int32, at offset: Int64) {
        events.forgetOffsets(of: partition)
        loudUsers.removeAll()
        committer.forget(partition: partition)
        partitions.restart(partition, at: offset)
        resumeFull(partition)
    }

    /// The offset that is to be taken next; `nil` when the first record will tell.
    public func nextOffset(of partition: Int32) -> Int64? { partitions[partition].tracker?.next }

    /// The offset from which a partition is read when its reading begins again, which lies below ``nextOffset(of:)`` as
    /// long as what was dealt with before is read; `nil` when the first record will tell.
    public func readOffset(of partition: Int32) -> Int64? { partitions.readOffset(of: partition) }

    /// Retention has deleted what lies before this offset, and all of it was dealt with.
    public mutating func deleted(before offset: Int64, of partition: Int32) {
        partitions.deleted(before: offset, of: partition)
    }

    /// The queues to take from: one for each request topic, one for each partition of a retry topic, because what is
    /// not due in one partition must not hold back another.
    public var sourceList: [Source] { sources.all }

    /// The group takes the partitions back: what is under way is waited for, the last commit is made, and only then comes
    /// the action `unassign`.
    public mutating func revoked(now: Moment) {
        switch membership {
        case .assigned:
            stop(leaving: false, timeout: configuration.revokeTimeoutMilliseconds, now: now)
        case .none, .left:
            actions.append(.unassign)
        case .stopping, .lastCommit:
            // A drain is under way: it ends by leaving, which answers the group too.
            break
        }
    }

    /// The partitions are lost, another member may have them: all their events are dropped and nothing is committed.
    public mutating func lost(now: Moment) {
        dropEverything()
        append(committer.abandon(now: now.monotonic))
        resumeEverything()
        actions.append(lifecycle.lost())
    }

    /// The revoked assignment was answered.
    public mutating func unassigned(now: Moment) {
        dropEverything()
        append(committer.abandon(now: now.monotonic))
        partitions.removeAll()
        sources.removeAll()
        duplicates.removeAll()
        lifecycle.unassigned()
    }

    /// The worker is to stop: nothing more is taken, what is under way is waited for, and then comes the action `leave`.
    public mutating func drain(now: Moment) {
        switch membership {
        case .none:
            lifecycle.leave()
            actions.append(.leave(complete: true))
        case .assigned:
            stop(leaving: true, timeout: configuration.drainTimeoutMilliseconds, now: now)
        case .stopping, .lastCommit:
            lifecycle.leaveAfterStop()
        case .left:
            break
        }
    }
}
