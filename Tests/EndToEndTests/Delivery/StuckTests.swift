import Foundation
import HeraldBytes
import HeraldSandbox
import TestSupport
import Testing

@Suite("Calls that hang", .realKafka("Calls that hang"), .hangLimit)
struct StuckTests {
    @Test("Every slot is stuck for longer than max.poll.interval.ms: the worker stays a member and continues")
    func longerThanPollInterval() async throws {
        var plan = Fixture.Plan()
        // A session may not be longer than the interval; the worker keeps it alive.
        plan.settings = Held.settings.merging([
            "kafka.properties":
                #"{session.timeout.ms: "6000", heartbeat.interval.ms: "500", max.poll.interval.ms: "6000"}"#
        ]) { $1 }
        plan.misbehaviour = [.hold()]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.wait("every slot is stuck") { fixture.backend.heldCount == Held.inFlight }
            // This long stillness is the fault itself; nothing is waited for.
            try await Task.sleep(for: .seconds(7))
            fixture.backend.misbehave([])
            try await fixture.waitForResults(20)
            try await fixture.waitUntilAllIsCommitted()
            let messages = worker.logLines.map(\.message)
            #expect(messages.count { $0.contains("partitions assigned") } == 1)
            #expect(!messages.contains { $0.contains("partitions lost") || $0.contains("partitions revoked") })
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<20))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test("A user whose call hangs delays no others, and its events wait behind it in their order")
    func hangingUser() async throws {
        var plan = Fixture.Plan()
        plan.settings = Held.settings
        plan.misbehaviour = [.hold { $0.user = "stuck" }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let stuck = (0..<30).map { Publication(id: "stuck\($0)", user: "stuck") }
            try await fixture.publish(stuck + Batch.events(0..<100))
            try await fixture.waitForResults(100)
            #expect(fixture.backend.calls.filter { $0.user == "stuck" }.map(\.notification) == ["stuck0:apns"])
            fixture.backend.misbehave([])
            try await fixture.waitForResults(130)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<100).merging(Self.deliveredStuck) { $1 })
            oracle.expectCalls { _ in 1 }
            oracle.expectUserOrder()
        }
    }

    @Test(
        "The backlog of a user whose calls hang moves to its retry topic, and is delivered from there",
        .long("an event is in others' way after fifteen seconds"))
    func blockedUser() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["backend.timeout": "6s", "retry.immediate": "20"]
        plan.misbehaviour = [.hang { $0.user = "stuck" }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let stuck = (0..<30).map { Publication(id: "stuck\($0)", user: "stuck") }
            try await fixture.publish(stuck + Batch.events(0..<100))
            try await fixture.waitForResults(100)
            try await fixture.wait("the backlog gives way") {
                fixture.retries.count { $0.heraldHeaders["herald-reason"] == "blocked" } >= 29
            }
            try await fixture.publish(Batch.events(100..<200))
            try await fixture.waitForResults(200)
            fixture.backend.misbehave([])
            try await fixture.waitForResults(230)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<200).merging(Self.deliveredStuck) { $1 })
            // One call at a time of one user, and none behind it was called before it gave way.
            let keys = oracle.calls.filter { $0.user == "stuck" && $0.status == nil }.compactMap(\.notification)
            #expect(Set(keys.prefix(2)) == ["stuck0:apns"])
        }
    }

    private static let deliveredStuck = Dictionary(
        uniqueKeysWithValues: (0..<30).map { ("stuck\($0)", ["apns": "delivered 200"]) })

    @Test(
        "300 000 events before a backend that never answers: memory stays below 96 MB, in several queues 128",
        .long("300 000 events, three times"),
        arguments: [
            (["notifications"], 96), (["notifications", "notifications.bulk"], 128), (["notifications.retry.1s"], 128),
        ])
    func memory(topics: [String], megabytes: Int) async throws {
        var plan = Fixture.Plan()
        plan.partitions = 6
        plan.settings = ["backend.timeout": "2s", "retry.delays": "[1s, 1h]", "outages.breaker.of": "0"]
        plan.misbehaviour = [.hang()]
        try await Fixture.run(plan) { fixture in
            // Without an id, so that none is another one's duplicate.
            let padding = String(repeating: "x", count: 100)
            for part in 0..<6 {
                let events = (part * 50_000..<(part + 1) * 50_000).map {
                    var event = Publication(
                        user: "user-\($0)", text: #"{"user":"user-\#($0)","pns":"apns","message":"\#(padding)"}"#)
                    event.topic = topics[$0 % topics.count]
                    if event.topic.contains("retry") {
                        event.headers = [
                            .init("herald-origin", "\(fixture.topic("notifications"))/0/\($0)"),
                            .init("herald-pns", "apns"), .init("herald-attempts", "1"),
                        ]
                    }
                    return event
                }
                try await fixture.publish(events)
            }
            let worker = try await fixture.startWorker()
            // After many rounds of time-outs, everything that can be fetched ahead has been.
            try await fixture.wait("the calls hang, again and again", within: 120) {
                fixture.backend.calls.count >= 1_000
            }
            let peak = try #require(worker.peakKilobytes)
            print("a backlog of 300 000 events in \(topics) and a backend that never answers: \(peak) KB at most")
            #expect(peak < megabytes * 1_024)
            #expect(worker.isRunning)
        }
    }

    @Test("Records with 900 KB of headers whose calls hang: memory stays below 160 MB, and small ones pass")
    func largeHeaders() async throws {
        try await Self.backlogOfLargeHeaders(200, "120s", [.hold { $0.user = "large-*" }])
    }

    @Test(
        "3 000 records with 900 KB of headers: memory stays below 160 MB, and small ones pass",
        .long("gigabytes of records"))
    func manyLargeHeaders() async throws {
        try await Self.backlogOfLargeHeaders(3_000, "2s", [])
    }

    @Test(
        "Records with 900 KB of headers whose calls end without an answer: memory stays, and small ones pass",
        .long("half a gigabyte of records, again and again"))
    func unansweredLargeHeaders() async throws {
        try await Self.backlogOfLargeHeaders(600, "2s", [.hang { $0.user = "large-*" }])
    }

    /// A topic without a follower: this process need not hold gigabytes.
    private static let largeTopic = "notifications.large"

    private static func backlogOfLargeHeaders(
        _ count: Int, _ timeout: String, _ misbehaviour: [Misbehaviour]
    ) async throws {
        var plan = Fixture.Plan()
        plan.partitions = 6
        plan.settings = ["backend.timeout": timeout, "retry.delays": "[1s, 1h]", "outages.breaker.of": "0"]
        plan.misbehaviour = misbehaviour
        try await Fixture.run(plan) { fixture in
            try await publishLarge(count, in: fixture)
            let requests = "[{name: \(fixture.topic("notifications")), weight: 10}, \(fixture.topic(largeTopic))]"
            let worker = try await fixture.startWorker(changing: ["topics.requests": requests])
            // Small ones in the other topic, one by one: none of them waits for the large ones.
            for number in 0..<20 {
                try await fixture.publish([Publication(id: "small-\(number)", user: "small-\(number)")])
                try await fixture.wait("a small event is called") {
                    fixture.backend.calls.contains { $0.user == "small-\(number)" }
                }
                if number == 0 {
                    let large = fixture.backend.calls.filter { $0.user?.hasPrefix("large-") == true }
                    #expect(Set(large.map(\.user)).count < count / 2, "the first small event does not wait for them")
                }
            }
            if misbehaviour.isEmpty { try await fixture.waitForResults(count + 20, within: 240) }
            let peak = try #require(worker.peakKilobytes)
            print("\(count) records with 900 KB of headers, \(misbehaviour.count) rules: \(peak) KB at most")
            #expect(peak < 160 * 1_024)
        }
    }

    private static func publishLarge(_ count: Int, in fixture: Fixture) async throws {
        try await fixture.makeTopic(largeTopic)
        var generator = SplitMix64(seed: 1)
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
        let padding = (0..<900_000).map { _ in letters[Int(generator.next() % 36)] }
        for part in stride(from: 0, to: count, by: 50) {
            try await fixture.publish(
                (part..<part + 50).map {
                    var event = Publication(id: "large-\($0)", user: "large-\($0)")
                    event.topic = largeTopic
                    event.headers = [.init("x-large", padding)]
                    return event
                })
        }
    }
}
