import HeraldTime

extension Engine {
    /// A record that stays longer than this (milliseconds) is copied.
    ///
    /// Longer than a usual call and the commit behind it take, and short for how much is fetched meanwhile.
    static let keptAfter: Int64 = 500

    /// Has the lane copy what stays in memory, because a message holds on to everything that was fetched with it.
    mutating func keepWhatStays(now: Moment) {
        let limit = now.monotonic.advanced(byMilliseconds: -Self.keptAfter)
        for index in events.slots.indices where !events.slots[index].isKept && events.slots[index].takenAt <= limit {
            guard events.slots[index].phase != .free else { continue }
            events.noteKept(Int32(index))
            actions.append(.retainRecord(slot: Int32(index)))
        }
    }
}
