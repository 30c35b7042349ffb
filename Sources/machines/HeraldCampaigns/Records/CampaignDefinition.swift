/// What a campaign is, as its first start wrote it: a record of the campaigns topic with the key `<name>/definition`.
///
/// It is written in the transaction that begins the campaign: a publisher that continues the campaign, on any machine,
/// sends the same message to the same push services. It is changed only before the campaign's ``start``, while nobody is
/// published.
package struct CampaignDefinition: Codable, Equatable, Sendable {
    /// The name, which is the events' `campaign` and part of their ids.
    package var name: String
    package var message: String
    /// What its notifications have beside the message; absent when there is nothing.
    package var content: CampaignContent?
    /// The push services of each event, names that the settings allow.
    package var pns: [String]
    /// The request topic that its events are published to.
    package var topic: String
    /// Recipients a second at most; `nil` for as fast as outcomes come.
    package var rate: Double?
    /// How many recipients are notified before each wait for their outcomes.
    package var ramp: [Int]?
    /// At how many published recipients it waits for its operator; absent when nowhere, and in what older versions wrote.
    package var holds: [Int]?
    /// The `expiresAt` of the events, epoch milliseconds: one moment for all.
    package var expiresAt: Int64?
    /// When its first recipient may be published; absent for at once, and in what older versions wrote.
    package var start: CampaignStart?
    /// Where its audience is kept for any process that publishes it; absent where its publisher alone has it, and in what older
    /// versions wrote.
    package var audience: StoredAudience?
    /// Whom it leaves out; absent when nobody.
    package var exclusions: CampaignExclusions?
    /// When it was started first, epoch milliseconds.
    package var startedAt: Int64
    /// Who started it: a user and a machine.
    package var startedBy: String
    /// The ends of the request topic's partitions before the first event, by partition: what was published is read back from there.
    package var requestOffsets: [String: Int64]
    /// The ends of the results topic's partitions before the first event, by partition: outcomes are read from there.
    package var resultOffsets: [String: Int64]

    /// The record's key.
    package static func key(of name: String) -> String { "\(name)/definition" }

    /// What its recipients get.
    package var template: ContentTemplate {
        get throws(ContentMistake) { try ContentTemplate(message, content) }
    }
}
