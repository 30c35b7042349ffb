import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Limits of calls")
struct EngineLimitTests {
    private func names(_ harness: EngineHarness) -> [String] {
        harness.calls.map { harness.engine.configuration.decoder.pushServices.names[Int($0.service)] }
    }

    @Test("a limit per second applies to all push services together, and the engine wakes for the next call")
    func total() {
        let harness = EngineHarness { $0.callsPerSecond = 10 }
        for number in 0..<5 { harness.event("u\(number)") }
        #expect(harness.calls.count == 1)
        for expected in 2...5 {
            let wake = harness.engine.nextWake
            #expect(wake.map { $0 <= harness.now.monotonic.advanced(by: .milliseconds(100)) } == true)
            harness.pass(.milliseconds(100))
            #expect(harness.calls.count == expected)
        }
    }

    @Test("a limit per second of one push service leaves the others unlimited")
    func service() {
        let harness = EngineHarness {
            $0.serviceCallsPerSecond = [10, nil, nil]
            $0.maxInFlight = 100
        }
        for number in 0..<5 { harness.event("u\(number)", "apns,gcm") }
        #expect(names(harness).count { $0 == "apns" } == 1)
        #expect(names(harness).count { $0 == "gcm" } == 5)
        harness.pass(.milliseconds(100))
        #expect(names(harness).count { $0 == "apns" } == 2)
    }

    @Test("an event of the first topic precedes the many waiting ones of the second")
    func priority() {
        let harness = EngineHarness {
            $0.callsPerSecond = 100
            $0.maxInFlight = 1_000
        }
        for number in 0..<500 { harness.event("bulk\(number)", on: EngineHarness.bulk) }
        harness.event("urgent")
        harness.pass(.milliseconds(10))
        harness.pass(.milliseconds(10))
        #expect(harness.usersInFlight.contains("urgent"))
        #expect(harness.calls.count <= 4)
    }

    @Test("Retry-After of one event delays no other")
    func oneRefusal() {
        let harness = EngineHarness()
        harness.event("a", "apns")
        harness.answer(CallResult(status: 429, retryAfter: .hours(1)))
        harness.event("b", "apns,gcm")
        #expect(Set(names(harness)) == ["apns", "gcm"])
    }

    @Test(
        "Retry-After of many events pauses their push service alone; waiting events lose no attempt")
    func pause() {
        let harness = EngineHarness { $0.maxInFlight = 40 }
        for number in 0..<20 { harness.event("a\(number)", "apns") }
        for _ in 0..<20 { harness.answer(CallResult(status: 429, retryAfter: .milliseconds(500))) }
        harness.event("b", "apns,gcm")
        #expect(names(harness) == ["gcm"])
        harness.pass(.milliseconds(499))
        #expect(names(harness) == ["gcm"])
        harness.pass(.milliseconds(10))
        #expect(names(harness) == ["gcm", "apns"])
        harness.answer(200)
        harness.answer(200)
        #expect(harness.produced.filter { $0.production.kind == .result }.map(\.production.attempts) == [1, 1])
    }

    @Test("events of a far slower push service are deferred to their turn, and the others are not delayed")
    func putOff() {
        let harness = EngineHarness {
            $0.serviceCallsPerSecond = [2, nil, nil]
            $0.maxInFlight = 40
        }
        var taken = 0
        for number in 0..<200 where harness.engine.nextSource() != nil {
            taken += 1
            harness.event("u\(number)", number % 2 == 0 ? "apns" : "gcm")
            while let index = names(harness).firstIndex(of: "gcm") {
                harness.answer(harness.takeCall(at: index), CallResult(status: 200))
            }
            harness.acknowledgeAll()
        }
        #expect(taken == 200, "nobody is held up")
    }

    @Test("a restart that meets the slower one's backlog first delays no others: the history names them")
    func putOffAfterRestart() {
        let harness = EngineHarness {
            $0.serviceCallsPerSecond = [2, nil, nil]
            $0.maxInFlight = 40
            $0.duplicateSize = 100
            $0.duplicateWindow = .minutes(10)
        }
        harness.reassign()
        harness.engine.unassigned(now: harness.now)
        harness.assign(startingAt: 2)
        harness.skip(to: 0)
        for service in ["gcm", "apns"] { harness.event("before", service) }
        var taken = 0
        for number in 0..<200 where harness.engine.nextSource() != nil {
            taken += 1
            harness.event("u\(number)")
            harness.acknowledgeAll()
        }
        #expect(taken == 200, "what stands behind is reached")
    }

