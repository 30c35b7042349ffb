/// Why a device was not registered, or its registration not removed; without handles, ids and credentials.
public enum RegistrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the caller gave cannot be used; `reason` says what is allowed.
    case invalid(reason: String)
    /// There is no answer: try again later.
    case unreachable(request: String, reason: String)
    /// The backend refuses: 401 and 403 mean other credentials, 429 and 5xx later, anything else a mistake.
    case refused(request: String, status: Int, detail: String?)
    /// The backend's answer is not what its contract says.
    case unexpected(request: String, reason: String)

    /// One line for people.
    public var description: String {
        switch self {
        case .invalid(let reason): reason
        case .unreachable(let request, let reason): "\(request): there is no answer: \(reason)"
        case .refused(let request, let status, let detail):
            "\(request): the backend answered \(status)" + (detail.map { ": \($0)" } ?? "")
        case .unexpected(let request, let reason): "\(request): \(reason)"
        }
    }
}
