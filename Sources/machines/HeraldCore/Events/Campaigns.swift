public import HeraldEvents
import HeraldTime

/// The known campaigns' controls, and the failures of those that may have to be paused.
///
/// A campaign is known by the keyed hash of its name.
///
/// A campaign's rejected calls stop that campaign and no other: each has a dead-letter breaker of its own.
struct Campaigns: Sendable {
    /// The fate of the events of a stopped campaign.
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
        /// Its latest answers, from the first rejection on.
        var breaker: DeadLetterBreaker?

        var isJudged: Bool { control.state == .running && control.pauseIfFailures != nil }
    }

    /// The consequence of a rejected call for the event's campaign; the event itself ends as a dead letter.
    enum Rejection: Equatable {
        /// None.
        case goesOn
        /// The campaign is held from now on, as if paused, and this action is due.
        case holds(Action)
    }

    private var standings: [UInt64: Standing] = [:]
    /// The number of stopped campaigns: without any, nothing is looked up on the way of an event.
    private var stopped = 0
    /// The number of campaigns with a share of failures at which they are paused.
    private var judged = 0
    /// Whether any has a breaker: otherwise nothing is looked up when an event is delivered.
    private var isAnyRejected = false

    /// A campaign's hash; never 0, which is an event without one.
    static func hash(_ name: RawSpan, seed: UInt64) -> UInt64 { max(1, ByteHash.hash(name, seed: seed)) }

    /// Takes a campaign's new control, and counts its outcomes and answers from zero.
    mutating func set(_ name: String, hash: UInt64, _ control: CampaignControl) {
        replace(hash, with: Standing(name: name, control: control))
    }

    private mutating func replace(_ hash: UInt64, with standing: Standing) {
        if let former = standings.updateValue(standing, forKey: hash) {
            if former.control.state != .running { stopped -= 1 }
            if former.isJudged { judged -= 1 }
        }
        if standing.control.state != .running { stopped += 1 }
        if standing.isJudged { judged += 1 }
    }

    /// The fate of a campaign's events (0: of an event without one); `nil` when they are delivered.
    func fate(of campaign: UInt64) -> Fate? {
        guard stopped > 0, campaign != 0, let standing = standings[campaign] else { return nil }
        return switch standing.control.state {
        case .running: nil
        case .cancelled: .cancelled
        case .paused: .paused(since: standing.control.at)
        }
    }

    /// Counts an outcome of a campaign's event; returns the action when too many failures have to pause it.
    ///
    /// It is returned once: the campaign's new control then arrives as any news does.
    mutating func count(_ outcome: Outcome, of campaign: UInt64) -> Action? {
        guard judged > 0, campaign != 0, var standing = standings[campaign], standing.control.state == .running,
            let limit = standing.control.pauseIfFailures
        else { return nil }
        switch outcome {
        case .delivered: standing.delivered += 1
        case .deadLettered: standing.failed += 1
        case .expired, .cancelled, .duplicate, .suppressed: return nil
        }
        let all = standing.delivered + standing.failed
        let isTooMany =
            !standing.isPauseAsked && all >= CampaignControl.outcomesToJudge
            && Double(standing.failed) > limit * Double(all)
        if isTooMany { standing.isPauseAsked = true }
        standings[campaign] = standing
        guard isTooMany else { return nil }
        return .pauseCampaign(
            CampaignFailures(campaign: standing.name, judged: standing.control, failed: standing.failed, of: all))
    }

    /// Notes that an event of a campaign (0: of none) was delivered.
    mutating func passed(_ campaign: UInt64, now: MonotonicTime) {
        guard isAnyRejected, campaign != 0 else { return }
        standings[campaign]?.breaker?.pass(source: 0, now: now)
    }

    /// Counts a rejection of a campaign's event; `nil` for an unknown campaign, whose answer counts for all calls.
    ///
    /// A campaign is held when the dead-letter breaker's share of its latest answers rejects with one status, or its
    /// own share when that is larger. Only news of the campaign ends that: the pause has been recorded.
    mutating func rejected(
        status: Int, user: UInt64, of campaign: UInt64, rule: BreakerRule, now: Moment
    ) -> Rejection? {
        guard campaign != 0, let standing = standings[campaign] else { return nil }
        guard standing.control.state == .running, rule.isOn else { return .goesOn }
        // Undivided among lanes: a few answers may stop a second's calls, but not a campaign until it is resumed.
        let rule = BreakerRule(
            share: max(rule.share, standing.control.pauseIfFailures ?? 0), of: CampaignControl.outcomesToJudge)
        isAnyRejected = true
        var breaker = standing.breaker ?? DeadLetterBreaker(rule: rule)
        standings[campaign]?.breaker = nil
        breaker.use(rule)
        guard breaker.fail(status: status, user: user, source: 0, now: now.monotonic) else {
            standings[campaign]?.breaker = breaker
            return .goesOn
        }
        var held = Standing(name: standing.name, control: standing.control)
        held.control.state = .paused
        held.control.at = now.wall
        replace(campaign, with: held)
        let counts = breaker.counts(of: status)
        return .holds(
            .pauseCampaign(
                CampaignFailures(
                    campaign: standing.name, judged: standing.control, failed: counts.rejected, of: counts.all,
                    status: status)))
    }
}

/// A lane's count of a campaign's failed outcomes, or of its latest calls rejected with one status.
public struct CampaignFailures: Equatable, Sendable {
    /// The campaign's name.
    public var campaign: String
    /// The campaign's control when they were counted: they are no evidence about a later one.
    public var judged: CampaignControl
    /// The number of failures.
    public var failed: Int
    /// The number of all outcomes.
    public var of: Int
    /// The status that rejected them, if a single one did.
    public var status: Int?

    /// The reason of the pause, for people.
    public var reason: String {
        guard let status else {
            let limit = judged.pauseIfFailures.map { share in
                let tenths = (share * 1_000).rounded()
                return
                    ", more than \(tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int(tenths) / 10)" : "\(tenths / 10)")%"
            }
            return "\(failed) of \(of) outcomes of a worker failed" + (limit ?? "")
        }
        return "its notifications are rejected: \(failed) of a worker's latest \(of) calls with status \(status)"
    }
}
