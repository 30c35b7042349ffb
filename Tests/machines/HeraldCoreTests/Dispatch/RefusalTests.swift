import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Refusals")
struct RefusalTests {
    /// A backend with rules for its refusals, and a limit of calls a second.
    final class Backend {
        var capacity: LimitedBackend?
        var refuses: (Int, Int64) -> CallResult?
        private var refused: Set<Int> = []

        init(capacity: LimitedBackend? = nil, refuses: @escaping (Int, Int64) -> CallResult? = { _, _ in nil }) {
            self.capacity = capacity
            self.refuses = refuses
        }

        /// Refuses this share of the events once.
        static func refusingOnce(
            _ share: Double, retryAfter: Milliseconds?, capacity: LimitedBackend? = nil
        ) -> Backend {
            let backend = Backend(capacity: capacity)
            backend.refuses = { [unowned backend] event, _ in
                let hash = (UInt64(event) &* 0x9E37_79B9_7F4A_7C15) >> 40
                guard Double(hash % 10_000) < share * 10_000, backend.refused.insert(event).inserted else { return nil }
                return CallResult(status: 429, retryAfter: retryAfter, duration: .milliseconds(20))
            }
            return backend
        }

        func answer(_ event: Int, _ time: Int64) -> CallResult {
            if let refusal = refuses(event, time) { return refusal }
            if capacity?.takes(at: time) == false {
                return CallResult(status: 429, retryAfter: capacity?.retryAfter, duration: .milliseconds(20))
            }
            return CallResult(status: 200, duration: .milliseconds(20))
        }
    }

    private static func world(_ backend: Backend, inFlight: Int = 20) -> BacklogWorld {
        BacklogWorld(backend: backend.answer) { $0.maxInFlight = inFlight }
    }

    private static let seconds: Int64 = 15

    /// Publishes more events than can be delivered in the time, and runs.
    private static func run(_ world: consuming BacklogWorld) -> BacklogWorld {
        world.publish(Int(seconds) * 1_200)
        world.run(for: seconds * 1_000)
        return world
    }

    private static func run(_ backend: Backend) -> BacklogWorld { run(world(backend)) }

    /// The number of deliveries in that time without refusals, whatever the delays of retries.
    private static let without = run(Backend()).delivered

    @Test(
        "a backend that refuses a few events once gets the others as fast as without them",
        arguments: [0.01, 0.05], [nil, .seconds(1), .hours(1)] as [Milliseconds?])
    func ofSomeEvents(share: Double, retryAfter: Milliseconds?) {
        let without = Self.without
        let world = Self.run(.refusingOnce(share, retryAfter: retryAfter))
        let goal = share == 0.01 ? 0.95 : 0.9
        let delivered = world.delivered
        #expect(Double(delivered) >= goal * Double(without), "\(delivered) instead of \(without)")
        let limit = world.rateLimit
        #expect(limit == nil)
        let records = world.retryRecords
        let refused = world.refused
        #expect(Double(records) <= 1.5 * Double(refused), "\(records) retry records for \(refused) refused calls")
    }

    @Test("an event that is refused at each retry is no more evidence about others than one refused once")
    func ofTheSameEvents() {
        let refusing = Backend { event, _ in
            event % 25 == 0 ? CallResult(status: 429, duration: .milliseconds(20)) : nil
        }
        let delays = ["500ms", "1s", "2s", "4s"]
        let with = Self.run(BacklogWorld(delays: delays, backend: refusing.answer) { $0.maxInFlight = 20 })
        let without = Self.without
        let (delivered, limit) = (with.delivered, with.rateLimit)
        #expect(limit == nil)
        // Each of these events is called seven times.
        #expect(Double(delivered) >= 0.75 * Double(without), "\(delivered) instead of \(without)")
    }

    @Test(
        "a backend that bears 500 calls a second gets them, and few more, even when it refuses some events",
        arguments: [nil, .seconds(1)] as [Milliseconds?], [0, 0.01])
    func ofCapacity(retryAfter: Milliseconds?, share: Double) {
        let limited = LimitedBackend(burst: 20, latency: 20, retryAfter: retryAfter)
        let backend = Backend.refusingOnce(share, retryAfter: .seconds(1), capacity: limited)
        var world = Self.world(backend, inFlight: 1_000)
        world.publish(80_000)
        world.run(for: 120_000)
        let goal = share == 0 ? 0.95 : 0.9
        let (delivered, refused, calls) = (world.delivered, world.refused, world.calls)
        #expect(Double(delivered) >= goal * 500 * 120, "\(delivered) delivered")
        #expect(Double(refused) < (0.02 + share) * Double(calls), "\(refused) of \(calls) calls were refused")
        let (dead, records) = (world.dead, world.retryRecords)
        #expect(dead == 0)
        #expect(Double(records) <= 1.5 * Double(refused), "\(records) retry records for \(refused) refused calls")
    }

