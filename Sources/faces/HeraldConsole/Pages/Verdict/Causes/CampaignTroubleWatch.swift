import HeraldCampaigns
import HeraldEvents
import HeraldKafka
import HeraldText
import HeraldThreads
import HeraldTime
import HeraldTimeline
import HeraldTools

/// Follows the campaigns topic for campaigns whose own events fail, on a thread of its own.
final class CampaignTroubleWatch: ClusterWatch {
    static let threadName = "console-campaigns"
    private static let turn = Duration.seconds(2)
    /// Partitions that were added, and a topic that was recreated, are found within this time.
    private static let renewal = Duration.seconds(60)
    private static let questionTimeout = Milliseconds.seconds(4)

    private let plan: NowPlan
    private let index = Guarded(CampaignIndex())
    let wakeup: Wakeup

    init(_ plan: NowPlan) throws(SystemError) {
        self.plan = plan
        wakeup = try Wakeup()
    }

    /// What is known now, by the campaigns' names.
    func troubles(now: WallTime) -> [CampaignTrouble] {
        let index = index.withLock { $0 }
        return index.names.compactMap(index.campaign).compactMap { CampaignTrouble($0, now: now) }
    }

    /// Without the topic, or the right to read it, nothing is said of campaigns.
    func run() { repeated(follow) }

    private func follow() throws {
        let questions = try TopicReader(properties: plan.readerProperties)
        let found = try questions.consumer.queries.partitions(
            of: plan.search.topics.campaigns, timeout: Self.questionTimeout)
        questions.close()
        guard !found.isEmpty else { return }
        let reader = try CampaignReader(
            properties: plan.readerProperties, topic: plan.search.topics.campaigns, partitions: found.map(\.partition))
        defer { reader.close() }
        try reader.catchUp()
        let end = ContinuousClock.now + Self.renewal
        repeat {
            let read = reader.index
            index.withLock { $0 = read }
            guard ContinuousClock.now < end, !wakeup.wait(for: Self.turn) else { return }
            try reader.poll()
        } while true
    }
}

/// A campaign whose own events fail: what its records say of that.
struct CampaignTrouble: Sendable, Equatable {
    /// Fewer outcomes say nothing of how many fail.
    private static let leastCount = 20
    private static let failingShare = 0.2

    var name: String
    /// Whether workers or its publisher have paused it because so many failed.
    var isPaused: Bool
    /// Without a full stop.
    var cause: String
    /// Since when it is paused.
    var since: WallTime?

    /// `nil` when nothing is known against it, or nothing of it is to come.
    init?(_ campaign: CampaignIndex.Campaign, now: WallTime) {
        let count = OutcomeCount(snapshot: campaign.progress?.outcomes ?? [:])
        name = campaign.name
        switch CampaignStatus(campaign: campaign, count: count, now: now).state {
        case .cancelled, .expired, .finished: return nil
        case .paused:
            guard let control = campaign.control, control.isByFailures else { return nil }
            isPaused = true
            cause = SafeText.escaped(control.reason ?? "too many of its notifications fail")
            since = control.at
        case .running:
            let known = count.failed + count.delivered
            guard known >= Self.leastCount, Double(count.failed) >= Self.failingShare * Double(known) else {
                return nil
            }
            isPaused = false
            cause =
                "\(CampaignWords.number(count.failed)) of \(CampaignWords.number(known)) outcomes failed"
                + Self.limit(campaign.control?.pauseIfFailures)
        }
    }

    private static func limit(_ share: Double?) -> String {
        guard let share else {
            return "; it pauses when half of a worker's latest calls are rejected with one status"
        }
        return "; it pauses when more than \(ShareText.text(share)) fail after its start or its last resume"
    }
}
