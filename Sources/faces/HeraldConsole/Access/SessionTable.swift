internal import HeraldText
internal import HeraldTime

/// The sessions of signed-in viewers: pure, the time is a parameter.
///
/// One-time keys and sessions are only in memory; they end with the process.
struct SessionTable: Sendable {
    struct Session: Sendable, Equatable {
        var name: String
        var role: Viewer.Role
        /// The token that opened it; `nil` for a one-time link.
        var token: String?
        var end: MonotonicTime
    }

    /// A working day.
    static let lifetime: Milliseconds = .hours(12)
    /// The limit; a new session beyond it ends the oldest.
    static let most = 1_000

    private var sessions: [String: Session] = [:]
    private var oneTimeKey: String?

    /// A key that opens one session; it voids the previous one.
    mutating func newOneTimeKey() -> String {
        let key = AccessToken.random()
        oneTimeKey = key
        return key
    }

    /// Whether this is the current key; uses it up.
    mutating func takeOneTimeKey(_ key: String) -> Bool {
        guard let oneTimeKey, Secret.isSame(oneTimeKey, key) else { return false }
        self.oneTimeKey = nil
        return true
    }

    /// Opens a session and returns its secret name.
    mutating func open(name: String, role: Viewer.Role, token: String?, now: MonotonicTime) -> String {
        sessions = sessions.filter { $0.value.end > now }
        if sessions.count >= Self.most, let oldest = sessions.min(by: { $0.value.end < $1.value.end }) {
            sessions[oldest.key] = nil
        }
        let secret = AccessToken.random()
        sessions[secret] = Session(
            name: name, role: role, token: token, end: now.advanced(by: Self.lifetime))
        return secret
    }

    /// The session with this secret name, unless it has expired.
    func session(_ secret: String, now: MonotonicTime) -> Session? {
        sessions[secret].flatMap { $0.end > now ? $0 : nil }
    }

    mutating func close(_ secret: String) { sessions[secret] = nil }
}

enum AccessToken {
    /// 256 bits from the system's generator, in hexadecimal.
    static func random() -> String {
        (0..<4).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
