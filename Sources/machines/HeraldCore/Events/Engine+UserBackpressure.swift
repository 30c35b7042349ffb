import HeraldEvents
import HeraldKernel
import HeraldTime

/// Backpressure per user: one user's many events hold a small share of the slots, and the rest wait in the delay
/// topics.
extension Engine {
    /// The number of a user's events that may always be in memory.
    static let leastShare = 16

    /// The number of a partition's open events up to which those of loud users do not hold it up: with more, the work
    /// done behind them may not fit into a commit.
    static let mostOpen = 768

    /// Whether so many deferred events are on their way to the broker that more would fill their partition: each is
    /// open until the broker has it, or until it is part of a transaction.
    var defersEnough: Bool { userBackpressure.onTheWay >= Self.mostOpen }

    /// The most events of a user in memory: a quarter of the remaining slots, and half of the partition's open ones, so
    /// that many loud users leave room too.
    private func share(of slot: Int32) -> Int {
        let open = partitions[events[slot].partition].tracker?.undecided ?? 0
        let slots = min(min(events.room, 2 * configuration.live.maxInFlight) / 4, (Self.mostOpen - open) / 2)
        let bytes = max(0, configuration.maxBufferedBytes - events.bytes) / (4 * max(1, events[slot].bytes))
        return min(max(slots, Self.leastShare), max(bytes, 1))
    }

    /// Defers an event of a user with too many in memory, or with earlier ones in the delay topics; false when it can
    /// wait in memory.
    ///
    /// An event that was called before may be overtaken, and overtakes.
    mutating func defersBehindUser(_ slot: Int32, now: Moment) -> Bool {
        guard configuration.ordering == .key, !configuration.retry.delays.isEmpty, events[slot].event.attempts == 0
        else {
            return false
        }
        let line = events.lineCount(of: events[slot].userHash)
        guard line >= 1 || !userBackpressure.isEmpty else { return false }
        let (offset, stream) = (events[slot].event.originOffset, events[slot].stream)
        let share = line > 0 ? share(of: slot) : 1
        // In an outage no event is called, and the topic bounds the events in memory.
        let hasRoom = line < share || health.isInOutage || !userBackpressure.hasRoom(for: stream)
        if hasRoom, userBackpressure.isNext(offset, of: stream) { return false }
        let deferral = userBackpressure.deferEvent(at: offset, of: stream, line: line, share: share, now: now.monotonic)
        events.noteBehind(slot, deferral.behind)
        if !configuration.isAtomic { userBackpressure.onTheWay += 1 }
        let due = now.wall.advanced(by: deferral.wait)
        decideAll(slot, .retry(delay: deferral.delay, due: due, reason: .blocked), now: now)
        return true
    }

    /// The time at which a retry due at `moment` is taken back, when many of its user's events circulate.
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

    /// Notes that a retry is in memory again, and its hop is over.
    mutating func noteReturn(_ slot: Int32, now: Moment) {
        guard !userBackpressure.isEmpty, events[slot].isRetry else { return }
        userBackpressure.returned(
            events[slot].event.originOffset, of: events[slot].stream, from: delayIndex(of: slot),
            now: now.monotonic)
    }

    /// Notes that the broker has all records of an event.
    mutating func noteDelivered(_ slot: Int32) {
        // Events that were forgotten with their partition arrive here too.
        if events[slot].behind > 0, userBackpressure.onTheWay > 0 { userBackpressure.onTheWay -= 1 }
    }

    /// Notes that a user's first event is settled.
    mutating func noteTurn(_ slot: Int32, now: Moment) {
        guard !userBackpressure.isEmpty, events[slot].wasCalled else { return }
        let took = now.monotonic.nanoseconds - events[slot].activeSince.nanoseconds
        userBackpressure.called(events[slot].stream, took: took, now: now.monotonic)
    }
}
