import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Accounts of notifications", .realKafka("Accounts of notifications"))
struct AccountTests {
    private func account(
        _ fixture: Fixture
    ) async throws -> (status: Int32, value: [String: Any], output: String) {
        let run = try await fixture.tool("account", "-o", "jsonl", "--fail-if-missing")
        let line = try #require(run.output.split(separator: "\n").first { $0.hasPrefix("{") }, "\(run.output)")
        let value = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return (run.status, try #require(value), run.output)
    }

    private func numbers(_ value: Any?) -> [String: Int] { value as? [String: Int] ?? [:] }

    @Test("Each notification is delivered, dead, open in its place or replayed, by topic, source and service")
    func balanced() async throws {
        var plan = Fixture.Plan()
        plan.partitions = 2
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        plan.settings = ["retry.delays": "[1h]"]
        plan.misbehaviour = [.status(503) { $0.user = "slow" }, .status(400) { $0.pns = "gcm" }]
        try await Fixture.run(plan) { fixture in
            try await fixture.publish([Publication(id: "first", user: "early")])
            let before = try await account(fixture)
            #expect(numbers(before.value["open"]) == ["requests": 1] && before.value["isBalanced"] as? Bool == true)
            _ = try await fixture.startWorker()
            try await fixture.publish(
                [
                    Publication(id: "both", user: "ann", pns: ["apns", "gcm"], more: ["source": "shop"]),
                    Publication(id: "slow", user: "slow", more: ["source": "shop"]),
                    Publication(user: "bob", text: "no JSON"),
                ] + (0..<20).map { Publication(id: "n\($0)", user: "user-\($0)", more: ["source": "news"]) })
            try await fixture.waitForResults(24)
            let isDelayed = try await eventually {
                try await fixture.catchUp()
                return fixture.retries.count == 1
            }
            #expect(isDelayed)
            let now = try await account(fixture)
            #expect(now.status == 0 && now.value["isBalanced"] as? Bool == true, "\(now.output)")
            let total = numbers(now.value["total"])
            #expect(total["events"] == 24 && total["notifications"] == 25, "\(now.output)")
            #expect(total["delivered"] == 22 && total["dead-lettered"] == 2 && total["open"] == 1, "\(now.output)")
            #expect(numbers(now.value["open"])[fixture.topic("notifications.retry.1h")] == 1, "\(now.output)")
            let sources = now.value["sources"] as? [[String: Any]] ?? []
            let shop = sources.first { $0["source"] as? String == "shop" }
            #expect(shop?["notifications"] as? Int == 3 && shop?["open"] as? Int == 1, "\(now.output)")

            fixture.backend.misbehave([])
            let replay = try await fixture.dlq("replay", "--group", "status=400", "--yes", "-o", "jsonl")
            #expect(replay.status == 0, "\(replay.output)")
            try await fixture.waitForResults(25)
            let replayed = try await account(fixture)
            #expect(numbers(replayed.value["replays"])["delivered"] == 1, "\(replayed.output)")
            #expect(numbers(replayed.value["total"]) == total, "\(replayed.output)")
        }
    }

    @Test("A notification without a result is missing by its place, and unknown once results were deleted")
    func missing() async throws {
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish((0..<3).map { Publication(id: "n\($0)", user: "user-\($0)") })
            try await fixture.waitForResults(3)
            worker.terminate()
            _ = try await worker.waitForExit()
            // A commit passes what no worker has called, as a reset of the group's offsets to the end does.
            let lost = try await fixture.loseEvent()
            let found = try await account(fixture)
            #expect(found.status == 1 && numbers(found.value["total"])["missing"] == 1, "\(found.output)")
            let missing = found.value["missing"] as? [[String: Any]] ?? []
            #expect(missing.map { $0["record"] as? String } == [lost.place], "\(found.output)")
            for result in fixture.records("notifications.results") {
                try await fixture.kafka.deleteRecords(of: result.topicPartition, before: result.offset + 1)
            }
            let blind = try await account(fixture)
            #expect(blind.status == 3 && numbers(blind.value["total"])["missing"] == 0, "\(blind.output)")
            #expect(numbers(blind.value["total"])["unknown"] == 4, "\(blind.output)")
        }
    }
}
