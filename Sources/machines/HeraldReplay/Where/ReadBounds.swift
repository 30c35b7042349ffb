package import HeraldTime

/// Which part of the dead-letter topic a condition can hold for: what lies outside need not be read.
package struct ReadBounds: Equatable, Sendable {
    /// These partitions; `nil` for all.
    package var partitions: Set<Int32>?
    /// Dead letters that came at or after this moment.
    package var earliest: WallTime?
    /// Dead letters that came at or before this moment.
    package var latest: WallTime?
    /// The first and the last offset.
    package var offsets: ClosedRange<Int64>

    package static let everything = ReadBounds()

    init(
        partitions: Set<Int32>? = nil, earliest: WallTime? = nil, latest: WallTime? = nil,
        offsets: ClosedRange<Int64> = 0...Int64.max
    ) {
        self.partitions = partitions
        self.earliest = earliest
        self.latest = latest
        self.offsets = offsets
    }

    private static let nothing = ReadBounds(partitions: [])

    func intersection(_ other: Self) -> Self {
        let low = max(offsets.lowerBound, other.offsets.lowerBound)
        let high = min(offsets.upperBound, other.offsets.upperBound)
        guard low <= high else { return Self.nothing }
        return Self(
            partitions: partitions.map { other.partitions?.intersection($0) ?? $0 } ?? other.partitions,
            earliest: Self.both(earliest, other.earliest, max), latest: Self.both(latest, other.latest, min),
            offsets: low...high)
    }

    private static func both(
        _ left: WallTime?, _ right: WallTime?, _ choose: (WallTime, WallTime) -> WallTime
    ) -> WallTime? {
        guard let left else { return right }
        return right.map { choose(left, $0) } ?? left
    }

    func union(_ other: Self) -> Self {
        if partitions == [] { return other }
        if other.partitions == [] { return self }
        var sum = Self(
            offsets: min(
                offsets.lowerBound, other.offsets.lowerBound)...max(offsets.upperBound, other.offsets.upperBound))
        if let left = partitions, let right = other.partitions { sum.partitions = left.union(right) }
        if let left = earliest, let right = other.earliest { sum.earliest = min(left, right) }
        if let left = latest, let right = other.latest { sum.latest = max(left, right) }
        return sum
    }
}

extension Condition {
    /// The bounds outside of which it never holds.
    package var bounds: ReadBounds {
        switch self {
        case .always, .not, .text, .service: .everything
        case .and(let parts): parts.reduce(.everything) { $0.intersection($1.bounds) }
        case .or(let parts): parts.dropFirst().reduce(parts.first?.bounds ?? .everything) { $0.union($1.bounds) }
        case .number(.field(.partition), .oneOf(let numbers)):
            ReadBounds(partitions: Set(numbers.compactMap { Int32(exactly: $0) }))
        case .number(.field(.offset), let test): ReadBounds(offsets: max(0, test.low)...max(0, test.high))
        case .number(.field(.deadLetteredAt), let test): Self.bounds(test, unit: 1)
        case .number(.hourSinceEpoch, let test): Self.bounds(test, unit: Milliseconds.hours(1).count)
        case .number: .everything
        }
    }

    private static func bounds(_ test: NumberTest, unit: Int64) -> ReadBounds {
        if test == .absent { return .everything }
        let low = test.low.multipliedReportingOverflow(by: unit)
        let high = test.high.multipliedReportingOverflow(by: unit)
        return ReadBounds(
            earliest: low.overflow || test.low == .min ? nil : WallTime(milliseconds: low.partialValue),
            latest: high.overflow || test.high == .max
                ? nil : WallTime(milliseconds: high.partialValue).advanced(by: .milliseconds(unit - 1)))
    }
}

extension Condition.NumberTest {
    fileprivate var low: Int64 {
        switch self {
        case .oneOf(let values): values.min() ?? .min
        case .compared(.greater, let value), .compared(.atLeast, let value): value
        case .absent, .compared: .min
        }
    }

    fileprivate var high: Int64 {
        switch self {
        case .oneOf(let values): values.max() ?? .max
        case .compared(.less, let value), .compared(.atMost, let value): value
        case .absent, .compared: .max
        }
    }
}
