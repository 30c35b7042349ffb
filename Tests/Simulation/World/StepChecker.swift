import HeraldCampaigns
import HeraldEvents
import HeraldTools

/// Checks a publisher's ramp from its inputs: no offer exceeds a step before the step's outcomes are known, as far as
/// they decide, and none follows too many failures.
struct StepChecker {
    /// The time (milliseconds) for which one recipient that keeps failing holds a step.
    private static let patience: Int64 = 600_000

    private let ramp: Ramp
    /// The number of outcomes of each recipient.
    private let services: Int
    private var heard = OutcomeCount()
    /// The failures that an operator has seen and accepted by a resumption.
    private var accepted = OutcomeCount()
    private var retryingLong = 0
    /// The allowed share of failures, as in the campaigns topic; `nil` allows all.
    private var limit: Double?
    /// The former values since the last offer: the next step may have begun by then, and waits for its rate.
    private var formerLimits: [Double?] = []
    /// Since when nothing was published.
    private var waitingSince: Int64 = 0

    init(ramp: [Int], services: Int) {
        self.ramp = Ramp(steps: ramp)
        self.services = services
    }

    /// It has read all of its initial data, or the campaign is resumed.
    mutating func begins(now: Int64) {
        accepted = heard
        waitingSince = max(waitingSince, now)
    }

    mutating func hears(_ count: OutcomeCount) {
        if count.known != heard.known { retryingLong = 0 }
        heard = count
    }

    mutating func hears(_ retries: RetryBacklog.Count?) { retryingLong = retries?.retryingLong ?? 0 }

    mutating func allows(_ limit: Double?) {
        if limit != self.limit { formerLimits.append(self.limit) }
        self.limit = limit
    }

    /// Notes an offer of `count` recipients after `published` ones; returns the violation, if any.
    mutating func offers(_ count: Int, after published: Int, now: Int64) -> String? {
        defer { (waitingSince, formerLimits) = (now, []) }
        var (number, end) = (0, 0)
        while let size = ramp.size(number), end + size <= published { (number, end) = (number + 1, end + size) }
        if let size = ramp.size(number), published + count > end + size {
            return "publishes \(count) behind \(published), and its step ends at \(end + size)"
        }
        guard end == published, number > 0, let size = ramp.size(number - 1) else { return nil }
        let objections = ([limit] + formerLimits).map { limit in
            objectionToNext(
                outcomes: size * services, open: published * services - heard.known, limit,
                hasNext: ramp.size(number) != nil, now)
        }
        return objections.contains(nil) ? nil : objections[0]
    }

    private func objectionToNext(outcomes: Int, open: Int, _ limit: Double?, hasNext: Bool, _ now: Int64) -> String? {
        let failed = heard.first(.failed) - accepted.first(.failed)
        let judged = failed + heard.first(.reached) - accepted.first(.reached)
        if let limit, Double(failed) > limit * Double(judged + max(0, open)) {
            return "goes on behind \(failed) of \(judged) that failed"
        }
        guard open > 0 else { return nil }
        let isHalfKnown = 2 * (outcomes - open) >= outcomes
        let isRetryingLong = retryingLong >= open
        if open <= services, isRetryingLong, isHalfKnown || hasNext,
            now - waitingSince >= Self.patience
        {
            return nil
        }
        if !isHalfKnown { return "begins a step, and \(open) of \(outcomes) outcomes of the one before are open" }
        if let limit {
            let isUndecided = Double(failed + open) > limit * Double(judged + open)
            return isUndecided ? "begins a step before \(open) outcomes that still decide" : nil
        }
        return isRetryingLong ? nil : "begins a step before \(open) outcomes of the one before"
    }
}
