import HeraldEvents
import HeraldKernel
import HeraldTime

/// One user's many events hold a small share of the slots, and wait for the rest of their turn in the delay topics.
extension Engine {
    /// So many events of a user may be in memory in any case.
    static let leastShare = 16

    /// So many events of a partition may be open before those of loud users hold it up: beyond, what is done behind them may
    /// not fit into a commit.
    static let mostOpen = 768

    /// Whether so many deferred events are on their way to the broker that more would fill their partition: each is open until the
    /// broker has it, or until it is part of a transaction.
    var defersEnough: Bool { userBackpressure.onTheWay >= Self.mostOpen }

    /// How many events of a user may be in memory: a quarter of the slots that are left, and half of what may be open of the
    /// partition, so that many loud users leave room too.
    private func share(of slot: Int32) -> Int {
        let open = partitions[events[slot].partition].tracker?.undecided ?? 0
        let slots = min(min(events.room, 2 * configuration.live.maxInFlight) / 4, (Self.mostOpen - open) / 2)
        let bytes = max(0, configuration.maxBufferedBytes - events.bytes) / (4 * max(1, events[slot].bytes))
        return min(max(slots, Self.leastShare), max(bytes, 1))
    }

    /// Defers an event of a user who has too many in memory, or earlier ones in the delay topics; false when it can wait in
    /// memory.
    ///
    /// One that was called before may be overtaken, and overtakes.
    mutating func defersBehindUser(_ slot: Int32, now: Moment) -> Bool {
        guard configuration.ordering == .key, !configuration.retry.delays.isEmpty, events[slot].event.attempts == 0
        else {
            return false
        }
        let line = events.lineCount(of: events[slot].userHash)
        guard line >= 1 || !userBackpressure.isEmpty else { return false }
        let (offset, stream) = (events[slot].event.originOffset, events[slot].stream)
        let share = line > 0 ? share(of: slot) : 1
        // In an outage no event is called, and what may be in memory is bounded by topic.
        let hasRoom = line < share || health.isInOutage || !userBackpressure.hasRoom(for: stream)
        if hasRoom, userBackpressure.isNext(offset, of: stream) { return false }
        let deferral = userBackpressure.deferEvent(at: offset, of: stream, line: line, share: share, now: now.monotonic)
        events.noteBehind(slot, deferral.behind)
        if !configuration.isAtomic { userBackpressure.onTheWay += 1 }
        let due = now.wall.advanced(by: deferral.wait)
        decideAll(slot, .retry(delay: deferral.delay, due: due, reason: .blocked), now: now)
        return true
    }

    /// When a retry is taken back that is due at `moment`, because many of its user go round.
    mutating func returnTime(_ slot: Int32, due moment: WallTime, now: Moment) -> WallTime {
        let wait = moment.time(since: now.wall)
        guard !userBackpressure.isEmpty, events[slot].event.attempts == 0, wait <= UserBackpressure.horizon else {
            return moment
        }
        let due = now.monotonic.advanced(by: max(.zero, wait))
        let opens = userBackpressure.returns(
            events[slot].event.originOffset, of: events[slot].stream, from: delayIndex(of: slot), at: due,
            isIdle: events.lineCount(of: events[slot].userHash) == 0)
        guard opens > due else { return moment }
        return now.wall.advanced(by: .milliseconds((opens.nanoseconds - now.monotonic.nanoseconds) / 1_000_000))
    }

    /// A retry is in memory again, and its hop is over.
    mutating func noteReturn(_ slot: Int32, now: Moment) {
        guard !userBackpressure.isEmpty, events[slot].isRetry else { return }
        userBackpressure.returned(
            events[slot].event.originOffset, of: events[slot].stream, from: delayIndex(of: slot),
            now: now.monotonic)
    }

    /// The broker has all records of an event.
    mutating func noteDelivered(_ slot: Int32) {
        // What was forgotten with its partition comes too.
        if events[slot].behind > 0, userBackpressure.onTheWay > 0 { userBackpressure.onTheWay -= 1 }
    }

    /// An event is settled that was the first of its user.
    mutating func noteTurn(_ slot: Int32, now: Moment) {
        guard !userBackpressure.isEmpty, events[slot].wasCalled else { return }
        let took = now.monotonic.nanoseconds - events[slot].activeSince.nanoseconds
        userBackpressure.called(events[slot].stream, took: took, now: now.monotonic)
    }
}
