public import HeraldBytes

/// One step of a trace that has ended, as OpenTelemetry has it.
public struct TraceSpan: Sendable, Equatable {
    /// The role of a span, by its number in OTLP.
    public enum Kind: Int, Sendable {
        /// A call of another service.
        case client = 3
        /// Records are written for a consumer that reads them later.
        case producer = 4
        /// A record is processed.
        case consumer = 5
    }

    /// Its trace and its own id.
    public var context: TraceContext
    /// The span that it belongs to; `nil` at a trace's root.
    public var parent: SpanParent?
    /// What is done, of a small set of names.
    public var name: String
    /// Its role.
    public var kind: Kind
    /// When it began, in nanoseconds since the Unix epoch.
    public var startNanoseconds: Int64
    /// When it ended, in nanoseconds since the Unix epoch.
    public var endNanoseconds: Int64
    /// What is known of it; no key twice.
    public var attributes: [SpanAttribute]
    /// A span, of this trace or another, that led to this one without being its parent.
    public var link: TraceContext?
    /// Why it failed, in a few words; `nil` when it did not.
    public var failure: String?

    /// A span that has ended.
    public init(
        _ context: TraceContext, parent: SpanParent?, name: String, kind: Kind, startNanoseconds: Int64,
        endNanoseconds: Int64, attributes: [SpanAttribute], link: TraceContext? = nil, failure: String? = nil
    ) {
        self.context = context
        self.parent = parent
        self.name = name
        self.kind = kind
        self.startNanoseconds = startNanoseconds
        self.endNanoseconds = max(startNanoseconds, endNanoseconds)
        self.attributes = attributes
        self.link = link
        self.failure = failure
    }
}

/// The span above another one.
public struct SpanParent: Sendable, Equatable {
    /// Its id.
    public var spanID: UInt64
    /// Whether it is another process's.
    public var isRemote: Bool

    /// The span with this id.
    public init(spanID: UInt64, isRemote: Bool) {
        self.spanID = spanID
        self.isRemote = isRemote
    }
}

/// A fact about a span, or about the service that makes spans.
public struct SpanAttribute: Sendable, Equatable {
    /// What a fact may be.
    public enum Value: Sendable, Equatable {
        /// Text.
        case string(String)
        /// A number.
        case integer(Int64)
        /// Several texts.
        case strings([String])
    }

    /// Its name, by OpenTelemetry's semantic conventions where they have one.
    public var key: StaticString
    /// What it is.
    public var value: Value

    /// Text.
    public init(_ key: StaticString, _ value: String) { (self.key, self.value) = (key, .string(value)) }

    /// A number.
    public init(_ key: StaticString, _ value: Int64) { (self.key, self.value) = (key, .integer(value)) }

    /// Several texts.
    public init(_ key: StaticString, _ values: [String]) { (self.key, self.value) = (key, .strings(values)) }

    /// Whether name and value are the same.
    public static func == (left: Self, right: Self) -> Bool {
        left.key.description == right.key.description && left.value == right.value
    }
}

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
