import Foundation
import TestSupport
import Testing

/// The night in which somebody changes the topics.
@Suite("Drifted topics", .realKafka("Drifted topics"), .hangLimit)
struct DriftTests {
    private static let words = "has max.message.bytes=3000, wanted 1048588"

    /// What a console says of the topics; `nil` while they are as they should be.
    private static func drift(
        _ console: ConsoleClient, _ isSo: @escaping (String?) -> Bool
    ) async throws -> String? {
        func sentence(_ answer: [String: Any]) -> String? {
            ([answer] + (answer["others"] as? [[String: Any]] ?? []))
                .first { $0["key"] as? String == "topics-drift" }?["cause"] as? String
        }
        // A console that has not asked yet knows of none.
        return sentence(
            try await console.ask("/api/verdict") { $0["state"] as? String != "unknown" && isSo(sentence($0)) })
    }

    @Test("Worker, doctor and console tell of topics that differ from the settings, until apply mends them")
    func drifted() async throws {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics + ["notifications.audiences"]
        plan.settings["topics.partitions"] = "\(plan.partitions)"
        plan.settings["admin.listen"] = "127.0.0.1:\(try #require(FreePorts.take(1).first))"
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await worker.waitUntilReady()
            let before = try await fixture.tool("topics", "plan")
            #expect(before.output.contains("The topics are as the settings want them"), "\(before.output)")
            let well = try await ConsoleClient(fixture)
            #expect(try await Self.drift(well) { $0 == nil } == nil)

            try await fixture.configure("notifications.results", ["max.message.bytes": "3000"])
            let line = try await worker.waitForLog(Self.words)
            #expect(line.level == "warning" && line.message.contains("run `herald topics apply`"))
            try await worker.waitUntilReady()
            let page = try await worker.page("/readyz").text
            #expect(page.contains("topics-drift") && page.contains(Self.words), "\(page)")
            let metrics = try await worker.metrics()
            #expect(metrics["herald_topics_drift"] == 1)
            let doctor = try await fixture.tool("doctor", "--only", "kafka")
            #expect(doctor.output.contains("max.message.bytes 3000, wanted 1048588"))
            let warns = "delivers, and warns: the topic \(fixture.topic("notifications.results")) \(Self.words)"
            #expect(doctor.output.contains(warns), "\(doctor.output)")
            let console = try await ConsoleClient(fixture)
            #expect(try await Self.drift(console) { $0 != nil }?.contains(Self.words) == true)

            let applied = try await fixture.tool("topics", "apply", "--yes")
            #expect(applied.status == 0, "\(applied.output)")
            let isGone = try await eventually(within: Patience.seconds) {
                try await !worker.page("/readyz").text.contains("topics-drift")
            }
            #expect(isGone)
            let after = try await ConsoleClient(fixture)
            #expect(try await Self.drift(after) { $0 == nil } == nil)
        }
    }
}
