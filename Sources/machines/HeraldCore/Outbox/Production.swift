public import HeraldEvents
public import HeraldTime

/// One record that an event causes.
public struct Production: Sendable, Equatable {
    /// What is written.
    public enum Content: Sendable, Equatable {
        /// How the event ended for one push service; for none when it did not decode.
        case result(FinalOutcome, service: Int?)
        /// The event itself goes on.
        case copy(EventCopy)
    }

    /// The event.
    public let slot: SlotID
    /// What is written.
    public internal(set) var content: Content
    /// Calls made so far for each of the push services.
    public internal(set) var attempts = 0
    /// The last HTTP status, 0 when there was none.
    public internal(set) var status = 0
    /// When the outcome was decided.
    public internal(set) var decidedAt: WallTime

    /// The push services it is about.
    public var services: PushServiceSet {
        switch content {
        case .result(_, let service): service.map { PushServiceSet(index: $0) } ?? PushServiceSet()
        case .copy(let copy): copy.services
        }
    }

    /// Why the event became a dead letter, if it did.
    var deadLetterReason: DeadLetterReason? {
        switch content {
        case .result(.deadLettered(let reason), _): reason
        case .result: nil
        case .copy(let copy): if case .deadLetter(let reason) = copy.destination { reason } else { nil }
        }
    }

    /// Whether it says that the event expired.
    var isExpired: Bool {
        if case .result(.expired, _) = content { true } else { deadLetterReason == .expired }
    }
}

/// How an event ended for a push service, as a record says it: what of a push service's state is final.
public enum FinalOutcome: Sendable, Equatable {
    case delivered
    /// The same event came before and ended so (`nil`: an earlier owner of the partition dealt with it).
    case duplicate(of: Outcome?)
    case expired
    case cancelled
    case deadLettered(DeadLetterReason)

    /// The word for it in the result.
    public var outcome: Outcome {
        switch self {
        case .delivered: .delivered
        case .duplicate: .duplicate
        case .expired: .expired
        case .cancelled: .cancelled
        case .deadLettered: .deadLettered
        }
    }
}

/// An event that goes on: to a retry topic for the push services that failed for now, to the dead-letter topic for those
/// that failed for good.
public struct EventCopy: Sendable, Equatable {
    /// Where it goes.
    public enum Destination: Sendable, Equatable {
        /// To the retry topic of this index, to be called again at `dueAt`; without a reason the one that the record came with
        /// stays.
        case retry(delay: Int, dueAt: WallTime, reason: RetryReason?)
        /// To the dead-letter topic.
        case deadLetter(DeadLetterReason)
    }

    /// Where it goes.
    public internal(set) var destination: Destination
    /// The push services that are still to do, or that failed; none for an event that does not decode.
    public internal(set) var services: PushServiceSet
    /// What is left out, because the record was too large with it.
    public internal(set) var omissions: Omissions = []

    /// Leaves out what it has not, and nothing else: a batch that nobody can read has no value.
    mutating func omitLeast() { omissions = destination == .deadLetter(.unreadable) ? .value : [] }

    /// Leaves the next part out; false when nothing is left that could be.
    ///
    /// Diagnostics go first, then what the call does not need. A retry has to stay an event; of a dead letter the long key
    /// goes before the value, which `herald-origin` has as long as the request topic does.
    mutating func omitMore() -> Bool {
        let steps: [Omissions] =
            switch destination {
            case .retry: [.diagnostics, .headers]
            case .deadLetter: [.diagnostics, .headers, .key, .value]
            }
        guard let next = steps.first(where: { !omissions.isSuperset(of: $0) }) else { return false }
        omissions.formUnion(next)
        return true
    }
}

extension Omissions {
    fileprivate static let diagnostics: Self = [.history, .detail]
}

/// Why a record was not produced.
public enum ProductionFailure: Sendable, Equatable {
    /// Larger than its topic takes, which was known before the broker had it: a transaction goes on.
    case doesNotFit
    /// The broker or the producer refused it, or a batch with it, as too large.
    case tooLarge
    /// The broker refused it, or a batch with it, for what it is: without a key in a compacted topic, with a time stamp that is
    /// not allowed, against a schema.
    case refused
    /// The producer's queue is full: try again in a moment.
    case queueFull
    /// Anything else; it is tried again until it works.
    case other

    /// Whether it says something of the record, or of one in its batch.
    var isOfRecord: Bool {
        switch self {
        case .doesNotFit, .tooLarge, .refused: true
        case .queueFull, .other: false
        }
    }
}
