public import HeraldEvents
import HeraldKernel
public import HeraldTime

extension Engine {
    /// The time by which a retry partition's first record must be due: later ones pause its fetching.
    static let pauseBeyond: Milliseconds = .seconds(10)
    /// The time before that moment at which fetching resumes, because a resumed partition takes up to a second.
    static let resumeAhead: Milliseconds = .seconds(2)

    /// The source to take the next record from, or `nil` when nothing should be taken now.
    public mutating func nextSource() -> Int? {
        guard case .assigned = membership, events.room > (health.isInOutage ? 0 : Outage.reservedSlots) else {
            return nil
        }
        if defersEnough { return nil }
        if !health.isInOutage {
            if dispatcher.pressing + calls.busy >= takeLimit { return nil }
        } else if dispatcher.queue.isEmpty {
            // Every candidate for a probe has left without a call: its campaign is paused, or it expired.
            health.outage?.makeRoom()
        }
        let room = SourceTable.Room(
            isFull: events.bytes >= configuration.maxBufferedBytes, reserved: configuration.reservedBytes,
            outageRoom: health.isInOutage ? health.outage?.room : nil)
        return sources.next(room, events)
    }

    /// Notes an empty source: it is not asked again before ``recordsArrived(in:)``.
    public mutating func exhausted(source: Int) { sources.exhaust(source) }

    /// Notes that the source's queue may have records again; former sources are ignored.
    public mutating func recordsArrived(in source: Int) {
        if source < sources.count { sources.recordsArrived(in: source) }
    }

    /// Takes a record of an assigned partition.
    ///
    /// - Parameters:
    ///   - source: The index in ``sourceList`` of the queue that it belongs to.
    ///   - partition: The partition's number in its topic.
    ///   - timestamp: The record's timestamp, if it has one.
    ///   - key: The record's key, if it has one.
    ///   - value: The record's value; `nil` is a tombstone.
    /// - Returns: Whether the lane keeps the message for a slot.
    public mutating func record(
        source: Int, partition: Int32, offset: Int64, timestamp: WallTime?, key: RawSpan? = nil, value: RawSpan?,
        headers: HeaderList, now: Moment
    ) -> Intake {
        guard source < sources.count else {
            counters.stale += 1
            return .done
        }
        let size = (key?.byteCount ?? 0) + (value?.byteCount ?? 0) + headers.byteCount
        readAhead.consumed(from: source, bytes: size)
        guard let index = sources.partition(partition, of: source) else {
            counters.stale += 1
            return .done
        }
        guard case .assigned = membership else { return .done }
        guard events.room > 0 else { return .noRoom }
        switch partitions.accept(offset, stamped: timestamp, of: index) {
        case .new: committer.noteNews()
        case .doneBefore(let byOthers):
            committer.noteNews()
            counters.doneBefore += 1
            if byOthers {
                rememberDone(
                    source: source, partition: index, offset: offset, value: value, headers: headers, now: now)
            }
            return .done
        case .replaced: takeAnew(index, from: offset, stamped: timestamp)
        case .unexpected: return .done
        case .noRoom:
            actions.append(.pause(partition: index))
            return .done
        }
        counters.accepted += 1
        guard let value else {
            counters.tombstones += 1
            complete(partition: index, offset: offset)
            return .done
        }
        let (callClass, requestTopic, isRetry) = sources.kind(of: source)
        let arrival = EventTable.Arrival(
            source: source, callClass: callClass, requestTopic: requestTopic, partition: index, offset: offset,
            timestamp: timestamp, isRetry: isRetry, bytes: size)
        let slot = events.add(
            arrival, topic: partitions.topicName(of: index), number: partition, value: value, headers: headers,
            decoder: configuration.decoder, now: now)
        if isRetry { events.findRequestTopic(slot, value: value, among: requestTopics) }
        let id = events.id(of: slot)
        if let failure = events[slot].failure {
            settleUndecodable(slot, reason: failure.reason, now: now)
        } else {
            if !isRetry {
                judgePublisher(
                    of: slot, key: key, value: value, headers: headers, partition: partition, topic: requestTopic,
                    now: now)
            }
            begin(slot, value: value, now: now)
        }
        run(now: now)
        return .accepted(id)
    }

    /// Whether ``readAhead(_:fetched:now:)`` has work although nothing was fetched since the last time.
    public var watchesFetched: Bool { readAhead.isWatching }

    /// Takes the number of records in the queue of each source, in the order of ``sourceList``, and the bytes that the
    /// client has fetched in its life; some twenty times a second while there are any, and whenever many bytes have
    /// arrived.
    public mutating func readAhead(_ counts: [Int], fetched: Int, now: Moment) {
        guard case .assigned = membership else { return }
        readAhead.look(counts, fetched: fetched, &sources, partitions, now: now.monotonic, actions: &actions)
    }

    /// Notes that a partition was read to its end, which is this offset: after the last record there may be offsets
    /// without one (the ends of transactions), and a group that has settled everything stands after those.
    public mutating func endReached(of partition: Int32, at offset: Int64) {
        guard case .assigned = membership else { return }
        if partitions.reachEnd(of: partition, at: offset) { committer.noteNews() }
    }

