package import HeraldEvents
package import HeraldTime

/// Which outcomes of published events are still to come: pure, fed with publications and results.
package struct PublicationTracker: Sendable {
    /// An event for one push service, with its result or, at the end, without one.
    package struct Entry: Sendable, Equatable {
        package var publication: EventPublisher.Publication
        package var pushService: String
        /// How it ended; `nil` when that is not known.
        package var result: NotificationResult?
        /// When its user's quiet hours end, for which it waits; `nil` when it does not, or that is not known.
        package var quietUntil: WallTime?

        /// Whether the backend has taken it, now or when the same event came first.
        package var isDelivered: Bool {
            switch result?.outcome.standing {
            case .reached: true
            case .repeated: result?.firstOutcome?.standing == .reached
            case .failed, .ended, nil: false
            }
        }
    }

    private struct Notification: Hashable {
        var place: Origin
        var pushService: String
    }

    private let pushServices: PushServices
    private var asleep: [Notification: WallTime] = [:]
    private var tracker = OutcomeTracker<EventPublisher.Publication>()

    package init(pushServices: PushServices) {
        self.pushServices = pushServices
    }

    package var isComplete: Bool { tracker.isEmpty }

    /// From now on the results of this event are waited for.
    package mutating func expect(_ publication: EventPublisher.Publication) {
        tracker.expect(
            publication, origin: publication.place,
            pushServices: publication.event.pushServices.map { pushServices.names[$0] })
    }

    /// Takes a result; what it ends, if anything here.
    package mutating func receive(_ result: NotificationResult) -> [Entry] {
        guard let (publication, names) = tracker.receive(result) else { return [] }
        return names.map { Entry(publication: publication, pushService: $0, result: result) }
    }

    /// Takes what went to a retry topic: it waits for its user's quiet hours, or does not any more.
    package mutating func receive(_ event: RetriedEvent) {
        for name in event.pushServices {
            guard tracker.event(of: event.origin, replays: event.replays, pushService: name) != nil else { continue }
            asleep[Notification(place: event.origin, pushService: name)] = event.quietUntil
        }
    }

    /// Whether all that has no result waits for quiet hours that end later.
    package func isAsleep(beyond moment: WallTime) -> Bool {
        !asleep.isEmpty && missing.allSatisfy { $0.quietUntil.map { $0 > moment } ?? false }
    }

    /// What has no result, in the order of the lines.
    package var missing: [Entry] {
        tracker.missing.sorted { $0.event.event.line < $1.event.event.line }.flatMap { publication, names in
            names.map { name in
                let quietUntil = asleep[Notification(place: publication.place, pushService: name)]
                return Entry(publication: publication, pushService: name, result: nil, quietUntil: quietUntil)
            }
        }
    }
}
