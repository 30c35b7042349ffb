package import HeraldTime

/// When outcomes came, in a bounded number of equal spans, which grow as the time does: pure.
package struct OutcomeTimeline: Equatable, Sendable {
    package struct Span: Equatable, Sendable {
        package var delivered = 0
        package var failed = 0
        /// Expired and cancelled.
        package var ended = 0
        /// Dead letters that a replay delivered.
        package var recovered = 0

        package var total: Int { delivered + failed + ended + recovered }

        package init() {}

        fileprivate static func + (left: Self, right: Self) -> Self {
            var sum = left
            sum.delivered += right.delivered
            sum.failed += right.failed
            sum.ended += right.ended
            sum.recovered += right.recovered
            return sum
        }
    }

    private static let mostSpans: Int64 = 120
    /// In seconds; each is a multiple of the one before, so that spans can be joined.
    private static let widths: [Int64] = [
        1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 604_800, 6_048_000, 60_480_000,
    ]

    private var widthIndex = 0
    private var spans: [Int64: Span] = [:]
    private var bounds: ClosedRange<Int64>?

    package init() {}

    package var secondsPerSpan: Int64 { Self.widths[widthIndex] }

    /// Notes that something came at this moment.
    package mutating func add(at moment: WallTime, _ change: (inout Span) -> Void) {
        let index = number(of: moment)
        bounds = bounds.map { min($0.lowerBound, index)...max($0.upperBound, index) } ?? index...index
        change(&spans[index, default: Span()])
        while let bounds, bounds.upperBound - bounds.lowerBound >= Self.mostSpans,
            widthIndex + 1 < Self.widths.count
        { widen() }
    }

    private func number(of moment: WallTime) -> Int64 {
        Self.quotient(moment.milliseconds, 1_000 * Self.widths[widthIndex])
    }

    private mutating func widen() {
        let factor = Self.widths[widthIndex + 1] / Self.widths[widthIndex]
        widthIndex += 1
        var joined: [Int64: Span] = [:]
        for (index, span) in spans {
            let target = Self.quotient(index, factor)
            joined[target] = (joined[target] ?? Span()) + span
        }
        spans = joined
        bounds = bounds.map { Self.quotient($0.lowerBound, factor)...Self.quotient($0.upperBound, factor) }
    }

    /// Rounded down, also below zero.
    private static func quotient(_ number: Int64, _ divisor: Int64) -> Int64 {
        number / divisor - (number % divisor < 0 ? 1 : 0)
    }

    /// All spans from the first to the last in which something came, those without anything among them.
    package var all: [(start: WallTime, span: Span)] {
        guard let bounds else { return [] }
        // Years may lie between two moments: the widest spans are still more than can be drawn.
        let last = min(bounds.upperBound, bounds.lowerBound + Self.mostSpans)
        return (bounds.lowerBound...last).map { index in
            (WallTime(milliseconds: index * secondsPerSpan * 1_000), spans[index] ?? Span())
        }
    }
}
