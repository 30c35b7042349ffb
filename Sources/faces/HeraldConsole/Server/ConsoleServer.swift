package import HeraldHTTP
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime

/// The console: its page, its interface, and the access to them.
///
/// | path | answers |
/// |---|---|
/// | `/`, `/PAGE…` | the page; it shows nothing before signing in |
/// | `/api/session` | the signed-in viewer; POST with a key or token signs in, `/api/session/end` out |
/// | `/api/news` | server-sent events |
/// | `/api/…` | the routes of the parts |
///
/// Handlers of routes run on their own threads, so that they never block the server.
package final class ConsoleServer: Sendable {
    package struct Configuration: Sendable {
        package var host = "127.0.0.1"
        package var port: UInt16 = 9_465
        /// Names it answers to beside addresses and localhost.
        package var hosts: [String] = []
        /// Proxies whose `X-Forwarded-For` is trusted.
        package var trustedProxies: [HTTPNetwork] = []
        package var tokens: TokenFile?
        package var allowsChanges = false
        /// The name of a one-time link's user, for the audit.
        package var operatorName = ""
        package var links = ConsoleLinks()
        /// Whether the settings have workers obey what users said, and recalls.
        package var obeysWords = false

        package init() {}
    }

    private static let connectionLimit = 256
    /// One network cannot take all connections, so others still get in.
    private static let connectionLimitOfNetwork = 192
    private static let reservedConnections = 32
    private static let idleSeconds = 30
    private static let bodyLimitBytes = 2 << 20
    /// The body limit of a client not signed in as operator: enough for a key, a token or nothing.
    fileprivate static let smallBodyBytes = 4_096
    private static let threadCount = 16
    private static let beat = Duration.seconds(5)

    var port: UInt16 { server.port }
    var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private let host: String
    private let server: HTTPServer
    private let service: Service
    private let beating: RepeatedWork

    /// Listens and serves.
    ///
    /// - Parameter onLinkUse: called with the next link's key when a one-time link was used.
    init(
        _ configuration: Configuration, routes: [ConsoleRoute], news: ConsoleNews,
        onLinkUse: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        var settings = HTTPServer.Configuration()
        settings.host = configuration.host
        settings.port = configuration.port
        settings.connectionLimit = Self.connectionLimit
        settings.connectionLimitOfNetwork = Self.connectionLimitOfNetwork
        settings.reservedConnections = Self.reservedConnections
        settings.idleTimeoutSeconds = Self.idleSeconds
        settings.bodyLimitBytes = Self.bodyLimitBytes
        let gate = Gate(
            rules: OriginRules(hosts: configuration.hosts),
            addresses: ForwardedAddress(proxies: configuration.trustedProxies), tokens: configuration.tokens,
            allowsChanges: configuration.allowsChanges, operatorName: configuration.operatorName)
        let service = Service(
            gate: gate, threads: try WorkerThreads(name: "console", count: Self.threadCount),
            links: configuration.links, obeysWords: configuration.obeysWords, routes: routes, news: news,
            onLinkUse: onLinkUse)
        self.service = service
        host = configuration.host
        beating = try RepeatedWork(name: "console-beat", every: Self.beat) { [tokens = configuration.tokens] in
            let now = SystemClock.monotonic()
            // Mistakes in it are reported even without requests.
            _ = tokens?.entries(now: now)
            news.beat { gate.isWelcome($0, now: now) }
        }
        settings.bodyRule = { service.bodyDecision(on: $0) }
        server = try HTTPServer(settings) { service.answer($0).hardened }
    }

    /// The key of a one-time link; it voids the previous one.
    func newOneTimeKey() -> String { service.gate.newOneTimeKey() }

    /// Closes the port, and waits for running handlers.
    func stop() {
        beating.stop()
        server.stop()
        service.threads.stop()
    }
}

