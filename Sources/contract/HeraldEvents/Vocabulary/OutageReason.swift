/// Why nothing is consumed.
public enum OutageReason: Sendable, Hashable {
    /// 401 or 403: the backend does not accept the credentials.
    case credentials
    /// There is no token to call with: the token endpoint gives none.
    case tokenUnavailable
    /// TLS failed or the other side is not the right server.
    case tls
    /// The backend's name has no address.
    case nameNotFound
    /// The proxy does not accept the credentials for it.
    case proxyRefused
    /// Circuit breaker: too many calls failed for now.
    case breaker
    /// Dead-letter breaker: too many answers would make dead letters with the same status.
    case deadLetterBreaker
    /// The target's answer declares it.
    case target(TargetOutage)

    /// Those of every target.
    public static let common: [Self] = [
        .credentials, .tokenUnavailable, .tls, .nameNotFound, .proxyRefused, .breaker, .deadLetterBreaker,
    ]

    /// The word for it in logs, metrics and readiness.
    public var word: String {
        switch self {
        case .credentials: "credentials"
        case .tokenUnavailable: "token-unavailable"
        case .tls: "tls"
        case .nameNotFound: "name-not-found"
        case .proxyRefused: "proxy-refused"
        case .breaker: "breaker"
        case .deadLetterBreaker: "dead-letter-breaker"
        case .target(let outage): outage.word
        }
    }

    /// Whether no call reaches the backend.
    public var isBeyondReach: Bool {
        switch self {
        case .tls, .nameNotFound, .proxyRefused: true
        case .credentials, .tokenUnavailable, .breaker, .deadLetterBreaker, .target: false
        }
    }
}

/// An outage that one kind of target has: no call can be made until a probe is answered otherwise.
///
/// An object, so that the result of a call that names it stays small.
public final class TargetOutage: Sendable, Hashable {
    /// The word for it in logs, metrics and readiness.
    public let word: String
    /// What happened, in the middle of a sentence.
    public let what: String
    /// What to do, in the middle of a sentence.
    public let step: String
    /// What to type first; empty where nothing is to be typed.
    public let command: [String]

    /// An outage; its word is its identity.
    public init(_ word: String, _ what: String, step: String, command: [String] = []) {
        self.word = word
        self.what = what
        self.step = step
        self.command = command
    }

    /// Whether both have the same word.
    public static func == (one: TargetOutage, other: TargetOutage) -> Bool { one.word == other.word }

    /// By the word.
    public func hash(into hasher: inout Hasher) { hasher.combine(word) }
}
