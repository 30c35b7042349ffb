import HeraldTime
import Testing

@testable import HeraldCore

@Suite("The number of calls in flight that a backend bears")
struct AdaptiveConcurrencyTests {
    @Test(
        "a worker that starts against a slow backend has enough calls in flight within ten seconds",
        arguments: [0.0, 0.5, 1.6])
    func startsSlow(jitter: Double) {
        var world = ConcurrencyWorld(TimedBackend(latency: 1_500, jitter: jitter), perSecond: 220)
        world.run(for: 10_000)
        #expect(world.inFlight >= 300)
        #expect(world.longestQueue(for: 30_000) <= 1)
    }

    @Test(
        "calls to a backend that becomes slow no longer queue ten seconds later",
        arguments: [1.0, 0.97, 0.7], [0.0, 1.0])
    func becomesSlow(share: Double, jitter: Double) {
        for phase in 0..<3 {
            var world = ConcurrencyWorld(TimedBackend(latency: 5, jitter: jitter, share: share), perSecond: 200)
            world.run(for: 5_000 + 170 * phase)
            world.backend.latency = 1_500
            world.run(for: 10_000)
            #expect(world.longestQueue(for: 20_000) < 20, "the change came in phase \(phase)")
        }
    }

    @Test("calls that take longer than before, but less than a second, do not queue", arguments: [1.0, 0.6])
    func becomesSlower(share: Double) {
        var world = ConcurrencyWorld(TimedBackend(latency: 5, share: share), perSecond: 200)
        world.run(for: 20_000)
        world.backend.latency = 300
        world.run(for: 10_000)
        #expect(world.longestQueue(for: 30_000) < 20)
    }

    @Test("a backend may become slow repeatedly", arguments: [200, 1_500, 700] as [Int64])
    func again(latency: Int64) {
        var world = ConcurrencyWorld(TimedBackend(latency: 5), perSecond: 200)
        for _ in 0..<5 {
            world.run(for: 20_000)
            world.backend.latency = latency
            world.run(for: 10_000)
            #expect(world.longestQueue(for: 10_000) < 20)
            world.backend.latency = 5
        }
    }

    @Test(
        "a backend that slows down under load gets few calls beyond its capacity, and is fully used",
        arguments: [
            (TimedBackend(latency: 5, capacity: 20), 20), (TimedBackend(latency: 20, capacity: 100), 25),
            (TimedBackend(latency: 20, capacity: 500), 90), (TimedBackend(latency: 100, capacity: 1_000), 300),
        ])
    func isOverloaded(backend: TimedBackend, mostInFlight: Int) {
        for becomesSo in [false, true] {
            var world = ConcurrencyWorld(backend, perSecond: 1.5 * backend.capacity)
            if becomesSo {
                world.backend.capacity = 10_000
                world.run(for: 20_000)
                world.backend.capacity = backend.capacity
            }
            world.run(for: 20_000)
            let calls = world.calls
            #expect(world.mostInFlight(for: 60_000) <= mostInFlight, "it becomes so: \(becomesSo)")
            #expect(Double(world.calls - calls) >= 0.97 * 60 * backend.capacity)
        }
    }

    @Test("a backend that is both slow and overloaded is recognised too")
    func isBoth() {
        var world = ConcurrencyWorld(TimedBackend(latency: 20), perSecond: 150)
        world.run(for: 20_000)
        world.backend = TimedBackend(latency: 1_500, capacity: 100)
        world.run(for: 30_000)
        #expect(world.mostInFlight(for: 60_000) < 450)
    }

    @Test("overtaken calls that end without an answer leave the limit unchanged")
    func overtaken() {
        var world = ConcurrencyWorld(TimedBackend(latency: 5, share: 0.95), perSecond: 200)
        world.run(for: 10_000)
        world.backend.latency = 1_500
        world.run(for: 10_000)
        world.hangs = true
        #expect(world.longestQueue(for: 60_000) < 20)
    }

    @Test("a backend that was overloaded gets more calls when it bears more")
    func recovers() {
        var world = ConcurrencyWorld(TimedBackend(latency: 20, capacity: 100), perSecond: 150)
        world.run(for: 20_000)
        world.backend.capacity = 10_000
        world.perSecond = 1_000
        world.run(for: 20_000)
        #expect(world.longestQueue(for: 20_000) <= 1)
    }

