import HeraldEvents
import HeraldTime

/// What the campaigns are to do that the lane has heard of, and how those are doing that may have to be paused.
///
/// A campaign is known by the keyed hash of its name. One that just runs is not remembered.
struct Campaigns: Sendable {
    /// What becomes of the events of a campaign that does not run.
    enum Fate: Equatable {
        /// They end.
        case cancelled
        /// They wait, since this moment.
        case paused(since: WallTime)
    }

    private struct Standing {
        var name: String
        var control: CampaignControl
        var delivered = 0
        var failed = 0
        var isPauseAsked = false
    }

    private var standings: [UInt64: Standing] = [:]
    /// How many do not run: with none of them nothing is looked up on the way of an event.
    private var stopped = 0
    /// How many may have to be paused.
    private var judged = 0

    /// A campaign's hash; never 0, which is an event without one.
    static func hash(_ name: RawSpan, seed: UInt64) -> UInt64 { max(1, ByteHash.hash(name, seed: seed)) }

    /// Takes what a campaign is to do from now on, and counts its outcomes anew.
    mutating func set(_ name: String, hash: UInt64, _ control: CampaignControl) {
        let isNeeded = control.state != .running || control.pauseIfFailures != nil
        standings[hash] = isNeeded ? Standing(name: name, control: control) : nil
        stopped = standings.values.count { $0.control.state != .running }
        judged = standings.count - stopped
    }

    /// What becomes of a campaign's events (0: of an event without one); `nil` when they are delivered.
    func fate(of campaign: UInt64) -> Fate? {
        guard stopped > 0, campaign != 0, let standing = standings[campaign] else { return nil }
        return switch standing.control.state {
        case .running: nil
        case .cancelled: .cancelled
        case .paused: .paused(since: standing.control.at)
        }
    }

    /// Counts an outcome of a campaign's event; the action to take when it has to be paused because too many failed.
    ///
    /// Said once: what the campaign is to do then comes as any such news does.
    mutating func count(_ outcome: Outcome, of campaign: UInt64) -> Action? {
        guard judged > 0, campaign != 0, var standing = standings[campaign], standing.control.state == .running,
            let limit = standing.control.pauseIfFailures
        else { return nil }
        switch outcome {
        case .delivered: standing.delivered += 1
        case .deadLettered: standing.failed += 1
        case .expired, .cancelled, .duplicate: return nil
        }
        let all = standing.delivered + standing.failed
        let isTooMany =
            !standing.isPauseAsked && all >= CampaignControl.outcomesToJudge
            && Double(standing.failed) > limit * Double(all)
        if isTooMany { standing.isPauseAsked = true }
        standings[campaign] = standing
        return isTooMany ? .pauseCampaign(standing.name, failed: standing.failed, of: all) : nil
    }
}
