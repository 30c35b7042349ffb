import HeraldText
import HeraldTime
import Testing

@testable import HeraldConsole
@testable import HeraldHTTP

@Suite("Access to the console")
struct AccessTests {
    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test("A one-time key opens one session, and a newer key voids the previous one")
    func keys() {
        var table = SessionTable()
        let former = table.newOneTimeKey()
        let key = table.newOneTimeKey()
        var taken: [Bool] = []
        for shown in [former, "", key, key] { taken.append(table.takeOneTimeKey(shown)) }
        #expect(taken == [false, false, true, false])
        #expect(key.count == 64 && key != former)
    }

    @Test("A session ends after a working day, when it is closed, and when too many newer ones follow")
    func sessions() {
        var table = SessionTable()
        let first = table.open(name: "ann", role: .operator, token: nil, now: at(0))
        #expect(table.session(first, now: at(1))?.name == "ann")
        #expect(table.session(first, now: at(12 * 3_600 + 1)) == nil)
        let second = table.open(name: "bob", role: .viewer, token: nil, now: at(1))
        table.close(second)
        #expect(table.session(second, now: at(2)) == nil)
        for number in 0..<SessionTable.most {
            _ = table.open(name: "c", role: .viewer, token: nil, now: at(10 + Double(number)))
        }
        #expect(table.session(first, now: at(2_000)) == nil)
    }

    @Test("A rate allows a burst, then a number per second, for each key alone, and the table is bounded")
    func rates() {
        var table = RateTable<Int>(perSecond: 2, burst: 3, most: 4)
        var first: [Bool] = []
        for _ in 0..<5 { first.append(table.take(1, now: at(0))) }
        #expect(first == [true, true, true, false, false])
        let (early, other) = (table.take(1, now: at(0.4)), table.take(2, now: at(0.4)))
        #expect(!early && other)
        let (again, twice) = (table.take(1, now: at(0.5)), table.take(1, now: at(0.5)))
        #expect(again && !twice)
        for key in 3..<100 { _ = table.take(key, now: at(0.6)) }
        let newcomer = table.take(200, now: at(0.6))
        let later = table.take(200, now: at(60))
        #expect(!newcomer && later)
    }

