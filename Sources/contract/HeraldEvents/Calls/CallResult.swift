public import HeraldTime

/// What the end of a call means.
///
/// The port that has read the answer decides it, by the settings' ``StatusTable``; the engine, what follows from it.
public enum CallVerdict: Sendable, Hashable {
    /// The backend took the message.
    case delivered
    /// It may work another time.
    case transient
    /// The backend can't take more now, of this event or of all.
    case throttled
    /// The backend does not accept our credentials: a matter for the operator, not of this event.
    case credentials
    /// It will never work: a dead letter at once.
    case rejected
    /// No call can be made, for this reason.
    case outage(OutageReason)
    /// The notification is larger than its push service takes: the backend was not called.
    case oversized
    /// There is no answer.
    case unanswered(mayHaveArrived: Bool)
}

/// How a call ended: what it means, and what records and people are given of it.
public struct CallResult: Sendable, Hashable {
    /// What that means.
    public var verdict: CallVerdict
    /// The HTTP status; 0 when there was no answer.
    public var status = 0
    /// Why there was none.
    public var failure: CallFailure?
    /// What `Retry-After` asked for, clamped.
    public var retryAfter: Milliseconds?
    /// One line for people, when the answer was no success; what the backend calls the message when it was, and it said so.
    public var detail: String?
    /// How long the call took.
    public var duration: Milliseconds = .zero

    /// An answer with `status`.
    ///
    /// - Parameters:
    ///   - read: what the target reads in the answer; `nil` when that is no more than the status says.
    ///   - statuses: what statuses mean by the settings.
    public init(
        status: Int, retryAfter: Milliseconds? = nil, detail: String? = nil, duration: Milliseconds = .zero,
        read: CallVerdict? = nil, statuses: borrowing StatusTable = .usual
    ) {
        verdict = statuses.verdict(on: status, retryAfter: retryAfter, read: read)
        self.status = status
        self.retryAfter = retryAfter
        self.detail = detail
        self.duration = duration
    }

    /// A call that was not made, because the notification is too large.
    public init(oversized detail: String) {
        verdict = .oversized
        self.detail = detail
    }

    /// A call without an answer.
    public init(
        failure: CallFailure, detail: String? = nil, duration: Milliseconds = .zero, mayHaveArrived: Bool = false
    ) {
        verdict =
            switch failure {
            case .tls: .outage(.tls)
            case .nameNotFound: .outage(.nameNotFound)
            case .proxyRefused: .outage(.proxyRefused)
            case .refused, .reset, .timeout, .brokenHTTP: .unanswered(mayHaveArrived: mayHaveArrived)
            }
        self.failure = failure
        self.detail = detail
        self.duration = duration
    }
}

/// A call that has ended, as a port hands it out: its result, and the times of its span.
public struct EndedCall: Sendable {
    /// How it ended.
    public var result: CallResult
    /// Whether the answer came over HTTP/2.
    public var isHTTP2 = false
    /// When the request was written, or when the call began if it never was.
    public var sentAt: MonotonicTime
    /// From ``sentAt`` to the end.
    public var durationNanoseconds: Int64

    /// A call with its times.
    public init(_ result: CallResult, isHTTP2: Bool = false, sentAt: MonotonicTime, durationNanoseconds: Int64) {
        self.result = result
        self.isHTTP2 = isHTTP2
        self.sentAt = sentAt
        self.durationNanoseconds = durationNanoseconds
    }
}
