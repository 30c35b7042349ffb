import Foundation
import Glibc
import HeraldThreads
import TestSupport
import Testing

@Suite("A hostile backend, over TLS", .realKafka("A hostile backend"))
struct HostileBackendTests {
    /// The backend's treatment of a user, and the event's outcome.
    private static let cases: [(user: String, outcome: String, act: @Sendable (ScriptedPeer) throws -> Void)] = [
        ("fine", "delivered 200", { try $0.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }),
        ("no-content", "delivered 204", { try $0.write("HTTP/1.1 204 No\r\nContent-Length: 7\r\n\r\n") }),
        (
            "endless", "delivered 200",
            { peer in
                try peer.write("HTTP/1.1 200 OK\r\n\r\n")
                while true { try peer.write(String(repeating: "x", count: 10_000)) }
            }
        ),
        (
            "bomb", "dead-lettered rejected 413",
            { peer in
                try peer.write("HTTP/1.1 413 Large\r\nContent-Encoding: gzip\r\nContent-Length: 1000000\r\n\r\n")
                try peer.write(Array(repeating: 0x1F, count: 1_000_000))
            }
        ),
        (
            "redirect", "dead-lettered rejected 302",
            { try $0.write("HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n") }
        ),
        ("hang", "dead-lettered attempts-exhausted", { $0.readToEnd() }),
        (
            "drip", "dead-lettered attempts-exhausted",
            { peer in
                try peer.write("HTTP/1.1 200 OK\r\nX: ")
                while true {
                    usleep(20_000)
                    try peer.write("x")
                }
            }
        ),
        (
            "flood", "dead-lettered attempts-exhausted",
            { peer in
                try peer.write("HTTP/1.1 200 OK\r\n")
                while true { try peer.write("X: \(String(repeating: "x", count: 1_000))\r\n") }
            }
        ),
        (
            "chunks-and-length", "delivered 200",
            {
                try $0.write(
                    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
            }
        ),
        (
            "same-lengths", "delivered 200",
            { try $0.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok") }
        ),
        (
            "two-lengths", "dead-lettered attempts-exhausted",
            { try $0.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok") }
        ),
        (
            "signed-length", "dead-lettered attempts-exhausted",
            { try $0.write("HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok") }
        ),
        ("garbage", "dead-lettered attempts-exhausted", { try $0.write("220 mail.example.org ESMTP\r\n") }),
        ("status-20", "dead-lettered attempts-exhausted", { try $0.write("HTTP/1.1 20 OK\r\n\r\n") }),
        ("status-000", "dead-lettered attempts-exhausted", { try $0.write("HTTP/1.1 000 OK\r\n\r\n") }),
        ("http-9", "dead-lettered attempts-exhausted", { try $0.write("HTTP/9.9 200 OK\r\n\r\n") }),
        (
            "cut", "dead-lettered attempts-exhausted",
            { try $0.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello") }
        ),
        ("silent", "dead-lettered attempts-exhausted", { _ in }),
        ("reset", "dead-lettered attempts-exhausted", { $0.reset() }),
    ]

    @Test("Every answer has its own outcome, within its time, and only a delivery counts as one")
    func everyAnswer() async throws {
        let certificates = try TestCertificates.shared()
        let server = try ScriptedServer(tls: certificates.good) { peer in
            let target = try peer.readRequest().split(separator: " ")[1]
            for (user, _, act) in Self.cases where target.hasSuffix("to_tag=\(user)") { try act(peer) }
        }
        defer { server.stop() }
        var plan = Fixture.Plan()
        plan.settings = [
            "backend.url": server.origin, "backend.tls.caFile": certificates.authorityFile, "backend.timeout": "2s",
            "retry.delays": "[100ms, 200ms]",
        ]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish(Self.cases.map { Publication(id: $0.user, user: $0.user) })
            try await fixture.waitForResults(Self.cases.count)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(
                Dictionary(uniqueKeysWithValues: Self.cases.map { ($0.user, ["apns": $0.outcome]) }))
            let cut = try #require(fixture.deadLetters.first { $0.keyText == "cut" })
            #expect(cut.heraldHeaders["herald-detail"]?.contains("a 200 whose body was cut off") == true)
            for (user, word) in [("hang", "timeout"), ("reset", "connection reset")] {
                let letter = try #require(fixture.deadLetters.first { $0.keyText == user })
                #expect(letter.heraldHeaders["herald-status"] == nil)
                #expect(letter.heraldHeaders["herald-history"]?.contains("\"error\":\"\(word)\"") == true)
                #expect((1...1_024).contains(letter.heraldHeaders["herald-detail"]?.utf8.count ?? 0))
            }
        }
    }

    @Test(
        "Bytes after an answer, at once, soon or late, answer no call, and no user is called twice",
        arguments: [204, 304], [UInt32(0), 300, 20_000])
    func surplus(status: Int, delay: UInt32) async throws {
        let calls = Guarded<[String: Int]>([:])
        // Late bytes read as an answer, which could be taken for the next call's.
        let body = "HTTP/1.1 503 Not Yours\r\nContent-Length: 0\r\n\r\n"
        let server = try ScriptedServer { peer in
            while true {
                let target = try peer.readRequest().split(separator: " ")[1]
                calls.withLock { $0[String(target), default: 0] += 1 }
                try peer.write("HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
                if delay > 0 { usleep(delay) }
                try peer.write(body)
            }
        }
        defer { server.stop() }
        var plan = Fixture.Plan()
        plan.settings = [
            "backend.url": server.origin, "backend.connections": "8", "backend.statuses": "{304: delivered}",
        ]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish((0..<150).map { Publication(id: "e\($0)", user: "u\($0)") })
            try await fixture.waitForResults(150)
            let outcome = ["apns": "delivered \(status) attempts 1"]
            try await Oracle(fixture).expectResults(
                Dictionary(uniqueKeysWithValues: (0..<150).map { ("e\($0)", outcome) }))
            #expect(calls.withLock { $0.count == 150 && $0.values.allSatisfy { $0 == 1 } })
        }
    }

    @Test("An ignored Retry-After is named once, and a date counts from the answer's own date")
    func retryAfter() async throws {
        let users = ["dated", "odd-1", "odd-2", "odd-3"]
        let calls = Guarded<[String: [ContinuousClock.Instant]]>([:])
        let server = try ScriptedServer { peer in
            while true {
                let user = try peer.readRequest().split(separator: " ")[1].split(separator: "=").last ?? ""
                let count = calls.withLock { calls in
                    calls[String(user), default: []].append(.now)
                    return calls[String(user)]?.count
                }
                // A backend whose clock is in 2020.
                let fields =
                    user == "dated"
                    ? "Date: Wed, 01 Jan 2020 00:00:00 GMT\r\nRetry-After: Wed, 01 Jan 2020 00:00:03 GMT"
                    : "Retry-After: 2.5"
                let head = count == 1 ? "503 No\r\n\(fields)" : "200 OK"
                try peer.write("HTTP/1.1 \(head)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        defer { server.stop() }
        var plan = Fixture.Plan()
        plan.settings = ["backend.url": server.origin, "retry.delays": "[100ms, 5s]"]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(users.map { Publication(id: $0, user: $0) })
            try await fixture.waitForResults(users.count)
            try await Oracle(fixture).expectResults(
                Dictionary(uniqueKeysWithValues: users.map { ($0, ["apns": "delivered 200 attempts 2"]) }))
            let dated = calls.withLock { $0["dated"] ?? [] }
            #expect(dated.count == 2 && dated[1] - dated[0] >= .seconds(3))
            let line = try await worker.waitForLog("Retry-After is ignored")
            #expect(line.text.contains("2.5"))
            #expect(worker.output.components(separatedBy: "Retry-After is ignored").count == 2)
        }
    }

    @Test("A proxy that refuses the password holds, and the right one in its file ends that without a restart")
    func proxyPassword() async throws {
        // alice:right
        let header = "\r\nProxy-Authorization: Basic YWxpY2U6cmlnaHQ=\r\n"
        let proxy = try ScriptedServer { peer in
            let connect = try peer.readRequest()
            guard connect.hasPrefix("CONNECT backend.invalid:80 "), connect.contains(header) else {
                try peer.write("HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n")
                peer.readToEnd()
                return
            }
            try peer.write("HTTP/1.1 200 Made\r\n\r\n")
            while true {
                // From here on it is the backend.
                let isClean = try !peer.readRequest().contains("Proxy-Authorization")
                try peer.write("HTTP/1.1 \(isClean ? 200 : 400) X\r\nContent-Length: 0\r\n\r\n")
            }
        }
        defer { proxy.stop() }
        try await Fixture.run { fixture in
            let password = fixture.directory.appending(path: "proxy-password")
            try "wrong\n".write(to: password, atomically: true, encoding: .utf8)
            let worker = try await fixture.startWorker(changing: [
                "backend.url": "http://backend.invalid", "backend.proxy": "http://alice@127.0.0.1:\(proxy.port)",
                "backend.proxyPasswordFile": password.path,
            ])
            try await fixture.publish(Batch.events(0..<50))
            let line = try await worker.waitForLog("outage:")
            #expect(line.text.contains("proxy-refused") && line.message.contains("backend.proxyPasswordFile"))
            try "right\n".write(to: password, atomically: true, encoding: .utf8)
            try await worker.waitForLog("resuming")
            try await fixture.waitForResults(50)
            try await Oracle(fixture).expectResults(Batch.delivered(0..<50))
            #expect(fixture.deadLetters.isEmpty && fixture.retries.isEmpty)
            #expect(!worker.output.contains("wrong") && !worker.output.contains("right\""))
        }
    }

    @Test("A backend with an unknown name holds with the reason, and nothing is recorded")
    func nameNotFound() async throws {
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker(changing: ["backend.url": "https://no-such-host.invalid"])
            try await fixture.publish(Batch.events(0..<20))
            let line = try await worker.waitForLog("outage:")
            #expect(line.text.contains("\"name-not-found\""))
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            try await fixture.catchUp()
            #expect(fixture.count("notifications.results") + fixture.deadLetters.count + fixture.retries.count == 0)
        }
    }

    @Test("An untrusted authority holds without a call, and trusting it ends that without a restart")
    func unknownAuthority() async throws {
        let certificates = try TestCertificates.shared()
        let called = Guarded(0)
        let server = try ScriptedServer(tls: certificates.good) { peer in
            while true {
                _ = try peer.readRequest()
                called.withLock { $0 += 1 }
                try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        defer { server.stop() }
        try await Fixture.run { fixture in
            let trusted = fixture.directory.appending(path: "authorities.pem")
            func trust(_ file: String) throws {
                try Data(contentsOf: URL(fileURLWithPath: file)).write(to: trusted, options: .atomic)
            }
            try trust(certificates.otherAuthorityFile)
            let worker = try await fixture.startWorker(
                changing: ["backend.url": server.origin, "backend.tls.caFile": trusted.path])
            try await fixture.publish(Batch.events(0..<50))
            let line = try await worker.waitForLog("outage:")
            #expect(line.text.contains("\"tls\""))
            #expect(called.withLock { $0 } == 0)
            try trust(certificates.authorityFile)
            try await worker.waitForLog("resuming")
            try await fixture.waitForResults(50)
            try await Oracle(fixture).expectResults(Batch.delivered(0..<50))
            #expect(fixture.deadLetters.isEmpty && fixture.retries.isEmpty)
        }
    }
}
