import Foundation
import HeraldSandbox
import HeraldTime
import TestSupport
import Testing

@Suite("Retries through the delay topics", .realKafka("Retries through the delay topics"))
struct RetryTests {
    @Test("Quick retries and delays come in order and not early, with one key, followed by a dead letter")
    func tiers() async throws {
        let immediate = 1
        let delays: [Int64] = [1_000, 2_000]
        var plan = Fixture.Plan()
        plan.settings = [
            "retry.immediate": "\(immediate)", "retry.delays": "[1s, 2s]", "outages.breaker.of": "0",
        ]
        plan.misbehaviour = [.status(503) { $0.user = "down-*" }]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            let users = (0..<5).map { "down-\($0)" }
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
                #expect(retries.map { $0.topic.split(separator: ".").last } == ["1s", "2s"])
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
        }
    }

    @Test("A retry topic whose delay was removed from the settings is consumed, and what waits there is found")
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

            let changes = ["retry.delays": "[1s]"]
            let former = fixture.topic("notifications.retry.3s")
            let account = try await fixture.tool("account", "--fail-if-missing", changing: changes)
            #expect(account.status == 0 && account.output.contains("Open: 1 in \(former)."), "\(account.output)")
            let explained = try await fixture.tool("explain", "r", "--user", "anna", changing: changes)
            #expect(explained.output.contains("apns: it waits in \(former) until"), "\(explained.output)")
            #expect(!explained.output.contains("lost"), "\(explained.output)")
            let found = try await fixture.tool("find", "--user", "anna", changing: changes)
            #expect(found.output.contains("waits in \(former) for apns"), "\(found.output)")

            _ = try await fixture.startWorker(changing: changes)
            try await fixture.waitForResults(1)
            try await Oracle(fixture).expectResults(["r": ["apns": "delivered 200 attempts 3"]])
            try await fixture.waitUntilAllIsCommitted()
        }
    }
}
