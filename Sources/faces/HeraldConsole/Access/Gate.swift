internal import HeraldHTTP
internal import HeraldThreads
internal import HeraldTime

/// The access control: host names, origins, tokens, sessions and rates.
struct Gate: Sendable {
    /// A signed-in viewer with the credential shown.
    struct Entrance: Sendable, Equatable {
        var viewer: Viewer
        var credential: Credential
    }

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

    let rules: OriginRules
    let addresses: ForwardedAddress
    let tokens: TokenFile?
    let allowsChanges: Bool
    /// The name of the person who uses a one-time link.
    let operatorName: String
    private let state = Guarded(State())

    /// A new key for the link; the previous one becomes void.
    func newOneTimeKey() -> String { state.withLock { $0.sessions.newOneTimeKey() } }

    /// The checks for every request, including those for the page's files.
    func check(_ request: HTTPRequest) throws(Refused) {
        if let sentence = rules.refusal(of: request) { throw Refused(sentence, status: 403) }
    }

    /// The viewer of a request; throws 401 when not signed in, 429 when there are too many requests.
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

    /// The viewer of a request's head; counts only failures.
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
    /// - Parameter isLink: whether the key came from a link: a token is then refused, because its owner could use a
    ///   link to sign others in under that name.
    /// - Returns: the session's secret name, its viewer, and the next one-time key if one was used.
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

    /// Whether the viewer with this credential may still receive news.
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

    /// Whether the token file still has the session's line, unchanged.
    private func isStillWelcome(_ session: SessionTable.Session, _ now: MonotonicTime) -> Bool {
        guard let token = session.token else { return true }
        let entry = tokens?.entry(for: token, now: now)
        return entry?.name == session.name && entry?.role == session.role
    }

    /// Throws after too many failures from this client, even for a valid token, which a guesser would recognise.
    private func mayTry(_ client: HTTPPeer, _ now: MonotonicTime) throws(Refused) {
        guard state.withLock({ $0.failures.allows(client, now: now) }) else { throw Self.tooMany }
    }

    /// Only failures count, so they never lock out a signed-in person: many people share a proxy's address.
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

extension StringProtocol {
    /// Without the spaces around it.
    var trimmed: String { String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()) }
}

/// A bounded table of ``RateLimiter``s, one for each key; the time is a parameter.
struct RateTable<Key: Hashable & Sendable>: Sendable {
    private let unused: RateLimiter
    private let most: Int
    private var limiters: [Key: RateLimiter] = [:]

    /// - Parameter most: the maximum number of keys; beyond it new keys have to wait.
    init(perSecond: Double, burst: Double, most: Int = 10_000) {
        unused = RateLimiter(perSecond: perSecond, burst: burst)
        self.most = most
    }

    /// Whether the key may act now; does not count.
    func allows(_ key: Key, now: MonotonicTime) -> Bool { limiters[key].map { $0.opens <= now } ?? true }

    /// Whether the key may act once more now; counts it.
    mutating func take(_ key: Key, now: MonotonicTime) -> Bool {
        if limiters.count >= most, limiters[key] == nil {
            limiters = limiters.filter { !$0.value.isUnused(now: now) }
            guard limiters.count < most else { return false }
        }
        var limiter = limiters[key] ?? unused
        guard limiter.opens <= now else { return false }
        limiter.take(now: now)
        limiters[key] = limiter
        return true
    }
}
