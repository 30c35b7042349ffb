import HeraldEvents
public import HeraldTime

extension Engine {
    /// Takes an assignment of partitions; taking starts.
    ///
    /// The lane then gives each of ``sourceList`` a queue.
    ///
    /// - Parameters:
    ///   - cluster: The cluster's own identity; empty where brokers do not say it.
    ///   - fetched: The bytes that the client has fetched in its life.
    ///   - reading: The number of the reading that begins; readings are counted up, also across assignments.
    public mutating func assigned(
        _ assigned: [AssignedPartition], topics: [ConsumedTopic], cluster: String = "", fetched: Int = 0,
        reading: Int = 0,
        now: Moment
    ) {
        precondition(partitions.isEmpty, "an assignment ends before the next begins (eager rebalances)")
        guard case .none = membership else { return }
        partitions.assign(
            assigned, of: topics, in: cluster, reading: reading, hashSeed: configuration.hashSeed, actions: &actions)
        let weights = sources.assign(partitions, requestTopics)
        caps.assign(Set(assigned.map(\.number)), now: now.wall)
        hangingUsers.forgetDeferrals()
        userBackpressure.removeAll()
        dispatcher.assigned(width: events.width, weights: weights)
        health.assigned(width: events.width, classes: weights.count)
        events.divide(classes: weights.count)
        readAhead.assigned(sources: sources.count, fetched: fetched)
        lifecycle.assigned()
        committer.assigned(now: now.monotonic)
        if !credentials.areThere { beginOutage(.tokenUnavailable, now: now) }
    }

    /// Begins a partition that was assigned without an offset, and of which nothing was read, now that it has one.
    ///
    /// - Parameter reading: The number of the reading that begins with it.
    public mutating func begin(_ partition: Int32, _ assigned: AssignedPartition, reading: Int) {
        partitions.begin(partition, assigned, reading: reading, actions: &actions)
    }

    /// Judges a partition whose next offset the broker does not have, by the range that it has.
    ///
    /// A partition that ends before the taken records belongs to a recreated topic, and continues at its first record:
    /// events of the old topic that are under way end as always, and its offsets mean nothing in the new one. Or its
    /// log was cut off: then it continues after the taken records, so that no call is repeated.
    ///
    /// - Parameters:
    ///   - low: The first offset that is there.
    ///   - high: The offset after the last record that may be taken.
    ///   - younger: The first offset whose record is younger than the question's newest time stamp; `nil` without one.
    ///   - committed: The group's committed offset, if any.
    ///   - reach: The offset after the last record that it was seen to have, if known.
    ///   - question: The state when that was asked.
    ///   - reading: The number of the present reading.
    public mutating func outOfRange(
        _ partition: Int32, low: Int64, high: Int64, younger: Int64? = nil, committed: Int64? = nil,
        reach: Int64? = nil, answering question: RangeQuestion, reading: Int
    ) -> OffsetReset {
        guard question.reading >= partitions[partition].firstReading, let wanted = nextOffset(of: partition),
            // It has grown past that offset meanwhile, and its taken records would be taken twice.
            wanted == question.wanted
        else { return .outdated }
        let reset = OffsetReset.decide(
            question, partitions[partition].evidence, low: low, high: high, younger: younger)
        switch reset {
        case .recreated: restart(partition, at: low, reading: reading + 1)
        case .cut(let younger, let isProven):
            let first = younger ?? high
            let end = max(wanted, partitions[partition].tracker?.mapEnd ?? 0, reach ?? 0)
            passOver(isProven ? .cut : .unproven, low..<first, gone: first..<max(first, end), of: partition)
            cut(partition, at: first, passing: high, isProven: isProven, reading: reading + 1)
        case .doubtful(let first):
            partitions.deleted(before: low, of: partition)
            partitions.doubt(partition, from: first)
        case .there: partitions.deleted(before: low, of: partition)
        case .lost: return lost(wanted..<low, of: partition, committed: committed)
        case .skipped, .outdated: break
        }
        return reset
    }

    /// Judges the deletion of records before the first that is left.
    ///
    /// What was taken before them is in memory, and ends as always, or goes to a delay topic at a stop.
    private mutating func lost(
        _ offsets: Range<Int64>, of partition: Int32, committed: Int64?
    ) -> OffsetReset {
        partitions.begins(at: offsets.upperBound, partition)
        let unread = offsets.count - (partitions[partition].tracker?.accepted(of: offsets) ?? 0)
        let position = max(offsets.upperBound, committed ?? 0)
        guard unread == 0 || committed ?? 0 >= offsets.upperBound, partitions.skip(partition, to: position) else {
            return .lost(count: Int64(unread))
        }
        committer.noteNews()
        resumeFull(partition)
        return .skipped(to: position)
    }

