/// A record of the audit topic: who did what, when and why.
package struct AuditEntry: Codable, Equatable, Sendable {
    /// What was done, such as `dlq.replay` or `campaign.pause`.
    package var action: String
    /// `started`, `ended`, or `done` for what takes no time.
    package var phase: String
    /// RFC 3339.
    package var at: String
    /// The user and the machine.
    package var by: String
    /// The job, if it is one.
    package var job: String?
    /// What the operator gave as the reason or note.
    package var reason: String?
    /// Which dead letters, as a condition, or which campaign.
    package var selection: String?
    /// How many were planned.
    package var planned: Int?
    /// The ends that the plan was frozen at, by partition.
    package var ends: [String: Int64]?
    /// The options that change what a replay does.
    package var options: [String: String]?
    /// How it ended: `complete`, `paused`, `stopped`, `failed`.
    package var end: String?
    /// Counts at the end, such as `replayed`, `delivered`, `failed`, `open`.
    package var counts: [String: Int]?
    /// The job whose lease was taken over, because its process was dead.
    package var tookOverFrom: String?

    /// An entry with what every entry has.
    package init(action: String, phase: String, at: String, by: String) {
        self.action = action
        self.phase = phase
        self.at = at
        self.by = by
    }

    /// Its JSON.
    package func encoded() -> [UInt8] { RecordJSON.encoded(self) }
}
