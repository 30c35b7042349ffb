import Foundation
import HeraldHTTP
import HeraldText
import HeraldThreads
import HeraldTools
import TestSupport
import Testing

@testable import HeraldConsole

/// A console with a few routes, and a client.
private struct ServedConsole {
    static let operatorToken = "operator-token-0123456789"
    static let viewerToken = "viewer-token-0123456789ab"

    let server: ConsoleServer
    let news = ConsoleNews()
    let tokens: TemporaryFile
    let links = Guarded<[String]>([])

    init(allowsChanges: Bool = true, hosts: [String] = []) throws {
        tokens = try TemporaryFile("operator ann \(Self.operatorToken)\nviewer bob \(Self.viewerToken)\n")
        var configuration = ConsoleServer.Configuration()
        configuration.links = ConsoleLinks(traces: "https://traces.example.com/{traceId}")
        configuration.port = 0
        configuration.hosts = hosts
        configuration.tokens = try TokenFile(path: tokens.path) { _ in }
        configuration.allowsChanges = allowsChanges
        configuration.operatorName = "root@here"
        let routes: [ConsoleRoute] = [
            .get("/api/echo/*") { request in
                .json(["parameter": .string(request.parameters[0]), "who": .string(request.viewer.name)])
            },
            .operate("/api/reveal") { request in .json(["bytes": .integer(request.body.count)]) },
            .change("/api/replay") { _ in .json(["done": true]) },
            .get("/api/broken/*") { request in
                switch request.parameters[0] {
                case "tool": throw ToolFailure("the <broker>\u{1B}[31m is away", kind: .unreachable)
                case "input": throw InputError("not like that", line: 3)
                default: throw POSIXError(.EIO)
                }
            },
        ]
        server = try ConsoleServer(configuration, routes: routes, news: news) { [links] key in
            links.withLock { $0.append(key) }
        }
    }

    /// Sends a request with a token, as a script does.
    func ask(
        _ method: String, _ path: String, token: String? = nil, headers: [String: String] = [:], body: String? = nil
    ) throws -> PlainHTTP.Answer {
        var all = headers
        if let token { all["Authorization"] = "Bearer \(token)" }
        return try PlainHTTP.request(port: server.port, method, path, headers: all, body: body)
    }

    /// Signs in as the page does; returns the cookie.
    func cookie(_ key: String) throws -> String {
        let answer = try ask(
            "POST", "/api/session", headers: ["Origin": "http://127.0.0.1"], body: #"{"key":"\#(key)"}"#)
        try #require(answer.status == 200, "\(answer.text)")
        let cookie = try #require(answer.headers["set-cookie"])
        #expect(cookie.contains("; HttpOnly; SameSite=Strict") && cookie.contains("Path=/"))
        return String(cookie.prefix { $0 != ";" })
    }
}

@Suite("The console's server")
struct ConsoleServerTests {
    @Test("Without a token only the page is shown, and nothing is done")
    func noToken() throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        for (method, path) in [
            ("GET", "/api/session"), ("GET", "/api/echo/x"), ("GET", "/api/news"), ("POST", "/api/replay"),
            ("POST", "/api/session/end"), ("GET", "/api/there-is-none"),
        ] {
            let answer = try console.ask(method, path, headers: ["Origin": "http://127.0.0.1"], body: "{}")
            #expect(answer.status == 401, "\(method) \(path)")
            #expect(answer.text == #"{"error":"sign in first"}"#)
        }
        for path in ["/", "/failures/letters/3:17?where=x", "/Frame/shell.js", "/Frame/console.css"] {
            #expect(try console.ask("GET", path).status == 200, "\(path)")
        }
        #expect(try console.ask("GET", "/../Package.swift").status == 404)
        #expect(try console.ask("GET", "/Pages/%2e%2e/Frame/index.html").status == 404)
        let wrong = try console.ask("GET", "/api/echo/x", token: "operator-token-0123456780")
        #expect(wrong.status == 401)
    }

