public import HeraldEvents

/// Which outcomes of published events are still to come: pure, fed with publications and results.
public struct OutcomeBoard: Sendable {
    /// An event for one push service, with its result or, at the end, without one.
    public struct Entry: Sendable, Equatable {
        /// The event and its place.
        public var publication: EventPublisher.Publication
        /// The push service.
        public var pushService: String
        /// How it ended; `nil` when that is not known.
        public var result: NotificationResult?
    }

    private let pushServices: PushServices
    private var pending: [Origin: EventPublisher.Publication] = [:]

    /// A board on which nothing stands.
    public init(pushServices: PushServices) {
        self.pushServices = pushServices
    }

    /// Whether every result is there.
    public var isComplete: Bool { pending.isEmpty }

    /// From now on the results of this event are waited for.
    public mutating func expect(_ publication: EventPublisher.Publication) {
        pending[publication.place] = publication
    }

    /// Takes a result; what it ends, if anything here.
    ///
    /// A result without a push service ends all of the event's.
    public mutating func take(_ result: NotificationResult) -> [Entry] {
        guard var publication = pending[result.origin] else { return [] }
        var ended = publication.event.pushServices
        if let name = result.pushService {
            let index = pushServices.index(of: name.utf8.span.bytes)
            ended = index.map { ended.intersection(PushServiceSet(index: $0)) } ?? []
        }
        let entries = ended.map { Entry(publication: publication, pushService: pushServices.names[$0], result: result) }
        publication.event.pushServices = publication.event.pushServices.subtracting(ended)
        pending[result.origin] = publication.event.pushServices.isEmpty ? nil : publication
        return entries
    }

    /// What has no result, in the order of the lines.
    public var missing: [Entry] {
        pending.values.sorted { $0.event.line < $1.event.line }.flatMap { publication in
            publication.event.pushServices.map {
                Entry(publication: publication, pushService: pushServices.names[$0], result: nil)
            }
        }
    }
}
