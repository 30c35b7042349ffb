import HeraldEvents
import HeraldTime

extension Engine {
    /// Partitions were assigned; taking starts.
    ///
    /// The lane then gives each of ``sourceList`` a queue.
    ///
    /// - Parameter fetched: How many bytes the client has fetched in its life.
    public mutating func assigned(
        _ assigned: [AssignedPartition], topics: [ConsumedTopic], fetched: Int = 0, now: Moment
    ) {
        precondition(partitions.isEmpty, "an assignment ends before the next begins (eager rebalances)")
        guard case .none = membership else { return }
        self.topics = topics
        partitions = assigned.map { partition in
            Partition(
                topic: partition.topic, number: partition.number,
                hash: ByteHash.hash(topics[partition.topic].name.utf8.span.bytes, seed: configuration.hashSeed),
                start: partition.startOffset ?? 0, tracker: tracker(of: partition), failed: partition.failed)
        }
        for index in partitions.indices { addToSource(Int32(index)) }
        divideRetryWeight()
        divideCalls()
        gate.forgetDeferrals()
        cursor = 0
        lastResumed = 0
        fetchedAhead = FetchedAhead(sources: sources.count, fetched: fetched)
        membership = .assigned
        committer.assigned(now: now.monotonic)
        if !credentials.areThere { beginHold(.tokenUnavailable, now: now) }
    }

    private mutating func tracker(of partition: AssignedPartition) -> OffsetTracker? {
        guard let offset = partition.startOffset else { return nil }
        guard let map = CompletionMap(text: partition.metadata, committed: offset) else {
            actions.append(.notice(.foreignMetadata(topic: topics[partition.topic].name, partition: partition.number)))
            return OffsetTracker(startingAt: offset)
        }
        return OffsetTracker(startingAt: offset, done: map)
    }

    /// Goes on from another offset in a partition whose topic was made anew.
    ///
    /// What is under way of the old topic ends as always; its offsets mean nothing in the new one.
    public mutating func restart(partition: Int32, at offset: Int64) {
        events.forgetOffsets(of: partition)
        committer.forget(partition: partition)
        partitions[Int(partition)].tracker = OffsetTracker(startingAt: offset)
        partitions[Int(partition)].start = offset
        partitions[Int(partition)].expected = nil
        resumeFull(partition)
    }

    /// The offset that is to be taken next; `nil` when the first record will tell.
    public func nextOffset(of partition: Int32) -> Int64? { partitions[Int(partition)].tracker?.next }

    /// The queues to take from: one for each request topic, one for each partition of a retry topic, because what is
    /// not due in one partition must not hold back another.
    public var sourceList: [Source] { sources }

    private mutating func addToSource(_ partition: Int32) {
        let topic = partitions[Int(partition)].topic
        let number = Int(partitions[Int(partition)].number)
        let source: Int
        switch topics[topic].role {
        case .request(let weight):
            source =
                sources.firstIndex { $0.topic == topic }
                ?? append(Source(topic: topic, partitions: [], weight: max(1, weight), credit: 0, indices: []))
        case .retry(let delay):
            source = append(
                Source(topic: topic, partitions: [], delay: delay, weight: Self.retryWeight, credit: 0, indices: []))
        }
        sources[source].partitions.append(partition)
        while sources[source].indices.count <= number { sources[source].indices.append(-1) }
        sources[source].indices[number] = partition
    }

    /// A retry topic has one weight, however many partitions of it there are.
    private mutating func divideRetryWeight() {
        for index in sources.indices where sources[index].delay != nil {
            let topic = sources[index].topic
            sources[index].weight = max(1, Self.retryWeight / sources.count { $0.topic == topic })
        }
    }

    /// Wanted calls wait in a class for each request topic, and one for all retries.
    private mutating func divideCalls() {
        var weights = [Self.retryWeight]
        for index in sources.indices where sources[index].delay == nil {
            sources[index].callClass = weights.count
            weights.append(sources[index].weight)
        }
        wanted = CallQueue(width: events.width, weights: weights)
        breaker = Breaker(rule: configuration.breaker, width: events.width, classes: weights.count)
        events.divide(classes: weights.count)
    }

    private mutating func append(_ source: Source) -> Int {
        sources.append(source)
        return sources.count - 1
    }

    /// The group takes the partitions back: what is under way is waited for, the last commit is made, and only then comes
    /// the action `unassign`.
    public mutating func revoked(now: Moment) {
        switch membership {
        case .assigned:
            stop(leaving: false, timeout: configuration.revokeTimeout, now: now)
        case .none, .left:
            actions.append(.unassign)
        case .stopping:
            // A drain is under way: it ends by leaving, which answers the group too.
            break
        }
    }

    /// The partitions are gone, somebody else may have them: everything of them is dropped and nothing is committed.
    public mutating func lost(now: Moment) {
        dropEverything()
        append(committer.abandon(now: now.monotonic))
        resumeEverything()
        if case .stopping(let stopping) = membership, stopping.leaves {
            membership = .left
            actions.append(.leave(complete: false))
        } else {
            if membership != .left { membership = .none }
            actions.append(.unassign)
        }
    }

    /// The revoked assignment was answered.
    public mutating func unassigned(now: Moment) {
        dropEverything()
        append(committer.abandon(now: now.monotonic))
        partitions.removeAll(keepingCapacity: true)
        sources.removeAll(keepingCapacity: true)
        duplicates.removeAll()
        if membership != .left { membership = .none }
    }

    /// The worker is to stop: nothing more is taken, what is under way is waited for, and then comes the action `leave`.
    public mutating func drain(now: Moment) {
        switch membership {
        case .none:
            membership = .left
            actions.append(.leave(complete: true))
        case .assigned:
            stop(leaving: true, timeout: configuration.drainTimeout, now: now)
        case .stopping(var stopping):
            stopping.leaves = true
            membership = .stopping(stopping)
        case .left:
            break
        }
    }
}
