import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Calls that hang in number")
struct EngineHangingTests {
    /// An engine with 64 slots, three hanging calls and 80 calls for other users that were answered meanwhile.
    private func troubled(_ change: @escaping (inout EngineConfiguration) -> Void = { _ in }) -> EngineHarness {
        let harness = EngineHarness {
            $0.maxInFlight = 64
            change(&$0)
        }
        for number in 0..<3 { harness.event("hangs-\(number)") }
        for number in 0..<80 {
            harness.event("u\(number)")
            harness.answer(harness.takeCall(at: 3), CallResult(status: 200))
            harness.acknowledgeAll()
        }
        harness.pass(.milliseconds(1_500))
        harness.event("observer")
        harness.answer(harness.takeCall(at: 3), CallResult(status: 200))
        harness.acknowledgeAll()
        return harness
    }

    private let timeout = CallResult(failure: .timeout, duration: .seconds(10))

    private func retries(_ harness: EngineHarness) -> [Production] {
        harness.produced.map(\.production).filter { $0.kind == .retry }
    }

    @Test("a call that hung goes to a delay topic and is not repeated at once")
    func isDelayed() {
        let harness = troubled()
        harness.answer(timeout)
        #expect(retries(harness).map(\.retryReason) == [.transient])
        #expect(retries(harness).map(\.attempts) == [1])
    }

    @Test("a single call that hangs is repeated at once")
    func alone() {
        let harness = EngineHarness { $0.maxInFlight = 64 }
        harness.event("hangs")
        harness.answer(timeout)
        #expect(retries(harness).isEmpty)
    }

    /// Calls `users` users one after the other, each without an answer in time.
    private func hang(_ users: Int, in harness: EngineHarness) {
        for number in 0..<users {
            harness.event("slow-\(number)")
            harness.answer(harness.takeCall(at: harness.calls.count - 1), timeout)
        }
    }

    @Test("users whose calls hung get an eighth of the slots; their other events wait without an attempt")
    func share() {
        let harness = troubled()
        let before = harness.calls.count
        hang(20, in: harness)
        harness.acknowledgeAll()
        for number in 0..<20 { harness.event("slow-\(number)") }
        #expect(harness.calls.count - before == 8)
        #expect(retries(harness).count == 12)
        #expect(retries(harness).allSatisfy { $0.retryReason == .blocked && $0.attempts == 0 })
        harness.event("somebody")
        #expect(harness.calls.count - before == 9)
        harness.answer(harness.takeCall(at: before), CallResult(status: 200))
        harness.event("slow-19")
        #expect(harness.calls.count - before == 9, "another one has the place")
    }

    @Test("a user whose call was answered counts as any other")
    func isAnswered() {
        let harness = troubled()
        let before = harness.calls.count
        hang(9, in: harness)
        harness.acknowledgeAll()
        harness.event("slow-8")
        harness.answer(harness.takeCall(at: before), CallResult(status: 200))
        harness.acknowledgeAll()
        for number in 0..<9 { harness.event("slow-\(number)") }
        #expect(harness.calls.count - before == 9)
        #expect(retries(harness).isEmpty)
    }

    @Test("the order of partitions keeps events in their place")
    func partitionOrder() {
        let harness = troubled { $0.ordering = .none }
        #expect(harness.engine.calls.hangInNumber)
        let ordered = EngineHarness { $0.ordering = .partition }
        for _ in 0..<3 { ordered.event("slow") }
        ordered.answer(timeout)
        #expect(retries(ordered).isEmpty)
    }
}

@Suite("Users whose calls hung")
struct HangingUsersTests {
    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test("are remembered for a minute at least, and for two at most", arguments: [0, 30, 59] as [Int64])
    func remembered(begin: Int64) {
        var users = HangingUsers(delays: [.seconds(1)])
        users.hung(77, after: .seconds(10), now: at(begin))
        #expect(users.contains(77, now: at(begin)))
        #expect(users.contains(77, now: at(begin + 60)))
        #expect(!users.contains(77, now: at(begin + 120)))
        #expect(!users.contains(77 + 1_024, now: at(begin)), "another user")
    }

    @Test("are forgotten when they are answered")
    func answered() {
        var users = HangingUsers(delays: [.seconds(1)])
        users.hung(77, after: .seconds(10), now: at(5))
        users.answered(77 + 1_024, now: at(6))
        #expect(users.contains(77, now: at(6)))
        users.answered(77, now: at(6))
        #expect(!users.contains(77, now: at(6)))
    }

    @Test("are deferred until their calls can be made, and never without a delay topic")
    func plan() {
        var users = HangingUsers(delays: [.seconds(1), .seconds(30)])
        users.hung(77, after: .seconds(10), now: at(5))
        let delays = (0..<100).map { _ in users.deferCall(room: 10, now: at(5)) }
        #expect(delays.first == 0)
        #expect(delays.last == 1, "ten calls take ten seconds, so the last ones have no turn for a minute and a half")
        var without = HangingUsers(delays: [])
        let delay = without.deferCall(room: 10, now: at(5))
        #expect(delay == nil)
    }
}