    private func request(
        from peer: String, forwarded: [String] = [], token: String? = nil, cookie: String? = nil
    ) throws -> HTTPRequest {
        var headers = HTTPHeaderFields()
        headers.append(name: "Host", value: "localhost")
        for text in forwarded { headers.append(name: "x-forwarded-for", value: text) }
        if let token { headers.append(name: "Authorization", value: "Bearer \(token)") }
        if let cookie { headers.append(name: "Cookie", value: cookie) }
        return HTTPRequest(
            method: "GET", target: try #require(HTTPTarget(parsing: "/api/session")), headers: headers, body: [],
            peer: try #require(HTTPPeer(peer)))
    }

    @Test(
        "Behind trusted proxies the last untrusted address is the client; other proxies' headers are ignored",
        arguments: [
            ("192.0.2.1", ["198.51.100.1"], "192.0.2.1"), ("10.0.0.7", ["198.51.100.1"], "198.51.100.1"),
            ("10.0.0.7", ["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.7", ["203.0.113.9", "198.51.100.1, 10.1.2.3"], "198.51.100.1"),
            ("10.0.0.7", ["nonsense"], "10.0.0.7"), ("10.0.0.7", [], "10.0.0.7"),
            ("2001:db8::7", ["[2001:db9::1]:80"], "2001:db9::1"),
        ] as [(String, [String], String)])
    func forwarded(peer: String, header: [String], client: String) throws {
        let proxies = try ["10.0.0.0/8", "2001:db8::7"].map { try #require(HTTPNetwork($0)) }
        let found = ForwardedAddress(proxies: proxies).client(of: try request(from: peer, forwarded: header))
        #expect(found == HTTPPeer(client))
        for text in ["10.0.0.0/33", "10.0.0.0/", "x/8", "/8", "10.0.0.0/8/8"] { #expect(HTTPNetwork(text) == nil) }
    }

    private func makeGate(tokens file: TemporaryFile) throws -> Gate {
        Gate(
            rules: OriginRules(hosts: []), addresses: ForwardedAddress(proxies: []),
            tokens: try TokenFile(path: file.path) { _ in }, allowsChanges: false, operatorName: "root")
    }

    @Test("A guesser does not learn of a right guess; other clients and signed-in viewers are not affected")
    func guesser() throws {
        let file = try TemporaryFile("operator ann 01234567890123456789\n")
        let gate = try makeGate(tokens: file)
        let (secret, _, _) = try gate.signIn(
            "01234567890123456789", try request(from: "192.0.2.1"), now: at(0))
        let guess = try request(from: "192.0.2.1", token: "01234567890123456780")
        var statuses: [Int] = []
        for _ in 0..<20 {
            do throws(Refused) {
                _ = try gate.entrance(guess, cookie: "c", now: at(0))
            } catch { statuses.append(error.status) }
        }
        #expect(statuses == Array(repeating: 401, count: 10) + Array(repeating: 429, count: 10))
        let right = try request(from: "192.0.2.1", token: "01234567890123456789")
        #expect(throws: Refused.self) { try gate.entrance(right, cookie: "c", now: at(0)) }
        #expect(throws: Refused.self) { try gate.signIn("01234567890123456789", guess, now: at(0)) }
        let signedIn = try request(from: "192.0.2.1", cookie: "c=\(secret)")
        #expect(try gate.entrance(signedIn, cookie: "c", now: at(0)).viewer.name == "ann")
        let elsewhere = try request(from: "192.0.2.2", token: "01234567890123456789")
        #expect(try gate.entrance(elsewhere, cookie: "c", now: at(0)).viewer.name == "ann")
        #expect(try gate.entrance(right, cookie: "c", now: at(6)).viewer.name == "ann")
    }

    @Test("A stream of news ends with its token, or its session")
    func newsOfToken() throws {
        let file = try TemporaryFile("operator ann 01234567890123456789\nviewer bob abcdefghijabcdefghij\n")
        let gate = try makeGate(tokens: file)
        let news = ConsoleNews()
        let byToken = try request(from: "192.0.2.1", token: "abcdefghijabcdefghij")
        let stream = try #require(news.subscribe(try gate.entrance(byToken, cookie: "c", now: at(0))))
        news.beat { gate.isWelcome($0, now: at(1)) }
        #expect(stream.isOpen)
        try file.write("operator ann 01234567890123456789\n")
        news.beat { gate.isWelcome($0, now: at(2)) }
        #expect(!stream.isOpen)
    }

    @Test("One person's streams of news are limited over all sessions, and block no other person")
    func streams() {
        let news = ConsoleNews()
        func entrance(_ name: String, _ secret: String) -> Gate.Entrance {
            Gate.Entrance(
                viewer: Viewer(name: name, role: .viewer, allowsChanges: false), credential: .session(secret))
        }
        let ofAnn = (0..<50).compactMap { news.subscribe(entrance("ann", "session \($0)")) }
        #expect(ofAnn.count == ConsoleNews.mostOfPerson)
        #expect(news.subscribe(entrance("bob", "his")) != nil)
    }

    @Test("Only patterns of the same length match, and the value of a star is a parameter")
    func patterns() {
        let route = ConsoleRoute.get("/api/failures/letters/*") { _ in .json([:]) }
        #expect(route.parameters(of: ["api", "failures", "letters", "3:17"]) == ["3:17"])
        #expect(route.parameters(of: ["api", "failures", "letters"]) == nil)
        #expect(route.parameters(of: ["api", "failures", "letter", "3:17"]) == nil)
    }

    @Test("Viewers look, operators do what the console allows")
    func roles() {
        let routes = [
            ConsoleRoute.get("/a") { _ in .json([:]) }, .operate("/a") { _ in .json([:]) },
            .change("/a") { _ in .json([:]) },
        ]
        func may(_ role: Viewer.Role, _ allowsChanges: Bool) -> [Bool] {
            let viewer = Viewer(name: "ann", role: role, allowsChanges: allowsChanges)
            return routes.map { $0.refusal(of: viewer) == nil }
        }
        #expect(may(.viewer, true) == [true, false, false])
        #expect(may(.operator, false) == [true, true, false])
        #expect(may(.operator, true) == [true, true, true])
    }
}
