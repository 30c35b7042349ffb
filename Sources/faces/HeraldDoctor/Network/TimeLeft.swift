/// The time that an examination may still take.
struct TimeLeft: Sendable {
    private let end: ContinuousClock.Instant

    init(_ limit: Duration) {
        end = .now + limit
    }

    /// Milliseconds for the next step: what it may take, but no more than there is left, and at least 1.
    func milliseconds(atMost limit: Int) -> Int {
        max(1, min(limit, Int((end - .now) / .milliseconds(1))))
    }

    var isOver: Bool { .now >= end }
}
