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
        guard case .assigned = membership, freeSlots.count > (hold == nil ? Hold.reservedSlots : 0) else { return nil }
        if hold == nil, wanted.count - heldBack + busyCalls >= takeLimit { return nil }
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
            && (bufferedBytes < configuration.maxBufferedBytes
                || bufferedBytesByClass[source.callClass] < configuration.reservedBytes)
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
        guard let slot = freeSlots.last else { return .noRoom }
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
        freeSlots.removeLast()
        let place = Int(slot)
        let isRetry = sources[source].delay != nil
        slots[place].phase = .active
        slots[place].isRetry = isRetry
        slots[place].partition = index
        slots[place].source = Int32(source)
        slots[place].offset = offset
        slots[place].timestamp = timestamp
        slots[place].firstAttemptAt = nil
        slots[place].takenAt = now.monotonic
        slots[place].isKept = false
        slots[place].activeSince = now.monotonic
        slots[place].isBlocking = false
        slots[place].wasCalled = false
        slots[place].sourceHash = 0
        slots[place].campaign = 0
        slots[place].failure = configuration.decoder.decode(
            topicKind: isRetry ? .retry : .request, topic: topics[sources[source].topic].name, partition: partition,
            offset: offset, value: value, headers: headers, into: &slots[place].event)
        slots[place].bytes = size + slots[place].event.scratch.count
        bufferedBytes += slots[place].bytes
        bufferedBytesByClass[sources[source].callClass] += slots[place].bytes
        let id = id(of: slot)
        if let failure = slots[place].failure {
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
        let place = Int(slot)
        slots[place].open = slots[place].event.pushServices
        slots[place].firstAttemptAt = slots[place].event.firstAttemptAt
        for service in slots[place].open {
            let index = serviceIndex(slot, service)
            services[index] = ServiceState()
            services[index].attempts = slots[place].event.attempts
            services[index].status = slots[place].event.lastStatus ?? 0
        }
        if slots[place].event.source.isPresent {
            slots[place].sourceHash = slots[place].event.sourceHash(value: value, seed: configuration.hashSeed)
        }
        if slots[place].event.campaign.isPresent {
            slots[place].campaign = slots[place].event.campaignHash(value: value, seed: configuration.hashSeed)
        }
        slots[place].userHash = slots[place].event.userHash(value: value, seed: configuration.hashSeed)
        remember(slot, value: value, as: .underWay, now: now)
        if slots[place].event.replays > configuration.maxReplays {
            decideAll(slot, .dead(.replaysExhausted), now: now)
        } else if campaigns.fate(of: slots[place].campaign) == .cancelled {
            decideAll(slot, .cancelled, now: now)
        } else if slots[place].isRetry {
            admitRetry(slot, now: now)
        } else {
            lineUp(slot)
        }
    }

    /// A record of a retry topic waits until its hop is over; meanwhile the rest of its partition stays in its queue,
    /// where it is in due order.
    private mutating func admitRetry(_ slot: Int32, now: Moment) {
        let place = Int(slot)
        let delay = sources[Int(slots[place].source)].delay ?? 0
        let arrived = min(slots[place].timestamp ?? now.wall, now.wall)
        let hopEnds = arrived.advanced(byMilliseconds: delay)
        let moment = min(hopEnds, slots[place].event.dueAt ?? hopEnds)
        guard moment > now.wall else {
            goOn(slot, now: now)
            return
        }
        let source = Int(slots[place].source)
        slots[place].holdsSource = true
        sources[source].isBlocked = true
        noteFate(of: slot, .retrying(delay: delayIndex(of: slot)))
        wait(slot, until: moment, now: now)
        if moment.milliseconds(since: now.wall) > Self.pauseBeyond {
            pause(source: source, for: .farOff)
            let ahead = now.monotonic(at: moment).advanced(byMilliseconds: -Self.resumeAhead)
            due.add(.init(due: ahead, slot: id(of: slot), service: 0, purpose: .resume))
        }
    }

    /// Lets a retry go on whose hop is over: it hops again, waits in memory, or is lined up to be called.
    mutating func goOn(_ slot: Int32, now: Moment) {
        if isExpired(slot, now: now) {
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
        var due = slots[Int(slot)].event.notBefore ?? never
        if slots[Int(slot)].isRetry, let written = slots[Int(slot)].event.dueAt {
            // A clock that was wrong may have written any moment; no retry waits longer than this for the backend's sake.
            let arrived = min(slots[Int(slot)].timestamp ?? now.wall, now.wall)
            due = max(due, min(written, arrived.advanced(byMilliseconds: configuration.retry.retryAfterLimit)))
        }
        guard due > now.wall else { return .nothing }
        if let delay = configuration.retry.hop(for: due.milliseconds(since: now.wall)) {
            return .hop(delay: delay, due: due)
        }
        if waitingCount >= configuration.maxWaiting, !configuration.retry.delays.isEmpty {
            // Too many wait in memory already. A little late is better than holding up everybody.
            return .hop(delay: 0, due: due)
        }
        return .inMemory(until: due)
    }

    /// Keeps the event in memory until `moment`.
    mutating func wait(_ slot: Int32, until moment: WallTime, now: Moment) {
        slots[Int(slot)].phase = .waiting
        waitingCount += 1
        due.add(.init(due: now.monotonic(at: moment), slot: id(of: slot), service: 0, purpose: .event))
    }

    /// Lines the event up behind its user's other events, or its partition's; the first is called at once.
    mutating func lineUp(_ slot: Int32) {
        let place = Int(slot)
        if slots[place].isRetry { noteFate(of: slot, .underWay) }
        if configuration.ordering != .none || slots[place].identity != 0 {
            slots[place].isOrdered = true
            let line: UInt64 =
                switch configuration.ordering {
                case .key: slots[place].userHash
                case .partition: UInt64(bitPattern: Int64(slots[place].partition))
                // Those that may be the same one keep behind each other.
                case .none: slots[place].identity
                }
            guard order.enter(slot, line: line) else {
                slots[place].phase = .behindUser
                return
            }
        }
        activations.append(id(of: slot))
    }

    func isExpired(_ slot: Int32, now: Moment) -> Bool {
        guard let expiresAt = slots[Int(slot)].event.expiresAt else { return false }
        return now.wall >= expiresAt
    }
}

extension DecodedEvent {
    fileprivate func sourceHash(value: RawSpan, seed: UInt64) -> UInt64 {
        ByteHash.hash(bytes(of: source, value: value), seed: seed)
    }

    fileprivate func campaignHash(value: RawSpan, seed: UInt64) -> UInt64 {
        Campaigns.hash(bytes(of: campaign, value: value), seed: seed)
    }

    fileprivate func userHash(value: RawSpan, seed: UInt64) -> UInt64 {
        ByteHash.hash(bytes(of: user, value: value), seed: seed)
    }
}
