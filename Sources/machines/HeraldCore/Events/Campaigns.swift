public import HeraldEvents
import HeraldTime

/// What the campaigns are to do that the lane has heard of, and how those are doing that may have to be paused.
///
/// A campaign is known by the keyed hash of its name.
///
/// What a campaign's users are answered stops that campaign, and never others: each has a dead-letter breaker of its own.
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
        /// Its latest answers, from the first that rejects on.
        var breaker: DeadLetterBreaker?
        /// Whether its breaker has paused it: what is under way then and is rejected waits, too.
        var isHeld = false

        var isJudged: Bool { control.state == .running && control.pauseIfFailures != nil }
    }

    /// What follows for its campaign when an event's call is rejected.
    enum Rejection: Equatable {
        /// Nothing: the event ends as a dead letter.
        case goesOn
        /// It is held, as if it was paused, and the event waits.
        case isHeld
        /// The same from now on, and this has to be done.
        case holds(Action)
    }

    private var standings: [UInt64: Standing] = [:]
    /// How many do not run: with none of them nothing is looked up on the way of an event.
    private var stopped = 0
    /// How many have a share of failures at which they are paused.
    private var judged = 0
    /// Whether any has a breaker: without, nothing is looked up when an event is delivered.
    private var isAnyRejected = false

    /// A campaign's hash; never 0, which is an event without one.
    static func hash(_ name: RawSpan, seed: UInt64) -> UInt64 { max(1, ByteHash.hash(name, seed: seed)) }

    /// Takes what a campaign is to do from now on, and counts its outcomes and answers from zero again.
    mutating func set(_ name: String, hash: UInt64, _ control: CampaignControl) {
        var standing = Standing(name: name, control: control)
        standing.isHeld = control.state == .paused && standings[hash]?.isHeld ?? false
        replace(hash, with: standing)
    }

    private mutating func replace(_ hash: UInt64, with standing: Standing) {
        if let former = standings.updateValue(standing, forKey: hash) {
            if former.control.state != .running { stopped -= 1 }
            if former.isJudged { judged -= 1 }
        }
        if standing.control.state != .running { stopped += 1 }
        if standing.isJudged { judged += 1 }
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
        guard isTooMany else { return nil }
        return .pauseCampaign(
            CampaignFailures(campaign: standing.name, judged: standing.control, failed: standing.failed, of: all))
    }

    /// Notes that an event of a campaign (0: of none) was delivered.
    mutating func passed(_ campaign: UInt64, now: MonotonicTime) {
        guard isAnyRejected, campaign != 0 else { return }
        standings[campaign]?.breaker?.pass(source: 0, now: now)
    }

    /// Counts an answer that rejects an event of a campaign; `nil` for an unknown campaign, whose answer counts for all
    /// calls.
    ///
    /// A campaign is held when of its latest answers the dead-letter breaker's share rejects with one status, or its own
    /// share when that is larger. Nothing ends that but news of the campaign: it is written that it is paused.
    mutating func rejected(
        status: Int, user: UInt64, of campaign: UInt64, rule: BreakerRule, now: Moment
    ) -> Rejection? {
        guard campaign != 0, let standing = standings[campaign] else { return nil }
        guard standing.control.state == .running else {
            return standing.isHeld ? .isHeld : .goesOn
        }
        guard rule.isOn else { return .goesOn }
        // Undivided among lanes: a few answers may stop a second's calls, and not a campaign until it is resumed.
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
        held.isHeld = true
        replace(campaign, with: held)
        let counts = breaker.counts(of: status)
        return .holds(
            .pauseCampaign(
                CampaignFailures(
                    campaign: standing.name, judged: standing.control, failed: counts.rejected, of: counts.all,
                    status: status)))
    }
}

/// How many outcomes of a campaign a lane has seen fail, or how many of its latest calls were rejected with one status.
public struct CampaignFailures: Equatable, Sendable {
    /// The campaign's name.
    public var campaign: String
    /// What the campaign was to do when they were counted: what is decided later, they say nothing of.
    public var judged: CampaignControl
    /// How many failed.
    public var failed: Int
    /// Of so many.
    public var of: Int
    /// The status that rejected them, if it was one.
    public var status: Int?

    /// Why the campaign is paused, for people.
    public var reason: String {
        guard let status else { return "\(failed) of \(of) outcomes of a worker failed" }
        return "its users are rejected: \(failed) of a worker's latest \(of) calls with status \(status)"
    }
}
