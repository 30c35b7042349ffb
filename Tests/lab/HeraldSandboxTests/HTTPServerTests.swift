import Foundation
import HeraldHTTP
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@Suite("The HTTP server")
struct HTTPServerTests {
    @Test(
        "answers with the handler's status, headers and body, repeatedly on one connection")
    func answers() throws {
        let server = try HTTPServer { request in
            .respond(HTTPResponse(status: 201, headers: ["X-Method": request.method], body: request.body))
        }
        let client = try PlainHTTP(port: server.port)
        for text in ["one", "", String(repeating: "x", count: 60_000)] {
            let answer = try client.request("POST", "/", body: text)
            #expect(answer.status == 201)
            #expect(answer.headers["x-method"] == "POST")
            #expect(answer.text == text)
        }
        server.stop()
    }

    @Test("answers with a file's content, to several clients, and closes the file with the last answer")
    func file() throws {
        let text = String(repeating: "0123456789\n", count: 100_000)
        var path = Array("\(FileManager.default.temporaryDirectory.path)/file-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        unlink(path)
        try #require(
            text.utf8CString.withUnsafeBytes { write(descriptor, $0.baseAddress, text.utf8.count) } == text.utf8.count)
        let file = HTTPFile(takingOver: descriptor, byteCount: text.utf8.count)
        let server = try HTTPServer { _ in .respond(HTTPResponse(status: 200, headers: ["X-A": "b"], file: file)) }
        for _ in 0..<2 {
            let client = try PlainHTTP(port: server.port)
            for _ in 0..<2 {
                let answer = try client.request("GET", "/")
                #expect(answer.status == 200 && answer.headers["x-a"] == "b")
                #expect(answer.headers["content-length"] == "\(text.utf8.count)" && answer.text == text)
            }
        }
        server.stop()
    }

    @Test("hands over the path as sent, its decoded segments and every query parameter, including repeated ones")
    func target() throws {
        let seen = Guarded<HTTPTarget?>(nil)
        let server = try HTTPServer(responding: { request in
            seen.withLock { $0 = request.target }
            return .text("ok")
        })
        _ = try PlainHTTP.request(
            port: server.port, "GET", "/api/inbox/https%3A%2F%2Fa.b%2F%3Ft%3D1+2?a=1+2&a=1%2B2&b&=c&%C3%BC=%F0%9F%98%80"
        )
        let target = try #require(seen.withLock { $0 })
        #expect(target.path == "/api/inbox/https%3A%2F%2Fa.b%2F%3Ft%3D1+2")
        #expect(target.segments == ["api", "inbox", "https://a.b/?t=1+2"])
        #expect(target.values(of: "a") == ["1 2", "1+2"])
        #expect(target.values(of: "b") == [""])
        #expect(target.values(of: "ü") == ["😀"])
        #expect(target.parameters.count == 5)
    }

    @Test(
        "reads targets in every form",
        arguments: [
            ("/", ["" as String]), ("/a//b/", ["a", "", "b", ""]), ("http://host:80/a?b", ["a"]), ("http://host", [""]),
            ("*", []), ("/a:b/c", ["a:b", "c"]),
        ])
    func targetForms(target: String, segments: [String]) throws {
        #expect(try #require(HTTPTarget(parsing: target)).segments == segments)
    }

    @Test("answers 400 to bad percent-encoding", arguments: ["/%", "/%4", "/%zz", "/%ff", "/?a=%", "/?%C3=1"])
    func badPercentEncoding(target: String) throws {
        let server = try HTTPServer(responding: { _ in .text("reached") })
        #expect(try PlainHTTP.request(port: server.port, "GET", target).status == 400)
    }

    @Test("finds headers regardless of case and keeps repeated ones")
    func headers() throws {
        let server = try HTTPServer(responding: { request in
            let all = request.headers.fields.filter { $0.name.lowercased() == "x-twice" }.map(\.value)
            return .text("\(request.headers["x-ONE"] ?? "none") \(all) \(request.headers["x-on"] ?? "none")")
        })
        let client = try PlainHTTP(port: server.port)
        try client.send("GET / HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nX-Twice: a\r\nx-twice: b\r\n\r\n")
        #expect(try client.readAnswer().text == #"1 ["a", "b"] none"#)
    }

    @Test("answers 413 to a body over the limit, announced or in chunks, and keeps serving")
    func bodyLimit() throws {
        var configuration = HTTPServer.Configuration()
        configuration.bodyLimitBytes = 10
        let server = try HTTPServer(configuration, responding: { .text("\($0.body.count)") })
        #expect(try PlainHTTP.request(port: server.port, "POST", "/", body: "0123456789").text == "10")
        #expect(try PlainHTTP.request(port: server.port, "POST", "/", body: "0123456789a").status == 413)
        let chunked = try PlainHTTP(port: server.port)
        try chunked.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        try chunked.send("8\r\n01234567\r\n8\r\n01234567\r\n0\r\n\r\n")
        #expect(try chunked.readAnswer().status == 413)
        #expect(try chunked.request("POST", "/", body: "ok").text == "2")
    }

