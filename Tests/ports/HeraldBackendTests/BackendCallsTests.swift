import HeraldBackend
import HeraldHTTP
import HeraldTime
import Testing

@Suite("Calls as a lane drives them")
struct BackendCallsTests {
    @Test("Every call's answer comes back with its token, also from calls begun while draining")
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
        var answers: [UInt64: Answer] = [:]
        var now = SystemClock.monotonic()
        func send(_ token: UInt64, to user: String) {
            let (service, message, key) = (Array("gcm".utf8), Array("Hi".utf8), Array("id-\(token)".utf8))
            calls.send(
                token: token, deadline: calls.deadline(now: now), now: now, pushService: service.span.bytes,
                user: Array(user.utf8).span.bytes, message: message.span.bytes, id: key.span.bytes, source: nil,
                traceparent: nil)
        }
        send(1, to: "fine")
        send(2, to: "busy")
        send(3, to: "gone")
        while answers.count < 4 {
            let timeout = EventLoop.timeoutMilliseconds(until: calls.nextDeadline, now: now)
            let count = loop.wait(timeoutMilliseconds: timeout)
            now = SystemClock.monotonic()
            for index in 0..<count { calls.handle(loop[index], now: now) }
            calls.tick(now)
            calls.drain { ended in
                answers[ended.token] = ended.answer
                if ended.token == 1 { send(4, to: "fine") }
            }
        }
        #expect(answers[1] == .status(200, retryAfter: nil, detail: nil))
        #expect(answers[2] == .status(429, retryAfter: "7", detail: "slow down"))
        #expect(answers[3] == .failure(.connectionReset, detail: "connection closed before the answer"))
        #expect(answers[4] == .status(200, retryAfter: nil, detail: nil))
        #expect(calls.count == 0)
        calls.close()
        #expect(calls.connectionCount == 0)
    }
}
