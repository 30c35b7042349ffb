import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("A user with more events than a share of the slots")
struct UserBackpressureTests {
    private static let user: UInt64 = 7

    private func moment(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: (1_000_000 + milliseconds) * 1_000_000)
    }

    /// A user whose events take 100 ms, and whose `offsets` were deferred with 20 of 20 events in memory.
    private func users(deferred offsets: some Sequence<Int64>, delays: [Milliseconds] = [.seconds(1), .seconds(10)])
        -> UserBackpressure
    {
        var users = UserBackpressure(delays: delays)
        _ = users.deferEvent(at: -1, of: Self.user, line: 20, share: 20, now: moment(0))
        users.returned(-1, of: Self.user, from: 0, now: moment(0))
        users.called(Self.user, took: 100_000_000, now: moment(0))
        for offset in offsets {
            _ = users.deferEvent(at: offset, of: Self.user, line: 20, share: 20, now: moment(0))
        }
        return users
    }

    @Test("an event is deferred by the longest delay that ends before there is room for it")
    func plan() {
        var users = users(deferred: 0..<10)
        // Fifteen of the twenty in memory and ten others precede it: a second and a half.
        let near = users.deferEvent(at: 10, of: Self.user, line: 20, share: 20, now: moment(0))
        #expect(near == .init(delay: 0, wait: .seconds(1), behind: 30))
        for offset in Int64(11)..<100 {
            _ = users.deferEvent(at: offset, of: Self.user, line: 20, share: 20, now: moment(0))
        }
        let far = users.deferEvent(at: 100, of: Self.user, line: 20, share: 20, now: moment(0))
        #expect(far == .init(delay: 1, wait: .seconds(10), behind: 120))
    }

    @Test("an event returns earlier than the shortest delay when its turn is earlier")
    func early() {
        var users = users(deferred: [])
        let deferral = users.deferEvent(at: 0, of: Self.user, line: 20, share: 20, now: moment(0))
        #expect(deferral == .init(delay: 0, wait: .milliseconds(500), behind: 20))
    }

    @Test("an event returns no earlier than an earlier one that was planned for much later")
    func waitsForEarlier() {
        var users = users(deferred: [], delays: [.seconds(1), .seconds(5), .seconds(10)])
        #expect(
            users.deferEvent(at: 10, of: Self.user, line: 200, share: 20, now: moment(0))
                == .init(delay: 2, wait: .seconds(10), behind: 200))
        // By now its user has no event in memory, and calls take a millisecond.
        for _ in 0..<20 { users.called(Self.user, took: 1_000_000, now: moment(1_000)) }
        func wait(_ offset: Int64, at milliseconds: Int64) -> Milliseconds {
            users.deferEvent(at: offset, of: Self.user, line: 0, share: 1, now: moment(milliseconds)).wait
        }
        #expect(wait(11, at: 4_000) == .seconds(5))
        #expect(wait(11, at: 9_000) == .seconds(1))
        #expect(wait(11, at: 9_500) == .milliseconds(500))
        #expect(wait(11, at: 12_000) == UserBackpressure.shortest)
        #expect(wait(9, at: 4_000) == UserBackpressure.shortest, "it precedes all others")
    }

    @Test("an event is next when no earlier one is deferred, in whatever topic")
    func next() {
        var users = users(deferred: 0..<200)
        #expect(!users.isNext(1, of: Self.user))
        #expect(users.isNext(0, of: Self.user))
        users.returned(0, of: Self.user, from: 0, now: moment(1_000))
        #expect(users.isNext(1, of: Self.user))
        #expect(!users.isNext(200, of: Self.user))
        #expect(users.isNext(200, of: Self.user + 1))
    }

    @Test("an earlier event that is deferred again is still the next one")
    func again() {
        var users = users(deferred: 0..<5)
        for offset in Int64(0)..<3 {
            users.returned(offset, of: Self.user, from: 0, now: moment(1_000))
            _ = users.deferEvent(at: offset, of: Self.user, line: 20, share: 20, now: moment(1_000))
        }
        for offset in Int64(3)..<5 {
            users.returned(offset, of: Self.user, from: 0, now: moment(1_100))
            #expect(!users.isNext(offset, of: Self.user))
        }
        #expect(users.isNext(0, of: Self.user))
        users.returned(0, of: Self.user, from: 0, now: moment(2_000))
        #expect(users.isNext(1, of: Self.user))
        #expect(!users.isNext(2, of: Self.user))
    }

    @Test("a deferred event is behind one event at least, however far apart the deferred ones are")
    func behindOne() {
        var users = users(deferred: [0, 1_000])
        let deferral = users.deferEvent(at: 1, of: Self.user, line: 0, share: 20, now: moment(0))
        #expect(deferral.behind == 1)
    }

    @Test("two copies of one event do not wait for each other")
    func copies() {
        var users = users(deferred: [3, 3])
        users.returned(3, of: Self.user, from: 0, now: moment(1_000))
        #expect(users.isNext(3, of: Self.user))
    }

    @Test("an event that did not return before later ones did is not waited for")
    func lost() {
        var users = users(deferred: 0..<5)
        users.returned(3, of: Self.user, from: 0, now: moment(1_000))
        #expect(users.isNext(4, of: Self.user))
        #expect(users.out == 1)
    }

    @Test("a delay from which no event returns in time belongs to another worker")
    func elsewhere() {
        var users = UserBackpressure(delays: [.seconds(1)])
        _ = users.deferEvent(at: 0, of: Self.user, line: 20, share: 20, now: moment(0))
        users.sweep(now: moment(60_000))
        #expect(!users.isNext(1, of: Self.user))
        users.called(Self.user, took: 100_000_000, now: moment(61_000))
        users.sweep(now: moment(61_001))
        #expect(users.isNext(1, of: Self.user))
        _ = users.deferEvent(at: 1, of: Self.user, line: 20, share: 20, now: moment(61_001))
        #expect(users.isNext(2, of: Self.user))
    }

    @Test("a user with few events again is forgotten")
    func forgotten() {
        var users = users(deferred: [0])
        users.returned(0, of: Self.user, from: 0, now: moment(1_000))
        users.sweep(now: moment(61_001))
        #expect(users.isEmpty)
    }

    @Test("longer delays return only some of the events before their turn each second")
    func pace() {
        var users = users(deferred: 0..<2_000, delays: [.seconds(1), .seconds(2)])
        let due = moment(10_000)
        let times = (Int64(1_000)..<1_400).map { users.returns($0, of: Self.user, from: 1, at: due, isIdle: false) }
        // A hundred at once, and then two in each millisecond.
        #expect(times[100] == due)
        #expect(times[399] == MonotonicTime(nanoseconds: due.nanoseconds + 199_500_000))
        #expect(users.returns(1_400, of: Self.user, from: 0, at: due, isIdle: false) == due)
        #expect(users.returns(0, of: Self.user, from: 1, at: due, isIdle: false) == due)
    }

    @Test("a user without an event in memory gets its events back eight times as fast")
    func idle() {
        var users = users(deferred: 0..<2_000, delays: [.seconds(1), .seconds(2)])
        let due = moment(10_000)
        let times = (Int64(1)..<1_801).map { users.returns($0, of: Self.user, from: 1, at: due, isIdle: true) }
        #expect(times[800] == due)
        #expect(times[1_799] == MonotonicTime(nanoseconds: due.nanoseconds + 112_437_500))
    }

    @Test("a quicker event changes the plan at once, and a slower one barely")
    func intervals() {
        var users = users(deferred: 0..<20)
        for _ in 0..<8 { users.called(Self.user, took: 500_000_000, now: moment(0)) }
        // 24 ms more than the former 100 ms, for 25 events.
        let slow = users.deferEvent(at: 20, of: Self.user, line: 20, share: 20, now: moment(0))
        #expect(slow.wait == .seconds(1))
        let before = users.deferEvent(at: 0, of: Self.user, line: 20, share: 20, now: moment(0))
        #expect(before.wait == .milliseconds(621))
        for _ in 0..<8 { users.called(Self.user, took: 20_000_000, now: moment(0)) }
        let after = users.deferEvent(at: 0, of: Self.user, line: 25, share: 20, now: moment(0))
        #expect(after.wait == .milliseconds(304))
    }

    @Test("the plan includes the events that have to return before")
    func queued() {
        var users = users(deferred: 0..<2_000, delays: [.seconds(1), .seconds(2)])
        // The longer delay and almost a second until all others have returned: 3.2 s are enough, 2.8 s are not.
        let far = users.deferEvent(at: 45, of: Self.user, line: 2, share: 20, now: moment(0))
        #expect(far.delay == 1)
        let near = users.deferEvent(at: 41, of: Self.user, line: 2, share: 20, now: moment(0))
        #expect(near.delay == 0)
    }

    // MARK: In the engine

    /// An engine whose user has sixteen events in memory and one more.
    private func flooded(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> EngineHarness {
        let harness = EngineHarness(change)
        for _ in 0..<17 { harness.event("loud") }
        return harness
    }

    @Test("a user's events beyond the share go to a delay topic, with the number of events before them")
    func deferred() {
        let harness = flooded()
        #expect(harness.summaries == ["retry 1s apns blocked 0"])
        #expect(harness.headers(at: 0)["herald-detail"] == "behind 16 earlier events of this user")
        #expect(harness.usersInFlight == ["loud"])
    }

    @Test("a later event goes behind the deferred ones, although there is room again")
    func behind() {
        let harness = flooded()
        for _ in 0..<16 { harness.answer(200) }
        harness.acknowledgeAll()
        harness.event("loud")
        #expect(harness.summaries == ["retry 1s apns blocked 0"])
        harness.event("other")
        #expect(harness.usersInFlight == ["other"])
    }

    @Test("a returning event is called when it is the next one")
    func comesBack() {
        let harness = flooded()
        for _ in 0..<16 { harness.answer(200) }
        harness.acknowledgeAll()
        harness.pass(.seconds(1))
        harness.event("loud", on: EngineHarness.oneSecond, headers: [("herald-origin", "notifications/0/16")])
        harness.pass(.seconds(1))
        #expect(harness.usersInFlight == ["loud"])
    }

    @Test("an event that was called before waits for no share and no turn")
    func retried() {
        let harness = flooded()
        harness.acknowledgeAll()
        harness.event(
            "loud", on: EngineHarness.oneSecond,
            headers: [("herald-origin", "notifications/0/16"), ("herald-attempts", "1")])
        harness.pass(.seconds(1))
        #expect(harness.summaries.isEmpty)
    }

    @Test(
        "without delay topics, or in another order, all events wait in memory", arguments: [Ordering.partition, .none])
    func others(ordering: Ordering) {
        #expect(flooded { $0.ordering = ordering }.summaries.isEmpty)
        let withoutDelays = flooded {
            $0.retryDelays = []
            $0.retry.delays = []
        }
        #expect(withoutDelays.summaries.isEmpty)
    }

    @Test("a user with large records has fewer in memory")
    func large() {
        let harness = EngineHarness { $0.maxBufferedBytes = 1_000 }
        for _ in 0..<4 { harness.event("loud") }
        #expect(harness.summaries.count == 1)
    }

    @Test("in an outage no turns are planned")
    func outage() {
        let harness = EngineHarness {
            $0.breaker = BreakerRule(share: 0.5, of: 1)
            $0.maxInFlight = 64
        }
        harness.event("first")
        harness.answer(CallResult(failure: .nameNotFound))
        #expect(harness.engine.outage != nil)
        for _ in 0..<20 { harness.event("loud") }
        #expect(harness.summaries.isEmpty)
    }
}
