/// How far the publishing of a campaign came: a record of the campaigns topic with the key `<name>/progress`, written in
/// the transaction of each batch of events.
public struct CampaignProgress: Codable, Equatable, Sendable {
    /// Unique valid recipients of the audience that was read last.
    public var recipients: Int
    /// Recipients whose events were published, by all runs together.
    public var published: Int
    /// Lines of the audience that repeat a recipient.
    public var repeats: Int
    /// Lines of the audience that are no recipients.
    public var invalid: Int
    /// Whether every recipient's event was published.
    public var isComplete: Bool
    /// When this was written, epoch milliseconds.
    public var at: Int64
    /// Who publishes: a user, a machine and a process.
    public var by: String
    /// The outcomes that the publisher has seen, one for each event and push service, by name (`delivered`, …).
    public var outcomes: [String: Int]
    /// Up to where in the results topic, by partition, ``outcomes`` are counted: the next offset to read.
    public var resultOffsets: [String: Int64]

    /// The record's key.
    public static func key(of name: String) -> String { "\(name)/progress" }
}
