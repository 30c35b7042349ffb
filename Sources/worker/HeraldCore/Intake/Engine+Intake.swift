public import HeraldEvents
public import HeraldTime

extension Engine {
    /// Retry topics are taken with the weight of the most urgent request topic.
    static let retryWeight = 10
    /// A retry partition whose first record is due later than this (milliseconds) is not fetched meanwhile.
    static let pauseBeyond: Int64 = 10_000
    /// It is fetched again this long before (milliseconds), because a resumed partition takes up to a second.
    static let resumeAhead: Int64 = 2_000

    /// The source to take the next record from, or `nil` when nothing should be taken now.
    public mutating func nextSource() -> Int? {
        guard case .assigned = membership, events.room > (hold == nil ? Hold.reservedSlots : 0) else { return nil }
        if hold == nil, wanted.count - heldBack + calls.busy >= takeLimit { return nil }
        return takeByWeight() ?? (refillCredit() ? takeByWeight() : nil)
    }

    /// The source was empty: it is not asked again before ``recordsArrived()``.
    public mutating func exhausted(source: Int) {
        sources[source].mayHaveRecords = false
    }

    /// Some queue may hold something again.
    public mutating func recordsArrived() {
        for index in sources.indices { sources[index].mayHaveRecords = true }
    }

    private mutating func takeByWeight() -> Int? {
        for step in 0..<sources.count {
            var index = cursor + step
            if index >= sources.count { index -= sources.count }
            if sources[index].credit > 0 && isOpen(sources[index]) {
                sources[index].credit -= 1
                cursor = index
                return index
            }
        }
        return nil
    }

    private func isOpen(_ source: borrowing Source) -> Bool {
        source.mayHaveRecords && !source.isBlocked
            && (events.bytes < configuration.maxBufferedBytes
                || events.bytesByClass[source.callClass] < configuration.reservedBytes)
            && (hold.map { $0.room[source.callClass] > 0 } ?? true)
    }

    private mutating func refillCredit() -> Bool {
        var any = false
        for index in sources.indices where isOpen(sources[index]) {
            sources[index].credit = sources[index].weight
            any = true
        }
        return any
    }

    /// A record of an assigned partition.
    ///
    /// - Parameters:
    ///   - source: The index in ``sourceList`` of the queue that it belongs to.
    ///   - partition: The partition's number in its topic.
    ///   - timestamp: The record's timestamp, if it has one.
    ///   - value: The record's value; `nil` is a tombstone.
    ///   - keyCount: How many bytes its key has.
    /// - Returns: Whether the lane keeps the message for a slot.
    public mutating func record(
        source: Int, partition: Int32, offset: Int64, timestamp: WallTime?, value: RawSpan?, headers: HeaderList,
        keyCount: Int = 0, now: Moment
    ) -> Intake {
        let number = Int(partition)
        guard source < sources.count else {
            counters.stale += 1
            return .done
        }
        let size = keyCount + (value?.byteCount ?? 0) + headers.byteCount
        fetchedAhead.took(from: source, bytes: size)
        guard number < sources[source].indices.count, sources[source].indices[number] >= 0
        else {
            counters.stale += 1
            return .done
        }
        guard case .assigned = membership else { return .done }
        guard events.room > 0 else { return .noRoom }
        let index = sources[source].indices[number]
        if partitions[Int(index)].tracker == nil { partitions[Int(index)].tracker = OffsetTracker(startingAt: offset) }
        guard mayTake(offset, of: index) else { return .done }
        committer.noteNews()
        let taken = partitions[Int(index)].tracker?.take(offset)
        guard taken == .new else {
            counters.doneBefore += 1
            // What this worker took itself it knows better.
            guard taken == .doneBefore || offset < partitions[Int(index)].start else { return .done }
            rememberDone(
                source: source, partition: index, offset: offset, value: value, headers: headers, now: now)
            return .done
        }
        counters.taken += 1
        guard let value else {
            counters.tombstones += 1
            complete(partition: index, offset: offset)
            return .done
        }
        let arrival = EventTable.Arrival(
            source: source, callClass: sources[source].callClass, partition: index, offset: offset,
            timestamp: timestamp, isRetry: sources[source].delay != nil, bytes: size)
        let slot = events.take(
            arrival, topic: topics[sources[source].topic].name, number: partition, value: value, headers: headers,
            decoder: configuration.decoder, now: now)
        let id = events.id(of: slot)
        if let failure = events[slot].failure {
            settleUndecodable(slot, reason: failure.reason, now: now)
        } else {
            begin(slot, value: value, now: now)
        }
        run(now: now)
        return .kept(id)
    }

    /// A partition was read to its end, which is this offset: behind the last record there may be offsets without one (the
    /// ends of transactions), and a group that has dealt with everything stands behind those.
    public mutating func endReached(of partition: Int32, at offset: Int64) {
        let place = Int(partition)
        guard case .assigned = membership, partitions[place].expected == nil, offset > 0 else { return }
        if partitions[place].tracker == nil { partitions[place].tracker = OffsetTracker(startingAt: 0) }
        if partitions[place].tracker?.reachEnd(offset) == true { committer.noteNews() }
    }

