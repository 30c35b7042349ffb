import HeraldEvents
import HeraldTime

/// Which events came before.
///
/// The window covers the request records of the present assignment, each partition for itself: in their own
/// partition the first of two equal events is always the one with the lower offset, also when the window is filled
/// again from records that were dealt with before. Between partitions nothing would say which one came first.
extension Engine {
    /// Remembers the event in this slot, of a request partition.
    ///
    /// True when it came before. Never for a replay, which repeats an event on purpose, and not without an id of the
    /// event's own.
    mutating func remember(_ slot: Int32, value: RawSpan, partition: Int32, now: Moment) -> Bool {
        let place = Int(slot)
        guard configuration.duplicateSize > 0, slots[place].event.hasOwnID, slots[place].event.replays == 0,
            !slots[place].event.origin.isPresent
        else { return false }
        let identity = slots[place].event.identity(
            value: value, partition: UInt64(UInt32(bitPattern: partition)), seed: configuration.hashSeed)
        // The time at which it was taken: that of a backlog's records would be past the window at once.
        return duplicates.insert(identity, at: now.wall)
    }

    /// Remembers a request record that was dealt with before: by an earlier owner, or as part of the history that is read
    /// after an assignment to fill the window again.
    mutating func rememberDone(
        source: Int, partition: Int32, offset: Int64, value: RawSpan?, headers: HeaderList, now: Moment
    ) {
        guard configuration.duplicateSize > 0, sources[source].delay == nil, let value, let slot = freeSlots.last
        else { return }
        let number = partitions[Int(partition)].number
        let failure = configuration.decoder.decode(
            topicKind: .request, topic: topics[sources[source].topic].name, partition: number, offset: offset,
            value: value, headers: headers, into: &slots[Int(slot)].event)
        if failure == nil { _ = remember(slot, value: value, partition: partition, now: now) }
    }
}

extension DecodedEvent {
    fileprivate func identity(value: RawSpan, partition: UInt64, seed: UInt64) -> UInt64 {
        guard source.isPresent else {
            return DuplicateIdentity.hash(
                source: nil, id: bytes(of: id, value: value), user: bytes(of: user, value: value),
                partition: partition, seed: seed)
        }
        return DuplicateIdentity.hash(
            source: bytes(of: source, value: value), id: bytes(of: id, value: value),
            user: bytes(of: user, value: value), partition: partition, seed: seed)
    }
}
