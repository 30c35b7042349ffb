import HeraldEvents
import HeraldKernel
import HeraldTime

/// Periodic work.
struct Upkeep: Sendable {
    let interval: Milliseconds
    private(set) var next = MonotonicTime.distantPast

    init(every interval: Milliseconds) { self.interval = interval }

    mutating func done(now: MonotonicTime) { next = now.advanced(by: interval) }
}

extension Engine {
    /// A record that stays longer than this is copied.
    ///
    /// It is longer than a usual call and its commit, and short compared with the records fetched meanwhile.
    static let copiedAfter: Milliseconds = .milliseconds(500)

    /// Has the lane copy lasting records, because a message keeps everything fetched with it in memory.
    mutating func copyWhatStays(now: Moment) {
        let limit = now.monotonic.advanced(by: -Self.copiedAfter)
        for index in events.slots.indices where !events.slots[index].isKept && events.slots[index].takenAt <= limit {
            guard events.slots[index].phase != .free else { continue }
            events.noteKept(Int32(index))
            actions.append(.retainRecord(slot: Int32(index)))
        }
    }

    /// Looks periodically for events that hold up others for too long.
    ///
    /// They hold up their partition's watermark and the events of their user, and with those the memory of all.
    mutating func sweep(now: Moment) {
        duplicates.evict(now: now.wall)
        if caps.isOn { caps.sweep(now: now.wall) }
        resumeFullPartitions()
        for partition in partitions.indices where partitions.waitsForExpected(partition) {
            actions.append(.rewind(partition: partition))
        }
        // In an outage all events wait for the backend, and none for another event.
        guard !health.isInOutage, let delay = configuration.retry.delays.first else { return }
        userBackpressure.sweep(now: now.monotonic)
        let limit = now.monotonic.advanced(by: -configuration.blockedAfter)
        deferHeldCalls(since: limit, now: now)
        for index in events.slots.indices
        where events.slots[index].phase == .active && events.slots[index].activeSince <= limit {
            unblock(Int32(index), due: now.wall.advanced(by: delay), now: now)
        }
    }

    /// Moves an event that has been called, and is undecided after this long, out of the way of others.
    ///
    /// A call under way can't be taken back, but it is not repeated from memory.
    private mutating func unblock(_ slot: Int32, due: WallTime, now: Moment) {
        let isCalled = events[slot].open.contains { service in
            let phase = events.services[events.place(slot, service)].phase
            return phase == .calling || phase == .resting
        }
        guard isCalled else { return }
        events.noteBlocking(slot)
        // With `partition` the order is that of all events: none may be moved out of it.
        if configuration.ordering == .key, events[slot].isOrdered {
            var next = events.takeFollowers(of: slot)
            while let follower = next {
                next = events.leaveLine(follower)
                decideAll(follower, .retry(delay: 0, due: due, reason: .blocked), now: now)
            }
        }
        for service in events[slot].open where events.services[events.place(slot, service)].phase == .resting {
            decide(slot, service, .retry(delay: 0, due: due, reason: .blocked), now: now)
        }
    }
}
