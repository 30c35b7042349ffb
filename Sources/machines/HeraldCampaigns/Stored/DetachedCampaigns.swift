internal import HeraldEvents
internal import HeraldTime
internal import HeraldTools

/// Which detached campaigns a process takes up, and when it deletes audiences that are of no more use.
///
/// Every console that may make changes and every `herald campaign run` asks it, and all of them by one rule
/// (``CampaignStatus/isToBeTakenUp``). One thread.
package final class DetachedCampaigns {
    /// One that could not be published is tried again after so long.
    private static let pause: Milliseconds = .minutes(1)

    private let context: CampaignContext
    private let lookAtTopics: () throws -> CampaignContext.Layout
    private let reader: CampaignReader
    private var triedAt: [String: MonotonicTime] = [:]
    /// The campaigns that were over when chunks were looked through last; `nil` before.
    private var swept: Set<String>?

    /// Reads the campaigns topic; blocks for the brokers' answers.
    ///
    /// - Parameter lookAtTopics: what ``CampaignContext/layout(reach:admin:isWriting:)`` says by now.
    package init(
        _ context: CampaignContext, lookAtTopics: @escaping () throws -> CampaignContext.Layout
    ) throws {
        (self.context, self.lookAtTopics) = (context, lookAtTopics)
        reader = try context.campaigns(try lookAtTopics())
        try reader.catchUp()
    }

    package func close() { reader.close() }

    /// Those that are to be taken up now.
    package func due() throws -> [CampaignIndex.Campaign] {
        try reader.poll()
        let (index, now, clock) = (reader.index, SystemClock.wall(), SystemClock.monotonic())
        return index.names.compactMap(index.campaign).filter { campaign in
            guard CampaignStatus(campaign: campaign, count: OutcomeCount(), now: now).isToBeTakenUp,
                triedAt[campaign.name].map({ $0.advanced(by: Self.pause) <= clock }) ?? true
            else { return false }
            triedAt[campaign.name] = clock
            return true
        }
    }

    /// Deletes the audiences of campaigns that are over, and what starts have left that came to nothing; not when all that
    /// are over were seen before.
    package func sweep() throws {
        let (index, now) = (reader.index, SystemClock.wall())
        let over = Set(
            index.names.compactMap(index.campaign).filter {
                $0.definition?.audience != nil && StoredAudienceRule.isOver($0, at: now)
            }.map(\.name))
        if let swept, over.isSubset(of: swept) { return }
        try context.sweepAudiences(index, try lookAtTopics(), at: now)
        swept = over
    }
}
