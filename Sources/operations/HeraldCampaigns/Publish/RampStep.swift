/// A step of a ramp whose recipients are all published, and how much of it is known: whether the next may begin is decided
/// by this alone.
///
/// | the step | the next begins |
/// |---|---|
/// | all outcomes are known | at once |
/// | less than half of them is | not yet: a backend that is down answers nobody |
/// | a share may fail, and even if all that are open failed it would not be exceeded | at once |
/// | a share may fail, and what is open still decides | not yet |
/// | any share may fail, and all that are open have failed again after their first retry | at once |
/// | any share may fail, and something else is open | not yet |
package struct RampStep: Equatable, Sendable {
    package enum Verdict: Equatable, Sendable {
        case goesOn
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

    var verdict: Verdict {
        guard open > 0 else { return .goesOn }
        guard (outcomes - open) * 2 >= outcomes else { return .waits(.mostlyOpen) }
        if let canFail { return canFail ? .waits(.undecided) : .goesOn }
        return retryingLong ?? 0 >= open ? .goesOn : .waits(.outcomes)
    }
}

/// What a publisher waits for at the end of a step, as its progress records say it.
package struct RampWait: Codable, Equatable, Sendable {
    /// The step's number, from 1.
    package var step: Int
    /// The recipients of the step.
    package var recipients: Int
    /// Outcomes that are not known yet.
    package var open: Int
    /// Of these, those in the retry topics; absent when that is not known.
    package var retrying: Int?
    package var reason: RampStep.Reason
}
