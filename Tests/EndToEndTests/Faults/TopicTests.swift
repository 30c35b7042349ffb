import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Topics that change", .realKafka("Topics that change"), .hangLimit)
struct TopicTests {
    /// Changes are noticed this soon, not only twice a minute.
    private static let watchful = [
        "kafka.properties":
            #"{session.timeout.ms: "60000", heartbeat.interval.ms: "500", topic.metadata.refresh.interval.ms: "500"}"#
    ]

    @Test("Partitions that are added while a worker runs are consumed")
    func partitionsAdded() async throws {
        var plan = Fixture.Plan()
        plan.settings = Self.watchful
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20)
            try await fixture.grow("notifications", to: 4)
            try await worker.waitForLog("partitions assigned", count: 2)
            var added = Batch.events(20..<60)
            for index in added.indices { added[index].partition = Int32(2 + index % 2) }
            try await fixture.publish(added)
            try await fixture.waitForResults(60)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<60))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test("A request topic that is recreated while a worker runs is consumed from its first record")
    func madeAgain() async throws {
        var plan = Fixture.Plan()
        plan.settings = Self.watchful
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            var events = Batch.events(0..<60)
            for index in events.indices { events[index].topic = "notifications.bulk" }
            try await fixture.publish(Array(events[0..<40]))
            try await fixture.waitForResults(40)
            try await fixture.waitUntilAllIsCommitted()
            try await fixture.deleteTopic("notifications.bulk")
            // The other topic continues meanwhile.
            try await fixture.publish(Batch.events(60..<80))
            try await fixture.waitForResults(60)
            try await fixture.makeTopic("notifications.bulk")
            try await fixture.publish(Array(events[40...]))
            try await fixture.waitForResults(80)
            #expect(worker.isRunning)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<80))
            oracle.expectCalls { _ in 1 }
        }
    }
}