    @Test("A one-time link signs one browser in, and the next link is announced")
    func oneTimeLink() throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        let key = console.server.newOneTimeKey()
        let cookie = try console.cookie(key)
        let session = try console.ask("GET", "/api/session", headers: ["Cookie": "other=1; \(cookie)"])
        let links = #"{"traces":"https://traces.example.com/{traceId}","alerts":null}"#
        #expect(
            session.text
                == #"{"name":"root@here","role":"operator","canChange":true,"links":\#(links),"obeysWords":false}"#)
        let again = try console.ask(
            "POST", "/api/session", headers: ["Origin": "http://127.0.0.1"], body: #"{"key":"\#(key)"}"#)
        #expect(again.status == 401)
        _ = try console.cookie(try #require(console.links.withLock { $0.last }))
        let end = try console.ask(
            "POST", "/api/session/end", headers: ["Cookie": cookie, "Origin": "http://127.0.0.1"], body: "{}")
        #expect(end.status == 200)
        #expect(try console.ask("GET", "/api/session", headers: ["Cookie": cookie]).status == 401)
    }

    @Test("A link with another person's token signs in no browser")
    func tokenInLink() throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        for (key, status) in [(ServedConsole.viewerToken, 401), (console.server.newOneTimeKey(), 200)] {
            let answer = try console.ask(
                "POST", "/api/session", headers: ["Origin": "http://127.0.0.1"], body: #"{"key":"\#(key)","link":true}"#
            )
            #expect(answer.status == status && (answer.headers["set-cookie"] != nil) == (status == 200))
        }
    }

