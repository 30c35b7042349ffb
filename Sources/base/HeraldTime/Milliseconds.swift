/// A span of time in whole milliseconds, such as a time-out, a pause or an age; negative when it leads back.
///
/// Its type keeps it apart from other numbers, and it is made with a unit: `.seconds(5)`, `.milliseconds(500)`.
/// Arithmetic stops at the ends of the range (292 million years) instead of overflowing. Integers remain only at
/// interfaces that require them: records, metrics, C.
@frozen
public struct Milliseconds: BitwiseCopyable, Comparable, Hashable, Sendable {
    /// The number of milliseconds.
    public var count: Int64

    /// This many milliseconds.
    @inlinable
    public init(count: Int64) {
        self.count = count
    }

    /// No time.
    @inlinable
    public static var zero: Self { Self(count: 0) }

    /// The longest span.
    @inlinable
    public static var max: Self { Self(count: .max) }

    /// The longest span that leads back.
    @inlinable
    public static var min: Self { Self(count: .min) }

    /// This many milliseconds.
    @inlinable
    public static func milliseconds(_ number: some BinaryInteger) -> Self { Self(count: Int64(clamping: number)) }

    /// This many seconds.
    @inlinable
    public static func seconds(_ number: some BinaryInteger) -> Self { milliseconds(number) * 1_000 }

    /// This many minutes.
    @inlinable
    public static func minutes(_ number: some BinaryInteger) -> Self { milliseconds(number) * 60_000 }

    /// This many hours.
    @inlinable
    public static func hours(_ number: some BinaryInteger) -> Self { milliseconds(number) * 3_600_000 }

    /// This many days of 24 hours.
    @inlinable
    public static func days(_ number: some BinaryInteger) -> Self { milliseconds(number) * 86_400_000 }

    /// Whether the left span is shorter, or leads further back.
    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.count < right.count }

    /// The sum of both.
    @inlinable
    public static func + (left: Self, right: Self) -> Self {
        let (sum, overflow) = left.count.addingReportingOverflow(right.count)
        return Self(count: overflow ? (right.count < 0 ? .min : .max) : sum)
    }

    /// The left one minus the right one.
    @inlinable
    public static func - (left: Self, right: Self) -> Self {
        let (difference, overflow) = left.count.subtractingReportingOverflow(right.count)
        return Self(count: overflow ? (right.count < 0 ? .max : .min) : difference)
    }

    /// The same span in the other direction.
    @inlinable
    public static prefix func - (span: Self) -> Self { .zero - span }

    /// The span times the factor.
    @inlinable
    public static func * (span: Self, factor: Int64) -> Self {
        let (product, overflow) = span.count.multipliedReportingOverflow(by: factor)
        return Self(count: overflow ? ((span.count < 0) == (factor < 0) ? .max : .min) : product)
    }

    /// The span times the factor.
    @inlinable
    public static func * (factor: Int64, span: Self) -> Self { span * factor }

    /// One of `parts` equal parts (not 0), rounded towards zero.
    @inlinable
    public static func / (span: Self, parts: Int64) -> Self {
        let (quotient, overflow) = span.count.dividedReportingOverflow(by: parts)
        return Self(count: overflow && parts == -1 ? .max : quotient)
    }

    /// The ratio of the left span to the right one.
    @inlinable
    public static func / (left: Self, right: Self) -> Double { Double(left.count) / Double(right.count) }

    /// Adds the right one to the left one.
    @inlinable
    public static func += (left: inout Self, right: Self) { left = left + right }

    /// Subtracts the right one from the left one.
    @inlinable
    public static func -= (left: inout Self, right: Self) { left = left - right }

    /// The span doubled this many times (0 or more).
    @inlinable
    public func doubled(times: some BinaryInteger) -> Self { times < 63 ? self * (1 << Int64(times)) : self * .max }

    /// Its absolute length.
    @inlinable
    public var length: Self { count < 0 ? -self : self }

    /// A uniformly random span of the range.
    @inlinable
    public static func random(in range: ClosedRange<Self>, using generator: inout some RandomNumberGenerator) -> Self {
        Self(count: .random(in: range.lowerBound.count...range.upperBound.count, using: &generator))
    }
}

// Conversions to and from other representations of spans.
extension Milliseconds {
    /// Whole seconds, rounded towards zero.
    @inlinable
    public var wholeSeconds: Int64 { count / 1_000 }

    /// Seconds with their fraction, for metrics and rates.
    @inlinable
    public var inSeconds: Double { Double(count) / 1_000 }

    /// Nanoseconds, the unit of ``MonotonicTime``.
    @inlinable
    public var nanoseconds: Int64 { (self * 1_000_000).count }

    /// The same span for Swift's clocks.
    @inlinable
    public var duration: Duration { .milliseconds(count) }

    /// The whole milliseconds of a duration from Swift's clocks or the settings, rounded towards zero.
    @inlinable
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .seconds(seconds) + .milliseconds(attoseconds / 1_000_000_000_000_000)
    }
}

extension Int32 {
    /// The milliseconds for C libraries and the kernel; a longer span becomes the longest possible.
    @inlinable
    public init(clamping span: Milliseconds) { self.init(clamping: span.count) }
}

extension DefaultStringInterpolation {
    /// Deprecated to make each text name its unit: `count` for milliseconds, or `wholeSeconds`.
    @available(*, deprecated, message: "say which unit the text has")
    public mutating func appendInterpolation(_ span: Milliseconds) { appendInterpolation(span.count) }

    /// The same for an optional span.
    @available(*, deprecated, message: "say which unit the text has")
    public mutating func appendInterpolation(_ span: Milliseconds?) {
        appendInterpolation(String(describing: span?.count))
    }
}
