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
        failedBefore = count.first(.failed)
        deliveredBefore = count.first(.reached)
    }

    /// Why the campaign has to be paused; `nil` when it has not.
    ///
    /// - Parameter open: at the end of a step of the ramp the outcomes that are not known: a step is judged however few it
    ///   were, and as soon as those cannot save it; `nil` in the midst of one.
    func verdict(on count: OutcomeCount, openAtStepEnd open: Int?) -> String? {
        guard let limit else { return nil }
        let (failed, judged) = judged(count)
        guard
            FailureLimit.isExceeded(
                share: limit, failed: failed, known: judged, meaningfulCount: CampaignControl.outcomesToJudge,
                total: open.map { judged + $0 })
        else { return nil }
        return "\(failed) of \(judged) outcomes failed, more than \(CampaignWords.percent(limit))"
    }

    /// Whether the campaign would have to be paused if all that are open failed; `nil` when any share may fail.
    func canFail(_ count: OutcomeCount, open: Int) -> Bool? {
        limit.map { limit in
            let (failed, judged) = judged(count)
            return Double(failed + open) > limit * Double(judged + open)
        }
    }

    private func judged(_ count: OutcomeCount) -> (failed: Int, judged: Int) {
        let failed = count.first(.failed) - failedBefore
        return (failed, failed + count.first(.reached) - deliveredBefore)
    }
}
