package import HeraldEvents

/// Which outcomes of events are still to come: pure, fed with events and results.
package struct OutcomeTracker<Event: Sendable>: Sendable {
    private struct Key: Hashable {
        var origin: Origin
        var replays: Int
    }

    private struct Expected: Sendable {
        var event: Event
        /// None when the event did not decode: then one result ends it.
        var pushServices: [String]
    }

    private var expected: [Key: [Expected]] = [:]

    package init() {}

    package var isEmpty: Bool { expected.isEmpty }

    /// What has no result, in no order.
    package var missing: [(event: Event, pushServices: [String])] {
        expected.values.joined().map { ($0.event, $0.pushServices) }
    }

    /// From now on the results of this event are expected.
    ///
    /// - Parameter replays: how often it was replayed.
    package mutating func expect(_ event: Event, origin: Origin, replays: Int = 0, pushServices: [String]) {
        expected[Key(origin: origin, replays: replays), default: []].append(
            Expected(event: event, pushServices: pushServices))
    }

    /// The event that expects a result of this push service; `nil` when none does.
    package func event(of origin: Origin, replays: Int, pushService: String) -> Event? {
        expected[Key(origin: origin, replays: replays)]?.first { $0.pushServices.contains(pushService) }?.event
    }

    /// Takes a result; the event and the push services that it ends, `nil` when it was not expected.
    ///
    /// A result without a push service ends all of the event's.
    package mutating func receive(_ result: NotificationResult) -> (event: Event, pushServices: [String])? {
        let key = Key(origin: result.origin, replays: result.replays)
        guard var events = expected[key] else { return nil }
        defer { expected[key] = events.isEmpty ? nil : events }
        guard let name = result.pushService else {
            let ended = events.removeFirst()
            return (ended.event, ended.pushServices)
        }
        guard let index = events.firstIndex(where: { $0.pushServices.contains(name) }) else { return nil }
        let event = events[index].event
        events[index].pushServices.removeAll { $0 == name }
        if events[index].pushServices.isEmpty { events.remove(at: index) }
        return (event, [name])
    }
}