    @Test("hangs up on an endless body")
    func endlessBody() throws {
        let server = try HTTPServer(responding: { _ in .text("reached") })
        let client = try PlainHTTP(port: server.port)
        try client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
        #expect(throws: PlainHTTP.Failure.closed) {
            for _ in 0..<100 { try client.send(chunk) }
            try client.waitUntilClosed()
            throw PlainHTTP.Failure.closed
        }
    }

    @Test("answers later without blocking others, each at its own time")
    func later() throws {
        let server = try HTTPServer { request in
            let wait = Int(request.target.segments.first ?? "") ?? 0
            return .respondLater(.text("waited \(wait)"), after: .milliseconds(wait))
        }
        let start = SystemClock.monotonic()
        let slow = try PlainHTTP(port: server.port)
        try slow.sendRequest("GET", "/1300")
        let middle = try PlainHTTP(port: server.port)
        try middle.sendRequest("GET", "/300")
        #expect(try PlainHTTP.request(port: server.port, "GET", "/0").text == "waited 0")
        #expect(try middle.readAnswer().text == "waited 300")
        #expect(SystemClock.monotonic().time(since: start) >= .milliseconds(300))
        #expect(try slow.readAnswer().text == "waited 1300")
        #expect(SystemClock.monotonic().time(since: start) >= .milliseconds(1_300))
        #expect(try slow.request("GET", "/1").text == "waited 1")
    }

    @Test("answers when another thread does, late if that asks for it, and only once")
    func whenReady() throws {
        let server = try HTTPServer { request in
            .respondWhenReady { responder in
                Thread.detachNewThread {
                    let isLate = request.target.path == "/late"
                    responder.respond(.text("first"), after: isLate ? .milliseconds(50) : .zero)
                    responder.respond(.text("second"))
                }
            }
        }
        for path in ["/at-once", "/late"] {
            let begin = ContinuousClock.now
            let answer = try PlainHTTP.request(port: server.port, "GET", path)
            #expect(answer.status == 200 && answer.body == Array("first".utf8))
            if path == "/late" { #expect(ContinuousClock.now - begin >= .milliseconds(50)) }
        }
        server.stop()
    }

    @Test(
        "answers at once when the closure does, and ignores an answer after the server's end")
    func whenReadyAtOnce() async throws {
        let kept = Guarded<[HTTPResponder]>([])
        let server = try HTTPServer { request in
            .respondWhenReady { responder in
                if request.target.path == "/kept" {
                    kept.withLock { $0.append(responder) }
                } else {
                    responder.respond(.text("done"))
                }
            }
        }
        #expect(try PlainHTTP.request(port: server.port, "GET", "/").body == Array("done".utf8))
        let client = try PlainHTTP(port: server.port)
        try client.sendRequest("GET", "/kept")
        #expect(try await eventually { kept.withLock { $0.count } == 1 })
        server.stop()
        try client.waitUntilClosed()
        for responder in kept.withLock({ $0 }) { responder.respond(.text("too late")) }
    }

    @Test("closes the connection without an answer on request")
    func hangUp() throws {
        let server = try HTTPServer { _ in .hangUp() }
        let client = try PlainHTTP(port: server.port)
        try client.sendRequest("GET", "/")
        #expect(throws: PlainHTTP.Failure.closed) { try client.readAnswer() }
    }

    @Test("stops at once with waiting, hanging and silent connections")
    func stopsWithWaiting() throws {
        let server = try HTTPServer {
            $0.target.path == "/hang" ? .hang : .respondLater(.text(""), after: .seconds(60))
        }
        let clients = try (0..<20).map { _ in try PlainHTTP(port: server.port) }
        for (index, client) in clients.enumerated() where index % 3 > 0 {
            try client.sendRequest("GET", index % 3 == 1 ? "/hang" : "/later")
        }
        server.stop()
        for client in clients { try client.waitUntilClosed() }
    }

    @Test("releases a hanging connection when its client leaves")
    func clientLeaves() throws {
        var configuration = HTTPServer.Configuration()
        configuration.connectionLimit = 2
        let server = try HTTPServer(configuration) { $0.target.path == "/hang" ? .hang : .respond(.text("here")) }
        for _ in 0..<10 {
            // Two places, one of which hangs in each round: without the release the third round finds none.
            let hanging = try PlainHTTP(port: server.port)
            try hanging.sendRequest("GET", "/hang")
            #expect(try PlainHTTP.request(port: server.port, "GET", "/").text == "here")
        }
    }

    @Test("answers every client when it is full, each once there is a place")
    func full() throws {
        var configuration = HTTPServer.Configuration()
        configuration.connectionLimit = 4
        let isHeld = try Wakeup()
        let mayGoOn = try Wakeup()
        let server = try HTTPServer(configuration) { request in
            if request.target.path == "/held" {
                isHeld.signal()
                _ = mayGoOn.wait(for: .seconds(Patience.seconds))
            }
            return .respond(.text("here"))
        }
        let held = try PlainHTTP(port: server.port)
        try held.sendRequest("GET", "/held")
        #expect(isHeld.wait(for: .seconds(Patience.seconds)))
        // None of them is served before that, and no place becomes free.
        var waiting = try (0..<12).map { _ in try PlainHTTP(port: server.port) }
        for client in waiting { try client.sendRequest("GET", "/") }
        mayGoOn.signal()
        #expect(try held.readAnswer().text == "here")
        while !waiting.isEmpty { #expect(try waiting.removeFirst().readAnswer().text == "here") }
    }

    @Test("serves beside hundreds of silent clients, and beside half a request")
    func silentClients() throws {
        let server = try HTTPServer(responding: { _ in .text("here") })
        let silent = try (0..<200).map { _ in try PlainHTTP(port: server.port) }
        for client in silent.prefix(100) { try client.send("POST / HTTP/1.1\r\nContent-Le") }
        for _ in 0..<10 { #expect(try PlainHTTP.request(port: server.port, "GET", "/").text == "here") }
        _ = silent.count
    }

    @Test("closes a silent connection after the idle time-out")
    func idleTimeout() throws {
        var configuration = HTTPServer.Configuration()
        configuration.idleTimeoutSeconds = 1
        let server = try HTTPServer(configuration, responding: { _ in .text("here") })
        try PlainHTTP(port: server.port).waitUntilClosed()
    }

    @Test(
        "closes a connection whose request is not complete in time, even if bytes keep coming")
    func dribbledRequest() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.requestTimeoutSeconds = 1
        let server = try HTTPServer(configuration, responding: { _ in .text("here") })
        let port = server.port
        for beginning in ["GET / HTTP/1.1\r\nX: ", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n"] {
            try await Blocking.run {
                let client = try PlainHTTP(port: port)
                try client.send(beginning)
                try client.dribbleUntilClosed()
            }
        }
    }

    @Test("decides by the head alone whether it accepts a body, and how large")
    func bodyRule() throws {
        var configuration = HTTPServer.Configuration()
        configuration.bodyRule = { head in
            head.target.path == "/no" ? .refuse(.text("no", status: 401)) : .read(limitBytes: 4)
        }
        let server = try HTTPServer(configuration, responding: { .text("\($0.body.count)") })
        let refused = try PlainHTTP(port: server.port)
        try refused.send("POST /no HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n")
        #expect(try refused.readAnswer().status == 401)
        #expect(try PlainHTTP.request(port: server.port, "POST", "/", body: "1234").text == "4")
        #expect(try PlainHTTP.request(port: server.port, "POST", "/", body: "12345").status == 413)
        #expect(try PlainHTTP.request(port: server.port, "GET", "/no").status == 200)
        let chunked = try PlainHTTP(port: server.port)
        try chunked.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n")
        #expect(try chunked.readAnswer().status == 413)
    }

    @Test("serves many concurrent clients with several threads")
    func threads() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.threads = 3
        let count = Guarded(0)
        let server = try HTTPServer(
            configuration,
            responding: { _ in
                count.withLock { $0 += 1 }
                return .text("here")
            })
        let port = server.port
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let client = try PlainHTTP(port: port)
                    for _ in 0..<50 { #expect(try client.request("GET", "/").status == 200) }
                }
            }
            try await group.waitForAll()
        }
        #expect(count.withLock { $0 } == 400)
    }

    @Test("names an address that is taken")
    func addressInUse() throws {
        let first = try HTTPServer(responding: { _ in .text("") })
        var configuration = HTTPServer.Configuration()
        configuration.port = first.port
        let error = #expect(throws: SystemError.self) {
            try HTTPServer(configuration, responding: { _ in .text("") })
        }
        #expect(error?.isAddressInUse == true)
        #expect(error?.description.contains("127.0.0.1:\(first.port)") == true)
    }

    @Test("turns an answer with a line break in a header into a 500")
    func headerInjection() throws {
        let server = try HTTPServer(responding: { _ in HTTPResponse(status: 200, headers: ["X": "a\r\nB: c"]) })
        #expect(try PlainHTTP.request(port: server.port, "GET", "/").status == 500)
    }

    @Test("recognises a client on this machine")
    func loopback() throws {
        let server = try HTTPServer(responding: { .text("\($0.isFromLoopback)") })
        #expect(try PlainHTTP.request(port: server.port, "GET", "/").text == "true")
    }
}
