internal import HeraldEvents
internal import HeraldTime

extension CampaignContext {
    /// How campaigns stand, in their order, and whether all their outcomes were counted.
    ///
    /// The publisher's own count is where it begins: what came since then is added, replays of a finished campaign too.
    ///
    /// - Parameter onProgress: how many of how many records were passed; `false` ends the counting.
    package func statuses(
        of campaigns: [CampaignIndex.Campaign], _ layout: Layout, onProgress: (Int64, Int64) -> Bool = { _, _ in true }
    ) throws -> [(status: CampaignStatus, isWhole: Bool)] {
        let now = SystemClock.wall()
        var statuses = campaigns.map { campaign in
            let known = OutcomeCount(snapshot: campaign.progress?.outcomes ?? [:])
            return (status: CampaignStatus(campaign: campaign, count: known, now: now), isWhole: true)
        }
        // First those that change: one that finished long ago is far back in the topic, and may take too long.
        for isFinished in [false, true] {
            let indices = statuses.indices.filter {
                statuses[$0].status.isFinished == isFinished && campaigns[$0].definition != nil
            }
            let subjects = indices.compactMap { index in
                campaigns[index].definition.map { OutcomeReader.Subject($0, after: campaigns[index].progress) }
            }
            guard !subjects.isEmpty else { continue }
            let reader = try outcomes(of: subjects, layout)
            defer { reader.close() }
            let isWhole = try reader.catchUp(onProgress: onProgress)
            for index in indices {
                statuses[index].isWhole = isWhole
                if let count = reader.subjects[campaigns[index].name]?.count { statuses[index].status.count = count }
            }
        }
        let recalls = (try? recalls?(campaigns.map(\.name))) ?? [:]
        for index in statuses.indices { statuses[index].status.recall = recalls[campaigns[index].name] }
        return statuses
    }
}
