import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("Paused and cancelled campaigns", .realKafka("CampaignWorker"))
struct CampaignWorkerTests {
    /// A record of `herald campaign`, in the form that workers read.
    private static func control(
        _ campaign: String, _ state: String, key: String? = nil, more: String = ""
    ) -> Publication {
        let at = Date.now.formatted(.iso8601)
        var record = Publication(
            user: key ?? campaign,
            text: #"{"state":"\#(state)","at":"\#(at)","by":"anna@test","reason":"a test"\#(more)}"#)
        record.topic = "notifications.campaigns"
        return record
    }

    private static func cancellation(_ campaign: String) -> Publication {
        control(campaign, "cancelled", key: "\(campaign)/cancelled")
    }

    /// Events of the campaign "autumn" on the bulk topic: `c0` of `member-0` and so on.
    private static func campaign(_ count: Int) -> [Publication] {
        (0..<count).map { index in
            var event = Publication(id: "c\(index)", user: "member-\(index)", more: ["campaign": "autumn"])
            event.topic = "notifications.bulk"
            return event
        }
    }

    /// Fifty of a campaign's calls are under way and held, and its other events wait behind them.
    private static var heldPlan: Fixture.Plan {
        var plan = Fixture.Plan()
        plan.settings = ["delivery.maxInFlight": "50", "backend.timeout": "5m"]
        plan.misbehaviour = [.hold { $0.user = "member-*" }]
        return plan
    }

    private static func campaignCalls(_ fixture: Fixture) -> [RecordedCall] {
        fixture.backend.calls.filter { $0.user?.hasPrefix("member-") ?? false }
    }

    /// The number of suspended events; a long suspension has several records.
    private static func suspendedCount(_ fixture: Fixture) -> Int {
        Set(fixture.retries.compactMap { $0.heraldHeaders["herald-id"] }).count
    }

    @Test("A paused campaign's events wait in retry topics while others are delivered, and go on after it")
    func pause() async throws {
        try await Fixture.run(Self.heldPlan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Self.campaign(300))
            try await fixture.wait("the campaign is under way") { fixture.backend.heldCount == 50 }
            try await fixture.publish([Self.control("autumn", "paused")])
            let line = try await worker.waitForLog("campaign paused")
            #expect(line.text.contains("anna@test") && line.text.contains("a test"))
            // One by one, until the engine has something else to do than the next call.
            try await fixture.wait("what comes next is suspended", until: { !fixture.retries.isEmpty }) {
                fixture.backend.release(1)
            }
            fixture.backend.misbehave([])
            try await fixture.wait("each is called or suspended") {
                Self.suspendedCount(fixture) + fixture.count("notifications.results") == 300
            }
            let called = fixture.count("notifications.results")
            #expect(Self.campaignCalls(fixture).count == called)
            try await fixture.publish(Batch.events(0..<100))
            try await fixture.waitForResults(called + 100)
            #expect(Self.campaignCalls(fixture).count == called)
            #expect(
                fixture.retries.allSatisfy {
                    $0.heraldHeaders["herald-reason"] == "paused" && $0.heraldHeaders["herald-attempts"] == "0"
                        && $0.heraldHeaders["herald-campaign"] == "autumn"
                })

            try await fixture.publish([Self.control("autumn", "running")])
            try await worker.waitForLog("campaign runs")
            try await fixture.waitForResults(400)
            try await fixture.waitUntilAllIsCommitted()
            #expect(try fixture.results.allSatisfy { $0.outcome == "delivered" && $0.attempts == 1 })
            let keys = fixture.backend.calls.compactMap(\.notification)
            #expect(keys.count == 400 && Set(keys).count == 400)
            #expect(fixture.deadLetters.isEmpty)
        }
    }

    @Test("A cancelled campaign's events end without a call or a dead letter, whatever is written later")
    func cancel() async throws {
        try await Fixture.run(Self.heldPlan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Self.campaign(300))
            try await fixture.wait("the campaign is under way") { fixture.backend.heldCount == 50 }
            try await fixture.publish([Self.cancellation("autumn")])
            try await worker.waitForLog("campaign cancelled")
            try await fixture.publish([Self.control("autumn", "running")])
            // One by one, until the engine has something else to do than the next call.
            try await fixture.wait(
                "what comes next is cancelled",
                until: { ((try? fixture.results) ?? []).contains { $0.outcome == "cancelled" } },
                meanwhile: { fixture.backend.release(1) })
            fixture.backend.misbehave([])
            try await fixture.waitForResults(300)
            try await fixture.waitUntilAllIsCommitted()
            let results = try fixture.results
            let called = Self.campaignCalls(fixture).count
            #expect(results.count { $0.outcome == "delivered" } == called)
            #expect(results.count { $0.outcome == "cancelled" && $0.attempts == 0 } == 300 - called)
            #expect(Set(results.compactMap(\.id)).count == 300)
            #expect(fixture.deadLetters.isEmpty)
        }
    }

    @Test("A starting worker knows the earlier records: it calls no event of a paused campaign")
    func restart() async throws {
        var plan = Fixture.Plan()
        // The second worker has the first one's partitions at once: no session has to expire.
        plan.settings = [
            "retry.delays": "[1s, 2s, 1h]", "kafka.instance": "one", "kafka.staticMembership": "true",
        ]
        try await Fixture.run(plan) { fixture in
            // Thousands of records of other kinds and campaigns come before and after it.
            let noise = (0..<2_000).map { Self.control("other-\($0)", "running") }
            try await fixture.publish(
                noise + [Self.cancellation("autumn"), Self.control("spring", "paused")]
                    + noise.map { event in
                        var event = event
                        event.key = event.key.map { $0 + Array("/progress".utf8) }
                        return event
                    })
            var spring = Publication(id: "s", user: "member-s", more: ["campaign": "spring"])
            spring.topic = "notifications.bulk"
            try await fixture.publish(Self.campaign(500) + [spring] + Batch.events(0..<10))
            let worker = try await fixture.startWorker()
            try await fixture.waitForResults(510)
            try await fixture.wait("the paused one is suspended") {
                fixture.retries.contains { $0.key == Array("member-s".utf8) }
            }
            #expect(Self.campaignCalls(fixture).isEmpty)
            worker.kill()
            _ = try await fixture.startWorker()
            try await fixture.publish([Self.control("spring", "running")])
            try await fixture.waitForResults(511)
            #expect(Self.campaignCalls(fixture).map(\.user) == ["member-s"])
            #expect(try fixture.results.count { $0.outcome == "cancelled" } == 500)
        }
    }

    @Test("A worker pauses a campaign with too many failures, once, and gives the numbers")
    func failures() async throws {
        var plan = Self.heldPlan
        plan.settings["outages.deadLetterBreaker.of"] = "0"
        plan.more = ["notifications.audit"]
        plan.misbehaviour.insert(.status(400) { $0.user = "member-*1" }, at: 0)
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish([Self.control("autumn", "running", more: #","pauseIfFailures":0.05"#)])
            try await worker.waitForLog("campaign runs")
            try await fixture.publish(Self.campaign(1_000))
            // Enough outcomes for a judgement, a few at a time: each answer is recorded before the next ones.
            func results() -> Int { fixture.count("notifications.results") }
            try await fixture.wait("it is judged", until: { results() >= 200 }) {
                if fixture.backend.calls.count <= results() + 50 { fixture.backend.release(25) }
            }
            try await worker.waitForLog("campaign paused")
            try await fixture.wait("the worker's record is read") { fixture.count("notifications.campaigns") == 2 }
            let record = try #require(fixture.records("notifications.campaigns").last?.json)
            #expect(record["state"] as? String == "paused" && record["pauseIfFailures"] as? Double == 0.05)
            #expect((record["by"] as? String)?.hasPrefix("worker ") == true)
            #expect((record["reason"] as? String)?.hasSuffix("outcomes of a worker failed, more than 5%") == true)
            try await fixture.wait("the audit has it") { fixture.count("notifications.audit") == 1 }
            let audit = try #require(fixture.records("notifications.audit").last?.json)
            #expect(audit["action"] as? String == "campaign.pause" && audit["by"] as? String == record["by"] as? String)
            fixture.backend.misbehave([])
            try await fixture.wait("each is called or suspended") {
                Self.suspendedCount(fixture) + results() == 1_000
            }
            #expect(!fixture.retries.isEmpty && fixture.count("notifications.campaigns") == 2)
            #expect(fixture.backend.calls.count == results())
        }
    }

    @Test("A damaged control record is reported and ignored, and a topic that is created later is found")
    func damaged() async throws {
        var plan = Fixture.Plan()
        plan.missing = "notifications.campaigns"
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Self.campaign(1))
            try await fixture.waitForResults(1)
            let topic = fixture.topic("notifications.campaigns")
            try await Blocking.run { try fixture.kafka.makeTopics([.init(name: topic, partitions: 1)]) }
            var damaged = Publication(user: "autumn", text: "{")
            damaged.topic = "notifications.campaigns"
            try await fixture.publish([damaged, Self.cancellation("autumn")])
            try await worker.waitForLog("it is ignored")
            try await fixture.wait("the cancellation is known") {
                worker.logLines.contains { $0.message.contains("campaign cancelled") }
            }
            var event = Publication(id: "late", user: "member-late", more: ["campaign": "autumn"])
            event.topic = "notifications.bulk"
            try await fixture.publish([event])
            try await fixture.waitForResults(2)
            #expect(try fixture.results.map(\.outcome).sorted() == ["cancelled", "delivered"])
        }
    }
}
