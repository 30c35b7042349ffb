/// Why an event is in a retry topic.
public enum RetryReason: String, CaseIterable, Sendable {
    /// A call failed in a way that can pass.
    case transient
    /// The backend asked to wait.
    case throttled
    /// The event's `notBefore` is not reached.
    case notBefore = "not-before"
    /// Something holds the event back that is not its own fault.
    case blocked
    /// Its campaign is paused.
    case paused
}

extension RetryReason {
    /// Whether a call failed.
    public var isFailure: Bool {
        switch self {
        case .transient, .throttled: true
        case .notBefore, .blocked, .paused: false
        }
    }
}
