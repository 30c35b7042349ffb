public import HeraldEvents
public import HeraldKernel
public import HeraldTime

/// The events that may be sent at the same time.
public enum Ordering: String, Sendable, CaseIterable {
    /// One user's events one after another, many users at once.
    case key
    /// A partition's events one after another.
    case partition
    /// Everything at once.
    case none
}

/// The settings that may change while the engine works: ``Engine/use(_:now:)``.
public struct LiveConfiguration: Sendable, Equatable {
    /// At most this many calls are in flight in this engine.
    ///
    /// Default 1000.
    public var maxInFlight = 1_000
    /// Calls a second at most, over all push services.
    ///
    /// Default: no limit.
    public var callsPerSecond: Double?
    /// Calls a second at most to each push service, in the order of the decoder's names.
    ///
    /// Default: no limit.
    public var serviceCallsPerSecond: [Double?] = []
    /// The rule by which temporary failures stop everything.
    public var breaker = BreakerRule()
    /// The rule by which answers that would make dead letters stop everything.
    public var deadLetterBreaker = BreakerRule(share: 0.5, of: 200)
    /// The meaning of each status.
    public var statuses = StatusTable()

    /// The defaults.
    public init() {}
}

/// An engine's configuration: the settings that decide.
@dynamicMemberLookup
public struct EngineConfiguration: Sendable {
    /// The part that may change while it runs.
    public var live = LiveConfiguration()
    /// Decodes records and knows the push services.
    public var decoder: RecordDecoder
    /// The names of the topics.
    public var topics = Topics()
    /// The delays as written, in the order of `retry.delays`.
    public var retryDelays: [DelayName] = []
    /// The events that are sent in order.
    ///
    /// Default: one user's events.
    public var ordering = Ordering.key
    /// Whether records and offsets become durable in one transaction.
    ///
    /// Default false: an offset is committed when the broker has the records.
    public var isAtomic = false
    /// The time after which the broker itself ends an open transaction.
    ///
    /// Default 10 s.
    public var transactionTimeout: Milliseconds = .seconds(10)
    /// Offsets are committed this often.
    ///
    /// Default 100 ms.
    public var commitInterval: Milliseconds = .milliseconds(100)
    /// No call begins while a decided one has waited longer for its commit.
    ///
    /// Default 1 s.
    public var maxUnrecorded: Milliseconds = .seconds(1)
    /// An event whose calls and quick retries take longer goes to its delay topic instead of being called
    /// again from memory, and so do those of its user behind it.
    ///
    /// Default 15 s.
    public var blockedAfter: Milliseconds = .seconds(15)
    /// The longest drain, complete or not.
    ///
    /// Default 30 s.
    public var drainTimeout: Milliseconds = .seconds(30)
    /// The wait for calls in flight when partitions are revoked.
    ///
    /// Default 10 s.
    public var revokeTimeout: Milliseconds = .seconds(10)
    /// The number and times of repeated calls.
    public var retry = RetryPolicy()
    /// An event that was replayed more often is a dead letter.
    ///
    /// Default 5.
    public var maxReplays = 5
    /// The time within which a repeated event is a duplicate.
    ///
    /// Default 0: none is.
    public var duplicateWindow: Milliseconds = .zero
    /// The most events remembered for that.
    ///
    /// Default 0.
    public var duplicateSize = 0
    /// Whether a call without an answer, which may have reached the backend, is repeated.
    ///
    /// Default true; false: it becomes a dead letter.
    public var repeatsUnanswered = true
    /// Whether a delivered call's result carries the backend's id of the message.
    ///
    /// Default false.
    public var keepsBackendIDs = false
    /// The parts beside the message that reach each push service; results and counters name the others.
    ///
    /// Default empty: no part reaches any.
    public var carriedContent: [ContentFields] = []
    /// The seed that makes the users' hash this process's own.
    public var hashSeed: UInt64 = 0

    /// The users' last words; `nil` when nobody is asked for them.
    ///
    /// Default `nil`.
    public var lastWord: LastWord?
    /// The class of each request topic's events, in the order of ``Topics/requests``.
    ///
    /// Default empty: all are transactional.
    public var classes: [EventClass] = []
    /// How many promotional events a user gets; without ``lastWord`` no event is promotional.
    ///
    /// Default empty: as many as are published.
    public var caps: [CapRule] = []

    /// The defaults, with this decoder.
    public init(decoder: RecordDecoder) {
        self.decoder = decoder
    }

    /// The parts of an event that do not reach this push service.
    func omitted(_ content: ContentFields, from service: Int) -> ContentFields {
        if content.isEmpty { return [] }
        return carriedContent.indices.contains(service) ? content.subtracting(carriedContent[service]) : content
    }

    /// A setting of the part that may change.
    public subscript<Value>(dynamicMember path: WritableKeyPath<LiveConfiguration, Value>) -> Value {
        get { live[keyPath: path] }
        set { live[keyPath: path] = newValue }
    }

    /// The most taken events in memory: those with calls in flight, as many that wait for their user, their moment or
    /// an acknowledgement, the settled ones that wait for their transaction's end, and the candidates of an outage.
    public var maxBuffered: Int { 2 * live.maxInFlight + 256 + transactionRoom + Outage.reservedSlots }

    /// The most settled events that wait for a transaction's end; it is committed early when half of them do.
    ///
    /// Enough for 100 ms of 80 000 events a second, and no more than ten for each call that may be in flight.
    var transactionRoom: Int { isAtomic ? min(16_384, 10 * live.maxInFlight) : 0 }

    /// The most events that wait for their moment, so that waiting never takes the place of sending.
    var maxWaiting: Int { live.maxInFlight + 128 }

    /// The most bytes of records in memory (keys, values, headers, and decoding's additions); records beyond the last
    /// one that fits wait in their queue.
    ///
    /// Default 16 MiB.
    public var maxBufferedBytes = 16 << 20

    /// The bytes that a class of sources may always take, so that one topic's large records don't keep another's
    /// waiting.
    var reservedBytes: Int { maxBufferedBytes / 16 }

    /// The most bytes in the queues before fetching pauses.
    ///
    /// Default 56 MiB.
    public var maxFetchedBytes = 56 << 20
}
