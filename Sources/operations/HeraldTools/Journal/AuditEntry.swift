/// A record of the audit topic: who did what, when and why.
public struct AuditEntry: Codable, Equatable, Sendable {
    /// What was done, such as `dlq.replay` or `campaign.pause`.
    public var action: String
    /// `started`, `ended`, or `done` for what takes no time.
    public var phase: String
    /// RFC 3339.
    public var at: String
    /// The user and the machine.
    public var by: String
    /// The job, if it is one.
    public var job: String?
    /// What the operator gave as the reason or note.
    public var reason: String?
    /// Which dead letters, as a condition, or which campaign.
    public var selection: String?
    /// How many were planned.
    public var planned: Int?
    /// The ends that the plan was frozen at, by partition.
    public var ends: [String: Int64]?
    /// The options that change what a replay does.
    public var options: [String: String]?
    /// How it ended: `complete`, `paused`, `stopped`, `failed`.
    public var end: String?
    /// Counts at the end, such as `replayed`, `delivered`, `failed`, `open`.
    public var counts: [String: Int]?
    /// The job whose lease was taken over, because nobody lived behind it.
    public var tookOverFrom: String?

    /// An entry with what every entry has.
    public init(action: String, phase: String, at: String, by: String) {
        self.action = action
        self.phase = phase
        self.at = at
        self.by = by
    }

    /// Its JSON.
    package func encoded() -> [UInt8] { RecordJSON.encoded(self) }
}
