package import HeraldTools

/// Puts a stored audience together from the records of its topic, in whatever order they come, and says what is wrong with
/// it: pure.
package struct AudienceAssembly {
    private let stored: StoredAudience
    private let campaign: String
    private let topic: String
    private var isSeen: [Bool]
    private var left: Int
    private var bytes: Int64 = 0

    /// - Parameters:
    ///   - campaign: the name of its campaign.
    ///   - topic: the audiences topic.
    package init(_ stored: StoredAudience, of campaign: String, in topic: String) {
        (self.stored, self.campaign, self.topic) = (stored, campaign, topic)
        isSeen = Array(repeating: false, count: stored.chunks)
        left = stored.chunks
    }

    /// Whether every chunk was there.
    package var isWhole: Bool { left == 0 }

    /// Takes a record; the lines that it adds, and where they stand.
    ///
    /// Others' records, and repeated ones, add nothing.
    ///
    /// - Throws: for a chunk that is not as it was written.
    package mutating func take(
        key: [UInt8]?, value: [UInt8]?
    ) throws(ToolFailure) -> (lines: ArraySlice<UInt8>, position: Int)? {
        guard let key = key.flatMap(ChunkKey.init), key.campaign == campaign, key.audience == stored.id,
            key.number < stored.chunks, let value, !isSeen[key.number]
        else { return nil }
        guard let chunk = AudienceChunk(value), chunk.head.chunk == key.number, chunk.head.position >= 0,
            chunk.head.position + Int64(chunk.lines.count) <= stored.bytes
        else { throw failure("chunk \(key.number + 1) of \(stored.chunks) is not as it was written") }
        isSeen[key.number] = true
        left -= 1
        bytes += Int64(chunk.lines.count)
        return (chunk.lines, Int(chunk.head.position))
    }

    /// The topic has no more.
    ///
    /// - Throws: when a part is missing.
    package func finish() throws(ToolFailure) {
        guard let missing = isSeen.firstIndex(of: false) else {
            guard bytes == stored.bytes else {
                throw failure("its chunks have \(bytes) bytes, and not the \(stored.bytes) that were written")
            }
            return
        }
        throw failure(
            "\(left == 1 ? "chunk" : "\(left) chunks, the first") \(missing + 1) of \(stored.chunks) "
                + "\(left == 1 ? "is" : "are") missing: the topic was recreated, or records were deleted from it")
    }

    /// What is said of an audience that cannot be published.
    package func failure(_ problem: String) -> ToolFailure {
        Self.failure(problem, of: campaign, in: topic)
    }

    static func failure(_ problem: String, of campaign: String, in topic: String) -> ToolFailure {
        ToolFailure(
            "the audience of campaign \(campaign) cannot be read from \(topic), and nothing is published: \(problem). Start it "
                + "again with its audience's file: herald campaign start --name \(campaign) --audience FILE …; nobody is "
                + "notified twice")
    }
}
