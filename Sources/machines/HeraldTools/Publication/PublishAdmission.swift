package import HeraldEvents
internal import HeraldText
package import HeraldTime

/// Decides how many may be published at a moment: pure.
///
/// Four things hold a publisher back: the rate, the ramp, the distance to the outcomes, and that a transaction is worth its
/// while. A rate may also shorten that distance.
package struct PublishAdmission: Sendable, Equatable {
    /// So many outcomes at most are open, and so at most as many events: a stop takes hold at once, and the harm of a mistake
    /// and the memory are bounded.
    package static let openLimit = 10_000
    /// With a bound of what piles up, it is at most what the rate publishes in so long: all of it goes out at once when a
    /// backend that refused is back.
    private static let piledUpSeconds = 30.0
    /// With a slow rate so many events may pile up nevertheless, or one late answer would hold all others back.
    private static let leastPiledUp = 100.0
    /// With less room before the outcomes than this share of a full transaction, it waits for more.
    private static let worthwhileShare = 5
    /// With a rate, a transaction is made about so often a second.
    private static let batchesPerSecond = 5.0
    /// What the rate would have allowed meanwhile is made up for this long at most.
    private static let burstSeconds = 1.0
    private static let longestWait: Milliseconds = .hours(1)

    package enum Wait: Equatable, Sendable {
        case rate
        case outcomes
        /// All outcomes of this step of the ramp have to be known first.
        case ramp
    }

    package enum Decision: Equatable, Sendable {
        case publish(Int)
        case wait(Wait)
    }

    private let outcomesPerEvent: Int
    private let batchLimit: Int
    private let rate: Double?
    private let ramp: Ramp
    /// The events that may pile up.
    private let pileLimit: Int
    /// Begins with the first decision: one may go at once.
    private var limiter: RateLimiter?
    private var decidedAt: MonotonicTime?
    /// The number of the ramp's step that what is published next belongs to, from 0, and where it ends.
    private var stepIndex = 0
    private var stepEnd: Int?
    private var lastEnd = 0
    private var lastSize = 0

    /// When the rate allows the next events; `nil` unless it is the rate that holds them back.
    package private(set) var nextCredit: MonotonicTime?

    /// The events that were published, by all runs together.
    package private(set) var published: Int

    /// - Parameters:
    ///   - outcomesPerEvent: the number of push services.
    ///   - batchLimit: events in one transaction at most.
    ///   - rate: events a second; `nil` for no bound.
    ///   - ramp: the sizes of the steps.
    ///   - published: events that are published already.
    ///   - boundsPile: whether the rate also bounds what piles up while no outcome comes.
    package init(
        outcomesPerEvent: Int, batchLimit: Int, rate: Double?, ramp: Ramp, published: Int, boundsPile: Bool = false
    ) {
        self.outcomesPerEvent = max(1, outcomesPerEvent)
        let pile = boundsPile ? rate.map { max(Self.leastPiledUp, $0 * Self.piledUpSeconds) } : nil
        pileLimit = min(Self.openLimit, pile.map { Int(saturating: $0) } ?? Self.openLimit)
        self.batchLimit = batchLimit
        self.rate = rate
        self.ramp = ramp
        self.published = published
        stepEnd = ramp.size(0)
        findStep()
    }

    /// The outcomes that the published events will have.
    package var expected: Int { published * outcomesPerEvent }

    /// The number of the ramp's step that what is published next belongs to, from 1; `nil` where everything that is left goes.
    package var step: Int? { stepEnd == nil ? nil : stepIndex + 1 }

    /// Whether everything up to the end of a step is published, and nothing beyond it.
    package var isAtStepEnd: Bool { published > 0 && published == lastEnd }

    /// How many events the step has whose end was reached, and its number, from 1; `nil` in the midst of one.
    package var endedStep: (number: Int, size: Int)? { isAtStepEnd ? (stepIndex, lastSize) : nil }

    /// Goes on to the next step, whatever is known of this one.
    package mutating func leaveStep() { lastEnd = 0 }

    /// Has the step whose end was reached take so many more, in place of those of which nothing will be known for now.
    package mutating func extendStep(by count: Int) {
        guard isAtStepEnd, count > 0 else { return }
        (stepIndex, stepEnd, lastEnd) = (stepIndex - 1, lastEnd + count, 0)
    }

    /// What may be done now, when so many outcomes are not known yet.
    ///
    /// - Parameter piledUp: the events that would go out at once.
    package mutating func decision(
        open: Int, piledUp: Int = 0, openInStep: Int, at now: MonotonicTime
    ) -> Decision {
        nextCredit = nil
        begin(now)
        if isAtStepEnd, openInStep > 0 { return .wait(.ramp) }
        let room = min((Self.openLimit - open) / outcomesPerEvent, pileLimit - piledUp)
        let worthwhile = min(batchLimit, Self.openLimit / outcomesPerEvent, pileLimit) / Self.worthwhileShare
        guard room >= max(1, worthwhile) else { return .wait(.outcomes) }
        var count = min(room, batchLimit)
        if let stepEnd { count = min(count, stepEnd - published) }
        if let rate, let limiter {
            let opens = limiter.opens(for: min(Double(count), max(1, rate / Self.batchesPerSecond)))
            guard opens <= now else {
                nextCredit = min(opens, now.advanced(by: Self.longestWait))
                return .wait(.rate)
            }
            count = min(count, limiter.available(now: now))
        }
        return .publish(count)
    }

    /// The step that follows from that; `nil` while the step of the ramp waits for its outcomes.
    package mutating func nextStep(
        _ outcomes: JobWaitReason.Outcomes, piledUp: Int = 0, openInStep: Int, now: Moment
    ) -> PublicationStep? {
        let decided = decision(
            open: outcomes.open, piledUp: piledUp, openInStep: openInStep, at: now.monotonic)
        return switch decided {
        case .publish(let count): .gather(count)
        case .wait(.rate): .wait(.rate(until: now.wall(nextCredit ?? now.monotonic)))
        case .wait(.outcomes):
            .wait(
                .openOutcomes(
                    outcomes, limit: min(Self.openLimit, outcomes.open + (pileLimit - piledUp) * outcomesPerEvent)))
        case .wait(.ramp): nil
        }
    }

    package mutating func notePublished(_ count: Int) {
        published += count
        if let decidedAt { limiter?.take(count, now: decidedAt) }
        findStep()
    }

    private mutating func findStep() {
        while let end = stepEnd, published >= end {
            (lastEnd, lastSize) = (end, ramp.size(stepIndex) ?? 0)
            stepIndex += 1
            stepEnd = ramp.size(stepIndex).map { end + $0 }
        }
    }

    private mutating func begin(_ now: MonotonicTime) {
        decidedAt = now
        guard limiter == nil, let rate else { return }
        limiter = RateLimiter(perSecond: rate, burst: max(1, rate * Self.burstSeconds))
        limiter?.leaveOne(now: now)
    }
}
