/// A position in a trace: the trace and a span in it, as the `traceparent` of W3C's Trace Context.
public struct TraceContext: Hashable, Sendable {
    /// The trace.
    public var traceID: TraceID
    /// The span in it; never 0.
    public var spanID: UInt64
    /// Whether the trace is recorded.
    public var isSampled: Bool

    /// The length of a `traceparent` in bytes.
    public static let byteCount = 55

    /// A span's context.
    public init(traceID: TraceID, spanID: UInt64, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Reads a version, a trace id, a span id and flags in lower-case hexadecimal; nil for other text.
    ///
    /// Neither id may be all zeros, the version not ff, and nothing may follow, not even in later versions, because it
    /// would reach the backend unread.
    public init?(_ text: RawSpan) {
        guard text.byteCount == Self.byteCount, text[byteAt: 2] == 0x2D, text[byteAt: 35] == 0x2D,
            text[byteAt: 52] == 0x2D, let version = Self.number(text, 0..<2), version != 0xFF,
            let high = Self.number(text, 3..<19), let low = Self.number(text, 19..<35), high | low != 0,
            let spanID = Self.number(text, 36..<52), spanID != 0, let flags = Self.number(text, 53..<55)
        else { return nil }
        self.init(traceID: TraceID(high: high, low: low), spanID: spanID, isSampled: flags & 1 == 1)
    }

    /// Appends it as a `traceparent` of version 00.
    public func append(to output: inout [UInt8]) {
        output.append(text: "00-")
        traceID.append(to: &output)
        output.append(0x2D)
        output.append(hexadecimal: spanID)
        output.append(text: isSampled ? "-01" : "-00")
    }

    /// The `traceparent` of version 00.
    public var bytes: [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(Self.byteCount)
        append(to: &output)
        return output
    }

    private static func number(_ text: RawSpan, _ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for offset in range {
            switch text[byteAt: offset] {
            case let digit where (0x30...0x39).contains(digit): number = number << 4 | UInt64(digit - 0x30)
            case let digit where (0x61...0x66).contains(digit): number = number << 4 | UInt64(digit - 0x57)
            default: return nil
            }
        }
        return number
    }
}

/// The 128 bits shared by all spans of one trace; never all 0.
public struct TraceID: Hashable, Sendable {
    /// The first half.
    public var high: UInt64
    /// The second half, whose last 56 bits are random.
    public var low: UInt64

    /// A trace's id.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Appends it in lower-case hexadecimal.
    public func append(to output: inout [UInt8]) {
        output.append(hexadecimal: high)
        output.append(hexadecimal: low)
    }
}
