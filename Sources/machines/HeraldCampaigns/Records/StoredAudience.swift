/// Where the audience of a detached campaign is kept: chunks in the audiences topic, which any process can publish from.
///
/// A definition that has one is written when all of its chunks are durable.
package struct StoredAudience: Codable, Equatable, Sendable {
    /// Tells its chunks from those of another start of the campaign.
    package var id: String
    /// How many chunks there are.
    package var chunks: Int
    /// How many bytes their lines have together.
    package var bytes: Int64
    /// How many people it has, each once.
    package var recipients: Int
    /// By what the set of its people is told from another, as ``CampaignProgress/audience``.
    package var mark: String
    /// The field with its users; absent for `user`.
    package var userColumn: String?
    /// The ends of the audiences topic's partitions before the first chunk, by partition: it is read from there.
    package var offsets: [String: Int64]

    package init(
        id: String, chunks: Int, bytes: Int64, recipients: Int, mark: String, userColumn: String? = nil,
        offsets: [String: Int64]
    ) {
        self.id = id
        self.chunks = chunks
        self.bytes = bytes
        self.recipients = recipients
        self.mark = mark
        self.userColumn = userColumn
        self.offsets = offsets
    }

    /// More than ten million people of the longest lines have.
    static let mostChunks = 10_000_000

    /// The key of a chunk's record.
    package func key(of number: Int, in campaign: String) -> String { "\(campaign)/\(id)/\(number)" }
}

/// What the key of a record in the audiences topic says.
struct ChunkKey: Hashable, Sendable {
    let campaign: String
    /// The ``StoredAudience/id``.
    let audience: String
    let number: Int

    /// `nil` for another's record.
    init?(_ key: [UInt8]) {
        let parts = String(decoding: key, as: UTF8.self).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let number = Int(parts[2]), number >= 0 else { return nil }
        (campaign, audience, self.number) = (String(parts[0]), String(parts[1]), number)
    }
}