extension HTTPAnswer {
    /// The answer with the security headers common to all answers of the console.
    fileprivate var hardened: HTTPAnswer {
        switch self {
        case .respond(let response): .respond(response.hardened)
        case .stream(let response, let stream): .stream(response.hardened, stream)
        default: self
        }
    }
}

extension HTTPResponse {
    /// Loads nothing from elsewhere, runs nothing inline, cannot be framed, and stores nothing.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

    fileprivate var hardened: HTTPResponse {
        var response = self
        if headers["Content-Security-Policy"] == nil {
            response.headers.append(name: "Content-Security-Policy", value: Self.policy)
        }
        for (name, value) in [
            ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
        ] { response.headers.append(name: name, value: value) }
        return response
    }
}

private struct Service: Sendable {
    let gate: Gate
    let threads: WorkerThreads
    let links: ConsoleLinks
    let obeysWords: Bool
    let routes: [ConsoleRoute]
    let news: ConsoleNews
    let onLinkUse: @Sendable (String) -> Void

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        do throws(Refused) {
            try gate.check(request)
            let segments = request.target.segments
            guard segments.first == "api" else {
                guard request.method == "GET" || request.method == "HEAD" else {
                    throw Refused("only GET and HEAD", status: 405)
                }
                return .respond(PageFiles.response(segments) ?? .text("there is no such page\n", status: 404))
            }
            return try interface(request, Array(segments.dropFirst()))
        } catch {
            return .respond(ConsoleAnswer.refused(error).response)
        }
    }

    /// Whether a client may send a large body, decided before any of it is kept.
    func bodyDecision(on head: HTTPRequest) -> HTTPBodyDecision {
        do throws(Refused) {
            try gate.check(head)
            let small = HTTPBodyDecision.read(limitBytes: ConsoleServer.smallBodyBytes)
            let segments = head.target.segments
            guard segments.first == "api", segments != ["api", "session"] else { return small }
            let entrance = try gate.identify(head, cookie: cookieName(head), now: SystemClock.monotonic())
            return entrance.viewer.role == .operator ? .read(limitBytes: .max) : small
        } catch {
            return .refuse(ConsoleAnswer.refused(error).response.hardened)
        }
    }

    private func interface(_ request: HTTPRequest, _ path: [String]) throws(Refused) -> HTTPAnswer {
        let now = SystemClock.monotonic()
        if path == ["session"], request.method == "POST" { return .respond(try signIn(request, now)) }
        let entrance = try gate.entrance(request, cookie: cookieName(request), now: now)
        switch (request.method, path) {
        case ("GET", ["session"]): return .respond(answer(to: entrance.viewer))
        case ("POST", ["session", "end"]): return .respond(signOut(entrance, request))
        case ("GET", ["news"]):
            guard let stream = news.subscribe(entrance) else {
                throw Refused("too many tabs are open", status: 429)
            }
            return .stream(HTTPResponse(status: 200, headers: ["Content-Type": "text/event-stream"]), stream)
        default: return try routed(request, path, entrance.viewer)
        }
    }

    private func routed(
        _ request: HTTPRequest, _ path: [String], _ viewer: Viewer
    ) throws(Refused) -> HTTPAnswer {
        let all = ["api"] + path
        let matches = routes.compactMap { route in route.parameters(of: all).map { (route, $0) } }
        guard !matches.isEmpty else { throw Refused("there is nothing at this address", status: 404) }
        let method = request.method == "HEAD" ? "GET" : request.method
        guard let (route, parameters) = matches.first(where: { $0.0.method == method }) else {
            throw Refused("\(request.method) is not for this address", status: 405)
        }
        if let sentence = route.refusal(of: viewer) { throw Refused(sentence, status: 403) }
        let asked = ConsoleRequest(
            path: path, viewer: viewer, query: request.target.parameters.map { ($0.name, $0.value) },
            body: request.body, parameters: parameters)
        return .respondWhenReady { [threads] responder in
            let isTaken = threads.run { responder.respond(Self.handled(asked, route).response.hardened) }
            guard !isTaken else { return }
            let refused = Refused("the console is busy; try again in a moment", status: 503)
            responder.respond(ConsoleAnswer.refused(refused).response.hardened)
        }
    }

    private static func handled(_ request: ConsoleRequest, _ route: ConsoleRoute) -> ConsoleAnswer {
        do {
            return try route.handler(request)
        } catch {
            return .refused(Refused(error))
        }
    }
}