    /// Whether a record may be taken now, or has to be read again later.
    ///
    /// A record that was not taken is the next one of its partition that is: what was read ahead behind it comes again
    /// with it, and would make it look like a gap.
    private mutating func mayTake(_ offset: Int64, of index: Int32) -> Bool {
        let place = Int(index)
        if let expected = partitions[place].expected {
            guard offset <= expected else { return false }
            if offset == expected { partitions[place].expected = nil }
        }
        if partitions[place].tracker?.mayTake(offset) == false {
            partitions[place].expected = offset
            partitions[place].isFull = true
            actions.append(.pause(partition: index))
            return false
        }
        return true
    }

    /// Goes on with partitions whose map has room again.
    mutating func takeFromFullAgain() {
        for index in partitions.indices where partitions[index].isFull {
            guard let expected = partitions[index].expected,
                partitions[index].tracker?.hasMuchRoom(for: expected) == true
            else { continue }
            resumeFull(Int32(index))
            actions.append(.rewind(partition: Int32(index)))
        }
    }

    mutating func resumeFull(_ partition: Int32) {
        guard partitions[Int(partition)].isFull else { return }
        partitions[Int(partition)].isFull = false
        actions.append(.resume(partition: partition))
    }

    /// Prepares a decoded event and lets it go where its moment wants it.
    private mutating func begin(_ slot: Int32, value: RawSpan, now: Moment) {
        events.openServices(slot, value: value, hashSeed: configuration.hashSeed)
        remember(slot, value: value, as: .underWay, now: now)
        if events[slot].event.replays > configuration.maxReplays {
            decideAll(slot, .dead(.replaysExhausted), now: now)
        } else if campaigns.fate(of: events[slot].campaign) == .cancelled {
            decideAll(slot, .cancelled, now: now)
        } else if events[slot].isRetry {
            admitRetry(slot, now: now)
        } else {
            lineUp(slot)
        }
    }

    /// A record of a retry topic waits until its hop is over; meanwhile the rest of its partition stays in its queue,
    /// where it is in due order.
    private mutating func admitRetry(_ slot: Int32, now: Moment) {
        let delay = sources[Int(events[slot].source)].delay ?? 0
        let arrived = min(events[slot].timestamp ?? now.wall, now.wall)
        let hopEnds = arrived.advanced(byMilliseconds: delay)
        let moment = min(hopEnds, events[slot].event.dueAt ?? hopEnds)
        guard moment > now.wall else {
            goOn(slot, now: now)
            return
        }
        let source = Int(events[slot].source)
        events.setHoldsSource(slot, true)
        sources[source].isBlocked = true
        noteFate(of: slot, .retrying(delay: delayIndex(of: slot)))
        wait(slot, until: moment, now: now)
        if moment.milliseconds(since: now.wall) > Self.pauseBeyond {
            pause(source: source, for: .farOff)
            let ahead = now.monotonic(at: moment).advanced(byMilliseconds: -Self.resumeAhead)
            due.add(.init(due: ahead, slot: events.id(of: slot), service: 0, purpose: .resume))
        }
    }

    /// Lets a retry go on whose hop is over: it hops again, waits in memory, or is lined up to be called.
    mutating func goOn(_ slot: Int32, now: Moment) {
        if events.isExpired(slot, now: now) {
            decideAll(slot, .expired, now: now)
            return
        }
        switch waitBefore(slot, now: now) {
        case .nothing: lineUp(slot)
        case .hop(let delay, let due):
            decideAll(slot, .retry(delay: delay, due: due, reason: hopReason(slot)), now: now)
        case .inMemory(let due): wait(slot, until: due, now: now)
        }
    }

    enum Wait {
        case nothing
        case hop(delay: Int, due: WallTime)
        case inMemory(until: WallTime)
    }

    /// How the event has to wait before its calls.
    func waitBefore(_ slot: Int32, now: Moment) -> Wait {
        let never = WallTime(milliseconds: .min)
        var due = events[slot].event.notBefore ?? never
        if events[slot].isRetry, let written = events[slot].event.dueAt {
            // A clock that was wrong may have written any moment; no retry waits longer than this for the backend's sake.
            let arrived = min(events[slot].timestamp ?? now.wall, now.wall)
            due = max(due, min(written, arrived.advanced(byMilliseconds: configuration.retry.retryAfterLimit)))
        }
        guard due > now.wall else { return .nothing }
        if let delay = configuration.retry.hop(for: due.milliseconds(since: now.wall)) {
            return .hop(delay: delay, due: due)
        }
        if events.waitingCount >= configuration.maxWaiting, !configuration.retry.delays.isEmpty {
            // Too many wait in memory already. A little late is better than holding up everybody.
            return .hop(delay: 0, due: due)
        }
        return .inMemory(until: due)
    }

    /// Keeps the event in memory until `moment`.
    mutating func wait(_ slot: Int32, until moment: WallTime, now: Moment) {
        events.wait(slot)
        due.add(.init(due: now.monotonic(at: moment), slot: events.id(of: slot), service: 0, purpose: .event))
    }

    /// Lines the event up behind its user's other events, or its partition's; the first is called at once.
    mutating func lineUp(_ slot: Int32) {
        if events[slot].isRetry { noteFate(of: slot, .underWay) }
        if configuration.ordering != .none || events[slot].identity != 0 {
            let line: UInt64 =
                switch configuration.ordering {
                case .key: events[slot].userHash
                case .partition: UInt64(bitPattern: Int64(events[slot].partition))
                // Those that may be the same one keep behind each other.
                case .none: events[slot].identity
                }
            guard events.lineUp(slot, in: line) else { return }
        }
        activations.append(events.id(of: slot))
    }
}
