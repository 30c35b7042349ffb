import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Calls that hang", .realKafka("Calls that hang"), .timeLimit(.minutes(20)))
struct StuckTests {
    @Test("Every slot is stuck for longer than max.poll.interval.ms: the worker stays a member and goes on")
    func longerThanPollInterval() async throws {
        var plan = World.Plan()
        plan.settings = [
            "delivery.maxInFlight": "5",
            "kafka.properties":
                #"{session.timeout.ms: "6000", heartbeat.interval.ms: "500", max.poll.interval.ms: "6000"}"#,
        ]
        plan.misbehaviour = [.latency(milliseconds: 8_000...8_000) { $0.calls = 5 }]
        try await World.run(plan) { world in
            let worker = try await world.startWorker()
            try await world.publish(Batch.events(0..<20))
            try await world.waitForResults(20)
            try await world.waitUntilAllIsCommitted()
            let messages = worker.logLines.map(\.message)
            #expect(messages.count { $0.contains("partitions assigned") } == 1)
            #expect(!messages.contains { $0.contains("partitions lost") || $0.contains("partitions revoked") })
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(world)
            oracle.expectResults(Batch.delivered(0..<20))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test(
        "A user whose calls hang: others are delivered meanwhile, and its backlog moves to its retry topic as blocked")
    func hangingUser() async throws {
        var plan = World.Plan()
        plan.settings = ["backend.timeout": "6s", "retry.immediate": "20"]
        plan.misbehaviour = [.hang { $0.user = "stuck" }]
        try await World.run(plan) { world in
            _ = try await world.startWorker()
            let stuck = (0..<30).map { Publication(id: "stuck\($0)", user: "stuck") }
            try await world.publish(stuck + Batch.events(0..<100))
            try await world.waitForResults(100)
            #expect(world.retries.isEmpty, "nobody had to give way yet")
            try await world.wait("the backlog gives way") {
                world.retries.count { $0.heraldHeaders["herald-reason"] == "blocked" } >= 29
            }
            try await world.publish(Batch.events(100..<200))
            try await world.waitForResults(200)
            world.backend.misbehave([])
            try await world.waitForResults(230)
            try await world.waitUntilAllIsCommitted()
            let oracle = try await Oracle(world)
            let late = Dictionary(uniqueKeysWithValues: (0..<30).map { ("stuck\($0)", ["apns": "delivered 200"]) })
            oracle.expectResults(Batch.delivered(0..<200).merging(late) { $1 })
            // One call at a time of one user, and nobody behind it was called before it gave way.
            let keys = oracle.calls.filter { $0.user == "stuck" && $0.status == nil }.compactMap(\.notification)
            #expect(Set(keys.prefix(2)) == ["stuck0:apns"])
        }
    }

    @Test(
        "A backlog of 300 000 events before a backend that never answers: memory stays below 96 MB, in several queues 128",
        arguments: [
            (["notifications"], 96), (["notifications", "notifications.bulk"], 128), (["notifications.retry.1s"], 128),
        ])
    func memory(topics: [String], megabytes: Int) async throws {
        var plan = World.Plan()
        plan.partitions = 6
        plan.settings = ["backend.timeout": "2s", "retry.delays": "[1s, 1h]", "holds.breaker.of": "0"]
        plan.misbehaviour = [.hang()]
        try await World.run(plan) { world in
            // Without an id: none of them is another one's duplicate.
            let padding = String(repeating: "x", count: 100)
            for part in 0..<6 {
                let events = (part * 50_000..<(part + 1) * 50_000).map {
                    var event = Publication(
                        user: "user-\($0)", text: #"{"user":"user-\#($0)","pns":"apns","message":"\#(padding)"}"#)
                    event.topic = topics[$0 % topics.count]
                    if event.topic.contains("retry") {
                        event.headers = [
                            .init("herald-origin", "\(world.topic("notifications"))/0/\($0)"),
                            .init("herald-pns", "apns"), .init("herald-attempts", "1"),
                        ]
                    }
                    return event
                }
                try await world.publish(events)
            }
            let worker = try await world.startWorker()
            // Many rounds of time-outs: whatever can be fetched ahead is.
            try await world.wait("the calls hang, again and again", within: 120) { world.backend.calls.count >= 1_000 }
            let peak = try #require(worker.peakKilobytes)
            print("a backlog of 300 000 events in \(topics) and a backend that never answers: \(peak) KB at most")
            #expect(peak < megabytes * 1_024)
            #expect(worker.isRunning)
        }
    }
}
