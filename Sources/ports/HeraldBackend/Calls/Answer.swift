public import HeraldHTTP

/// What became of one call.
public enum Answer: Sendable, Hashable {
    /// The backend answered.
    ///
    /// `retryAfter` is the header's value as it came, but a date is the number of seconds from the answer's own `Date` on,
    /// if it has one; `detail` is the error's text as one line. For a 2xx it is the
    /// notification's id at a hub, if that is to be kept.
    case status(Int, retryAfter: String?, detail: String?)
    /// The notification is larger than its push service takes, and was not sent; by how much in one line.
    case oversized(String)
    /// There is no answer; `detail` says why in one line.
    case failure(FailureKind, detail: String)

    /// Whether the backend took the notification.
    public var isSuccess: Bool {
        if case .status(let status, _, _) = self { return (200..<300).contains(status) }
        return false
    }
}
