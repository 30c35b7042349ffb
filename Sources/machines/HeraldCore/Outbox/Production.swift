public import HeraldEvents
public import HeraldTime

/// One record of an event.
public struct Production: Sendable, Equatable {
    /// The content of a record.
    public enum Content: Sendable, Equatable {
        /// The outcome for one push service; for none when it did not decode.
        case result(FinalOutcome, service: Int?)
        /// The event itself continues.
        case copy(EventCopy)
        /// What was delivered to its user, in this partition of the caps topic.
        case caps(partition: Int32)
    }

    /// The event.
    public let slot: SlotID
    /// The record's content.
    public internal(set) var content: Content
    /// Calls made so far for each of the push services.
    public internal(set) var attempts = 0
    /// The last HTTP status, 0 when there was none.
    public internal(set) var status = 0
    /// The time at which the outcome was decided.
    public internal(set) var decidedAt: WallTime

    /// The push services it is about.
    public var services: PushServiceSet {
        switch content {
        case .result(_, let service): service.map { PushServiceSet(index: $0) } ?? PushServiceSet()
        case .copy(let copy): copy.services
        case .caps: PushServiceSet()
        }
    }

    /// The reason why the event became a dead letter, if it did.
    var deadLetterReason: DeadLetterReason? {
        switch content {
        case .result(.deadLettered(let reason), _): reason
        case .result, .caps: nil
        case .copy(let copy): if case .deadLetter(let reason) = copy.destination { reason } else { nil }
        }
    }

    /// Whether its outcome is that the event expired.
    var isExpired: Bool {
        if case .result(.expired, _) = content { true } else { deadLetterReason == .expired }
    }
}

/// The final part of a push service's state, as a record has it.
public enum FinalOutcome: Sendable, Equatable {
    case delivered
    /// The same event came before with this outcome (`nil`: an earlier owner of the partition settled it).
    case duplicate(of: Outcome?)
    case expired
    case cancelled
    case suppressed(SuppressionReason)
    case deadLettered(DeadLetterReason)

    /// The word for it in the result.
    public var outcome: Outcome {
        switch self {
        case .delivered: .delivered
        case .duplicate: .duplicate
        case .expired: .expired
        case .cancelled: .cancelled
        case .suppressed: .suppressed
        case .deadLettered: .deadLettered
        }
    }
}

/// An event that continues: in a retry topic after temporary failures, in the dead-letter topic after permanent ones.
public struct EventCopy: Sendable, Equatable {
    /// The destination of a copy.
    public enum Destination: Sendable, Equatable {
        /// The retry topic of this index, for a call at `dueAt`; without a reason the record keeps its own.
        case retry(delay: Int, dueAt: WallTime, reason: RetryReason?)
        /// The dead-letter topic.
        case deadLetter(DeadLetterReason)
    }

    /// Its destination.
    public internal(set) var destination: Destination
    /// The push services that are still to do, or that failed; none for an event that does not decode.
    public internal(set) var services: PushServiceSet
    /// The parts omitted because the record was too large with them.
    public internal(set) var omissions: Omissions = []
    /// The delays whose topics have no room for it, by their known limits.
    var unfit = DelaySet()

    /// Omits only the parts that are missing anyway: an unreadable batch has no value.
    mutating func omitLeast() { omissions = destination == .deadLetter(.unreadable) ? .value : [] }

    /// Omits the next part; false without any left.
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

/// Some of the delays, by their indices; there are at most 20.
struct DelaySet: Sendable, Equatable {
    private var bits: UInt64 = 0

    func contains(_ delay: Int) -> Bool { bits & 1 << UInt64(delay) != 0 }

    mutating func insert(_ delay: Int) { bits |= 1 << UInt64(delay) }
}

extension Omissions {
    fileprivate static let diagnostics: Self = [.history, .detail]
}

/// The reason why a record was not produced.
public enum ProductionFailure: Sendable, Equatable {
    /// It exceeds its topic's limit, which was known before the broker had it: a transaction continues.
    case doesNotFit
    /// The broker or the producer refused it, or a batch with it, as too large.
    case tooLarge
    /// The broker refused it, or a batch with it, for what it is: without a key in a compacted topic, with a time stamp that is
    /// not allowed, against a schema.
    case refused
    /// Its topic, or the partition, is not there.
    case topicMissing
    /// The producer's queue is full: try again in a moment.
    case queueFull
    /// Any other failure; it is tried again until it succeeds.
    case other

    /// Whether it is evidence about the record, one in its batch, or its topic.
    var isOfRecord: Bool {
        switch self {
        case .doesNotFit, .tooLarge, .refused, .topicMissing: true
        case .queueFull, .other: false
        }
    }
}
