import HeraldBackend
import HeraldEvents
import HeraldHTTP
import HeraldText
import HeraldThreads
import TestSupport
import Testing

@Suite("The backend's client")
struct BackendClientTests {
    @Test("A message is sent as the contract says")
    func send() async throws {
        let backend = try FakeBackend { _, _ in FakeBackend.answer(200) }
        defer { backend.stop() }
        let client = try backend.client()
        let answer = try await client.send("apns", to: "bob", message: "Hi \"Bob\"", idempotencyKey: "order/7")
        #expect(answer.untimed == CallResult(status: 200) && answer.verdict == .delivered)
        #expect(
            backend.requests == [
                "POST /api/notifications?pns=apns&to_tag=bob HTTP/1.1\r\n\(backend.commonHeaders)"
                    + "Content-Type: application/json; charset=utf-8\r\nContent-Length: 12\r\n"
                    + "Idempotency-Key: order/7:bob:apns\r\n\r\n\"Hi \\\"Bob\\\"\""
            ])
        await client.close()
    }

    @Test("What a notification has beside its message is sent where the body has a place for it")
    func content() async throws {
        let backend = try FakeBackend { _, _ in FakeBackend.answer(400, "no such title: Your parcel") }
        defer { backend.stop() }
        let client = try backend.client(.object)
        var event = NotificationEvent(user: "bob", message: "is here", pushServices: ["apns", "apns"])
        (event.title, event.link, event.badge) = ("Your parcel", "shop://orders/17", 3)
        event.data = ["order": "17"]
        let answers = try await client.send(event, idempotencyKey: "7")
        #expect(answers.map(\.answer.detail) == ["no such title: (the title)"])
        #expect(backend.requests.count == 1 && backend.requests[0].contains("Idempotency-Key: 7:bob:apns\r\n"))
        for part in [#""title":"Your parcel""#, #""link":"shop://orders/17""#, #""badge":3"#, #"{"order":"17"}"#] {
            #expect(backend.requests[0].contains(part), "\(backend.requests)")
        }
        event.link = "no url"
        await #expect(throws: InvalidArgument.self) { try await client.send(event, idempotencyKey: "7") }
        #expect(backend.requests.count == 1)
        await client.close()
    }

    @Test("A greeting to one's own devices has neither query nor body")
    func sendToSelf() async throws {
        let backend = try FakeBackend { _, _ in FakeBackend.answer(200) }
        defer { backend.stop() }
        let client = try backend.client()
        #expect(try await client.sendToSelf().verdict == .delivered)
        #expect(
            backend.requests == [
                "POST /api/notifications HTTP/1.1\r\n\(backend.commonHeaders)Content-Length: 0\r\n\r\n"
            ])
        await client.close()
    }

    @Test("Several push services end independently, none waiting for another")
    func severalServices() async throws {
        let backend = try FakeBackend { line, _ in
            switch true {
            case line.contains("pns=apns"): FakeBackend.answer(200)
            case line.contains("pns=gcm"): FakeBackend.answer(500, "<Error><Message>no such service</Message></Error>")
            default: nil
            }
        }
        defer { backend.stop() }
        let client = try backend.client()
        let answers = try await client.send(
            ["wns", "apns", "gcm", "apns"], to: "bob", message: "Hi", idempotencyKey: "7")
        #expect(answers.map(\.pushService) == ["wns", "apns", "gcm"])
        #expect(
            answers.map(\.answer.untimed) == [
                CallResult(failure: .reset, detail: "connection closed before the answer", mayHaveArrived: true),
                CallResult(status: 200), CallResult(status: 500, detail: "no such service"),
            ])
        #expect(backend.requests.count == 3)
        await client.close()
    }

    @Test(
        "A call that breaks a rule is refused without a request",
        arguments: [
            ("apns", "", "Hi", "7"), ("apns", "josé", "Hi", "7"), ("apns", "a b", "Hi", "7"),
            ("apns", "a&&b", "Hi", "7"),
            ("apns", String(repeating: "u", count: 112), "Hi", "7"), ("apns", "bob", "", "7"),
            ("apns", "bob", String(repeating: "m", count: 4_097), "7"), ("apns", "bob", "Hi", ""),
            ("", "bob", "Hi", "7"),
            ("a&b", "bob", "Hi", "7"),
        ])
    func invalid(pushService: String, user: String, message: String, key: String) async throws {
        let backend = try FakeBackend { _, _ in FakeBackend.answer(200) }
        defer { backend.stop() }
        let client = try backend.client()
        await #expect(throws: InvalidArgument.self) {
            try await client.send(pushService, to: user, message: message, idempotencyKey: key)
        }
        await #expect(throws: InvalidArgument.self) {
            try await client.send(["gcm", pushService], to: user, message: message, idempotencyKey: key)
        }
        await client.close()
        #expect(backend.requests.isEmpty)
    }

    @Test("Every legal character of a user arrives, encoded")
    func users() async throws {
        let backend = try FakeBackend { _, _ in FakeBackend.answer(200) }
        defer { backend.stop() }
        let client = try backend.client()
        _ = try await client.send("apns", to: "aZ09_@#.:-", message: "Hi", idempotencyKey: "7")
        #expect(backend.lines == ["POST /api/notifications?pns=apns&to_tag=aZ09_%40%23.%3A-"])
        await client.close()
    }

    @Test("A timeout is an answer, a cancelled task's call is given up, a closed client throws")
    func ends() async throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            peer.readToEnd()
        }
        defer { server.stop() }
        let quick = try BackendClient(
            BackendConfiguration(url: server.origin, timeout: .milliseconds(100), credentials: .none))
        let answer = try await quick.sendToSelf()
        #expect(answer.failure == .timeout)
        await quick.close()
        await #expect(throws: BackendClientError.closed) { try await quick.sendToSelf() }

        let slow = try BackendClient(
            BackendConfiguration(url: server.origin, timeout: .seconds(60), credentials: .none))
        let cancelled = Task { try await slow.sendToSelf() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let waiting = Task { try await slow.sendToSelf() }
        while server.acceptedCount < 2 { await Task.yield() }
        await slow.close()
        await #expect(throws: BackendClientError.closed) { try await waiting.value }
        await slow.close()
    }

    @Test("Many tasks share one client")
    func manyTasks() async throws {
        let backend = try FakeBackend { line, _ in
            FakeBackend.answer(400, line.split(separator: " ")[1].split(separator: "=").last.map { "\"\($0)\"" } ?? "")
        }
        defer { backend.stop() }
        let client = try backend.client()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 1...200 {
                group.addTask {
                    let answer = try await client.send("gcm", to: "u\(number)", message: "Hi", idempotencyKey: "7")
                    return answer.untimed == CallResult(status: 400, detail: "u\(number)")
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        await client.close()
    }

    @Test("The token is fetched once, before the first calls")
    func oauth2() async throws {
        let endpoint = try TokenEndpoint()
        defer { endpoint.stop() }
        let backend = try FakeBackend { _, _ in FakeBackend.answer(200) }
        defer { backend.stop() }
        let configuration = try BackendConfiguration(url: backend.origin, credentials: endpoint.client())
        let client = try BackendClient(configuration)
        let answers = try await client.send(["apns", "gcm", "wns"], to: "bob", message: "Hi", idempotencyKey: "7")
        #expect(answers.allSatisfy { $0.answer.verdict == .delivered })
        #expect(backend.requests.allSatisfy { $0.contains("\r\nAuthorization: Bearer token-0\r\n") })
        #expect(endpoint.requests.count == 1)
        await client.close()
    }

    @Test(
        "Refused calls are repeated once with new credentials; without new ones the refusal stands")
    func refused() async throws {
        let token = Guarded("old")
        let backend = try ScriptedServer { peer in
            while true {
                let isNew = try peer.readRequest().contains("Bearer new\r\n")
                try peer.write(FakeBackend.answer(isNew ? 200 : 403))
            }
        }
        defer { backend.stop() }
        let read: @Sendable () throws -> BackendConfiguration = {
            try BackendConfiguration(
                url: backend.origin, credentials: .bearer(token: Secret(token.withLock { $0 })))
        }
        let source = try CredentialSource(read(), readAgain: read)
        try source.start()
        let client = try BackendClient(read(), credentials: source)
        #expect(try await client.sendToSelf().untimed == CallResult(status: 403))
        token.withLock { $0 = "new" }
        let answers = try await client.send(["apns", "gcm"], to: "bob", message: "Hi", idempotencyKey: "7")
        #expect(answers.allSatisfy { $0.answer.verdict == .delivered })
        await client.close()
        source.close()
    }

    @Test("Without a token no call is made, and the reason is thrown")
    func noToken() async throws {
        let endpoint = try TokenEndpoint { _ in FakeBackend.answer(400, #"{"error":"invalid_scope"}"#) }
        defer { endpoint.stop() }
        let backend = try FakeBackend { _, _ in FakeBackend.answer(200) }
        defer { backend.stop() }
        let client = try BackendClient(BackendConfiguration(url: backend.origin, credentials: endpoint.client()))
        await #expect(
            throws: BackendClientError.noToken(
                .refused(status: 400, error: "invalid_scope", detail: "invalid_scope", retryAfterSeconds: 0))
        ) { try await client.sendToSelf() }
        #expect(backend.requests.isEmpty)
        await client.close()
    }

    @Test("A client without references ends its calls and connections")
    func released() async throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write(FakeBackend.answer(200))
            peer.readToEnd()
        }
        do {
            let client = try BackendClient(BackendConfiguration(url: server.origin, credentials: .none))
            #expect(try await client.sendToSelf().verdict == .delivered)
        }
        while server.openCount > 0 { await Task.yield() }
        server.stop()
    }
}
