import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("Campaigns that are paused and cancelled", .realKafka("CampaignWorker"))
struct CampaignWorkerTests {
    /// What `herald campaign` writes, in the form that workers read.
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

    /// Slow enough that a campaign of some thousands is still under way when it is paused.
    private static var slowPlan: Fixture.Plan {
        var plan = Fixture.Plan()
        plan.settings = ["limits.perSecond": "500"]
        return plan
    }

    private static func campaignCalls(_ fixture: Fixture) -> [RecordedCall] {
        fixture.backend.calls.filter { $0.user?.hasPrefix("member-") ?? false }
    }

    @Test(
        "A paused campaign's events wait in the retry topics while others are delivered, and go on when it is resumed")
    func pause() async throws {
        try await Fixture.run(Self.slowPlan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Self.campaign(3_000))
            try await fixture.wait("the campaign is under way") { Self.campaignCalls(fixture).count > 100 }
            try await fixture.publish([Self.control("autumn", "paused")])
            let line = try await worker.waitForLog("campaign paused")
            #expect(line.text.contains("anna@test") && line.text.contains("a test"))
            // A call that was on its way when the log line was written may arrive after it.
            try await fixture.wait("what is left is suspended") { fixture.retries.count > 2_000 }
            let before = Self.campaignCalls(fixture).count
            #expect(before < 3_000)
            try await fixture.publish(Batch.events(0..<200))
            try await fixture.wait("others go on") {
                Set(fixture.backend.calls.compactMap(\.user)).isSuperset(of: (0..<200).map { "user-\($0)" })
            }
            #expect(Self.campaignCalls(fixture).count == before)
            #expect(
                fixture.retries.allSatisfy {
                    $0.heraldHeaders["herald-reason"] == "paused" && $0.heraldHeaders["herald-attempts"] == "0"
                        && $0.heraldHeaders["herald-campaign"] == "autumn"
                })

            try await fixture.publish([Self.control("autumn", "running")])
            try await worker.waitForLog("campaign runs")
            try await fixture.waitForResults(3_200)
            try await fixture.waitUntilAllIsCommitted()
            #expect(try fixture.results.allSatisfy { $0.outcome == "delivered" && $0.attempts == 1 })
            let keys = fixture.backend.calls.compactMap(\.notification)
            #expect(keys.count == 3_200 && Set(keys).count == 3_200)
            #expect(fixture.deadLetters.isEmpty)
        }
    }

    @Test(
        "A cancelled campaign's events end as results without a call or a dead letter, whatever is written after that")
    func cancel() async throws {
        try await Fixture.run(Self.slowPlan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Self.campaign(3_000))
            try await fixture.wait("the campaign is under way") { Self.campaignCalls(fixture).count > 100 }
            try await fixture.publish([Self.cancellation("autumn")])
            try await worker.waitForLog("campaign cancelled")
            try await fixture.publish([Self.control("autumn", "running")])
            try await fixture.waitForResults(3_000)
            try await fixture.waitUntilAllIsCommitted()
            let results = try fixture.results
            let called = Self.campaignCalls(fixture).count
            #expect(results.count { $0.outcome == "delivered" } == called)
            #expect(results.count { $0.outcome == "cancelled" && $0.attempts == 0 } == 3_000 - called)
            #expect(called < 3_000)
            #expect(Set(results.compactMap(\.id)).count == 3_000)
            #expect(fixture.deadLetters.isEmpty)
        }
    }

    @Test("A worker that starts knows what was written before: it calls nothing of a paused or cancelled campaign")
    func restart() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["retry.delays": "[1s, 2s, 1h]"]
        try await Fixture.run(plan) { fixture in
            // Thousands of records of other kinds and other campaigns stand before and behind it.
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

    @Test(
        "A campaign of which too many events fail is paused by the worker, with the numbers, and by nobody else again")
    func failures() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["outages.deadLetterBreaker.of": "0", "limits.perSecond": "300"]
        plan.misbehaviour = [.status(400) { $0.share = 0.3 }]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish([Self.control("autumn", "running", more: #","pauseIfFailures":0.05"#)])
            try await worker.waitForLog("campaign runs")
            try await fixture.publish(Self.campaign(2_000))
            try await worker.waitForLog("campaign paused")
            try await fixture.wait("the worker's record is read") { fixture.count("notifications.campaigns") == 2 }
            let record = try #require(fixture.records("notifications.campaigns").last?.json)
            #expect(record["state"] as? String == "paused" && record["pauseIfFailures"] as? Double == 0.05)
            #expect((record["by"] as? String)?.hasPrefix("worker ") == true)
            #expect((record["reason"] as? String)?.contains("outcomes of a worker failed") == true)
            try await fixture.wait("the rest is suspended") { fixture.retries.count > 1_000 }
            #expect(fixture.backend.calls.count < 1_000)
            #expect(fixture.count("notifications.campaigns") == 2)
        }
    }

    @Test("A record that is no control record is reported and ignored, and a topic that is made later is found")
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
