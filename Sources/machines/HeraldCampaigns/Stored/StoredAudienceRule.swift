internal import HeraldEvents
package import HeraldTime

/// Which records of the audiences topic are of no more use: pure.
package enum StoredAudienceRule {
    /// A start that has written its chunks, and not yet its definition, has come to its end after so long.
    static let orphanAge: Milliseconds = .days(1)

    /// Whether a chunk may be deleted: its campaign is over, or no definition has named it for a day.
    ///
    /// - Parameters:
    ///   - key: the record's.
    ///   - writtenAt: when the broker got it.
    package static func isUseless(
        key: [UInt8], writtenAt: WallTime, in index: CampaignIndex, at now: WallTime
    ) -> Bool {
        guard let key = ChunkKey(key) else { return false }
        // What cannot be read may still name it.
        guard !index.damages.contains(where: { $0.key.hasPrefix("\(key.campaign)/") }) else { return false }
        let campaign = index.campaign(key.campaign)
        if let campaign, isOver(campaign, at: now) { return true }
        return campaign?.definition?.audience?.id != key.audience && now.time(since: writtenAt) > orphanAge
    }

    /// Whether nobody of it is published any more.
    package static func isOver(_ campaign: CampaignIndex.Campaign, at now: WallTime) -> Bool {
        guard let definition = campaign.definition else { return campaign.state == .cancelled }
        return campaign.state == .cancelled || (campaign.progress?.isComplete ?? false)
            || definition.expiresAt.map { $0 <= now.milliseconds } ?? false
    }
}
