public import HeraldBytes

/// Decides which traces are recorded: the service that began a trace decides; of traces that begin here, a share is.
///
/// This is OpenTelemetry's parent-based sampler over the ratio of trace ids. The share is judged by the last 56 bits of
/// the id (W3C Trace Context, level 2), so that every service that judges by them decides alike.
public struct TraceSampler: Sendable, Equatable {
    private static let randomBits: UInt64 = 1 << 56

    private let threshold: UInt64

    /// Records this share of the traces that begin here: 0 records none, 1 all.
    public init(ratio: Double) {
        threshold = UInt64(((1 - min(max(ratio, 0), 1)) * Double(Self.randomBits)).rounded())
    }

    /// Whether a trace with this id and parent is recorded; the parent is `nil` when the trace begins here.
    public func records(_ traceID: TraceID, parent: TraceContext?) -> Bool {
        if let parent { return parent.isSampled }
        return traceID.low & (Self.randomBits - 1) >= threshold
    }
}