    /// Resumes partitions whose map has room again.
    mutating func resumeFullPartitions() {
        for partition in partitions.indices where partitions.hasRoomAgain(partition) {
            resumeFull(partition)
            actions.append(.rewind(partition: partition))
        }
    }

    mutating func resumeFull(_ partition: Int32) {
        if partitions.endFull(partition) { actions.append(.resume(partition: partition)) }
    }

    /// Prepares a decoded event and routes it by its moment.
    private mutating func begin(_ slot: Int32, value: RawSpan, now: Moment) {
        events.openServices(slot, value: value, hashSeed: configuration.hashSeed)
        let origin = originHash(of: slot, value: value)
        events.setStream(slot, events[slot].userHash ^ origin)
        noteLastWord(slot, value: value)
        remember(slot, origin: origin, value: value, as: .underWay, now: now)
        if events[slot].event.replays > configuration.maxReplays {
            noteReturn(slot, now: now)
            decideAll(slot, .dead(.replaysExhausted), now: now)
        } else if campaigns.fate(of: events[slot].campaign) == .cancelled {
            noteReturn(slot, now: now)
            decideAll(slot, .cancelled, now: now)
        } else if events[slot].isRetry {
            admitRetry(slot, now: now)
        } else {
            lineUp(slot, now: now)
        }
    }

    /// A record of a retry topic waits until its hop is over; meanwhile the rest of its partition stays in its queue,
    /// where it is in due order.
    private mutating func admitRetry(_ slot: Int32, now: Moment) {
        let delay = sources[Int(events[slot].source)].delay ?? .zero
        let arrived = min(events[slot].timestamp ?? now.wall, now.wall)
        let hopEnds = arrived.advanced(by: delay)
        let due = min(hopEnds, events[slot].event.dueAt ?? hopEnds)
        let moment = returnTime(slot, due: due, now: now)
        guard moment > now.wall else {
            goOn(slot, now: now)
            return
        }
        let source = Int(events[slot].source)
        events.setHoldsSource(slot, true)
        sources.block(source)
        noteFate(of: slot, .retrying(delay: delayIndex(of: slot)))
        wait(slot, until: moment, now: now)
        if moment.time(since: now.wall) > Self.pauseBeyond {
            sources.pause(source, for: .farOff, actions: &actions)
            let ahead = moment.time(since: now.wall) - Self.resumeAhead
            schedule(.resume(events.id(of: slot)), after: ahead, now: now)
        }
    }

    /// Continues a retry whose hop is over: it hops again, waits in memory, or is lined up to be called.
    mutating func goOn(_ slot: Int32, now: Moment) {
        noteReturn(slot, now: now)
        if events.isExpired(slot, now: now) {
            decideAll(slot, .expired, now: now)
            return
        }
        switch waitBefore(slot, now: now) {
        case .nothing: lineUp(slot, now: now)
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

    /// The event's wait before its calls.
    func waitBefore(_ slot: Int32, now: Moment) -> Wait {
        let never = WallTime(milliseconds: .min)
        var due = events[slot].event.notBefore ?? never
        // What slept is looked at anew at each return: by now its user may have said something else.
        let isAsked = events[slot].event.isHeldForQuietHours && configuration.lastWord != nil
        if events[slot].isRetry, !isAsked, let written = events[slot].event.dueAt {
            // A clock that was wrong may have written any moment; no retry waits longer than this for the backend's sake.
            let arrived = min(events[slot].timestamp ?? now.wall, now.wall)
            due = max(due, min(written, arrived.advanced(by: configuration.retry.retryAfterLimit)))
        }
        guard due > now.wall else { return .nothing }
        if let delay = configuration.retry.hop(for: due.time(since: now.wall)) {
            return .hop(delay: delay, due: due)
        }
        if events.waitingCount >= configuration.maxWaiting, !configuration.retry.delays.isEmpty {
            // Too many wait in memory already. A small delay is better than holding up all others.
            return .hop(delay: 0, due: due)
        }
        return .inMemory(until: due)
    }

    /// Keeps the event in memory until `moment`.
    mutating func wait(_ slot: Int32, until moment: WallTime, now: Moment) {
        events.wait(slot)
        schedule(.event(events.id(of: slot)), after: moment.time(since: now.wall), now: now)
    }

    /// Lines the event up behind its user's other events, or its partition's; the first is called at once.
    mutating func lineUp(_ slot: Int32, now: Moment) {
        if defersBehindUser(slot, now: now) { return }
        if events[slot].isRetry { noteFate(of: slot, .underWay) }
        if configuration.ordering != .none || events[slot].identity != 0 {
            let line: UInt64 =
                switch configuration.ordering {
                case .key: events[slot].userHash
                case .partition: UInt64(bitPattern: Int64(events[slot].partition))
                // Possible duplicates keep behind each other.
                case .none: events[slot].identity
                }
            guard events.lineUp(slot, in: line) else { return }
        }
        activations.append(events.id(of: slot))
    }
}
