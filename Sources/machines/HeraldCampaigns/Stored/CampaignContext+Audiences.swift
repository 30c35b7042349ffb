internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
package import HeraldTime
package import HeraldTools

/// Audiences of detached campaigns in their topic: written chunk by chunk, read back into a file without a name, and deleted.
extension CampaignContext {
    /// So many chunks are written at once, and are in memory then.
    private static let chunksAtOnce = 32

    /// Writes the people of an audience, with the fields that the texts use; they are durable when it returns.
    ///
    /// - Parameters:
    ///   - preview: what was found in the audience.
    ///   - recipients: those that the preview has marked.
    ///   - onProgress: how many bytes of the audience were passed; `false` ends it.
    /// - Returns: where they are; `nil` when it was ended.
    package func store(
        _ audience: Audience, _ text: CampaignText, _ layout: Layout, preview: AudiencePreview,
        marking recipients: inout RecipientSet, onProgress: (Int) -> Bool = { _ in true }
    ) throws -> StoredAudience? {
        try checkAudiences(layout)
        var stored = StoredAudience(
            id: EventPreparation.randomID(), chunks: 0, bytes: 0, recipients: preview.recipients, mark: preview.mark,
            userColumn: preview.reading.ownUserColumn, offsets: try ends(of: topics.audiences, layout.audiences))
        let reader = try RecipientReader(audience, text, expiresAt: nil)
        var records: [OutgoingRecord] = []
        var lines: [UInt8] = []
        func closeChunk(isLast: Bool) throws {
            if !lines.isEmpty {
                let chunk = AudienceChunk(stored.chunks, at: stored.bytes, lines: lines)
                let key = Array(stored.key(of: stored.chunks, in: text.name).utf8)
                records.append(OutgoingRecord(topic: topics.audiences, key: key, value: chunk.value))
                stored.chunks += 1
                stored.bytes += Int64(lines.count)
                lines.removeAll(keepingCapacity: true)
            }
            guard isLast || records.count >= Self.chunksAtOnce else { return }
            try write(records)
            records = []
        }
        defer { recipients.removeFromAll(.told) }
        while true {
            switch try reader.next() {
            case .invalid: continue
            case .end:
                try closeChunk(isLast: true)
                guard audience.isUnchanged else { throw AudiencePreview.changed }
                return stored
            case .recipient:
                guard recipients.insert(reader.id, .told).isDisjoint(with: [.told, .excluded]) else { continue }
                let start = lines.count
                reader.appendLine(to: &lines)
                guard lines.count - start < AudienceReader.recordLimit else {
                    throw ToolFailure(
                        "line \(reader.lines.line) has more than \(AudienceReader.recordLimit) bytes in the fields of the "
                            + "texts; shorten it, or leave --detach out")
                }
                guard lines.count >= AudienceChunk.byteLimit else { continue }
                guard onProgress(reader.lines.passedCount) else { return nil }
                try closeChunk(isLast: false)
            }
        }
    }

    /// Reads a stored audience back; what is wrong with it is thrown, by name.
    ///
    /// - Parameters:
    ///   - campaign: the name of its campaign.
    ///   - directory: where the file is made, which has no name and is gone with the process.
    ///   - isStopping: whether it is to end.
    /// - Returns: `nil` when it was ended.
    package func fetch(
        _ stored: StoredAudience, of campaign: String, _ layout: Layout, into directory: String,
        isStopping: () -> Bool
    ) throws -> SpooledFile? {
        try checkAudiences(layout)
        var assembly = AudienceAssembly(stored, of: campaign, in: topics.audiences)
        let file = try GrowingFile(in: directory, for: "the audience of campaign \(campaign)")
        let starts = stored.starts
        let reader = try TopicReader(
            properties: readerProperties, topic: topics.audiences, partitions: layout.audiences
        ) { starts[$0].map { .offset($0) } ?? .beginning }
        defer { reader.close() }
        func take(_ message: Message) throws {
            if let (lines, position) = try assembly.take(key: message.keyCopy, value: message.valueCopy) {
                try file.write(lines, at: position)
            }
        }
        try reader.catchUp(onProgress: { _, _ in !assembly.isWhole && !isStopping() }, take)
        guard !isStopping() else { return nil }
        try assembly.finish()
        return try file.finished()
    }

    /// Deletes what is of no more use in the audiences topic; how many chunks that were.
    @discardableResult
    package func sweepAudiences(_ index: CampaignIndex, _ layout: Layout, at now: WallTime) throws -> Int {
        guard !layout.audiences.isEmpty else { return 0 }
        var useless: Set<[UInt8]> = []
        let reader = try TopicReader(
            properties: readerProperties, topic: topics.audiences, partitions: layout.audiences)
        defer { reader.close() }
        try reader.catchUp { message in
            guard let key = message.keyCopy else { return }
            let isThere = message.withValue { $0 != nil }
            let writtenAt = WallTime(milliseconds: message.timestampMilliseconds)
            if isThere, StoredAudienceRule.isUseless(key: key, writtenAt: writtenAt, in: index, at: now) {
                useless.insert(key)
            } else {
                useless.remove(key)
            }
        }
        try write(useless.map { OutgoingRecord(topic: topics.audiences, key: $0, value: nil) })
        return useless.count
    }

    private func checkAudiences(_ layout: Layout) throws(ToolFailure) {
        guard layout.audiences.isEmpty else { return }
        throw ToolFailure("there is no topic \(topics.audiences); make it with: herald topics apply")
    }

    private func write(_ records: [OutgoingRecord]) throws {
        guard !records.isEmpty else { return }
        do throws(KafkaError) {
            guard let failure = try PlainWriter.write(records, properties: controlProperties).first else { return }
            throw failure.value
        } catch {
            throw ToolFailure(
                "\(topics.audiences) takes no audience, and nothing is started", error,
                allow: KafkaPermission(.write, on: .topic(topics.audiences)))
        }
    }
}
