public import HeraldTools

/// How a plan is carried out.
public struct ReplayOptions: Sendable {
    /// The sizes of the batches.
    public var ramp = Ramp.standard
    /// A larger share of failed outcomes stops the replay; 0 stops at the first.
    public var stopShare = 0.2
    /// Dead letters per second at most; `nil` for as many as the outcomes allow.
    public var rate: Double?
    /// How long a batch's outcomes are waited for.
    public var patience = Duration.seconds(600)
    /// Why, for the audit.
    public var reason: String?
    /// Whether what was replayed before is replayed once more.
    public var isAgain = false
    /// Which dead letters, as it was given, for the audit.
    public var selection = ""

    /// The options that nobody changed.
    public init() {}
}

/// How far a replay is.
public struct ReplayProgress: Sendable, Equatable {
    /// The batch, from 1.
    public var batch = 0
    /// How many dead letters the plan has.
    public var planned = 0
    /// How many are replayed: published and marked.
    public var replayed = 0
    /// Outcomes that are known to be good.
    public var delivered = 0
    /// Outcomes that are known to be bad.
    public var failed = 0
    /// Outcomes that are not known yet.
    public var open = 0
    /// Whether nothing is sent until outcomes come.
    public var isWaiting = false
    /// Of the plan, what was replayed or resolved by somebody else meanwhile, or has expired.
    public var skipped = 0
    /// What is too large for its request topic, even without its history; it stays as it is.
    public var tooLarge = 0
}

/// How a replay ended.
public enum ReplayEnd: Sendable, Equatable {
    /// Everything in the plan was replayed.
    case complete
    /// Somebody asked it to stop.
    case paused
    /// Too many failed again.
    case stopped
    /// Outcomes did not come in time.
    case outcomeTimeout
    /// Another job has taken over.
    case takenOver
    /// It failed; what was replayed is marked.
    case failed(ToolFailure)
}

/// What a replay leaves behind.
public struct ReplayReport: Sendable {
    /// The job's name.
    public var job: String
    /// How it ended.
    public var end: ReplayEnd
    /// How far it came.
    public var progress: ReplayProgress
}
