import HeraldTime
import Testing

@testable import HeraldBackend

@Suite("The schedule of token requests")
struct TokenScheduleTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// A schedule with its clock in milliseconds, which begins at 0.
    private final class Clocked {
        private var schedule = TokenSchedule(now: start)
        var now: Int64 = 0

        private var moment: MonotonicTime { start.advanced(by: .milliseconds(now)) }

        var isDue: Bool { schedule.isDue(moment) }
        /// The moment of the next request.
        var next: Int64 { schedule.nextRequest.time(since: start).count }
        var end: Int64? { schedule.expiresAt?.time(since: start).count }

        func fetched(_ lifetimeSeconds: Int64?, entropy: UInt64 = 0) {
            schedule.fetched(lifetimeSeconds: lifetimeSeconds, now: moment, entropy: entropy)
        }

        func failed(retryAfter: Int64? = nil, entropy: UInt64 = 0) {
            schedule.failed(retryAfter: retryAfter.map { .milliseconds($0) }, now: moment, entropy: entropy)
        }

        func refused() -> Bool { schedule.refused(moment) }
        func clientChanged() { schedule.clientChanged(moment) }
    }

    @Test("The first token is fetched at once, the next between three quarters and seven eighths of its life")
    func renewal() {
        let clock = Clocked()
        #expect(clock.isDue)
        clock.fetched(3_600)
        #expect(!clock.isDue && clock.next == 2_700_000 && clock.end == 3_600_000)
        clock.fetched(3_600, entropy: 450_000)
        #expect(clock.next == 3_150_000)
        clock.fetched(3_600, entropy: .max)
        #expect((2_700_000...3_150_000).contains(clock.next))
    }

    @Test(
        "Whatever lifetime a token claims, it is renewed eventually and not constantly",
        arguments: [
            (nil, 450_000, nil), (0, 450_000, nil), (-5, 450_000, nil), (1, 1_000, 1_000), (10, 7_500, 10_000),
            (.max, 64_800_000, 86_400_000),
        ] as [(Int64?, Int64, Int64?)])
    func lifetimes(seconds: Int64?, next: Int64, end: Int64?) {
        let clock = Clocked()
        clock.fetched(seconds)
        #expect(clock.next == next && clock.end == end)
    }

    @Test("After failures the wait doubles up to a minute, and is shortened at random by at most half")
    func failures() {
        let clock = Clocked()
        var waits: [ClosedRange<Int64>] = []
        for _ in 1...9 {
            clock.failed(entropy: 0)
            let shortest = clock.next - clock.now
            clock.now = clock.next
            waits.append(shortest...2 * shortest)
        }
        #expect(waits.map(\.upperBound) == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
        clock.failed(entropy: .max)
        #expect((30_000...60_000).contains(clock.next - clock.now))
        clock.fetched(3_600)
        clock.failed()
        #expect(clock.next - clock.now == 500)
    }

    @Test("An endpoint that is down for a day is asked about two thousand times, whatever is refused meanwhile")
    func downForADay() {
        let clock = Clocked()
        var requests = 0
        while clock.now < 86_400_000 {
            if clock.isDue {
                requests += 1
                clock.failed(entropy: UInt64(clock.now))
            }
            _ = clock.refused()
            clock.now += 100
        }
        #expect((1_440...2_900).contains(requests))
    }

    @Test(
        "The endpoint's own Retry-After is honoured, up to five minutes", arguments: [(7_000, 7_000), (.max, 300_000)])
    func retryAfter(asked: Int64, wait: Int64) {
        let clock = Clocked()
        clock.failed(retryAfter: asked)
        #expect(clock.next == wait)
    }

    @Test("A refused token is renewed at once, and then at growing intervals")
    func refusals() {
        let clock = Clocked()
        clock.fetched(3_600)
        clock.now = 1_000_000
        #expect(clock.refused() && clock.isDue)
        clock.fetched(3_600)
        var distances: [Int64] = []
        for _ in 1...7 {
            let before = clock.now
            while !clock.refused() { clock.now += 1_000 }
            distances.append(clock.now - before)
            clock.fetched(3_600)
        }
        #expect(distances == [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000])
        // After a long time without a refusal, everything is as in the beginning.
        clock.now += 2_000_000
        #expect(clock.refused())
        clock.fetched(3_600)
        clock.now += 10_000
        #expect(clock.refused())
    }

    @Test("A refusal that comes too early is not forgotten: the token is renewed at the earliest time")
    func earlyRefusal() {
        let clock = Clocked()
        clock.fetched(3_600)
        #expect(!clock.refused() && clock.next == 10_000)
    }

    @Test("Refusals all day long cause at most a few hundred requests")
    func refusedForADay() {
        let clock = Clocked()
        var requests = 0
        while clock.now < 86_400_000 {
            if clock.refused() {
                requests += 1
                clock.fetched(3_600, entropy: UInt64(clock.now))
            }
            clock.now += 100
        }
        #expect((200...320).contains(requests))
    }

    @Test("A refusal does not accelerate requests to a failing endpoint")
    func refusalWhileDown() {
        let clock = Clocked()
        clock.fetched(3_600)
        clock.now = 2_700_000
        clock.failed(entropy: 500)
        #expect(!clock.refused() && clock.next == 2_701_000)
    }

    @Test("Another client's secret is tried at once")
    func clientChanged() {
        let clock = Clocked()
        for _ in 1...10 { clock.failed(entropy: 0) }
        #expect(!clock.isDue)
        clock.clientChanged()
        #expect(clock.isDue)
    }
}
