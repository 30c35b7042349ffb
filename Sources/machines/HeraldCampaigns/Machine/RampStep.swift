internal import HeraldEvents
internal import HeraldTime

/// A step of a ramp whose recipients are all published, and how much of it is known: whether the next may begin is decided
/// by this alone.
///
/// | the step | the next begins |
/// |---|---|
/// | all outcomes are known | at once |
/// | less than half of them is | not yet: a backend that is down answers no call |
/// | a share may fail, and even if all that are open failed it would not be exceeded | at once |
/// | a share may fail, and what is open still decides | not yet |
/// | any share may fail, and all that are open have failed again after their first retry | at once |
/// | any share may fail, and something else is open | not yet |
/// | only one recipient is open, who has failed again after his first retry | after ``patience``, without him |
///
/// One recipient says nothing of a message that all get. But where nothing else is known of a step, only another step begins
/// without him, and never the rest of the audience.
package struct RampStep: Equatable, Sendable {
    /// With the default delays such a recipient was called four times within it, and comes again after half an hour.
    static let patience = Duration.seconds(600)

    package enum Verdict: Equatable, Sendable {
        case goesOn
        /// What is open counts as unknown: the step is judged by the others.
        case goesOnWithout
        /// Why it has to wait.
        case waits(Reason)
    }

    package enum Reason: String, Codable, Sendable {
        /// Less than half of it is known.
        case mostlyOpen = "mostly-open"
        /// What is open can still fail the step.
        case undecided
        /// What is open was not called yet, or waits for its first retry, or that is not known.
        case outcomes
    }

    /// The outcomes that the step will have.
    var outcomes: Int
    /// Those that are not known yet; those of earlier steps count as if they were of this one.
    var open: Int
    /// Of these, those that have failed again after their first retry; `nil` when that is not known.
    var retryingLong: Int?
    /// Whether the step fails if all that are open do; `nil` when any share may fail.
    var canFail: Bool?
    /// The outcomes of one recipient.
    var outcomesPerEvent = 1
    /// Whether another step follows, and not the rest of the audience.
    var isFollowedByStep = false
    /// Whether it has been published for as long as ``patience``.
    var isPatienceOver = false

    var verdict: Verdict {
        guard let reason = waitsFor else { return .goesOn }
        return isPatienceOver && mayGoOnWithout ? .goesOnWithout : .waits(reason)
    }

    /// What holds the step before its patience is over; `nil` when nothing does.
    private var waitsFor: Reason? {
        guard open > 0 else { return nil }
        guard isHalfKnown else { return .mostlyOpen }
        if let canFail { return canFail ? .undecided : nil }
        return isRetryingLong ? nil : .outcomes
    }

    /// Whether the patience with what is open ends.
    var mayGoOnWithout: Bool {
        open <= outcomesPerEvent && isRetryingLong && (isHalfKnown || isFollowedByStep)
    }

    private var isHalfKnown: Bool { (outcomes - open) * 2 >= outcomes }
    private var isRetryingLong: Bool { retryingLong ?? 0 >= open }
}

/// What a publisher waits for at the end of a step, as its progress records say it.
package struct RampWait: Codable, Equatable, Sendable {
    /// The step's number, from 1.
    package var step: Int
    package var recipients: Int
    /// Outcomes that are not known yet.
    package var open: Int
    /// Of these, those in the retry topics; absent when that is not known.
    package var retrying: Int?
    package var reason: RampStep.Reason
    /// When the next step begins without what is open, epoch milliseconds; absent when it does not.
    package var goesOnAt: Int64?
}

extension RampWait {
    /// What is waited for, as reasons name it.
    var standing: JobWaitReason.Step {
        let judgement: JobWaitReason.Step.Judgement =
            switch reason {
            case _ where goesOnAt != nil: .withoutOne(WallTime(milliseconds: goesOnAt ?? 0))
            case .mostlyOpen: .mostlyOpen
            case .undecided: .undecided
            case .outcomes: .outcomes
            }
        return JobWaitReason.Step(number: step, size: recipients, of: .recipients, judgement)
    }
}
