internal import HeraldEvents
internal import HeraldKafka
package import HeraldText
package import HeraldTime
package import HeraldTools

/// Whom a start of a campaign is to leave out.
package struct ExclusionWish: Sendable {
    package let files: [ExclusionFile]
    package let campaigns: [String]
    package let deliveredWithin: Milliseconds?

    /// Refuses what says nothing.
    ///
    /// - Parameter name: the campaign that leaves them out.
    package init(
        files: [ExclusionFile], campaigns: [String], deliveredWithin: Milliseconds?, of name: String
    ) throws(ToolFailure) {
        guard !campaigns.contains(name) else {
            throw ToolFailure(
                "campaign \(name) cannot leave out who was delivered by itself: nobody is notified twice by one campaign"
            )
        }
        guard files.count + campaigns.count < ExcludedPeople.mostReasons else {
            throw ToolFailure(
                "fewer than \(ExcludedPeople.mostReasons) files and campaigns can be left out; join some of the files")
        }
        var names: [String] = []
        for name in campaigns where !names.contains(name) { names.append(name) }
        (self.files, self.campaigns, self.deliveredWithin) = (files, names, deliveredWithin)
    }

    package var isEmpty: Bool { files.isEmpty && !readsResults }

    /// Whether results say who is left out.
    package var readsResults: Bool { !campaigns.isEmpty || deliveredWithin != nil }

    /// Reads the files; `nil` when it was ended.
    ///
    /// - Parameter onProgress: how many bytes of how many of a file were passed; `false` ends it.
    package func readFiles(
        of campaign: String, users: UserRule, onProgress: (Int, Int) -> Bool = { _, _ in true }
    ) throws -> FoundExclusions? {
        var found = FoundExclusions()
        var read: [CampaignExclusions.File] = []
        for (number, file) in files.enumerated() {
            guard
                let (about, invalid) = try file.read(
                    into: &found.people, for: number, campaign: campaign, users: users, onProgress: onProgress)
            else { return nil }
            read.append(about)
            if invalid > 0 {
                found.notes.append(
                    "\(CampaignWords.counted(invalid, "line")) of \(file.name) \(invalid == 1 ? "is no user and leaves" : "are no users and leave") "
                        + "nobody out")
            }
        }
        found.record.files = read.isEmpty ? nil : read
        return found
    }
}

/// Who is left out.
package struct FoundExclusions: Sendable {
    package var people = ExcludedPeople()
    package var record = CampaignExclusions()
    /// What people should know of it, in sentences.
    package var notes: [String] = []
    /// Whether results were deleted by which the campaign's start had found them.
    package var lacksResults = false

    /// What an audience's preview needs.
    package var forPreview: (people: ExcludedPeople, reasons: Int) { (people, record.reasons.count) }
}

