internal import HeraldHTTP
internal import HeraldThreads
internal import HeraldTime

/// Who may come in: names, origins, tokens, sessions and their rates.
final class Gate: Sendable {
    /// Someone who has signed in.
    struct Entrance: Sendable, Equatable {
        var viewer: Viewer
        var credential: Credential
    }

    /// What someone has shown.
    enum Credential: Sendable, Equatable {
        /// The secret name of a session.
        case session(String)
        case token(String)
    }

    private struct State {
        var sessions = SessionTable()
        var requests = RateTable<String>(perSecond: 50, burst: 300)
        var strangers = RateTable<HTTPPeer>(perSecond: 20, burst: 200)
        var failures = RateTable<HTTPPeer>(perSecond: 0.2, burst: 10)
    }

    private let rules: OriginRules
    private let addresses: ForwardedAddress
    private let tokens: TokenFile?
    private let allowsChanges: Bool
    private let operatorName: String
    private let state = Guarded(State())

    /// - Parameter operatorName: the name of the person who uses a one-time link.
    init(rules: OriginRules, addresses: ForwardedAddress, tokens: TokenFile?, allowsChanges: Bool, operatorName: String)
    {
        self.rules = rules
        self.addresses = addresses
        self.tokens = tokens
        self.allowsChanges = allowsChanges
        self.operatorName = operatorName
    }

    /// A new key for the link; the former one opens nothing any more.
    func newOneTimeKey() -> String { state.withLock { $0.sessions.newOneTimeKey() } }

    /// What every request has to pass, the page's own included.
    func check(_ request: HTTPRequest) throws(Refused) {
        if let sentence = rules.refusal(of: request) { throw Refused(sentence, status: 403) }
    }

    /// The viewer who asks; throws 401 when nobody has signed in, 429 when too much is asked.
    func entrance(_ request: HTTPRequest, cookie: String, now: MonotonicTime) throws(Refused) -> Entrance {
        let entrance = try identify(request, cookie: cookie, now: now)
        let who =
            switch entrance.credential {
            case .session(let secret): secret
            case .token: entrance.viewer.name
            }
        guard state.withLock({ $0.requests.take(who, now: now) }) else { throw Self.tooMany }
        return entrance
    }

    /// The same from a request's head: nothing is counted but failures.
    func identify(_ request: HTTPRequest, cookie: String, now: MonotonicTime) throws(Refused) -> Entrance {
        let client = addresses.client(of: request)
        if request.headers["Authorization"] != nil {
            try mayTry(client, now)
            guard let token = request.bearerToken, let entry = tokens?.entry(for: token, now: now) else {
                throw failure("the token is not one of console.tokenFile", client, now)
            }
            return Entrance(viewer: viewer(entry.name, entry.role), credential: .token(token))
        }
        if let secret = Self.cookie(cookie, in: request) {
            let session = state.withLock { $0.sessions.session(secret, now: now) }
            if let session, isStillWelcome(session, now) {
                return Entrance(viewer: viewer(session.name, session.role), credential: .session(secret))
            }
        }
        guard state.withLock({ $0.strangers.take(client, now: now) }) else { throw Self.tooMany }
        throw Refused("sign in first", status: 401)
    }

    /// Opens a session with a one-time key or a token.
    ///
    /// - Parameter isLink: whether a link has the key: then no token will do, or whoever has one could sign others in under
    ///   their own name.
    /// - Returns: its secret name, who it is, and the next one-time key if one was used.
    func signIn(
        _ key: String, isLink: Bool = false, _ request: HTTPRequest, now: MonotonicTime
    ) throws(Refused) -> (secret: String, Viewer, nextKey: String?) {
        let client = addresses.client(of: request)
        try mayTry(client, now)
        let opened: (String, String)? = state.withLock { state in
            guard state.sessions.takeOneTimeKey(key) else { return nil }
            let secret = state.sessions.open(name: operatorName, role: .operator, token: nil, now: now)
            return (secret, state.sessions.newOneTimeKey())
        }
        if let (secret, next) = opened { return (secret, viewer(operatorName, .operator), next) }
        guard !isLink, let entry = tokens?.entry(for: key, now: now) else {
            throw failure("this link or token is not valid (any more)", client, now)
        }
        return state.withLock { state in
            let secret = state.sessions.open(name: entry.name, role: entry.role, token: entry.token, now: now)
            return (secret, viewer(entry.name, entry.role), nil)
        }
    }

    func signOut(_ secret: String) { state.withLock { $0.sessions.close(secret) } }

    /// Whether the viewer who has shown this may still see what is pushed.
    func isWelcome(_ credential: Credential, now: MonotonicTime) -> Bool {
        switch credential {
        case .session(let secret):
            state.withLock { $0.sessions.session(secret, now: now) }.map { isStillWelcome($0, now) } ?? false
        case .token(let token): tokens?.entry(for: token, now: now) != nil
        }
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

    /// Throws when too much was guessed from there: a right token would show that it is one.
    private func mayTry(_ client: HTTPPeer, _ now: MonotonicTime) throws(Refused) {
        guard state.withLock({ $0.failures.allows(client, now: now) }) else { throw Self.tooMany }
    }

    /// Only failures count, and no signed-in person is refused for those of others: a proxy's address is many people's.
    private func failure(_ sentence: String, _ client: HTTPPeer, _ now: MonotonicTime) -> Refused {
        let isCounted = state.withLock { $0.failures.take(client, now: now) }
        return isCounted ? Refused(sentence, status: 401) : Self.tooMany
    }

    private static let tooMany = Refused("too many requests; wait a few seconds", status: 429)

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