    private mutating func restart(_ partition: Int32, at offset: Int64, reading: Int) {
        forgetOffsets(of: partition, from: Slot.noOffset)
        partitions.restart(partition, at: offset, reading: reading)
        // The next owner must not begin at the old offset, which the new topic may have by then.
        committer.noteNews()
        resumeFull(partition)
    }

    /// Cuts a partition: no taken record lies at this offset or after it any more.
    private mutating func cut(
        _ partition: Int32, at offset: Int64, passing end: Int64, isProven: Bool, reading: Int
    ) {
        forgetOffsets(of: partition, from: offset)
        partitions.cut(partition, at: offset, passing: end, isProven: isProven, reading: reading)
        committer.noteNews()
        resumeFull(partition)
    }

    /// Takes anew from an offset whose settled record has been replaced by another one.
    mutating func takeAnew(_ partition: Int32, from offset: Int64, stamped timestamp: WallTime?) {
        let known = max(offset + 1, partitions[partition].start, partitions[partition].doubtful)
        passOver(.replaced, offset..<known, gone: offset..<known, of: partition)
        cut(
            partition, at: offset, passing: offset, isProven: true, reading: partitions[partition].firstReading)
        _ = partitions.accept(offset, stamped: timestamp, of: partition)
    }

    private mutating func passOver(
        _ cause: PassedOver.Cause, _ offsets: Range<Int64>, gone: Range<Int64>, of partition: Int32
    ) {
        let place = partitions[partition]
        actions.append(
            .notice(
                .passedOver(
                    PassedOver(
                        topic: partitions.topicName(of: partition), partition: place.number, cause: cause,
                        offsets: offsets, stood: nextOffset(of: partition) ?? 0, gone: gone,
                        accepted: place.tracker?.accepted(of: gone) ?? 0))))
    }

    /// Forgets offsets that no longer belong to the events under way, which end as always.
    private mutating func forgetOffsets(of partition: Int32, from offset: Int64) {
        for id in committer.members + committer.pending where events.isCurrent(id) {
            let event = events[id.index]
            if event.partition == partition, event.offset >= offset { partitions.undecide(event.offset, of: partition) }
        }
        events.forgetOffsets(of: partition, from: offset)
        userBackpressure.removeAll()
        committer.forget(partition: partition, beyond: offset)
    }

    /// The offset that is to be taken next; `nil` until the first record shows it.
    public func nextOffset(of partition: Int32) -> Int64? { partitions[partition].tracker?.next }

    /// Whether a partition's records are fetched, or were before it was paused and are still there.
    public func isFetched(_ partition: Int32) -> Bool {
        sources.index(of: partition).map { sources[$0].isThere } ?? false
    }

    /// The newest time stamp of a partition's taken records (milliseconds since the Unix epoch); `nil` when unknown.
    public func newestTaken(of partition: Int32) -> Int64? {
        let newest = partitions[partition].evidence.newest
        return newest < 0 ? nil : newest
    }

    /// The offset from which a partition is read again, which lies below ``nextOffset(of:)`` while settled records are
    /// read; `nil` until the first record shows it.
    public func readOffset(of partition: Int32) -> Int64? { partitions.readOffset(of: partition) }

    /// The queues to take from: one for each request topic, one for each partition of a retry topic, because a record
    /// that is not due in one partition must not hold back another.
    public var sourceList: [Source] { sources.all }

    /// Gives the partitions back to the group: the action `unassign` follows only after the calls under way and the
    /// last commit.
    public mutating func revoked(now: Moment) {
        switch membership {
        case .assigned:
            stop(leaving: false, timeout: configuration.revokeTimeout, now: now)
        case .none, .left:
            actions.append(.unassign)
        case .stopping, .lastCommit:
            // A drain is under way: it ends by leaving, which answers the group too.
            break
        }
    }

    /// Drops all events of lost partitions, without a commit: another member may have them.
    public mutating func lost(now: Moment) {
        dropEverything()
        append(committer.abandon(now: now.monotonic))
        resumeEverything()
        actions.append(lifecycle.lost())
    }

    /// Notes that the revoked assignment was answered.
    public mutating func unassigned(now: Moment) {
        dropEverything()
        append(committer.abandon(now: now.monotonic))
        partitions.removeAll()
        sources.removeAll()
        duplicates.removeAll()
        caps.removeAll()
        lifecycle.unassigned()
    }

    /// Drains the worker: taking stops, the calls under way end, and then the action `leave` follows.
    public mutating func drain(now: Moment) {
        switch membership {
        case .none:
            lifecycle.leave()
            actions.append(.leave(complete: true))
        case .assigned:
            stop(leaving: true, timeout: configuration.drainTimeout, now: now)
        case .stopping, .lastCommit:
            lifecycle.leaveAfterStop()
        case .left:
            break
        }
    }
}
