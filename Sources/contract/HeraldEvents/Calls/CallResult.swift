public import HeraldTime

/// The meaning of a call's end.
///
/// The port that has read the answer decides it, by the settings' ``StatusTable``; the engine, what follows from it.
public enum CallVerdict: Sendable, Hashable {
    /// The backend accepted the message.
    case delivered
    /// It may succeed later.
    case transient
    /// The backend can't take more now, for this event or for all.
    case throttled
    /// The backend does not accept our credentials: a matter for the operator, not of this event.
    case credentials
    /// It will never succeed: a dead letter at once.
    case rejected
    /// No call can be made, for this reason.
    case outage(OutageReason)
    /// The notification exceeds its push service's limit: the backend was not called.
    case oversized
    /// There is no answer.
    case unanswered(mayHaveArrived: Bool)
}

/// The end of a call: its meaning, and its facts for records and people.
public struct CallResult: Sendable, Hashable {
    /// The meaning.
    public var verdict: CallVerdict
    /// The HTTP status; 0 when there was no answer.
    public var status = 0
    /// The reason why there was no answer.
    public var failure: CallFailure?
    /// The wait requested by `Retry-After`, clamped.
    public var retryAfter: Milliseconds?
    /// One line for people after a failure; after a success the backend's id of the message, if any.
    public var detail: String?
    /// How long the call took.
    public var duration: Milliseconds = .zero

    /// An answer with `status`.
    ///
    /// - Parameters:
    ///   - read: the target's reading of the answer; `nil` when the status alone decides.
    ///   - statuses: the meanings of statuses by the settings.
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

/// A call that has ended, as a port returns it: its result, and the times of its span.
public struct EndedCall: Sendable {
    /// Its result.
    public var result: CallResult
    /// Whether the answer came over HTTP/2.
    public var isHTTP2 = false
    /// The time at which the request was written, or the call began if it never was.
    public var sentAt: MonotonicTime
    /// The time from ``sentAt`` to the end.
    public var durationNanoseconds: Int64

    /// A call with its times.
    public init(_ result: CallResult, isHTTP2: Bool = false, sentAt: MonotonicTime, durationNanoseconds: Int64) {
        self.result = result
        self.isHTTP2 = isHTTP2
        self.sentAt = sentAt
        self.durationNanoseconds = durationNanoseconds
    }
}
