import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Answers while some are refusals")
struct AnswerOrderTests {
    private var order = AnswerOrder()
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test(
        "are judged in the order of their calls, whichever kind is quicker", arguments: [(5, 20), (200, 20)])
    mutating func sorted(refusal: Int64, delivery: Int64) {
        // The durations of both kinds are known.
        _ = answer(1, after: delivery)
        for number in 2...40 as ClosedRange<UInt64> { _ = answer(number, after: refusal, isRefused: true) }
        for number in 41...80 as ClosedRange<UInt64> { _ = answer(number, after: delivery) }
        now = now.advanced(by: .seconds(1))
        while order.next(now: now) != nil {}

        let sentAt = now
        var ends: [(after: Int64, number: UInt64)] = (100..<120).map { ($0 % 3 == 0 ? refusal : delivery, $0) }
        ends.sort { $0.after < $1.after }
        var judged: [UInt64] = []
        for end in ends {
            now = sentAt.advanced(by: .milliseconds(end.after))
            let isJudged = answer(end.number, after: end.after, isRefused: end.after == refusal)
            #expect(!isJudged)
            while let call = order.next(now: now) { judged.append(call.sequence) }
        }
        now = sentAt.advanced(by: AnswerOrder.longest + AnswerOrder.longest)
        while let call = order.next(now: now) { judged.append(call.sequence) }
        #expect(judged == Array(100..<120))
        #expect(order.isEmpty)
    }

    @Test("are judged at once when none is a refusal")
    mutating func atOnce() {
        let judged = (1...100).filter { answer($0, after: 20) }
        #expect(judged.count == 100)
        #expect(order.isEmpty)
    }

    @Test("a refusal that was overtaken by later calls is ignored")
    mutating func overtaken() {
        _ = answer(2, after: 20)
        _ = answer(1, after: 200, isRefused: true)
        #expect(order.isEmpty)
        _ = answer(3, after: 200, isRefused: true)
        #expect(!order.isEmpty)
    }

    @Test("are judged at once again a minute after the last refusal")
    mutating func ends() {
        _ = answer(1, after: 20, isRefused: true)
        now = now.advanced(by: AdaptiveRate.rememberedTime)
        while order.next(now: now) != nil {}
        let isJudged = answer(2, after: 20)
        #expect(isJudged)
    }

    @Test("are held up to a limit")
    mutating func bounded() {
        for number in 0..<2 * UInt64(AnswerOrder.most) {
            _ = answer(2 * (number + 1), after: 0, isRefused: true)
            while order.next(now: now) != nil {}
        }
        var left = 0
        now = now.advanced(by: .seconds(1))
        while order.next(now: now) != nil { left += 1 }
        #expect(left == AnswerOrder.most)
    }

    /// Whether the answer to a call is judged at once.
    private mutating func answer(_ number: UInt64, after latency: Int64, isRefused: Bool = false) -> Bool {
        let call = AnsweredCall(
            sequence: number, user: number, sentAt: now.advanced(by: -.milliseconds(latency)), isRetry: false,
            isRefused: isRefused)
        return order.add(call, now: now)
    }
}
