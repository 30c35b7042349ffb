import HeraldCampaigns
import HeraldEvents
import HeraldText
import HeraldTime

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
        return "; it pauses when more than \(CampaignWords.percent(share)) fail after its start or its last resume"
    }
}
