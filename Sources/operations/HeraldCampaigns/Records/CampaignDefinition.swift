/// What a campaign is, as its first start wrote it: a record of the campaigns topic with the key `<name>/definition`.
///
/// It is written once, in the transaction that begins the campaign, and never changed: whoever continues the campaign, on
/// whichever machine, sends the same message to the same push services.
public struct CampaignDefinition: Codable, Equatable, Sendable {
    /// The name, which is the events' `campaign` and part of their ids.
    public var name: String
    /// The template of the message.
    public var message: String
    /// The push services of each event, names that the settings allow.
    public var pns: [String]
    /// The request topic that its events are published to.
    public var topic: String
    /// Recipients a second at most; `nil` for as fast as outcomes come.
    public var rate: Double?
    /// How many recipients are notified before each wait for their outcomes.
    public var ramp: [Int]?
    /// The `expiresAt` of the events, epoch milliseconds: one moment for all.
    public var expiresAt: Int64?
    /// When it was started first, epoch milliseconds.
    public var startedAt: Int64
    /// Who started it: a user and a machine.
    public var startedBy: String
    /// The ends of the request topic's partitions before the first event, by partition: what was published is read back from there.
    public var requestOffsets: [String: Int64]
    /// The ends of the results topic's partitions before the first event, by partition: outcomes are read from there.
    public var resultOffsets: [String: Int64]

    /// The record's key.
    public static func key(of name: String) -> String { "\(name)/definition" }
}
