public import HeraldHTTP

/// What became of one call.
public enum Answer: Sendable, Hashable {
    /// The backend answered.
    ///
    /// `retryAfter` is the header's value as it came; `detail` is the error's text as one line, never for a 2xx.
    case status(Int, retryAfter: String?, detail: String?)
    /// There is no answer; `detail` says why in one line.
    case failure(FailureKind, detail: String)

    /// Whether the backend took the notification.
    public var isSuccess: Bool {
        if case .status(let status, _, _) = self { return (200..<300).contains(status) }
        return false
    }
}
