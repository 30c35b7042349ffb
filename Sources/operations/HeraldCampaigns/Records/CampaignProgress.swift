/// How far the publishing of a campaign came: a record of the campaigns topic with the key `<name>/progress`, written in
/// the transaction of each batch of events.
package struct CampaignProgress: Codable, Equatable, Sendable {
    /// Unique valid recipients of the audience that was read last.
    package var recipients: Int
    /// Recipients whose events were published, by all runs together.
    package var published: Int
    /// Lines of the audience that repeat a recipient.
    package var repeats: Int
    /// Lines of the audience that are no recipients.
    package var invalid: Int
    /// Whether every recipient's event was published.
    package var isComplete: Bool
    /// When this was written, epoch milliseconds.
    package var at: Int64
    /// Who publishes: a user, a machine and a process.
    package var by: String
    /// The outcomes that the publisher has seen, one for each event and push service, by name (`delivered`, …).
    package var outcomes: [String: Int]
    /// Up to where in the results topic, by partition, ``outcomes`` are counted: the next offset to read.
    package var resultOffsets: [String: Int64]

    /// The record's key.
    package static func key(of name: String) -> String { "\(name)/progress" }
}
