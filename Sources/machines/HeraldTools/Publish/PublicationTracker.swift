package import HeraldEvents

/// Which outcomes of published events are still to come: pure, fed with publications and results.
package struct PublicationTracker: Sendable {
    /// An event for one push service, with its result or, at the end, without one.
    package struct Entry: Sendable, Equatable {
        package var publication: EventPublisher.Publication
        package var pushService: String
        /// How it ended; `nil` when that is not known.
        package var result: NotificationResult?

        /// Whether the backend has taken it, now or when the same event came first.
        package var isDelivered: Bool {
            switch result?.outcome.standing {
            case .reached: true
            case .repeated: result?.firstOutcome?.standing == .reached
            case .failed, .ended, nil: false
            }
        }
    }

    private let pushServices: PushServices
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

    /// What has no result, in the order of the lines.
    package var missing: [Entry] {
        tracker.missing.sorted { $0.event.event.line < $1.event.event.line }.flatMap { publication, names in
            names.map { Entry(publication: publication, pushService: $0, result: nil) }
        }
    }
}
