public import HeraldBytes

/// Which traces are recorded: as the service that began the trace has decided, and of those that begin here a share.
///
/// That is OpenTelemetry's parent-based sampler over the ratio of trace ids. The share is judged by the last 56 bits of
/// the id (W3C Trace Context, level 2), so that every other service that judges by them comes to the same answer.
public struct TraceSampler: Sendable, Equatable {
    private static let randomBits: UInt64 = 1 << 56

    private let threshold: UInt64

    /// Records this share of the traces that begin here; 0 records none of them, 1 all.
    public init(ratio: Double) {
        threshold = UInt64(((1 - min(max(ratio, 0), 1)) * Double(Self.randomBits)).rounded())
    }

    /// Whether a trace is recorded that this span began; `nil` when the trace begins here, with this id.
    public func records(_ traceID: TraceID, parent: TraceContext?) -> Bool {
        if let parent { return parent.isSampled }
        return traceID.low & (Self.randomBits - 1) >= threshold
    }
}
