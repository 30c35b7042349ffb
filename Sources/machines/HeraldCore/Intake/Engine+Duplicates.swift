import HeraldEvents
import HeraldKernel
import HeraldTime

/// Repeated events, and the fates of the earlier ones for each push service.
///
/// Two events are the same one when source, id and user are, in one request partition: there the first of two is always
/// the one with the lower offset. An event whose first one's outcome is known ends as a duplicate; one whose first one
/// failed is called. One whose first one is under way waits behind it: in memory while that is in memory, else in the
/// first one's retry topic, whose partition it shares. The consumer of that partition remembers both as well.
extension Engine {
    /// The interval at which an event that no order keeps behind its first one checks that one's fate.
    private static let followInterval: Milliseconds = .seconds(1)
    /// The number of copies of one event that are searched for the one before it.
    private static let longestSearch = 8

    /// Remembers the event in this slot, and the one that it may duplicate.
    ///
    /// Replays, which repeat an event on purpose, and events without an id of their own are not remembered.
    mutating func remember(_ slot: Int32, origin partition: UInt64, value: RawSpan, as fate: FirstFate, now: Moment) {
        events.setIdentity(slot, 0)
        guard configuration.duplicateSize > 0, events[slot].event.hasOwnID, events[slot].event.replays == 0,
            events[slot].isRetry || !events[slot].event.origin.isPresent
        else { return }
        let seed = configuration.hashSeed
        let (source, user) = (events[slot].sourceHash, events[slot].userHash)
        let identity = withSlot(slot) {
            $0.event.identity(value: value, source: source, user: user, origin: partition, seed: seed)
        }
        events.setIdentity(slot, identity)
        let origin = UInt32(truncatingIfNeeded: events[slot].event.originOffset)
        for service in events[slot].event.pushServices {
            // The time at which it was taken: that of a backlog's records would be past the window at once.
            let (number, former) = duplicates.insert(
                DuplicateIdentity.hash(identity, service: service), origin: origin, fate: fate, at: now.wall)
            let first = first(of: origin, behind: former)
            events.remember(slot, service, as: number, first: first)
            if let first { duplicates.link(number, to: first) }
        }
    }

    /// The hash of the request partition that the event was published to.
    func originHash(of slot: Int32, value: RawSpan) -> UInt64 {
        let seed = configuration.hashSeed
        let topic =
            events[slot].event.originTopic.isPresent
            ? withSlot(slot) { $0.event.originTopicHash(value: value, seed: seed) }
            : partitions[events[slot].partition].hash
        return topic &+ UInt64(UInt32(bitPattern: events[slot].event.originPartition))
    }

    /// The number of the notification that one of this origin may duplicate.
    ///
    /// An event is not its own duplicate when it returns from a retry topic, and waits for no later one: later ones
    /// lead to the one before them.
    private func first(of origin: UInt32, behind former: DuplicateWindow.Former?) -> Int? {
        var candidate = former
        for _ in 0..<Self.longestSearch {
            guard let one = candidate else { return nil }
            let isLater = Int32(bitPattern: origin &- one.origin) > 0
            if one.origin != origin, isLater || one.fate.makesDuplicates { return one.number }
            candidate = duplicates.linked(from: one.number)
        }
        return nil
    }

    /// Remembers a settled request record: an earlier owner's, or one of the history that is read after an assignment
    /// to fill the window again.
    ///
    /// Without knowledge of the failures nothing is remembered: a republication of a failed event would never be
    /// called.
    mutating func rememberDone(
        source: Int, partition: Int32, offset: Int64, value: RawSpan?, headers: HeaderList, now: Moment
    ) {
        guard configuration.duplicateSize > 0, sources[source].delay == nil, let value,
            let failed = partitions[partition].failed,
            let slot = events.peek(
                topic: partitions.topicName(of: partition), number: partitions[partition].number,
                partition: partition, offset: offset, value: value, headers: headers, decoder: configuration.decoder,
                hashSeed: configuration.hashSeed)
        else { return }
        for service in events[slot].event.pushServices { dispatcher.gate.noteUse(service, now: now.monotonic) }
        remember(
            slot, origin: originHash(of: slot, value: value), value: value, as: .dealtWith, now: now)
        guard let failed = failed[offset], events[slot].identity != 0 else { return }
        for service in failed.intersection(events[slot].event.pushServices) {
            noteFate(events.place(slot, service), .ended(.deadLettered))
        }
    }

