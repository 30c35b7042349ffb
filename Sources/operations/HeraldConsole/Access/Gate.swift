internal import HeraldHTTP
internal import HeraldThreads
internal import HeraldTime

/// Who may come in: names, origins, tokens, sessions and their rates.
final class Gate: Sendable {
    /// What a request gets instead of what it asked for.
    struct Refusal: Error, Equatable {
        var status: Int
        var sentence: String
    }

    /// Someone who has signed in.
    struct Entrance: Sendable, Equatable {
        var viewer: Viewer
        /// The session's secret name; `nil` when the token itself was shown.
        var session: String?
    }

    private struct State {
        var sessions = SessionTable()
        var requests = RateTable<String>(perSecond: 50, burst: 300)
        var strangers = RateTable<HTTPPeer>(perSecond: 20, burst: 200)
        var failures = RateTable<HTTPPeer>(perSecond: 0.2, burst: 10)
    }

    private let rules: OriginRules
    private let tokens: TokenFile?
    private let allowsChanges: Bool
    private let operatorName: String
    private let state = Guarded(State())

    /// - Parameter operatorName: whoever uses a one-time link.
    init(rules: OriginRules, tokens: TokenFile?, allowsChanges: Bool, operatorName: String) {
        self.rules = rules
        self.tokens = tokens
        self.allowsChanges = allowsChanges
        self.operatorName = operatorName
    }

    /// A new key for the link; the former one opens nothing any more.
    func newOneTimeKey() -> String { state.withLock { $0.sessions.newOneTimeKey() } }

    /// What everybody has to pass, the page itself included.
    func check(_ request: HTTPRequest) throws(Refusal) {
        if let sentence = rules.refusal(of: request) { throw Refusal(status: 403, sentence: sentence) }
    }

    /// Who asks; throws 401 when nobody has signed in, 429 when too much is asked.
    func entrance(_ request: HTTPRequest, cookie: String, now: MonotonicTime) throws(Refusal) -> Entrance {
        if request.headers["Authorization"] != nil {
            let name = try signedIn(with: request.bearerToken, from: request.peer, now)
            try admit(name.name, now)
            return Entrance(viewer: viewer(name.name, name.role), session: nil)
        }
        if let secret = Self.cookie(cookie, in: request) {
            let session = state.withLock { $0.sessions.session(secret, now: now) }
            if let session, isStillWelcome(session, now) {
                try admit(secret, now)
                return Entrance(viewer: viewer(session.name, session.role), session: secret)
            }
        }
        guard state.withLock({ $0.strangers.take(request.peer, now: now) }) else { throw Self.tooMany }
        throw Refusal(status: 401, sentence: "sign in first")
    }

    /// Opens a session with a one-time key or a token.
    ///
    /// - Returns: its secret name, who it is, and the next one-time key if one was used.
    func signIn(
        _ key: String, from peer: HTTPPeer, now: MonotonicTime
    ) throws(Refusal) -> (secret: String, Viewer, nextKey: String?) {
        try spendAttempt(peer, now)
        let opened: (String, String)? = state.withLock { state in
            guard state.sessions.takeOneTimeKey(key) else { return nil }
            state.failures.giveBack(peer)
            let secret = state.sessions.open(name: operatorName, role: .operator, token: nil, now: now)
            return (secret, state.sessions.newOneTimeKey())
        }
        if let (secret, next) = opened { return (secret, viewer(operatorName, .operator), next) }
        guard let entry = tokens?.entry(for: key, now: now) else {
            throw Refusal(status: 401, sentence: "this link or token is not valid (any more)")
        }
        return state.withLock { state in
            state.failures.giveBack(peer)
            let secret = state.sessions.open(name: entry.name, role: entry.role, token: entry.token, now: now)
            return (secret, viewer(entry.name, entry.role), nil)
        }
    }

    func signOut(_ secret: String) { state.withLock { $0.sessions.close(secret) } }

    /// Whether a session may still see what is pushed to it.
    func isOpen(_ secret: String, now: MonotonicTime) -> Bool {
        state.withLock { $0.sessions.session(secret, now: now) }.map { isStillWelcome($0, now) } ?? false
    }

    private func viewer(_ name: String, _ role: Viewer.Role) -> Viewer {
        Viewer(name: name, role: role, allowsChanges: allowsChanges)
    }

    /// Whose line was taken out of the file, or changed, is out.
    private func isStillWelcome(_ session: SessionTable.Session, _ now: MonotonicTime) -> Bool {
        guard let token = session.token else { return true }
        let entry = tokens?.entry(for: token, now: now)
        return entry?.name == session.name && entry?.role == session.role
    }

    private func signedIn(
        with token: String?, from peer: HTTPPeer, _ now: MonotonicTime
    ) throws(Refusal) -> TokenFile.Entry {
        try spendAttempt(peer, now)
        guard let token, let entry = tokens?.entry(for: token, now: now) else {
            throw Refusal(status: 401, sentence: "the token is not one of console.tokenFile")
        }
        state.withLock { $0.failures.giveBack(peer) }
        return entry
    }

    /// An attempt counts until it has turned out right.
    private func spendAttempt(_ peer: HTTPPeer, _ now: MonotonicTime) throws(Refusal) {
        guard state.withLock({ $0.failures.take(peer, now: now) }) else { throw Self.tooMany }
    }

    private func admit(_ who: String, _ now: MonotonicTime) throws(Refusal) {
        guard state.withLock({ $0.requests.take(who, now: now) }) else { throw Self.tooMany }
    }

    private static let tooMany = Refusal(status: 429, sentence: "too many requests; wait a few seconds")

    private static func cookie(_ name: String, in request: HTTPRequest) -> String? {
        for field in request.headers.fields where field.name.lowercased() == "cookie" {
            for pair in field.value.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmed }
                if parts.count == 2, parts[0] == name { return parts[1] }
            }
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmed: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}