extension Service {
    private struct Key: Decodable {
        var key: String
        /// Whether it comes from a link.
        var link: Bool?
        /// Whether a signed-in person wants to sign in under another name.
        var anew: Bool?
    }

    private func signIn(_ request: HTTPRequest, _ now: MonotonicTime) throws(Refused) -> HTTPResponse {
        let body = ConsoleRequest(
            path: [], viewer: Viewer(name: "", role: .viewer, allowsChanges: false), body: request.body)
        guard let key = try? body.decoded(Key.self) else {
            throw Refused("send {\"key\": …} with the link's key or your token", status: 400)
        }
        let isLink = key.link ?? false
        // A foreign page may have led to the link: the signed-in name never changes without a question.
        if isLink, key.anew != true, let entrance = try? gate.identify(request, cookie: cookieName(request), now: now) {
            throw Refused("this browser is signed in as \(entrance.viewer.name)", status: 409)
        }
        let (secret, viewer, next) = try gate.signIn(key.key, isLink: isLink, request, now: now)
        if let next { onLinkUse(next) }
        var response = answer(to: viewer)
        response.headers.append(name: "Set-Cookie", value: cookie(request, secret, seconds: 12 * 3_600))
        return response
    }

    private func signOut(_ entrance: Gate.Entrance, _ request: HTTPRequest) -> HTTPResponse {
        if case .session(let secret) = entrance.credential { gate.signOut(secret) }
        var response = HTTPResponse.json(Array("{}".utf8))
        response.headers.append(name: "Set-Cookie", value: cookie(request, "", seconds: 0))
        return response
    }

    /// Cookies do not distinguish ports, so two consoles on one machine need different names.
    private func cookieName(_ request: HTTPRequest) -> String {
        let host = request.headers["Host"] ?? ""
        let port = host.split(separator: ":").last.flatMap { UInt16($0) }
        return port.map { "herald-console-\($0)" } ?? "herald-console"
    }

    private func cookie(_ request: HTTPRequest, _ value: String, seconds: Int) -> String {
        // The page's origin shows a proxy in front that speaks TLS.
        let isSecure = request.headers["Origin"]?.lowercased().hasPrefix("https://") ?? false
        return "\(cookieName(request))=\(value); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(seconds)"
            + (isSecure ? "; Secure" : "")
    }
}

extension Service {
    /// Who is signed in, and what the page has to know of this console.
    private func answer(to viewer: Viewer) -> HTTPResponse {
        ConsoleAnswer.json([
            "name": .string(viewer.name), "role": .string(viewer.role.rawValue), "canChange": .bool(viewer.canChange),
            "links": ["traces": .text(links.traces), "alerts": .text(links.alerts)], "obeysWords": .bool(obeysWords),
        ]).response
    }
}

/// The addresses of traces and alerts outside the console; `nil` shows no link.
package struct ConsoleLinks: Sendable, Equatable {
    /// The placeholders for a trace's id and an alert's name.
    package static let traceName = "{traceId}"
    package static let alertName = "{alert}"

    package var traces: String?
    package var alerts: String?

    package init(traces: String? = nil, alerts: String? = nil) {
        self.traces = traces
        self.alerts = alerts
    }

    /// Whether it is a web address with the placeholder after its host, so that a value cannot change the target.
    package static func isTemplate(_ text: String, naming name: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
        let rest = text.dropFirst(scheme.count)
        guard let path = rest.firstIndex(where: { "/?#".contains($0) }), path > rest.startIndex else { return false }
        return !rest[..<path].contains("{") && rest[path...].contains(name)
    }
}