    /// Notes an event's fate for one push service.
    mutating func noteFate(_ index: Int, _ fate: FirstFate) {
        if events.services[index].memory >= 0 { duplicates.note(events.services[index].memory, fate) }
    }

    /// Notes that the event is in memory to be called, or waits for its moment as those in its retry topic do.
    mutating func noteFate(of slot: Int32, _ fate: FirstFate) {
        guard events[slot].identity != 0 else { return }
        for service in events[slot].open { noteFate(events.place(slot, service), fate) }
    }

    /// Ends the duplicates in this slot, and has those wait whose first one is under way.
    ///
    /// False when the rest of it is to be called.
    mutating func endsAsDuplicate(_ slot: Int32, now: Moment) -> Bool {
        guard events[slot].mayBeDuplicate else { return false }
        var waits = false
        for service in events[slot].open {
            let index = events.place(slot, service)
            guard events.services[index].first >= 0 else { continue }
            switch duplicates.fate(of: events.services[index].first) {
            case .ended(let outcome)? where outcome.makesDuplicates:
                decide(slot, service, .duplicate(of: outcome), now: now)
            case .dealtWith?: decide(slot, service, .duplicate(of: nil), now: now)
            case .underWay? where !configuration.retry.delays.isEmpty:
                // It came from a retry topic, and may be behind this one in its user's order.
                follow(slot, service, 0, now: now)
            case .retrying(let delay)? where !configuration.retry.delays.isEmpty:
                follow(slot, service, delay, now: now)
            case .underWay?, .retrying?: waits = true
            case .ended?, nil: events.forgetFirst(index)
            }
        }
        if events[slot].isDecided { return true }
        if waits { wait(slot, until: now.wall.advanced(by: Self.followInterval), now: now) }
        return waits
    }

    /// Follows the first one into its retry topic, whose consumer knows its outcome.
    private mutating func follow(_ slot: Int32, _ service: Int, _ delay: Int, now: Moment) {
        let delay = min(delay, configuration.retry.delays.count - 1)
        let due = now.wall.advanced(by: configuration.retry.delays[delay])
        decide(
            slot, service, .retry(delay: delay, due: due, reason: events[slot].isRetry ? nil : .blocked), now: now)
    }

    /// The first delay that is not shorter than that of the slot's retry topic.
    func delayIndex(of slot: Int32) -> Int {
        let delay = sources[Int(events[slot].source)].delay ?? .zero
        return configuration.retry.delays.firstIndex { $0 >= delay } ?? max(0, configuration.retry.delays.count - 1)
    }
}

extension ServiceState.Verdict {
    /// The fate that it gives the notification for later ones.
    var fate: FirstFate {
        switch self {
        case .none: .underWay
        case .delivered: .ended(.delivered)
        case .duplicate(let outcome): outcome.map { .ended($0) } ?? .dealtWith
        case .expired: .ended(.expired)
        case .cancelled: .ended(.cancelled)
        case .suppressed: .ended(.suppressed)
        case .dead: .ended(.deadLettered)
        case .retry(let delay, _, _): .retrying(delay: delay)
        }
    }
}

extension DecodedEvent {
    /// - Parameter origin: the hash of the request partition that it was published to.
    fileprivate func identity(
        value: RawSpan, source: UInt64, user: UInt64, origin: UInt64, seed: UInt64
    ) -> UInt64 {
        DuplicateIdentity.hash(
            source: source, id: bytes(of: id, value: value), user: user,
            partition: origin, seed: seed)
    }

    fileprivate func originTopicHash(value: RawSpan, seed: UInt64) -> UInt64 {
        ByteHash.hash(bytes(of: originTopic, value: value), seed: seed)
    }
}