extension CampaignContext {
    /// Finds who was delivered what leaves them out, reading the results once.
    ///
    /// - Parameters:
    ///   - name: the campaign that leaves them out.
    ///   - index: what the campaigns topic says.
    ///   - frozen: by what the campaign's start has found them; `nil` for a new one.
    ///   - found: what the files say; takes the rest.
    ///   - onProgress: how many of how many results were passed; `false` ends it.
    /// - Returns: whether it was not ended.
    package func findDelivered(
        _ wish: ExclusionWish, of name: String, in index: CampaignIndex, _ layout: Layout, frozen: CampaignExclusions?,
        at now: WallTime, adding found: inout FoundExclusions, onProgress: (Int64, Int64) -> Bool
    ) throws -> Bool {
        guard wish.readsResults else { return true }
        let campaigns = try wish.campaigns.map { try Self.excluded($0, in: index) }
        found.record.campaigns = wish.campaigns.isEmpty ? nil : wish.campaigns
        found.record.deliveredWithin = wish.deliveredWithin?.count
        let known = frozen.flatMap { $0.namesSame(as: found.record) ? $0 : nil }
        found.record.deliveredSince =
            known?.deliveredSince ?? wish.deliveredWithin.map { now.milliseconds - $0.count }
        let (since, starts) = (found.record.deliveredSince, SoundNumber.byNumber(known?.resultStarts ?? [:]))
        let reader = try ResultsReader(
            properties: readerProperties, topic: topics.results,
            partitions: known == nil ? layout.results : starts.keys.sorted(),
            mentioning: since == nil && wish.campaigns.count == 1 ? "\"\(wish.campaigns[0])\"" : "\"campaign\""
        ) { partition in
            if known != nil { return .offset(starts[partition] ?? 0) }
            let named = campaigns.compactMap { $0.definition?.resultStarts[partition] }
            guard named.count == campaigns.count else { return .beginning }
            return named.min().map { .offset($0, lookingBackTo: since) } ?? .moment(since ?? 0)
        }
        defer { reader.close() }
        let first = reader.positions
        let isCut = reader.reader.deletedCount > 0 || (known != nil && first != starts)
        found.lacksResults = known != nil && isCut
        found.record.resultStarts = known?.resultStarts ?? Self.byName(first)
        found.record.resultEnds = known?.resultEnds
        let delivered = DeliveredPeople(found.record, campaign: name)
        var counts = Dictionary(campaigns.map { ($0.name, OutcomeCount()) }) { count, _ in count }
        let services = Dictionary(campaigns.map { ($0.name, $0.definition?.pns ?? []) }) { names, _ in names }
        let ends = SoundNumber.byNumber(known?.resultEnds ?? [:]).filter { first[$0.key] ?? .max <= $0.value }
        try reader.reader.aim(
            at: known == nil
                ? .committed
                : .offsets(
                    Dictionary(
                        uniqueKeysWithValues: ends.map {
                            (TopicPartition(topic: topics.results, partition: $0.key), $0.value)
                        })))
        while try !reader.turn(
            wait: .milliseconds(50),
            { result, message in
                delivered.add(result, partition: message.partition, offset: message.offset, to: &found.people)
                if let campaign = result.campaign, let names = services[campaign] {
                    counts[campaign]?.add(result, pushServices: names)
                }
            })
        {
            guard onProgress(reader.reader.progress.passed, reader.reader.progress.total) else { return false }
        }
        guard known == nil else { return true }
        found.record.resultEnds = Self.byName(reader.positions)
        if isCut {
            found.notes.append(
                "\(topics.results) does not hold all results of \(wish.campaigns.joined(separator: " and ")) any more: who was delivered "
                    + "in those that are deleted is not known, and not left out")
        } else {
            found.notes += campaigns.compactMap { Self.openNote($0, counts[$0.name] ?? OutcomeCount(), now) }
        }
        return true
    }

    /// What may still be delivered of a campaign whose people are left out.
    private static func openNote(
        _ campaign: CampaignIndex.Campaign, _ count: OutcomeCount, _ now: WallTime
    ) -> String? {
        let status = CampaignStatus(campaign: campaign, count: count, now: now)
        let open = status.open + status.unpublished
        guard open > 0, campaign.state != .cancelled || status.open > 0 else { return nil }
        return
            "\(CampaignWords.counted(open, "notification")) of \(campaign.name) \(open == 1 ? "has" : "have") no outcome yet: who "
            + "is delivered one of them later is not left out"
    }

    private static func excluded(_ name: String, in index: CampaignIndex) throws -> CampaignIndex.Campaign {
        if let campaign = index.campaign(name), campaign.definition != nil { return campaign }
        let known = index.names.filter { index.campaign($0)?.definition != nil }
        throw ToolFailure(
            "there is no campaign \(SafeText.quoted(name, limit: 64)) whose people could be left out"
                + (Suggestion.nearest(to: name, in: known).map { "; did you mean \($0)?" }
                    ?? "; herald campaign status lists all of them"))
    }

    private static func byName(_ offsets: [Int32: Int64]) -> [String: Int64] {
        Dictionary(uniqueKeysWithValues: offsets.map { ("\($0.key)", $0.value) })
    }
}
