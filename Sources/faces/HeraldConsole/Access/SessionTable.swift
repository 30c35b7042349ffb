internal import HeraldText
internal import HeraldTime

/// Who has signed in: pure, with the time told.
///
/// One-time keys and sessions live in memory alone; the end of the process ends them all.
struct SessionTable: Sendable {
    struct Session: Sendable, Equatable {
        var name: String
        var role: Viewer.Role
        /// The token that it was opened with; `nil` for a one-time link.
        var token: String?
        var end: MonotonicTime
    }

    /// A working day.
    static let lifetime: Milliseconds = .hours(12)
    /// More are not needed; the oldest gives way.
    static let most = 1_000

    private var sessions: [String: Session] = [:]
    private var oneTimeKey: String?

    /// A key that opens one session; the former one opens none any more.
    mutating func newOneTimeKey() -> String {
        let key = AccessToken.random()
        oneTimeKey = key
        return key
    }

    /// Whether this is the key, which is used up then.
    mutating func takeOneTimeKey(_ key: String) -> Bool {
        guard let oneTimeKey, Secret.isSame(oneTimeKey, key) else { return false }
        self.oneTimeKey = nil
        return true
    }

    /// Opens a session; its secret name.
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

    /// The session of that secret name, while it lives.
    func session(_ secret: String, now: MonotonicTime) -> Session? {
        sessions[secret].flatMap { $0.end > now ? $0 : nil }
    }

    mutating func close(_ secret: String) { sessions[secret] = nil }
}

/// Texts that cannot be guessed.
enum AccessToken {
    /// 256 bits from the system's generator, in hexadecimal.
    static func random() -> String {
        (0..<4).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
