import Foundation
import Glibc
import HeraldSandbox
import HeraldThreads
import TestSupport
import Testing

@Suite("A backend over HTTP/2", .realKafka("A backend over HTTP/2"))
struct HTTP2Tests {
    /// The backend's treatment of a call, by its user and the number of earlier calls, and the event's outcome.
    private struct Case: Sendable {
        let user: String
        let outcome: String
        let act: @Sendable (_ peer: HTTP2Peer, _ stream: UInt32, _ before: Int) throws -> Void
    }

    private static let cases: [Case] = [
        Case(user: "fine", outcome: "delivered 200 attempts 1") { peer, stream, _ in try peer.answer(stream) },
        Case(user: "refused", outcome: "delivered 200 attempts 1") { peer, stream, before in
            if before < 2 { try peer.reset(stream, .refusedStream) } else { try peer.answer(stream) }
        },
        Case(user: "goaway", outcome: "delivered 200 attempts 1") { peer, stream, before in
            if before == 0 { try peer.goAway(last: max(stream, 2) - 2) } else { try peer.answer(stream) }
        },
        Case(user: "flaky", outcome: "delivered 200 attempts 2") { peer, stream, before in
            if before == 0 { try peer.reset(stream, .internalError) } else { try peer.answer(stream) }
        },
        Case(user: "hang", outcome: "dead-lettered attempts-exhausted") { _, _, _ in },
        Case(user: "reset", outcome: "dead-lettered attempts-exhausted") { peer, stream, _ in
            try peer.reset(stream, .internalError)
        },
        Case(user: "broken", outcome: "dead-lettered attempts-exhausted") { peer, stream, _ in
            try peer.answer(stream, status: 700)
        },
        Case(user: "length", outcome: "delivered 204 attempts 1") { peer, stream, _ in
            try peer.answer(stream, status: 204, [("content-length", "7")])
        },
        Case(user: "surplus", outcome: "delivered 204 attempts 1") { peer, stream, _ in
            try peer.answer(stream, status: 204, [("content-length", "2")], body: "hi")
        },
        Case(user: "cut", outcome: "dead-lettered attempts-exhausted") { peer, stream, _ in
            try peer.write(HTTP2Peer.head(stream, status: 200))
            try peer.reset(stream, .internalError)
        },
        Case(user: "large", outcome: "dead-lettered rejected 413") { peer, stream, _ in
            try peer.answer(stream, status: 413, body: String(repeating: "x", count: 60_000))
        },
    ]

    /// The cases that end their connection, with all other calls on it.
    private static let harmful: [Case] = [
        Case(user: "dies", outcome: "delivered 200") { peer, stream, before in
            if before == 0 { throw ScriptedPeer.Ended() }
            try peer.answer(stream)
        },
        Case(user: "floods", outcome: "delivered 200") { peer, stream, before in
            if before == 0 {
                while true {
                    try peer.write(HTTP2Peer.Frame(type: HTTP2Peer.Frame.ping, payload: [0, 0, 0, 0, 0, 0, 0, 0]))
                }
            }
            try peer.answer(stream)
        },
        Case(user: "pushes", outcome: "delivered 200") { peer, stream, before in
            if before == 0 {
                try peer.write(
                    HTTP2Peer.Frame(
                        type: HTTP2Peer.Frame.pushPromise, flags: 4, stream: stream, payload: [0, 0, 0, 2, 0x82]))
            } else {
                try peer.answer(stream)
            }
        },
    ]

    private static func server(_ calls: Guarded<[String: Int]>) throws -> ScriptedServer {
        try ScriptedServer(tls: try TestCertificates.shared().good.withHTTP2) { connection in
            let peer = try HTTP2Peer(connection)
            while true {
                let call = try peer.readCall()
                let user = call[":path"]?.components(separatedBy: "to_tag=").last ?? ""
                let before = calls.withLock { calls in
                    defer { calls[user, default: 0] += 1 }
                    return calls[user, default: 0]
                }
                if let known = (cases + harmful).first(where: { $0.user == user }) {
                    try known.act(peer, call.stream, before)
                } else {
                    try peer.answer(call.stream)
                }
            }
        }
    }

