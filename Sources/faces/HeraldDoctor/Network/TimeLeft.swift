import HeraldTime

/// The time that an examination may still take.
struct TimeLeft: Sendable {
    private let end: ContinuousClock.Instant

    init(_ limit: Duration) {
        end = .now + limit
    }

    /// The time for the next step: what it may take, but no more than there is left, and at least a millisecond.
    func step(atMost limit: Milliseconds) -> Milliseconds {
        max(.milliseconds(1), min(limit, Milliseconds(end - .now)))
    }

    var isOver: Bool { .now >= end }
}
