internal import HeraldEvents
internal import HeraldTools

/// Decides whether so many of a campaign's outcomes are failures that it has to be paused: pure.
///
/// It looks at what came since the start or the last resume: what an operator has seen and accepted does not count again.
struct FailureJudge: Sendable, Equatable {
    /// The share that is allowed; `nil` allows all.
    var limit: Double?
    private var failedBefore: Int
    private var deliveredBefore: Int

    /// A judge of what comes after these outcomes.
    init(limit: Double?, from count: OutcomeCount) {
        self.limit = limit
        failedBefore = count.first[.deadLettered, default: 0]
        deliveredBefore = count.first[.delivered, default: 0]
    }

    /// Why the campaign has to be paused; `nil` when it has not.
    ///
    /// - Parameter isStepEnd: whether a step of the ramp is complete, which is judged however few it were.
    func verdict(on count: OutcomeCount, isStepEnd: Bool) -> String? {
        guard let limit else { return nil }
        let failed = count.first[.deadLettered, default: 0] - failedBefore
        let judged = failed + count.first[.delivered, default: 0] - deliveredBefore
        guard
            FailureLimit.isExceeded(
                share: limit, failed: failed, known: judged, meaningfulCount: CampaignControl.outcomesToJudge,
                total: isStepEnd ? judged : nil)
        else { return nil }
        return "\(failed) of \(judged) outcomes failed, more than \(Self.percent(limit))"
    }

    private static func percent(_ share: Double) -> String {
        let percent = (share * 10_000).rounded() / 100
        return percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
    }
}
