import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Dead letters", .realKafka("Dead letters"))
struct ReplayTests {
    private static func plan(_ change: (inout Fixture.Plan) -> Void = { _ in }) -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        change(&plan)
        return plan
    }

    /// Batches of a hundred, each of which waits for its outcomes.
    private static let stepping = ["replay", "--where", "status = 503", "--yes", "--ramp", "100"]

    /// The last line of `-o jsonl` as JSON.
    private func object(_ output: String) throws -> [String: Any] {
        let line = output.split(separator: "\n").last { $0.hasPrefix("{") } ?? ""
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(output)")
    }

    @Test("Given-up events are found, planned, replayed in batches and delivered with the same key")
    func wholeWay() async throws {
        let plan = Self.plan {
            $0.settings = ["retry.delays": "[1s]", "backend.statuses": "{503: rejected}"]
            $0.misbehaviour = [.status(503) { $0.pns = "gcm" }]
        }
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            // Fewer than hold the push service.
            let events = (0..<40).map { Publication(id: "e\($0)", user: "user-\($0)", pns: ["apns", "gcm"]) }
            try await fixture.publish(events)
            try await fixture.waitForResults(80)
            fixture.backend.misbehave([])

            let dry = try await fixture.dlq("replay", "--group", "status=503", "--dry-run", "-o", "jsonl")
            #expect(try dry.status == 0 && object(dry.output)["planned"] as? Int == 40, "\(dry.output)")
            #expect(fixture.requests.count == 40)

            let run = try await fixture.dlq(
                "replay", "--group", "status=503", "--yes", "--reason", "gcm was down", "-o", "jsonl")
            let report = try object(run.output)
            #expect(run.status == 0 && report["end"] as? String == "complete", "\(run.output)")
            #expect(report["replayed"] as? Int == 40 && report["delivered"] as? Int == 40, "\(run.output)")
            try await fixture.waitForResults(120)
            try await fixture.catchUp()
            let letters = Dictionary(grouping: fixture.deadLetters) { $0.heraldHeaders["herald-id"] }
            let replays = fixture.requests.filter { $0.heraldHeaders["herald-replays"] == "1" }
            #expect(replays.count == 40)
            for replay in replays {
                #expect(replay.heraldHeaders["herald-pns"] == "gcm")
                #expect(replay.value == letters[replay.heraldHeaders["herald-id"]]?.first?.value)
            }
            // The keys of each event's calls: apns once, gcm twice under one key.
            let keys = Dictionary(grouping: fixture.backend.calls.compactMap(\.notification)) { $0 }
            #expect((0..<40).allSatisfy { keys["e\($0):apns"]?.count == 1 && keys["e\($0):gcm"]?.count == 2 })
            let audit = fixture.records("notifications.audit").compactMap(\.json)
            #expect(audit.map { $0["phase"] as? String } == ["started", "ended"])
            #expect(audit.first?["reason"] as? String == "gcm was down")
            #expect(audit.last?["end"] as? String == "complete")
        }
    }

    @Test("Replayed letters are marked wherever they are shown, and replayed again only on request")
    func replayed() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publishDeadLetters(0..<6)
            let run = try await fixture.dlq("replay", "--group", "status=503", "--yes")
            #expect(run.status == 0, "\(run.output)")
            let again = try await fixture.dlq("replay", "--group", "status=503", "--yes", "-o", "jsonl")
            let nothing = try object(again.output)
            #expect(again.status == 0 && nothing["planned"] as? Int == 0)
            #expect((nothing["leftOut"] as? [String: Int])?["replayed"] == 6)

            let show = try await fixture.dlq("show", "e4")
            #expect(show.status == 0 && show.output.contains("replayed by job replay-"), "\(show.output)")
            #expect(show.output.contains("replay      delivered") && show.output.contains("--again"), "\(show.output)")
            let list = try object(try await fixture.dlq("list", "--group-by", "status", "-o", "jsonl").output)
            #expect(list["group"] as? String == "status=503" && list["count"] as? Int == 6, "\(list)")
            #expect(list["replayed"] as? Int == 6 && list["delivered"] as? Int == 6, "\(list)")
            #expect(list["failedAgain"] as? Int == 0)
            let once = try await fixture.dlq("replay", "--group", "status=503", "--again", "--dry-run", "-o", "jsonl")
            #expect(
                try object(once.output)["replayedBefore"] as? [String: Int] == [
                    "delivered": 6, "suppressed": 0, "failed-again": 0, "not-known": 0, "not-reported": 0,
                ], "\(once.output)")
            #expect(try await fixture.replayCounts().values.allSatisfy { $0 == 1 })
        }
    }

    @Test("A canary that fails again stops the replay, and later letters are not touched")
    func canary() async throws {
        try await Fixture.run(Self.plan { $0.misbehaviour = [.status(400) { _ in }] }) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publishDeadLetters(0..<50)
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "-o", "jsonl")
            let report = try object(run.output)
            #expect(run.status == 3 && report["end"] as? String == "stopped", "\(run.output)")
            #expect(report["replayed"] as? Int == 1 && report["failed"] as? Int == 1)
            #expect(try await fixture.replayCounts().count == 1)
            let list = try await fixture.dlq("list", "--group-by", "none", "-o", "jsonl")
            let lines = list.output.split(separator: "\n").filter { $0.hasPrefix("{") }
            let letters = try lines.map { try object(String($0)) }
            // Newest first: the letter that has failed again stands above the one that was replayed.
            #expect(letters.count == 51 && letters.first?["reason"] as? String == "rejected", "\(list.output)")
            #expect(letters.compactMap { $0["replayOutcome"] as? String } == ["failed-again"], "\(list.output)")
        }
    }

    @Test("Without workers the canary's outcome does not come: the replay stops with advice")
    func noWorkers() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<5)
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "1s", "-o", "jsonl")
            #expect(run.status == 3 && run.output.contains("Do workers run?"), "\(run.output)")
            #expect(try object(run.output)["end"] as? String == "outcome-timeout")
            #expect(try await fixture.replayCounts().count == 1)
        }
    }

    @Test("Ctrl-C pauses, and the rest follows when it is started again")
    func pause() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<400)
            // No worker runs: it waits for the outcomes of its first batch.
            let run = try fixture.startDLQ(Self.stepping + ["-o", "jsonl"])
            try await fixture.wait("a batch is replayed") { fixture.count("notifications") == 100 }
            run.terminate()
            #expect(try await run.waitForExit() == 3, "\(run.output)")
            #expect(try object(run.output)["replayed"] as? Int == 100)
            let rest = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0", "-o", "jsonl")
            #expect(try object(rest.output)["replayed"] as? Int == 300, "\(rest.output)")
            let counts = try await fixture.replayCounts()
            #expect(counts.count == 400 && counts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("Dead letters that come while a replay runs are left alone")
    func growingGroup() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<200)
            let run = try fixture.startDLQ(Self.stepping)
            try await fixture.wait("it has begun") { fixture.count("notifications") == 100 }
            try await fixture.publishDeadLetters(1_000..<1_200)
            _ = try await fixture.startWorker()
            #expect(try await run.waitForExit() == 0, "\(run.output)")
            let counts = try await fixture.replayCounts()
            #expect(Set(counts.keys) == Set(0..<200) && counts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("While a replay runs another is refused, and names its owner")
    func busy() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<300)
            // No worker runs: the others meet it at work.
            let first = try fixture.startDLQ(Self.stepping)
            try await fixture.wait("it has begun") { fixture.count("notifications") == 100 }
            let second = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0")
            #expect(second.status == 1 && second.output.contains("is at work on the dead letters"), "\(second.output)")
            let third = try await fixture.dlq("resolve", "--where", "status = 503", "--yes", "--note", "no")
            #expect(third.status == 1, "\(third.output)")
            first.kill()
            // The lease of a process that is certainly gone is free.
            let last = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0")
            #expect(last.status == 0, "\(last.output)")
            let counts = try await fixture.replayCounts()
            #expect(counts.count == 300 && counts.values.allSatisfy { $0 == 1 })
            try await fixture.catchUp()
            let audit = fixture.records("notifications.audit").compactMap(\.json)
            #expect(audit.contains { $0["tookOverFrom"] != nil })
        }
    }

    @Test("Only some push services, a fresh key, resolving, and once more: each leaves its marks")
    func options() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<10, pns: "apns,gcm")
            func replay(_ words: String...) async throws -> [String: Any] {
                let run = try fixture.startDLQ(["replay"] + words + ["--yes", "--wait", "0", "-o", "jsonl"])
                #expect(try await run.waitForExit() == 0, "\(run.output)")
                return try object(run.output)
            }
            #expect(try await replay("--where", "status = 503", "--only-pns", "apns")["replayed"] as? Int == 10)
            let rest = try await replay("--where", "status = 503", "--fresh-key")
            #expect(rest["replayed"] as? Int == 10 && (rest["pushServices"] as? [String: Int]) == ["gcm": 10])
            try await fixture.catchUp()
            let services = Dictionary(grouping: fixture.requests) { $0.heraldHeaders["herald-pns"] ?? "" }
            #expect(services["apns"]?.count == 10 && services["gcm"]?.count == 10)
            let keys = Set(services["gcm"]?.compactMap { $0.heraldHeaders["herald-key"] } ?? [])
            #expect(keys.count == 10, "a fresh key for each")

            try await fixture.publishDeadLetters(10..<20, reason: "rejected", status: 400)
            let resolved = try await fixture.dlq(
                "resolve", "--group", "reason=rejected", "--note", "called them", "--yes", "-o", "jsonl")
            #expect(try resolved.status == 0 && object(resolved.output)["resolved"] as? Int == 10, "\(resolved.output)")
            let left = try await replay("--where", "status = 400")
            #expect((left["leftOut"] as? [String: Int])?["resolved"] == 10)
            #expect(try await replay("--where", "status = 400", "--again")["replayed"] as? Int == 10)
        }
    }

    @Test("Dead letters of a cancelled campaign are left out for that reason")
    func cancelledCampaign() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<4) { letter, number in
                letter.headers.append(.init("herald-campaign", number < 3 ? "spring" : "autumn"))
            }
            try await fixture.publish(try fixture.beginning(of: "spring") + fixture.beginning(of: "autumn"))
            #expect(try await fixture.campaign("cancel", "spring", "--yes").status == 0)
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0", "-o", "jsonl")
            let report = try object(run.output)
            #expect((report["leftOut"] as? [String: Int]) == ["campaign-cancelled": 3], "\(run.output)")
            #expect(run.output.contains("3 left out: their campaign was cancelled") && report["replayed"] as? Int == 1)
            #expect(try await fixture.replayCounts().count == 1)
        }
    }

    @Test("A letter too large for its topic goes without its history, or stays in place")
    func tooLarge() async throws {
        let plan = Self.plan { $0.topicConfigurations["notifications"] = ["max.message.bytes": "3000"] }
        try await Fixture.run(plan) { fixture in
            try await fixture.publishDeadLetters(0..<20) { letter, number in
                if number == 7 {
                    letter.headers.removeAll { $0.name == "herald-history" }
                    letter.headers.append(.init("herald-history", "[" + String(repeating: " ", count: 7_000) + "]"))
                }
                if number == 13 { letter.value = [UInt8](repeating: UInt8(ascii: "x"), count: 5_000) }
            }
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0", "-o", "jsonl")
            #expect(try run.status == 3 && object(run.output)["tooLarge"] as? Int == 1, "\(run.output)")
            let counts = try await fixture.replayCounts()
            #expect(Set(counts.keys) == Set(0..<20).subtracting([13]) && counts.values.allSatisfy { $0 == 1 })
            let letter = fixture.requests.first { $0.heraldHeaders["herald-id"] == "e7" }
            #expect(letter != nil && letter?.heraldHeaders["herald-history"] == nil)
        }
    }

    @Test("The lease of an invisible process is waited for, and taken over when it is not renewed")
    func foreignLease() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<3)
            let lease =
                #"{"job":"replay-x","owner":"bob@far","process":{"boot":"b","namespace":"n","id":1,"started":"1"},"#
                + #""work":"replay","since":1,"beat":7,"isOver":false}"#
            var record = Publication(key: Array("lease".utf8), value: Array(lease.utf8))
            record.topic = "notifications.dead-letter.state"
            record.partition = 0
            try await fixture.publish([record])
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0")
            #expect(run.status == 0 && run.output.contains("bob@far"), "\(run.output)")
            #expect(try await fixture.replayCounts().count == 3)
            let again = try await fixture.dlq("replay", "0:0", "1:0", "--yes", "--wait", "0")
            #expect(again.status == 1 && again.output.contains("replayed already"), "\(again.output)")
        }
    }

    @Test("A recreated dead-letter topic is not taken for the old one")
    func recreated() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            var record = Publication(
                key: Array("marks/j/0".utf8),
                value: Array(#"{"state":"replayed","job":"j","at":1,"partitions":{"0":"0-500"}}"#.utf8))
            record.topic = "notifications.dead-letter.state"
            record.partition = 0
            try await fixture.publish([record])
            try await fixture.publishDeadLetters(0..<3)
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0")
            #expect(run.status == 1 && run.output.contains("recreated"), "\(run.output)")
        }
    }
}
