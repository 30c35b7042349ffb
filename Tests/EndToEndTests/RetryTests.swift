import Foundation
import HeraldSandbox
import HeraldTime
import TestSupport
import Testing

@Suite("Retries through the delay topics", .realKafka("Retries through the delay topics"))
struct RetryTests {
    @Test(
        "Retry tiers fire in order and not early, always with the same idempotency key, and then it is a dead letter",
        arguments: [0, 2])
    func tiers(immediate: Int) async throws {
        let delays: [Int64] = [1_000, 2_000, 4_000]
        var plan = Fixture.Plan()
        plan.settings = [
            "retry.immediate": "\(immediate)", "retry.delays": "[1s, 2s, 4s]", "outages.breaker.of": "0",
        ]
        plan.misbehaviour = [.status(503) { $0.user = "down-*" }]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            let users = (0..<20).map { "down-\($0)" }
            try await fixture.publish(users.map { Publication(id: $0, user: $0) })
            try await fixture.waitForResults(users.count)
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)

            let oracle = try await Oracle(fixture)
            let calls = 1 + immediate + delays.count
            oracle.expectCalls { _ in calls }
            oracle.expectResults(
                Dictionary(
                    uniqueKeysWithValues: users.map {
                        ($0, ["apns": "dead-lettered attempts-exhausted 503 attempts \(calls)"])
                    }))
            oracle.expectNothingPassed(try await fixture.committed())
            for user in users {
                let times = oracle.calls.filter { $0.user == user }.map(\.receivedAt.milliseconds)
                let retries = oracle.retries.filter { $0.keyText == user }
                #expect(retries.map { $0.topic.split(separator: ".").last } == ["1s", "2s", "4s"])
                for (index, retry) in retries.enumerated() {
                    let due = retry.number("herald-not-before") ?? 0
                    let made = 1 + immediate + index
                    #expect(retry.number("herald-attempts") == Int64(made))
                    #expect(due >= times[made - 1] + delays[index], "it waits the whole delay after the call before")
                    #expect(times[made] >= due, "call \(made + 1) was early")
                }
                let letter = try #require(fixture.deadLetters.first { $0.keyText == user })
                #expect(letter.heraldHeaders["herald-reason"] == "attempts-exhausted")
                #expect(letter.heraldHeaders["herald-attempts"] == "\(calls)")
                let history = letter.heraldHeaders["herald-history"].map { Data($0.utf8) } ?? Data()
                #expect((try JSONSerialization.jsonObject(with: history) as? [Any])?.count == calls)
            }
            for topic in Dictionary(grouping: oracle.retries, by: \.topicPartition).values {
                let due = topic.sorted { $0.offset < $1.offset }.map { $0.number("herald-not-before") ?? 0 }
                #expect(zip(due, due.dropFirst()).allSatisfy { $0 <= $1 + 1_000 }, "a delay topic is in due order")
            }
        }
    }

    @Test("A retry blocks nothing: the same user's later events are delivered while it waits")
    func overtaking() async throws {
        var plan = Fixture.Plan()
        plan.partitions = 1
        plan.settings = ["retry.delays": "[5s]"]
        plan.misbehaviour = [.status(503) { ($0.pns, $0.calls) = ("gcm", 1) }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish(
                [Publication(id: "first", user: "anna", pns: ["gcm"])]
                    + (0..<20).map { Publication(id: "later-\($0)", user: "anna") })
            try await fixture.waitForResults(21)
            let results = try fixture.results
            #expect(results.last?.id == "first")
            #expect(results.last?.summary == "delivered 200 attempts 2")
        }
    }

    @Test(
        "Retry-After skips quick retries and lengthens the wait, which hops through shorter delay topics uncounted",
        arguments: ["4", "date+4"])
    func retryAfter(value: String) async throws {
        var plan = Fixture.Plan()
        plan.settings = ["retry.immediate": "2", "retry.delays": "[1s, 10s]"]
        plan.misbehaviour = [.status(503) { ($0.calls, $0.retryAfter) = (1, value) }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish([Publication(id: "r", user: "anna")])
            try await fixture.waitForResults(1)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(["r": ["apns": "delivered 200 attempts 2"]])
            let times = oracle.calls.map(\.receivedAt.milliseconds)
            #expect(times.count == 2)
            let retries = oracle.retries
            #expect(retries.count >= 2, "one hop of a second is not enough for four")
            let due = retries.compactMap { $0.number("herald-not-before") }
            #expect(Set(due).count == 1, "a hop changes nothing of when it is due")
            // A date has no milliseconds.
            #expect((due.first ?? 0) >= (times.first ?? 0) + (value == "4" ? 4_000 : 3_000))
            #expect((times.last ?? 0) >= (due.first ?? .max))
            for retry in retries {
                #expect(retry.topic.hasSuffix(".retry.1s"))
                #expect(retry.heraldHeaders["herald-attempts"] == "1")
                #expect(retry.heraldHeaders["herald-reason"] == "throttled")
            }
        }
    }

    @Test("notBefore waits through the delay topics and in memory, counts no attempt and is never early")
    func notBefore() async throws {
        try await Fixture.run { fixture in
            _ = try await fixture.startWorker()
            let due = Int64(Date.now.timeIntervalSince1970 * 1_000) + 3_500
            var text: [UInt8] = []
            RFC3339.append(WallTime(milliseconds: due), to: &text)
            let moment = String(decoding: text, as: UTF8.self)
            try await fixture.publish([Publication(id: "n", user: "anna", more: ["notBefore": moment])])
            try await fixture.waitForResults(1)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(["n": ["apns": "delivered 200 attempts 1"]])
            #expect((oracle.calls.first?.receivedAt.milliseconds ?? 0) >= due)
            #expect(oracle.retries.contains { $0.topic.hasSuffix(".retry.2s") })
            for retry in oracle.retries {
                #expect(retry.number("herald-not-before") == due)
                #expect(retry.heraldHeaders["herald-attempts"] == "0")
                #expect(retry.heraldHeaders["herald-reason"] == "not-before")
                #expect(retry.heraldHeaders["herald-first-attempt-at"] == nil)
            }
        }
    }

    @Test("An event that expires while it waits for its retry is not called again")
    func expiry() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["retry.delays": "[1s, 1m]"]
        plan.misbehaviour = [.status(503)]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let end = ISO8601DateFormatter().string(from: Date.now.addingTimeInterval(20))
            try await fixture.publish([Publication(id: "x", user: "anna", more: ["expiresAt": end])])
            try await fixture.waitForResults(1)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(["x": ["apns": "expired 503 attempts 2"]])
            #expect(fixture.deadLetters.map { $0.heraldHeaders["herald-reason"] } == ["expired"])
        }
    }

    @Test("A retry topic whose delay was taken out of the settings is still consumed")
    func removedDelay() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["retry.delays": "[1s, 3s]"]
        plan.misbehaviour = [.status(503) { $0.callsPerKey = 2 }]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish([Publication(id: "r", user: "anna")])
            try await fixture.wait("the event waits in the topic of 3 s") {
                fixture.count("notifications.retry.3s") == 1
            }
            first.terminate()
            #expect(try await first.waitForExit() == 0)

            _ = try await fixture.startWorker(changing: ["retry.delays": "[1s]"])
            try await fixture.waitForResults(1)
            try await Oracle(fixture).expectResults(["r": ["apns": "delivered 200 attempts 3"]])
            try await fixture.waitUntilAllIsCommitted()
        }
    }
}
