/// A failure to register a device or to remove its registration; without handles, ids and credentials.
public enum RegistrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The caller's input cannot be used; `reason` names the rule.
    case invalid(reason: String)
    /// No answer came: try again later.
    case unreachable(request: String, reason: String)
    /// The backend refuses: 401 and 403 need other credentials, 429 and 5xx another attempt later, others a correction.
    case refused(request: String, status: Int, detail: String?)
    /// The backend's answer violates its contract.
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
