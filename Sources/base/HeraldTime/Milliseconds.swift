/// A span of time in whole milliseconds, such as a time-out, a pause or an age; negative when it leads back.
///
/// It is told from other numbers by its type and made with its unit: `.seconds(5)`, `.milliseconds(500)`. What is
/// computed stops at the ends of the range (292 million years) instead of overflowing. Integers remain where the
/// outside speaks them: records, metrics, C.
@frozen
public struct Milliseconds: BitwiseCopyable, Comparable, Hashable, Sendable {
    /// How many.
    public var count: Int64

    /// So many milliseconds.
    @inlinable
    public init(count: Int64) {
        self.count = count
    }

    /// No time at all.
    @inlinable
    public static var zero: Self { Self(count: 0) }

    /// The longest span: longer than anything waits.
    @inlinable
    public static var max: Self { Self(count: .max) }

    /// The longest span that leads back.
    @inlinable
    public static var min: Self { Self(count: .min) }

    /// So many milliseconds.
    @inlinable
    public static func milliseconds(_ number: some BinaryInteger) -> Self { Self(count: Int64(clamping: number)) }

    /// So many seconds.
    @inlinable
    public static func seconds(_ number: some BinaryInteger) -> Self { milliseconds(number) * 1_000 }

    /// So many minutes.
    @inlinable
    public static func minutes(_ number: some BinaryInteger) -> Self { milliseconds(number) * 60_000 }

    /// So many hours.
    @inlinable
    public static func hours(_ number: some BinaryInteger) -> Self { milliseconds(number) * 3_600_000 }

    /// So many days of 24 hours.
    @inlinable
    public static func days(_ number: some BinaryInteger) -> Self { milliseconds(number) * 86_400_000 }

    /// Whether the left span is shorter, or leads further back.
    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.count < right.count }

    /// Both, one after the other.
    @inlinable
    public static func + (left: Self, right: Self) -> Self {
        let (sum, overflow) = left.count.addingReportingOverflow(right.count)
        return Self(count: overflow ? (right.count < 0 ? .min : .max) : sum)
    }

    /// By how much the left one is longer.
    @inlinable
    public static func - (left: Self, right: Self) -> Self {
        let (difference, overflow) = left.count.subtractingReportingOverflow(right.count)
        return Self(count: overflow ? (right.count < 0 ? .max : .min) : difference)
    }

    /// The same span in the other direction.
    @inlinable
    public static prefix func - (span: Self) -> Self { .zero - span }

    /// So many times as long.
    @inlinable
    public static func * (span: Self, factor: Int64) -> Self {
        let (product, overflow) = span.count.multipliedReportingOverflow(by: factor)
        return Self(count: overflow ? ((span.count < 0) == (factor < 0) ? .max : .min) : product)
    }

    /// So many times as long.
    @inlinable
    public static func * (factor: Int64, span: Self) -> Self { span * factor }

    /// One of so many equal parts (not none), rounded towards zero.
    @inlinable
    public static func / (span: Self, parts: Int64) -> Self {
        let (quotient, overflow) = span.count.dividedReportingOverflow(by: parts)
        return Self(count: overflow && parts == -1 ? .max : quotient)
    }

    /// How many times the right one fits into the left one.
    @inlinable
    public static func / (left: Self, right: Self) -> Double { Double(left.count) / Double(right.count) }

    /// Makes the left one longer by the right one.
    @inlinable
    public static func += (left: inout Self, right: Self) { left = left + right }

    /// Makes the left one shorter by the right one.
    @inlinable
    public static func -= (left: inout Self, right: Self) { left = left - right }

    /// Twice as long, so many times (0 or more) in a row.
    @inlinable
    public func doubled(times: some BinaryInteger) -> Self { times < 63 ? self * (1 << Int64(times)) : self * .max }

    /// The same span, leading on.
    @inlinable
    public var length: Self { count < 0 ? -self : self }

    /// Any of these, each as likely as the next.
    @inlinable
    public static func random(in range: ClosedRange<Self>, using generator: inout some RandomNumberGenerator) -> Self {
        Self(count: .random(in: range.lowerBound.count...range.upperBound.count, using: &generator))
    }
}

// How others speak of spans.
extension Milliseconds {
    /// Whole seconds, rounded towards zero.
    @inlinable
    public var wholeSeconds: Int64 { count / 1_000 }

    /// Seconds with their fraction, as metrics and rates have them.
    @inlinable
    public var inSeconds: Double { Double(count) / 1_000 }

    /// Nanoseconds, as ``MonotonicTime`` counts.
    @inlinable
    public var nanoseconds: Int64 { (self * 1_000_000).count }

    /// The same for Swift's clocks.
    @inlinable
    public var duration: Duration { .milliseconds(count) }

    /// The whole milliseconds of what Swift's clocks and the settings have, rounded towards zero.
    @inlinable
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .seconds(seconds) + .milliseconds(attoseconds / 1_000_000_000_000_000)
    }
}

extension Int32 {
    /// The milliseconds as C libraries and the kernel take them; what is too long becomes the longest there is.
    @inlinable
    public init(clamping span: Milliseconds) { self.init(clamping: span.count) }
}

extension DefaultStringInterpolation {
    /// A text says in which unit it has a span: its `count` of milliseconds, its `wholeSeconds`.
    @available(*, deprecated, message: "say which unit the text has")
    public mutating func appendInterpolation(_ span: Milliseconds) { appendInterpolation(span.count) }

    /// As of a span that is there.
    @available(*, deprecated, message: "say which unit the text has")
    public mutating func appendInterpolation(_ span: Milliseconds?) {
        appendInterpolation(String(describing: span?.count))
    }
}
