import HeraldBackend
import HeraldEvents
import HeraldHTTP
import HeraldHub
import HeraldText
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@Suite("Calls driven as a lane drives them")
struct BackendCallsTests {
    @Test("Every call's answer comes back with its token, even for calls begun during a drain")
    func drains() throws {
        let backend = try FakeBackend { line, _ in
            switch true {
            case line.contains("to_tag=busy"):
                FakeBackend.answer(429, #"{"error":"slow\ndown"}"#, headers: "Retry-After: 7\r\n")
            case line.contains("to_tag=gone"): nil
            default: FakeBackend.answer(200, "ignored")
            }
        }
        defer { backend.stop() }
        let loop = try EventLoop()
        let calls = BackendCalls(loop: loop, owner: 1, configuration: try backend.configuration())
        var answers: [UInt64: CallResult] = [:]
        var now = SystemClock.monotonic()
        func send(_ token: UInt64, to user: String) {
            calls.send(
                TargetCall(token: token, pushService: Array("gcm".utf8), now: SystemClock.wall()),
                of: DecodedEvent(id: "id-\(token)", user: user, message: "Hi"), value: [UInt8]().span.bytes,
                deadline: calls.deadline(now: now), now: now)
        }
        send(1, to: "fine")
        send(2, to: "busy")
        send(3, to: "gone")
        while answers.count < 4 {
            let timeout = EventLoop.timeout(until: calls.nextDeadline, now: now)
            let count = loop.wait(timeout: timeout)
            now = SystemClock.monotonic()
            for index in 0..<count { calls.handle(loop[index], now: now) }
            calls.tick(now)
            calls.drain { token, call in
                answers[token] = call.result
                if token == 1 { send(4, to: "fine") }
            }
        }
        for token: UInt64 in [1, 4] { #expect(answers[token]?.untimed == CallResult(status: 200)) }
        #expect(answers[2]?.untimed == CallResult(status: 429, retryAfter: .seconds(7), detail: "slow down"))
        #expect(answers[2]?.verdict == .throttled)
        #expect(
            answers[3]?.untimed
                == CallResult(
                    failure: .reset, detail: "connection closed before the answer", mayHaveArrived: true))
        #expect(calls.count == 0)
        calls.close()
        #expect(calls.connectionCount == 0)
    }

    @Test("A hub's refusal, or its silence, names the tracking id of the request")
    func trackingIDs() throws {
        let certificates = try TestCertificates.shared()
        let requests = Guarded<[String]>([])
        let server = try ScriptedServer(tls: certificates.good) { peer in
            while true {
                let request = try peer.readRequest()
                let number = requests.withLock { seen in
                    seen.append(request)
                    return seen.count
                }
                guard number < 3 else { return }
                try peer.write(FakeBackend.answer(number == 1 ? 201 : 403))
            }
        }
        defer { server.stop() }
        let string = try HubConnectionString(
            "Endpoint=sb://127.0.0.1:\(server.port)/;SharedAccessKeyName=n;SharedAccessKey=k")
        let loop = try EventLoop()
        let calls = BackendCalls(
            loop: loop, owner: 1,
            configuration: try BackendConfiguration(
                hub: HubSending(string, hub: "h", formats: ["apns": .apple]), timeout: .seconds(60),
                connectTimeout: .seconds(60), connectionLimit: 1, tls: TLSFiles(caFile: certificates.authorityFile)))
        defer { calls.close() }
        var answers: [CallResult] = []
        for token: UInt64 in 1...3 {
            var now = SystemClock.monotonic()
            calls.send(
                TargetCall(token: token, pushService: Array("apns".utf8), now: SystemClock.wall()),
                of: DecodedEvent(id: "id", user: "ann", message: "Hi"), value: [UInt8]().span.bytes,
                deadline: calls.deadline(now: now), now: now)
            while answers.count < token {
                let timeout = EventLoop.timeout(until: calls.nextDeadline, now: now)
                let count = loop.wait(timeout: timeout)
                now = SystemClock.monotonic()
                for index in 0..<count { calls.handle(loop[index], now: now) }
                calls.tick(now)
                calls.drain { answers.append($1.result) }
            }
        }
        let ids = requests.withLock { $0.compactMap { $0.firstMatch(of: /\r\nTrackingId: ([-0-9a-f]{36})\r\n/)?.1 } }
        #expect(ids.count == 3 && Set(ids.map { $0.prefix(19) }).count == 1 && Set(ids).count == 3)
        #expect(answers[0].untimed == CallResult(status: 201))
        #expect(answers[1].untimed == CallResult(status: 403, detail: "TrackingId:\(ids[1])"))
        #expect(answers[2].failure != nil && answers[2].detail?.hasSuffix(" TrackingId:\(ids[2])") == true)
    }
}

extension CallResult {
    /// The same result without its duration.
    var untimed: Self {
        var result = self
        result.duration = .zero
        return result
    }
}