    @Test(
        "a backend that refuses everything for a minute is left alone, and no event becomes a dead letter",
        arguments: [nil, .seconds(1)] as [Milliseconds?])
    func ofEverything(retryAfter: Milliseconds?) {
        let backend = Backend { _, time in
            let isBad = time - 1_000_000_000 > 10_000 && time - 1_000_000_000 <= 70_000
            return isBad ? CallResult(status: 429, retryAfter: retryAfter, duration: .milliseconds(20)) : nil
        }
        var world = Self.world(backend)
        world.publish(60_000)
        world.run(for: 15_000)
        let before = world.calls
        world.run(for: 55_000)
        let during = world.calls - before
        #expect(during < 500, "\(during) calls in 55 seconds")
        world.run(for: 30_000)
        let delivered = world.delivered
        world.run(for: 10_000)
        let more = world.delivered - delivered
        #expect(more > 5_000, "\(more) in ten seconds")
        let dead = world.dead
        #expect(dead == 0)
    }

    @Test(
        "a backend that bears 500 calls a second gets 475 from the start on, and refuses fewer than 2 %",
        arguments: [
            LimitedBackend(burst: 20, latency: 20, retryAfter: .seconds(1)), LimitedBackend(burst: 20, latency: 20),
            LimitedBackend(burst: 50, latency: 20, retryAfter: .seconds(1)),
            LimitedBackend(window: true, latency: 20, retryAfter: .seconds(1)),
            LimitedBackend(window: true, latency: 20),
        ])
    func fromStart(capacity: LimitedBackend) {
        var world = Self.world(Backend(capacity: capacity), inFlight: 1_000)
        world.publish(45_000)
        world.run(for: 64_000)
        let (delivered, refused, calls) = (world.delivered, world.refused, world.calls)
        #expect(delivered >= 475 * 64, "\(delivered / 64) a second")
        #expect(Double(refused) < 0.02 * Double(calls), "\(refused) of \(calls) calls were refused")
    }

    @Test(
        "a backend with a limit per minute gets few calls beyond it",
        arguments: [nil, .seconds(1), .seconds(5)] as [Milliseconds?])
    func ofMinutes(retryAfter: Milliseconds?) {
        var (minute, taken) = (Int64.min, 0)
        let backend = Backend { _, time in
            if time / 60_000 != minute { (minute, taken) = (time / 60_000, 0) }
            taken += 1
            return taken <= 6_000
                ? nil : CallResult(status: 429, retryAfter: retryAfter, duration: .milliseconds(20))
        }
        var world = Self.world(backend, inFlight: 1_000)
        world.publish(40_000)
        world.run(for: 240_000)
        let (delivered, refused, calls) = (world.delivered, world.refused, world.calls)
        #expect(delivered >= 4 * 6_000, "\(delivered) delivered")
        #expect(Double(refused) < 0.15 * Double(calls), "\(refused) of \(calls) calls were refused")
    }

    @Test(
        "events that are refused because of their users delay others by less than a second",
        arguments: [nil, .seconds(5)] as [Milliseconds?], [3, 7])
    func ofUsers(retryAfter: Milliseconds?, every: Int) {
        let backend = Backend { event, _ in
            event % every == 0 ? CallResult(status: 429, retryAfter: retryAfter, duration: .milliseconds(20)) : nil
        }
        var world = Self.world(backend, inFlight: 1_000)
        for step in 0..<200 {
            world.publish(25)
            world.run(for: 50)
            let waiting = 25 * (step + 1) * (every - 1) / every - world.delivered
            #expect(waiting < 400, "\(waiting) others wait")
        }
        let (delivered, expected) = (world.delivered, 5_000 - 5_000 / every)
        #expect(delivered >= expected - 25, "\(delivered) of \(expected)")
    }

    @Test("the limit is lifted when most calls are refused because of their events")
    func ofMany() {
        let world = Self.run(.refusingOnce(0.3, retryAfter: .seconds(1)))
        let without = Self.without
        let delivered = world.delivered
        #expect(Double(delivered) > 0.7 * 0.7 * Double(without), "\(delivered) of \(without)")
        let limit = world.rateLimit
        #expect(limit == nil)
    }
}