    @Test("A link changes the name of a signed-in browser only with its person's consent")
    func linkAnew() throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        let headers = ["Origin": "http://127.0.0.1", "Cookie": try console.cookie(ServedConsole.viewerToken)]
        let key = console.server.newOneTimeKey()
        let body = #"{"key":"\#(key)","link":true"#
        let unasked = try console.ask("POST", "/api/session", headers: headers, body: body + "}")
        #expect(unasked.status == 409 && unasked.text.contains("this browser is signed in as bob"))
        #expect(unasked.headers["set-cookie"] == nil)
        #expect(try console.ask("POST", "/api/session", headers: headers, body: body + #","anew":true}"#).status == 200)
    }

    @Test("Removing a line from the file shuts its holder out at once, session and token")
    func tokenWithdrawn() throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        let cookie = try console.cookie(ServedConsole.viewerToken)
        #expect(try console.ask("GET", "/api/echo/x", headers: ["Cookie": cookie]).status == 200)
        try console.tokens.write("operator ann \(ServedConsole.operatorToken)\n")
        #expect(try console.ask("GET", "/api/echo/x", headers: ["Cookie": cookie]).status == 401)
        #expect(try console.ask("GET", "/api/echo/x", token: ServedConsole.viewerToken).status == 401)
        #expect(try console.ask("GET", "/api/echo/x", token: ServedConsole.operatorToken).status == 200)
    }

    @Test("A viewer is refused an operator's actions, and everyone those the console does not allow")
    func roles() throws {
        let console = try ServedConsole(allowsChanges: false)
        defer { console.server.stop() }
        let viewer = try console.ask("POST", "/api/reveal", token: ServedConsole.viewerToken, body: "{}")
        #expect(viewer.status == 403 && viewer.text.contains("only an operator may do that; bob is a viewer"))
        #expect(try console.ask("POST", "/api/reveal", token: ServedConsole.operatorToken, body: "{}").status == 200)
        let change = try console.ask("POST", "/api/replay", token: ServedConsole.operatorToken, body: "{}")
        #expect(
            change.status == 403 && change.text.contains("this console is read-only; start it with --allow-changes"))
        #expect(try console.ask("GET", "/api/replay", token: ServedConsole.operatorToken).status == 405)
    }

    @Test(
        "A foreign host name (DNS rebinding) gets nothing at all",
        arguments: [
            "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "[::1].evil.example",
            "evil.example:9465",
        ])
    func rebinding(host: String) throws {
        let console = try ServedConsole(hosts: ["herald.example"])
        defer { console.server.stop() }
        for path in ["/", "/shell.js", "/api/session", "/api/echo/x"] {
            let connection = try PlainHTTP(port: console.server.port)
            try connection.send(
                "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer \(ServedConsole.operatorToken)\r\n\r\n")
            #expect(try connection.readAnswer().status == 403)
        }
        for known in ["herald.example", "HERALD.example:443", "localhost:1", "[::1]:1", "10.0.0.7"] {
            let connection = try PlainHTTP(port: console.server.port)
            try connection.send("GET / HTTP/1.1\r\nHost: \(known)\r\n\r\n")
            #expect(try connection.readAnswer().status == 200, "\(known)")
        }
    }

    @Test("Another site's page can do nothing with a signed-in viewer's cookie")
    func foreignOrigin() throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        let cookie = try console.cookie(ServedConsole.operatorToken)
        let foreign: [[String: String]] = [
            ["Origin": "https://evil.example"], ["Origin": "null"], ["Origin": "http://127.0.0.1:1"], [:],
            ["Origin": "http://127.0.0.1", "Sec-Fetch-Site": "cross-site"],
            ["Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-site"],
        ]
        for headers in foreign {
            let answer = try console.ask(
                "POST", "/api/replay", headers: headers.merging(["Cookie": cookie]) { $1 }, body: "{}")
            #expect(answer.status == 403, "\(headers)")
        }
        for headers in [["Origin": "https://evil.example"], ["Sec-Fetch-Site": "cross-site"]] {
            // In any spelling of the path.
            for path in ["/api/echo/x", "/%61pi/echo/x", "/ap%69/echo/x"] {
                let answer = try console.ask("GET", path, headers: headers.merging(["Cookie": cookie]) { $1 })
                #expect(answer.status == 403, "\(path) \(headers)")
            }
        }
        let own = try console.ask(
            "POST", "/api/replay",
            headers: ["Cookie": cookie, "Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"], body: "{}")
        #expect(own.status == 200)
    }

    @Test("Every answer tells the browser to load nothing from elsewhere, run nothing inline and store nothing")
    func headers() throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        for path in ["/", "/shell.js", "/api/session", "/api/echo/x", "/none", "/api/broken/other", "/api/none"] {
            let answer = try console.ask("GET", path, token: ServedConsole.operatorToken)
            let policy = try #require(answer.headers["content-security-policy"], "\(path)")
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'"))
            #expect(policy.contains("frame-ancestors 'none'") && policy.contains("require-trusted-types-for 'script'"))
            #expect(!policy.contains("unsafe"))
            #expect(
                answer.headers["cache-control"] == "no-store" && answer.headers["x-content-type-options"] == "nosniff")
            #expect(answer.headers["access-control-allow-origin"] == nil)
        }
    }

    @Test("A failure is a sentence with a suitable status, without control characters")
    func failures() throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        let tool = try console.ask("GET", "/api/broken/tool", token: ServedConsole.viewerToken)
        #expect(tool.status == 503 && tool.text == #"{"error":"the <broker>\\u{1B}[31m is away"}"#)
        #expect(tool.headers["content-type"] == "application/json; charset=utf-8")
        let input = try console.ask("GET", "/api/broken/input", token: ServedConsole.viewerToken)
        #expect(input.status == 400 && input.text == #"{"error":"line 3: not like that"}"#)
        #expect(try console.ask("GET", "/api/broken/other", token: ServedConsole.viewerToken).status == 500)
        let echo = try console.ask("GET", "/api/echo/%3Cscript%3E%22", token: ServedConsole.viewerToken)
        #expect(echo.text == #"{"parameter":"<script>\"","who":"bob"}"#)
    }

    @Test("A body of a gigabyte is refused before it is sent, one without a size before it is kept")
    func largeBody() throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        let connection = try PlainHTTP(port: console.server.port)
        try connection.send(
            "POST /api/reveal HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(ServedConsole.operatorToken)\r\n"
                + "Content-Length: 1073741824\r\n\r\n")
        #expect(try connection.readAnswer().status == 413)
        let chunked = try PlainHTTP(port: console.server.port)
        try chunked.send(
            "POST /api/reveal HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(ServedConsole.operatorToken)\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n")
        let piece = "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n"
        #expect(throws: PlainHTTP.Failure.closed) {
            for _ in 0..<16_384 { try chunked.send(piece) }
        }
        let whole = String(repeating: "x", count: 2 << 20)
        let most = try console.ask("POST", "/api/reveal", token: ServedConsole.operatorToken, body: whole)
        #expect(most.status == 200 && most.text == #"{"bytes":2097152}"#)
    }

    @Test("A guesser has to wait, even with the right token; signed-in viewers at that address go on")
    func guesses() throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        let cookie = try console.cookie(ServedConsole.operatorToken)
        var statuses: [Int] = []
        for _ in 0..<30 {
            statuses.append(
                try console.ask(
                    "POST", "/api/session", headers: ["Origin": "http://127.0.0.1"], body: #"{"key":"guess"}"#
                ).status)
        }
        #expect(statuses.contains(429) && statuses.first == 401)
        #expect(statuses.count { $0 == 401 } < 25)
        #expect(try console.ask("GET", "/api/echo/x", headers: ["Cookie": cookie]).status == 200)
    }

    @Test(
        "A body beyond 4 KiB is read only from operators",
        arguments: [
            ("/api/reveal", nil, 401), ("/api/reveal", "no-token-of-anybody-here", 401),
            ("/api/reveal", ServedConsole.viewerToken, 413), ("/api/session", nil, 413), ("/", nil, 413),
            ("/api/session/end", nil, 401),
        ] as [(String, String?, Int)])
    func unknownBody(path: String, token: String?, status: Int) throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let connection = try PlainHTTP(port: console.server.port)
        // The answer comes before the body.
        try connection.send(
            "POST \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\n\(authorization)"
                + "Content-Length: 2000000\r\n\r\n")
        #expect(try connection.readAnswer().status == status)
    }

    @Test("Too many requests are refused with 429")
    func tooMuch() throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        let cookie = try console.cookie(ServedConsole.operatorToken)
        let connection = try PlainHTTP(port: console.server.port)
        let statuses = try (0..<5_000).map { _ in
            try connection.request("GET", "/api/session", headers: ["Cookie": cookie]).status
        }
        #expect(statuses.contains(429) && statuses[0..<300].allSatisfy { $0 == 200 })
    }

    @Test("A thousand connections of one address are bounded, and the console answers when they are gone")
    func thousandConnections() throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        let mine = try PlainHTTP(port: console.server.port)
        #expect(try mine.request("GET", "/").status == 200)
        var many = (0..<1_000).compactMap { _ in try? PlainHTTP(port: console.server.port) }
        for connection in many { try? connection.sendRequest("GET", "/api/session") }
        #expect(throws: PlainHTTP.Failure.self) { try console.ask("GET", "/") }
        // An earlier client is served meanwhile.
        #expect(try mine.request("GET", "/").status == 200)
        many.removeAll()
        let end = ContinuousClock.now + .seconds(Patience.seconds)
        while (try? console.ask("GET", "/").status) != 200, ContinuousClock.now < end {}
        #expect(try console.ask("GET", "/").status == 200)
    }

    @Test("News come to every tab: the current values first, then changes, and nothing after signing out")
    func news() async throws {
        let console = try ServedConsole()
        defer { console.server.stop() }
        let cookie = try console.cookie(ServedConsole.viewerToken)
        console.news.publish("verdict", ["sentence": "a\nb"])
        let tabs = try (0..<3).map { _ in
            let tab = try PlainHTTP(port: console.server.port)
            try tab.sendRequest("GET", "/api/news", headers: ["Cookie": cookie])
            #expect(try tab.read(through: "\r\n\r\n").contains("text/event-stream"))
            return tab
        }
        for tab in tabs { _ = try tab.read(through: "event: verdict\ndata: {\"sentence\":\"a\\nb\"}\n\n") }
        console.news.publish("verdict", ["sentence": "a\nb"])
        console.news.publish("verdict", ["sentence": "c"])
        for tab in tabs {
            #expect(!(try tab.read(through: "data: {\"sentence\":\"c\"}\n\n")).contains("a\\nb"))
        }
        let end = try console.ask(
            "POST", "/api/session/end", headers: ["Cookie": cookie, "Origin": "http://127.0.0.1"], body: "{}")
        #expect(end.status == 200, "\(end.text)")
        // The last chunk: the stream has ended, and the connection is free for another request.
        for tab in tabs {
            _ = try await Blocking.run { [tab = Unchecked(tab)] in try tab.value.read(through: "\r\n0\r\n\r\n") }
        }
    }

    /// Used by one thread at a time.
    private struct Unchecked<Value>: @unchecked Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }
}
