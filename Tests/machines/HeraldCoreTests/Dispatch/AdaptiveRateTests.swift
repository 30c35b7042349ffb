import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("The rate that a backend bears")
struct AdaptiveRateTests {
    @Test(
        "is found by its refusals: at least 90 % of it is used, and fewer than 2 % of calls are refused",
        arguments: [
            LimitedBackend(burst: 10), LimitedBackend(burst: 20), LimitedBackend(burst: 50), LimitedBackend(burst: 500),
            LimitedBackend(window: true), LimitedBackend(burst: 50, retryAfter: .seconds(1)),
            LimitedBackend(burst: 500, retryAfter: .seconds(1)), LimitedBackend(window: true, retryAfter: .seconds(1)),
            LimitedBackend(burst: 50, latency: 100), LimitedBackend(window: true, latency: 100),
            LimitedBackend(burst: 500, latency: 100, retryAfter: .seconds(1)),
            LimitedBackend(burst: 20, latency: 20, retryAfter: .seconds(3), refusalLatency: 2),
            LimitedBackend(window: true, latency: 20, retryAfter: .seconds(3), refusalLatency: 2),
        ])
    func finds(backend: LimitedBackend) {
        var world = PacedWorld(backend: backend)
        let time = world.run(until: 60_000)
        let rate = 60_000.0 / Double(time) * 1_000
        #expect(rate >= 0.9 * 500, "\(rate) a second got through")
        #expect(Double(world.refused) < 0.02 * Double(world.calls), "\(world.refused) of \(world.calls) were refused")
    }

    @Test(
        "is found within seconds for a backend that counts each second's calls; few are refused until then",
        arguments: [2, 20, 100] as [Int64], [nil, .seconds(1)] as [Milliseconds?])
    func findsSoon(latency: Int64, retryAfter: Milliseconds?) {
        var world = PacedWorld(backend: LimitedBackend(window: true, latency: latency, retryAfter: retryAfter))
        let time = world.run(until: 4_000)
        #expect(time < 12_000)
        #expect(world.refused < 400, "\(world.refused) of \(world.calls) were refused")
    }

    @Test("falls within seconds when the backend bears less, and rises again when it bears more")
    func changes() {
        var world = PacedWorld(backend: LimitedBackend(burst: 50))
        world.run(for: 20_000)
        world.backend.perSecond = 100
        world.run(for: 5_000)
        let before = (world.calls, world.refused)
        world.run(for: 10_000)
        let refusedShare = Double(world.refused - before.1) / Double(world.calls - before.0)
        #expect(refusedShare < 0.1)
        world.backend.perSecond = 500
        world.run(for: 90_000)
        let through = world.through
        world.run(for: 10_000)
        #expect(world.through - through > 9 * 400)
    }

    @Test("is unlimited before the first refusal, and again after a long time without one")
    func forgotten() {
        var rate = AdaptiveRate()
        var now = MonotonicTime(nanoseconds: 5_000_000_000)
        for _ in 0..<100 { _ = rate.passed(sentAt: now, isRetry: false, isKnown: false, now: now) }
        #expect(rate.limit == nil)
        for _ in 0..<40 {
            _ = rate.refusedCall(sentAt: now, isRetry: false, isKnown: false, retryAfter: nil, now: now)
        }
        #expect(rate.limit == 97)
        now = now.advanced(by: AdaptiveRate.forgottenAfter + .milliseconds(1))
        let hasChanged = rate.grow(now: now)
        #expect(hasChanged)
        #expect(rate.limit == nil)
    }
}

/// A backend that takes 500 calls a second and refuses the rest.
struct LimitedBackend: Sendable, CustomTestStringConvertible {
    var perSecond = 500.0
    /// The capacity of its token bucket: the calls that it takes at once.
    var burst = 50.0
    /// Whether it counts calls in each second of the clock instead.
    var window = false
    var latency: Int64 = 2
    var retryAfter: Milliseconds?
    /// The duration of a refusal, if it differs from that of the other answers.
    var refusalLatency: Int64?

    private var tokens = 0.0
    private var filledAt: Int64 = 0
    private var second: Int64 = 0
    private var taken = 0.0

    init(
        burst: Double = 50, window: Bool = false, latency: Int64 = 2, retryAfter: Milliseconds? = nil,
        refusalLatency: Int64? = nil
    ) {
        self.burst = burst
        self.window = window
        self.latency = latency
        self.retryAfter = retryAfter
        self.refusalLatency = refusalLatency
        tokens = burst
    }

    var testDescription: String {
        "\(window ? "fixed window" : "burst \(Int(burst))"), latency \(latency) ms, Retry-After \(retryAfter?.count ?? 0) ms"
            + (refusalLatency.map { ", refuses after \($0) ms" } ?? "")
    }

    func hasAnswered(_ isTaken: Bool, since sentAt: Int64, at time: Int64) -> Bool {
        sentAt + (isTaken ? latency : refusalLatency ?? latency) <= time
    }

    mutating func takes(at time: Int64) -> Bool {
        if window {
            if time / 1_000 != second {
                second = time / 1_000
                taken = 0
            }
            taken += 1
            return taken <= perSecond
        }
        tokens = min(burst, tokens + Double(time - filledAt) * perSecond / 1_000)
        filledAt = time
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}

/// Calls within the gate and the limit of calls in flight, and the backend's answers; each step is a millisecond.
struct PacedWorld {
    var backend: LimitedBackend
    private(set) var calls = 0
    private(set) var refused = 0
    private(set) var through = 0
    private var gate = CallGate(total: nil, limits: [nil])
    private var concurrency = AdaptiveConcurrency(ceiling: 1_000)
    private var time: Int64 = 1_000_000
    private var inFlight: [(number: UInt64, sentAt: Int64, isTaken: Bool)] = []

    init(backend: LimitedBackend) { self.backend = backend }

    private var now: MonotonicTime { MonotonicTime(nanoseconds: time * 1_000_000) }

    /// Runs until `goal` calls got through; returns the time that this took (milliseconds).
    mutating func run(until goal: Int) -> Int64 {
        let begin = time
        while through < goal, time - begin < 10_000_000 { step() }
        return time - begin
    }

    mutating func run(for milliseconds: Int64) {
        for _ in 0..<milliseconds { step() }
    }

    private mutating func step() {
        time += 1
        let ended = inFlight.filter { backend.hasAnswered($0.isTaken, since: $0.sentAt, at: time) }
        inFlight.removeAll { backend.hasAnswered($0.isTaken, since: $0.sentAt, at: time) }
        for call in ended {
            concurrency.ended(
                call.number, duration: .milliseconds(time - call.sentAt), answered: true, inFlight: inFlight.count + 1,
                latest: UInt64(calls), now: now)
            let sentAt = MonotonicTime(nanoseconds: call.sentAt * 1_000_000 - 1)
            var answered = AnsweredCall(sequence: call.number, user: call.number, sentAt: sentAt, isRetry: false)
            if call.isTaken {
                through += 1
            } else {
                refused += 1
                answered.isRefused = true
                answered.retryAfter = backend.retryAfter
            }
            gate.answered(0, answered, now: now)
        }
        gate.tick(now: now)
        while gate.open([0], now: now).contains(0) {
            guard inFlight.count < concurrency.limit else { return concurrency.reached() }
            gate.take(0, now: now)
            calls += 1
            inFlight.append((UInt64(calls), time, backend.takes(at: time)))
        }
    }
}