    @Test("Every answer has its own outcome; a call that the backend did not read repeats without an attempt")
    func everyAnswer() async throws {
        let calls = Guarded<[String: Int]>([:])
        let server = try Self.server(calls)
        defer { server.stop() }
        var plan = Fixture.Plan()
        plan.settings = [
            "backend.url": server.origin, "backend.tls.caFile": try TestCertificates.shared().authorityFile,
            "backend.http": "auto", "backend.timeout": "2s", "retry.delays": "[100ms, 200ms]",
        ]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            // Alone, because a GOAWAY also ends later calls on the connection, which are then repeated unread.
            try await fixture.publish([Publication(id: "goaway", user: "goaway")])
            try await fixture.waitForResults(1)
            let others = Self.cases.filter { $0.user != "goaway" }
            try await fixture.publish(others.map { Publication(id: $0.user, user: $0.user) })
            try await fixture.waitForResults(Self.cases.count)
            #expect(calls.withLock { ($0["refused"], $0["goaway"], $0["flaky"]) } == (3, 2, 2))
            try await fixture.publish(
                Self.harmful.map { Publication(id: $0.user, user: $0.user) } + Batch.events(0..<40))
            let count = Self.cases.count + Self.harmful.count + 40
            try await fixture.waitForResults(count)
            try await fixture.waitUntilAllIsCommitted()
            let expected = (Self.cases + Self.harmful).map { ($0.user, ["apns": $0.outcome]) }
            try await Oracle(fixture).expectResults(
                Dictionary(uniqueKeysWithValues: expected).merging(Batch.delivered(0..<40, attempts: nil)) { $1 })
            #expect(try await worker.metrics()["herald_backend_connections{http=\"1.1\"}"] == 0)
        }
    }

    /// Debian's nghttpx in front of the fixture's backend; a former one may still have to leave the port.
    private static func proxy(
        _ program: String, _ port: Int, _ fixture: Fixture, isEncrypted: Bool = false
    ) async throws -> ChildProcess {
        let backend = fixture.backend.url.split(separator: ":").last ?? ""
        let identity = try TestCertificates.shared().good
        let front =
            isEncrypted
            ? ["-f127.0.0.1,\(port)", identity.keyFile, identity.certificateFile] : ["-f127.0.0.1,\(port);no-tls"]
        var process: ChildProcess?
        let listens = try await eventually {
            let log = fixture.directory.appending(path: UUID().uuidString)
            let fresh = try ChildProcess(
                [
                    program, "--conf=/dev/null", "--single-process", "--workers=1", "-b127.0.0.1,\(backend)",
                ] + front, output: log)
            process = fresh
            _ = try await eventually { !fresh.isRunning || said(log).contains("Created worker thread") }
            return fresh.isRunning
        }
        #expect(listens)
        return try #require(process)
    }

    private static func said(_ log: URL) -> String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    @Test(
        "kill -9 with many streams in flight: only those are called again, and each event has one result",
        arguments: [false, true])
    func workerDies(isEncrypted: Bool) async throws {
        guard let program = HTTP2Server.path("nghttpx", package: "nghttp2-proxy") else { return }
        let count = 48
        let port = try #require(FreePorts.take(1).first)
        var plan = Fixture.Plan()
        plan.settings = Held.settings.merging([
            "backend.http": isEncrypted ? "auto" : "2", "delivery.maxInFlight": "64",
            "kafka.staticMembership": "true", "kafka.instance": "pod-0",
            "backend.url": "\(isEncrypted ? "https" : "http")://127.0.0.1:\(port)",
        ]) { $1 }
        if isEncrypted { plan.settings["backend.tls.caFile"] = try TestCertificates.shared().authorityFile }
        plan.misbehaviour = [.hold()]
        try await Fixture.run(plan) { fixture in
            let proxy = try await Self.proxy(program, port, fixture, isEncrypted: isEncrypted)
            defer { proxy.kill() }
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<count))
            try await fixture.wait("all are called") { fixture.backend.heldCount == count }
            let isShown = try await eventually {
                let metrics = try await first.metrics()
                return metrics["herald_backend_connections{http=\"1.1\"}"] == 0
                    && (1...4).contains(metrics["herald_backend_connections{http=\"2\"}"] ?? 0)
            }
            #expect(isShown)
            fixture.backend.release(count / 2)
            try await fixture.waitForResults(count / 2)
            let recorded = Set(try fixture.results.compactMap { $0.id.map { "\($0):apns" } })
            first.kill()
            fixture.backend.misbehave([])
            _ = try await fixture.startWorker()
            try await fixture.waitForResults(count)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<count))
            oracle.expectCalls { recorded.contains($0) ? 1 : 2 }
            oracle.expectUserOrder()
            oracle.expectNothingPassed(try await fixture.committed())
            #expect(fixture.deadLetters.isEmpty)
        }
    }

    @Test("A proxy is killed with calls on its connections: no result is missing or duplicated")
    func proxyDies() async throws {
        guard let program = HTTP2Server.path("nghttpx", package: "nghttp2-proxy") else { return }
        var plan = Fixture.Plan()
        plan.settings = Held.settings.merging(["backend.http": "2", "retry.delays": "[300ms, 500ms, 1s, 2s, 4s]"]) {
            $1
        }
        plan.misbehaviour = [.hold()]
        try await Fixture.run(plan) { fixture in
            let ports = FreePorts.take(1)
            let port = try #require(ports.first)
            var proxy = try await Self.proxy(program, port, fixture)
            let worker = try await fixture.startWorker(changing: ["backend.url": "http://127.0.0.1:\(port)"])
            var known = 0
            for round in 0..<3 {
                let events = round * 20..<(round + 1) * 20
                try await fixture.publish(Batch.events(events))
                try await fixture.wait("calls are held") { fixture.backend.calls.count == known + Held.inFlight }
                let isShown = try await eventually {
                    try await worker.metrics()["herald_backend_connections{http=\"2\"}"] ?? 0 > 0
                }
                #expect(isShown)
                // Its calls are in doubt, and repeated once there is a proxy again.
                proxy.kill()
                proxy = try await Self.proxy(program, port, fixture)
                fixture.backend.misbehave([])
                try await fixture.waitForResults(events.upperBound)
                fixture.backend.misbehave([.hold()])
                known = fixture.backend.calls.count
            }
            proxy.kill()
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<60, attempts: nil))
            oracle.expectCalls(exactly: false) { _ in 2 }
            oracle.expectUserOrder()
            oracle.expectNothingPassed(try await fixture.committed())
            #expect(fixture.deadLetters.isEmpty)
        }
    }
}
