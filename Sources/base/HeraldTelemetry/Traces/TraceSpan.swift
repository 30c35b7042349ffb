public import HeraldBytes

/// A finished step of a trace, as OpenTelemetry defines it.
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
    /// The parent span; `nil` at a trace's root.
    public var parent: SpanParent?
    /// The action, one of a small set of names.
    public var name: String
    /// Its role.
    public var kind: Kind
    /// Its beginning, in nanoseconds since the Unix epoch.
    public var startNanoseconds: Int64
    /// Its end, in nanoseconds since the Unix epoch.
    public var endNanoseconds: Int64
    /// Its attributes; no key twice.
    public var attributes: [SpanAttribute]
    /// A span, of this trace or another, that led to this one without being its parent.
    public var link: TraceContext?
    /// The reason for its failure, in a few words; `nil` for a success.
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

/// A parent span.
public struct SpanParent: Sendable, Equatable {
    /// Its id.
    public var spanID: UInt64
    /// Whether it belongs to another process.
    public var isRemote: Bool

    /// The span with this id.
    public init(spanID: UInt64, isRemote: Bool) {
        self.spanID = spanID
        self.isRemote = isRemote
    }
}

/// A fact about a span, or about the service that makes spans.
public struct SpanAttribute: Sendable, Equatable {
    /// The types of values.
    public enum Value: Sendable, Equatable {
        /// Text.
        case string(String)
        /// A number.
        case integer(Int64)
        /// Several texts.
        case strings([String])
    }

    /// Its name, from OpenTelemetry's semantic conventions where they define one.
    public var key: StaticString
    /// Its value.
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
