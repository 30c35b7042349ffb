/// Decides how many recipients may be published at a moment: pure.
///
/// Four things hold a publisher back: the rate, the ramp, the distance to the outcomes, and that a transaction is worth its
/// while.
struct PublishPace: Sendable, Equatable {
    /// So many outcomes at most are open, and so at most as many events: a pause or a cancellation takes hold at once.
    static let openLimit = 10_000
    /// Recipients in one transaction at most.
    static let batchLimit = 1_000
    /// With less room than this before the outcomes it waits for more.
    private static let worthwhileRoom = 200
    /// With a rate, a transaction is made about so often a second.
    private static let batchesPerSecond = 5.0
    /// What the rate would have allowed meanwhile is made up for this long at most, in seconds.
    private static let burst = 1.0

    /// Why nothing may be published now.
    enum Wait: Equatable, Sendable {
        /// The rate.
        case rate
        /// Too many outcomes are open.
        case outcomes
        /// All outcomes of this step of the ramp have to be known first.
        case ramp
    }

    /// What may be done.
    enum Decision: Equatable, Sendable {
        case publish(Int)
        case wait(Wait)
    }

    private let outcomesPerEvent: Int
    private let rate: Double?
    /// How many events are published in all when a step of the ramp ends.
    private let stepEnds: [Int]
    private var credit: Double
    private var lastLook: ContinuousClock.Instant?

    /// The events that were published, by all runs together.
    private(set) var published: Int

    /// - Parameters:
    ///   - outcomesPerEvent: the number of push services.
    ///   - rate: recipients a second; `nil` for no bound.
    ///   - ramp: the sizes of the steps; behind the last comes everything else.
    ///   - published: events that are published already.
    init(outcomesPerEvent: Int, rate: Double?, ramp: [Int], published: Int) {
        self.outcomesPerEvent = max(1, outcomesPerEvent)
        self.rate = rate
        self.published = published
        var end = 0
        stepEnds = ramp.map { size in
            end += size
            return end
        }
        // The first may go at once.
        credit = 1
    }

    /// The outcomes that the published events will have.
    var expected: Int { published * outcomesPerEvent }

    /// The number of the ramp's step that what is published next belongs to, from 1; `nil` behind the ramp.
    var step: Int? { stepEnds.firstIndex { published < $0 }.map { $0 + 1 } }

    /// Whether everything up to the end of a step is published, and nothing beyond it.
    var isAtStepEnd: Bool { stepEnds.contains(published) }

    /// What may be done now, when so many outcomes are known.
    mutating func decision(known: Int, at now: ContinuousClock.Instant) -> Decision {
        earn(until: now)
        if isAtStepEnd, known < expected { return .wait(.ramp) }
        let room = (Self.openLimit - (expected - known)) / outcomesPerEvent
        guard room >= min(Self.worthwhileRoom, Self.openLimit / outcomesPerEvent) else { return .wait(.outcomes) }
        var count = min(room, Self.batchLimit)
        if let end = stepEnds.first(where: { published < $0 }) { count = min(count, end - published) }
        if let rate {
            guard credit >= min(Double(count), max(1, rate / Self.batchesPerSecond)) else { return .wait(.rate) }
            count = min(count, Int(credit))
        }
        return .publish(count)
    }

    /// So many were published.
    mutating func notePublished(_ count: Int) {
        published += count
        if rate != nil { credit -= Double(count) }
    }

    private mutating func earn(until now: ContinuousClock.Instant) {
        guard let rate else { return }
        if let lastLook { credit = min(max(1, rate * Self.burst), credit + rate * ((now - lastLook) / .seconds(1))) }
        lastLook = now
    }
}