    @Test("calls that end without information about the backend delay no round")
    func saysNothing() {
        var concurrency = AdaptiveConcurrency(ceiling: 1_000)
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        func end(_ numbers: ClosedRange<UInt64>, after milliseconds: Int32?) {
            for number in numbers {
                concurrency.ended(
                    number, duration: milliseconds.map { .milliseconds($0) }, answered: milliseconds != nil,
                    inFlight: 40,
                    latest: numbers.upperBound, now: now)
            }
        }
        end(1...40, after: nil)
        for round in 1...3 as ClosedRange<UInt64> {
            now = now.advanced(by: .milliseconds(600))
            end(40 * round + 1...40 * round + 40, after: round == 3 ? 900 : 5)
        }
        now = now.advanced(by: .milliseconds(600))
        end(161...200, after: 900)
        #expect(concurrency.limit == 20, "a trial")
        concurrency.forgetCalls(latest: 200)
        end(201...240, after: 900)
        #expect(concurrency.limit == 20)
    }
}

/// A backend whose calls take a given time, with a limited number of calls a second.
struct TimedBackend: Sendable {
    /// The duration of a call to an idle backend (milliseconds); `jitter` is its spread, as a share of it.
    var latency: Int64
    var jitter = 0.0
    /// The share of the calls with this duration; the others take 5 ms.
    var share = 1.0
    /// Calls a second; beyond that, calls queue.
    var capacity = Double.infinity

    private var busyUntil = 0.0
    private var random: UInt64 = 88_172_645_463_325_252

    init(latency: Int64, jitter: Double = 0, share: Double = 1, capacity: Double = .infinity) {
        self.latency = latency
        self.jitter = jitter
        self.share = share
        self.capacity = capacity
    }

    /// The end of a call that begins now (milliseconds).
    mutating func end(ofCallAt time: Int64) -> Int64 {
        busyUntil = max(busyUntil, Double(time)) + 1_000 / capacity
        let own = chance() < share ? Double(latency) * (1 + jitter * (chance() - 0.5)) : 5
        return max(time + 1, Int64(busyUntil + own))
    }

    /// A reproducible random number below 1.
    private mutating func chance() -> Double {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return Double(random >> 11) / Double(1 << 53)
    }
}

/// A wanted number of calls a second, within the limit; each step is a millisecond.
struct ConcurrencyWorld {
    var backend: TimedBackend
    /// The number of wanted calls.
    var perSecond: Double
    /// Whether calls longer than a second count as hanging, three seconds of four.
    var hangs = false
    private(set) var calls = 0
    private(set) var inFlight = 0
    private var wanted = 0.0
    private var concurrency = AdaptiveConcurrency(ceiling: 1_000)
    private var time: Int64 = 1_000_000
    private var ends: [Int64: [(number: Int, began: Int64)]] = [:]

    init(_ backend: TimedBackend, perSecond: Double) {
        self.backend = backend
        self.perSecond = perSecond
    }

    mutating func run(for milliseconds: Int) {
        for _ in 0..<milliseconds { step() }
    }

    /// Runs, and returns the longest queue of calls.
    mutating func longestQueue(for milliseconds: Int) -> Int {
        var most = 0
        for _ in 0..<milliseconds {
            step()
            most = max(most, Int(wanted))
        }
        return most
    }

    /// Runs, and returns the largest number of calls in flight.
    mutating func mostInFlight(for milliseconds: Int) -> Int {
        var most = 0
        for _ in 0..<milliseconds {
            step()
            most = max(most, inFlight)
        }
        return most
    }

    private mutating func step() {
        time += 1
        wanted += perSecond / 1_000
        let now = MonotonicTime(nanoseconds: time * 1_000_000)
        for (number, began) in ends.removeValue(forKey: time) ?? [] {
            let saysNothing = hangs && time - began > 1_000 && time / 1_000 % 4 != 0
            concurrency.ended(
                UInt64(number), duration: saysNothing ? nil : .milliseconds(time - began), answered: !saysNothing,
                inFlight: inFlight, latest: UInt64(calls), now: now)
            inFlight -= 1
        }
        while wanted >= 1 {
            guard inFlight < concurrency.limit else { return concurrency.reached() }
            wanted -= 1
            inFlight += 1
            calls += 1
            ends[backend.end(ofCallAt: time), default: []].append((calls, time))
        }
    }
}
