/// That an operator lets a campaign go on behind a hold: a record of the campaigns topic with the key `<name>/go`.
///
/// It has a key of its own: neither takes it back a pause that is written at the same moment, nor the other way round.
package struct CampaignGo: Codable, Equatable, Sendable {
    /// The hold that is passed, as the number of recipients that are published there.
    package var passed: Int
    /// When that was said, epoch milliseconds.
    package var at: Int64
    /// Who said it: a user and a machine.
    package var by: String

    /// The record's key.
    package static func key(of name: String) -> String { "\(name)/go" }
}