    @Test("events that are all for a limited push service wait in their queue, and not in a delay topic")
    func backPressure() {
        let harness = EngineHarness {
            $0.serviceCallsPerSecond = [2, nil, nil]
            $0.maxInFlight = 40
        }
        var taken = 0
        for number in 0..<200 where harness.engine.nextSource() != nil {
            taken += 1
            harness.event("u\(number)")
        }
        #expect(taken == 40)
        #expect(harness.produced.isEmpty)
    }

    @Test("quick retries stop when most calls fail")
    func budget() {
        let harness = EngineHarness {
            $0.breaker = BreakerRule(of: 0)
            $0.maxInFlight = 2_000
        }
        for number in 0..<499 {
            harness.event("u\(number)")
            harness.answer(503)
            harness.pass(.milliseconds(400))
            harness.answer(200)
            harness.acknowledgeAll()
        }
        for number in 0..<600 {
            harness.event("v\(number)")
            harness.answer(503)
        }
        let retries = harness.produced.map(\.production).filter { $0.kind == .retry }
        #expect(!retries.isEmpty)
        #expect(retries.allSatisfy { $0.attempts == 1 && $0.retryReason == .transient && $0.delay == 0 })
    }

    @Test("calls in flight decrease when they slow each other down, and increase when they do not")
    func slowBackend() {
        let harness = EngineHarness { $0.maxInFlight = 1_000 }
        var number = 0
        func round(_ latency: (_ calls: Int) -> Int) {
            while harness.engine.nextSource() != nil, harness.engine.load.events < 1_200 {
                number += 1
                harness.event("u\(number)")
            }
            let milliseconds = latency(harness.calls.count)
            harness.time += Int64(milliseconds)
            for token in harness.calls {
                _ = harness.takeCall()
                harness.answer(token, CallResult(status: 200, duration: .milliseconds(milliseconds)))
            }
            harness.acknowledgeAll()
        }
        for _ in 0..<40 { round { _ in 20 } }
        #expect(harness.engine.inFlightLimit == 1_000)
        for _ in 0..<20 { round { $0 } }
        #expect(harness.engine.inFlightLimit < 200)
        for _ in 0..<800 where harness.engine.inFlightLimit <= 900 { round { _ in 20 } }
        #expect(harness.engine.inFlightLimit > 900)
    }
}

@Suite("Priority")
struct EnginePriorityTests {
    @Test(
        "with a full bulk topic and a limit, ten of eleven calls are the first topic's while it has events",
        arguments: [1, 12, 40] as [Int64])
    func share(latency: Int64) {
        let harness = EngineHarness {
            $0.callsPerSecond = 200
            $0.maxInFlight = 1_000
        }
        var urgent = 0
        var bulk = 0
        var made: [String] = []
        var inFlight: [(at: Int64, token: CallToken)] = []
        for step in 0..<2_000 as Range<Int64> {
            if step == 1_000 { urgent = 50 }
            harness.pass(.milliseconds(1))
            func start() {
                while !harness.calls.isEmpty {
                    let token = harness.takeCall()
                    made.append(harness.user(token))
                    inFlight.append((harness.time + latency, token))
                }
            }
            start()
            while let first = inFlight.first, first.at <= harness.time {
                inFlight.removeFirst()
                harness.answer(first.token, CallResult(status: 200, duration: .milliseconds(latency)))
                harness.acknowledgeAll()
            }
            for source in harness.engine.sourceList.indices { harness.engine.recordsArrived(in: source) }
            while let source = harness.engine.nextSource() {
                if source == EngineHarness.bulk {
                    bulk += 1
                    harness.event("bulk\(bulk)", on: source)
                } else if source == EngineHarness.request, urgent > 0 {
                    urgent -= 1
                    harness.event("urgent\(urgent)")
                } else {
                    harness.engine.exhausted(source: source)
                }
            }
            start()
        }
        let places = made.indices.filter { made[$0].hasPrefix("urgent") }
        #expect(places.count == 50)
        #expect((places.last ?? 0) - (places.first ?? 0) < 60, "\(places.map { $0 - (places.first ?? 0) })")
    }
}
