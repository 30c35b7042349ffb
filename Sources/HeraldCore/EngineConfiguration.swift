public import HeraldEvents

/// What may be sent at the same time.
public enum Ordering: String, Sendable, CaseIterable {
    /// One user's events one after another, many users at once.
    case key
    /// A partition's events one after another.
    case partition
    /// Everything at once.
    case none
}

/// What an engine is told once: the settings that decide.
public struct EngineConfiguration: Sendable {
    /// Decodes records and knows the push services.
    public var decoder: RecordDecoder
    /// The names of the topics.
    public var topics = Topics()
    /// The delays as they are written, in the order of `retry.delays`.
    public var retryDelays: [DelayName] = []
    /// What is sent in order.
    ///
    /// Default: one user's events.
    public var ordering = Ordering.key
    /// At most this many calls are in flight in this engine.
    ///
    /// Default 1000.
    public var maxInFlight = 1_000
    /// Offsets are committed this often (milliseconds).
    ///
    /// Default 100.
    public var commitInterval: Int64 = 100
    /// A drain ends after this long (milliseconds), done or not.
    ///
    /// Default 30 s.
    public var drainTimeout: Int64 = 30_000
    /// When partitions are revoked, calls in flight are waited for this long (milliseconds).
    ///
    /// Default 10 s.
    public var revokeTimeout: Int64 = 10_000
    /// How often and when calls are repeated.
    public var retry = RetryPolicy()
    /// What each status means.
    public var statuses = StatusTable()
    /// An event that was replayed more often is a dead letter.
    ///
    /// Default 5.
    public var maxReplays = 5
    /// Makes the users' hash this process's own.
    public var hashSeed: UInt64 = 0

    /// The defaults, with this decoder.
    public init(decoder: RecordDecoder) {
        self.decoder = decoder
    }

    /// How many taken events may be in memory: those with calls in flight, and as many again that wait for their user,
    /// for their moment or for an acknowledgement.
    public var maxBuffered: Int { 2 * maxInFlight + 256 }

    /// How many of them may wait for their moment, so that waiting never takes the place of sending.
    var maxWaiting: Int { maxBuffered / 2 }
}
