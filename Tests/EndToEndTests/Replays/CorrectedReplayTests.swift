import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("After a corrected replay", .realKafka("After a corrected replay"))
struct CorrectedReplayTests {
    private static func plan() -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        return plan
    }

    /// An event with an unknown push service, and one that its backend refuses.
    private static let events = [
        Publication(id: "misspelt", user: "ann", pns: ["apnss"]), Publication(id: "refused", user: "ben", pns: ["wns"]),
    ]

    @Test("List, page, console, explain and find report the delivery, and that nothing is left to do")
    func all() async throws {
        var plan = Self.plan()
        plan.misbehaviour = [.status(400) { $0.pns = "wns" }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish(Self.events)
            try await fixture.waitForResults(2)
            let before = try await fixture.tool("explain", "misspelt")
            #expect(before.output.contains("It is no event that can be delivered"), "\(before.output)")
            let dry = try await fixture.dlq("replay", "misspelt", "refused", "--set", "pns=apns", "--dry-run")
            #expect(dry.output.contains("pns apnss → apns") && dry.output.contains("pns wns → apns"), "\(dry.output)")
            #expect(!dry.output.contains("user "), "the users stay as they are: \(dry.output)")
            let replay = try await fixture.dlq("replay", "misspelt", "refused", "--set", "pns=apns", "--yes")
            #expect(replay.status == 0, "\(replay.output)")
            try await fixture.waitForResults(4)

            let list = try await fixture.dlq("list", "-o", "jsonl")
            let groups = try Self.objects(list.output)
            #expect(groups.compactMap { $0["delivered"] as? Int }.reduce(0, +) == 2, "\(list.output)")
            for id in ["misspelt", "refused"] {
                let show = try await fixture.dlq("show", id)
                #expect(show.output.contains("delivered, for apns instead"), "\(show.output)")
                let explained = try await fixture.tool("explain", id)
                #expect(explained.output.contains("apns: the backend took it"), "\(explained.output)")
                #expect(
                    explained.output.contains("Its dead letter was replayed for apns instead, and delivered"),
                    "\(explained.output)")
                for misleading in ["No call was made", "publish it again,", "When the cause is gone", "dlq replay"] {
                    #expect(!explained.output.contains(misleading), "\(explained.output)")
                }
                let found = try await fixture.tool("find", "--id", id)
                #expect(found.output.contains("replayed for apns instead, and delivered"), "\(found.output)")
                #expect(!found.output.contains("no outcome yet"), "\(found.output)")
            }
            let console = try await ConsoleClient(fixture)
            var delivered = 0
            try await fixture.wait("the console's list counts both as delivered", until: { delivered == 2 }) {
                delivered = try await console.groups(of: 2).compactMap { $0["delivered"] as? Int }.reduce(0, +)
            }
            let page = try await console.ask("/api/failures/letters/refused")
            let letter = try #require((page.object["letters"] as? [[String: Any]])?.first, "\(page.text)")
            #expect(letter["state"] as? String == "replayed" && letter["replayOutcome"] as? String == "delivered")
            #expect(letter["correctedPns"] as? [String] == ["apns"])
            #expect(fixture.backend.calls.filter { $0.pns == "apns" }.count == 2, "each is called once")
        }
    }

    private static func objects(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").filter { $0.hasPrefix("{") }.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
    }
}
