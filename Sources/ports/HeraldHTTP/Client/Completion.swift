public import HeraldTime

/// A call that ended, as HTTP sees it; its texts lie in the pool until the pool's completions are removed.
public struct Completion: Sendable {
    /// The place of a text among the pool's.
    public struct Text: Sendable {
        let start: Int
        let count: Int

        /// No text.
        public static let none = Self(start: 0, count: 0)

        /// Whether there is no text, or an empty one.
        public var isEmpty: Bool { count == 0 }
    }

    /// The caller's number for the call.
    public let token: UInt64
    /// The answer's status, 200…599; 0 when the call failed.
    public let status: Int
    /// The reason why there is no answer; `nil` with one.
    public let failure: FailureKind?
    /// The time at which the request was written, or the call began if it never was.
    public let sentAt: MonotonicTime
    /// The time from ``sentAt`` to the end.
    public let durationNanoseconds: Int64
    /// The value of the Retry-After header.
    public let retryAfter: Text
    /// The value of the Date header of an error that has a ``retryAfter``.
    public let date: Text
    /// The value of the Location header, if it is kept.
    public let location: Text
    /// Whether the whole request of a call without an answer was written: it may have arrived.
    public let isSent: Bool
    /// Whether the answer came over HTTP/2.
    public let isHTTP2: Bool
    /// The first 64 KiB of the answer's body (of a 2xx answer only if asked for); for a failure, one line for people.
    public let body: Text
}

/// Completions in the order of their ends, with their texts; its memory is reused.
struct CompletionList: ~Copyable {
    private(set) var all: [Completion] = []
    private var texts: [UInt8] = []

    mutating func append(
        _ call: (token: UInt64, sentAt: MonotonicTime), _ now: MonotonicTime, status: Int = 0,
        failure: FailureKind? = nil,
        isSent: Bool = false, isHTTP2: Bool = false, retryAfter: [UInt8] = [], date: [UInt8] = [],
        location: [UInt8] = [], body: some Collection<UInt8>
    ) {
        all.append(
            Completion(
                token: call.token, status: status, failure: failure, sentAt: call.sentAt,
                durationNanoseconds: now.nanoseconds - call.sentAt.nanoseconds, retryAfter: keep(retryAfter),
                date: keep(retryAfter.isEmpty ? [] : date), location: keep(location), isSent: isSent, isHTTP2: isHTTP2,
                body: keep(body)))
    }

    private mutating func keep(_ bytes: some Collection<UInt8>) -> Completion.Text {
        let start = texts.count
        if !bytes.isEmpty { texts.append(contentsOf: bytes) }
        return Completion.Text(start: start, count: texts.count - start)
    }

    func withText<Value>(_ text: Completion.Text, _ body: (RawSpan) -> Value) -> Value {
        texts.withUnsafeBytes { all in
            body(UnsafeRawBufferPointer(rebasing: all[text.start..<text.start + text.count]).bytes)
        }
    }

    mutating func removeAll() {
        all.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
    }
}
