import HeraldHTTP
import HeraldTime
import Testing

@testable import HeraldTraces

@Suite("The reaction to a request's answer")
struct ExportPolicyTests {
    private func response(_ status: Int, retryAfter: Int64 = 0, _ body: String = "") -> SingleRequest.Outcome {
        .response(.init(status: status, retryAfterSeconds: retryAfter, body: Array(body.utf8)))
    }

    @Test("Accepted spans are exported, except for those that the collector reports as refused")
    func taken() {
        var policy = ExportPolicy()
        #expect(policy.judge(response(200, "{}"), chance: 0) == .exported(refused: 0))
        #expect(
            policy.judge(response(200, #"{"partialSuccess":{"rejectedSpans":"3"}}"#), chance: 0)
                == .exported(refused: 3))
        #expect(
            policy.judge(response(200, #"{"partialSuccess":{"rejectedSpans":4}}"#), chance: 0)
                == .exported(refused: 4))
        #expect(policy.judge(response(200, "no JSON"), chance: 0) == .exported(refused: 0))
        #expect(
            policy.judge(response(200, #"{"partialSuccess":{"rejectedSpans":"-7"}}"#), chance: 0)
                == .exported(refused: 0))
    }

    @Test("A temporary failure is retried, with pauses that double", arguments: [429, 502, 503, 504])
    func again(status: Int) {
        var policy = ExportPolicy()
        let verdicts = (1...5).map { _ in policy.judge(response(status), chance: 0) }
        #expect(
            verdicts == [
                .again(after: .seconds(1)), .again(after: .seconds(2)), .again(after: .seconds(4)),
                .again(after: .seconds(8)), .dropped,
            ])
    }

    @Test("The random part lengthens a pause by a fifth at most")
    func chance() {
        var policy = ExportPolicy()
        #expect(policy.judge(response(503), chance: 1) == .again(after: .milliseconds(1_200)))
    }

    @Test("Retry-After lengthens a pause, within reason")
    func retryAfter() {
        var policy = ExportPolicy()
        #expect(policy.judge(response(429, retryAfter: 7), chance: 0) == .again(after: .seconds(7)))
        #expect(policy.judge(response(429, retryAfter: 86_400), chance: 0) == .again(after: .seconds(30)))
    }

    @Test("A missing answer is retried")
    func noAnswer() {
        var policy = ExportPolicy()
        #expect(policy.judge(.failure(.timeout, detail: ""), chance: 0) == .again(after: .seconds(1)))
    }

    @Test("A permanent failure is given up at once", arguments: [301, 400, 401, 403, 404, 413, 500])
    func dropped(status: Int) {
        var policy = ExportPolicy()
        #expect(policy.judge(response(status), chance: 0) == .dropped)
    }
}
