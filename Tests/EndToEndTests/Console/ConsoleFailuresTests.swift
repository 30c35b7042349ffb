import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Failures in the console", .realKafka("Failures in the console"))
struct ConsoleFailuresTests {
    private static func plan() -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        return plan
    }

    /// Batches of fifty, each of which waits for its outcomes.
    private static let stepping = #"{"filter":{"group":"status=503"},"ramp":"50"}"#

    @Test("Groups are those of herald dlq list, and follow new records")
    func groups() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<30)
            try await fixture.publishDeadLetters(30..<40, reason: "rejected", status: 400)
            let console = try await ConsoleClient(fixture)
            let found = try await console.groups(of: 40)
            let listed = try await fixture.dlq("list", "-o", "jsonl")
            #expect(listed.status == 0, "\(listed.output)")
            let lines = listed.output.split(separator: "\n").filter { $0.hasPrefix("{") }
            for (group, line) in zip(found, lines) {
                var expected = try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                var object = group
                object["key"] = nil
                // The first one depends on which partition answers first.
                for sample in [object.removeValue(forKey: "sample"), expected.removeValue(forKey: "sample")] {
                    #expect((sample as? String)?.contains(":") == true)
                }
                #expect(NSDictionary(dictionary: object) == NSDictionary(dictionary: expected))
            }
            #expect(found.count == 2 && lines.count == 2)
            let readOnly = try await console.ask("/api/failures/plans/x/start", post: "{}")
            #expect(readOnly.status == 403, "\(readOnly.text)")
            try await fixture.publishDeadLetters(40..<45, status: 429)
            let hours = try await console.groups(
                "?by=status&where=status%20%3D%20429%20or%20status%20%3D%20400", of: 15)
            #expect(Set(hours.compactMap { $0["key"] as? String }) == ["status=400", "status=429"])
            // Letters that the index does not remember are read from the topic.
            let users = try await console.groups("?where=user%20~%20%27user-4*%27", of: 6)
            #expect(users.compactMap { $0["count"] as? Int }.reduce(0, +) == 6)
            let page = try await console.ask("/api/failures/letters?group=reason%3Drejected&limit=7")
            let letters = try #require(page.object["letters"] as? [[String: Any]], "\(page.text)")
            let next = try #require(page.object["next"] as? String)
            let rest = try await console.ask("/api/failures/letters?group=reason%3Drejected&limit=7&behind=\(next)")
            let others = try #require(rest.object["letters"] as? [[String: Any]], "\(rest.text)")
            let ids = (letters + others).compactMap { $0["id"] as? String }
            #expect(letters.count == 7 && Set(ids) == Set((30..<40).map { "e\($0)" }), "\(ids)")
        }
    }

    @Test("A message is masked; an operator's reveal is audited, a viewer's is refused")
    func reveal() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<3)
            let console = try await ConsoleClient(fixture, "--allow-changes")
            _ = try await console.groups(of: 3)
            let shown = try await console.ask("/api/failures/letters/e1", token: ConsoleClient.viewerToken)
            let letter = try #require((shown.object["letters"] as? [[String: Any]])?.first, "\(shown.text)")
            #expect(letter["message"] == nil && letter["messageBytes"] != nil && letter["history"] != nil)
            for (path, body) in [
                ("reveal", #"{"name":"e1"}"#), ("plans", Self.stepping), ("export", #"{"filter":{}}"#),
                ("plans/x/start", "{}"),
            ] {
                let refused = try await console.ask(
                    "/api/failures/\(path)", post: body, token: ConsoleClient.viewerToken)
                #expect(refused.status == 403, "\(path): \(refused.text)")
            }
            #expect(fixture.count("notifications.audit") == 0)
            let revealed = try await console.ask("/api/failures/reveal", post: #"{"name":"e1"}"#)
            let open = try #require((revealed.object["letters"] as? [[String: Any]])?.first, "\(revealed.text)")
            #expect(open["message"] is String)
            try await fixture.wait("the reveal is written down") {
                fixture.records("notifications.audit").contains {
                    let text = String(decoding: $0.value ?? [], as: UTF8.self)
                    return text.contains("dlq.reveal") && text.contains("\"by\":\"ann\"")
                }
            }
            let file = try await console.ask("/api/failures/export?format=csv", token: ConsoleClient.viewerToken)
            #expect(file.status == 200 && file.text.split(separator: "\r\n").count == 4, "\(file.text)")
        }
    }

    @Test("A replay stops when its canary fails, and does the rest when the cause is gone")
    func canary() async throws {
        var plan = Self.plan()
        plan.misbehaviour = [.status(400) { _ in }]
        try await Fixture.run(plan) { fixture in
            try await fixture.publishDeadLetters(0..<120)
            _ = try await fixture.startWorker()
            let console = try await ConsoleClient(fixture, "--allow-changes")
            _ = try await console.groups(of: 120)
            let (id, made) = try await console.plan(#"{"filter":{"group":"status=503"}}"#)
            #expect(
                made["planned"] as? Int == 120 && made["isTyped"] as? Bool == true && made["firstBatch"] as? Int == 1)
            let untyped = try await console.ask("/api/failures/plans/\(id)/start", post: #"{"reason":"x"}"#)
            #expect(untyped.status == 409 && untyped.text.contains("120"), "\(untyped.text)")
            let silent = try await console.ask("/api/failures/plans/\(id)/start", post: #"{"count":120}"#)
            #expect(silent.status == 400, "\(silent.text)")
            let stopped = try await console.ended(try await console.start(id, count: 120))
            #expect(stopped["state"] as? String == "stopped", "\(stopped)")
            let report = try #require(stopped["report"] as? [String: Any])
            #expect(report["replayed"] as? Int == 1 && report["end"] as? String == "stopped", "\(report)")

            fixture.backend.misbehave([])
            let (rest, left) = try await console.plan(#"{"filter":{"group":"status=503"}}"#)
            #expect(left["planned"] as? Int == 119, "\(left)")
            let done = try await console.ended(try await console.start(rest, count: 119))
            #expect(done["state"] as? String == "done", "\(done)")
            let batches = try #require((done["report"] as? [String: Any])?["batches"] as? [[String: Any]])
            #expect(batches.compactMap { $0["replayed"] as? Int } == [1, 5, 50, 63], "\(batches)")
            #expect(batches.compactMap { $0["delivered"] as? Int } == [1, 5, 50, 63], "\(batches)")
            let groups = try await console.ask("/api/failures/groups?group=status%3D503") { answer in
                (answer["groups"] as? [[String: Any]])?.first?["delivered"] as? Int == 119
            }
            #expect((groups["groups"] as? [[String: Any]])?.first?["replayed"] as? Int == 120)
        }
    }

    @Test("Two tabs start the same plan: one succeeds, each dead letter is replayed once; a pause holds it")
    func twoTabs() async throws {
        var plan = Self.plan()
        plan.settings["backend.timeout"] = "5m"
        plan.misbehaviour = [.hold()]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publishDeadLetters(0..<200)
            let console = try await ConsoleClient(fixture, "--allow-changes")
            let (id, _) = try await console.plan(Self.stepping)
            let body = #"{"count":200,"reason":"two tabs"}"#
            async let first = console.ask("/api/failures/plans/\(id)/start", post: body)
            async let second = console.ask("/api/failures/plans/\(id)/start", post: body)
            let answers = try await [first, second]
            #expect(answers.map(\.status).sorted() == [200, 409], "\(answers)")
            let job = try #require(answers.compactMap { $0.object["job"] as? String }.first)
            try await fixture.wait("the first batch is called") { fixture.backend.heldCount == 50 }
            #expect(try await console.ask("/api/jobs/\(job)/pause", post: "").status == 200)
            fixture.backend.misbehave([])
            // It knows all outcomes of its batch, and does not begin the next.
            _ = try await console.ask("/api/jobs/\(job)") {
                let progress = $0["progress"] as? [String: Any]
                let waits = progress?["waits"] as? [String: Any]
                return waits?["reason"] as? String == "paused" && progress?["delivered"] as? Int == 50
            }
            let found = try await explanation(of: "e199", by: console)
            #expect(found.contains("Its dead letter is planned in job replay-"), "\(found)")
            #expect(found.contains("behind at most") && found.contains("the job is paused by ann since"), "\(found)")
            try await fixture.catchUp()
            #expect(fixture.count("notifications") == 50)
            #expect(try await console.ask("/api/jobs/\(job)/resume", post: "").status == 200)
            let done = try await console.ended(job)
            #expect(done["state"] as? String == "done", "\(done)")
            let counts = try await fixture.replayCounts()
            #expect(counts.count == 200 && counts.values.allSatisfy { $0 == 1 })
        }
    }

    /// The explanation that Find gives of the only event with an id.
    private func explanation(of id: String, by console: ConsoleClient) async throws -> String {
        let begun = try await console.ask("/api/find?id=\(id)")
        let search = try #require(begun.object["search"] as? String, "\(begun.text)")
        let found = try await console.ask("/api/find/\(search)") { $0["state"] as? String == "done" }
        let events = try #require(found["events"] as? [[String: Any]], "\(found)")
        let origin = try #require(events.first?["origin"] as? String, "\(found)")
        return try await console.ask("/api/find/\(search)/explanation?event=\(origin)").text
    }

    @Test("After a console is killed in a replay, the next one finds the job and replays the rest once")
    func killed() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<300)
            let console = try await ConsoleClient(fixture, "--allow-changes")
            let (id, _) = try await console.plan(Self.stepping)
            _ = try await console.start(id, count: 300)
            // No worker runs: it waits for the outcomes of its first batch.
            try await fixture.wait("a batch is replayed") { fixture.count("notifications") == 50 }
            console.process.kill()

            let next = try await ConsoleClient(fixture, "--allow-changes")
            let answer = try await next.ask("/api/failures/groups") { answer in
                (answer["status"] as? [String: Any])?["abandoned"] != nil
            }
            let status = try #require(answer["status"] as? [String: Any])
            let job = try #require((status["abandoned"] as? [String: Any])?["job"] as? String)
            let found = try await next.ask("/api/failures/abandoned/\(job)")
            let filter = try #require(found.object["filter"] as? [String: Any], "\(found.text)")
            #expect(filter["group"] as? String == "status=503" && found.object["owner"] as? String == "ann")
            let text = String(
                decoding: try JSONSerialization.data(withJSONObject: ["filter": filter, "ramp": "all", "wait": "0"]),
                as: UTF8.self)
            let (rest, left) = try await next.plan(text)
            #expect(left["planned"] as? Int == 250, "\(left)")
            let done = try await next.ended(try await next.start(rest, count: 250))
            #expect(done["state"] as? String == "done", "\(done)")
            let counts = try await fixture.replayCounts()
            #expect(counts.count == 300 && counts.values.allSatisfy { $0 == 1 })
            let after = try await next.ask("/api/failures/groups") { answer in
                (answer["status"] as? [String: Any])?["abandoned"] == nil
            }
            #expect(after["matched"] as? Int == 300)
        }
    }

    @Test("A recreated dead-letter topic is read from its beginning")
    func anew() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<10)
            let console = try await ConsoleClient(fixture)
            _ = try await console.groups(of: 10)
            try await fixture.deleteTopic("notifications.dead-letter")
            try await fixture.makeTopic("notifications.dead-letter")
            try await fixture.publishDeadLetters(20..<23)
            #expect(try await console.groups(of: 3).first?["count"] as? Int == 3)
        }
    }

    @Test("Edited letters are shown as a plan and replayed; resolved ones are left out")
    func editAndResolve() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<4)
            let console = try await ConsoleClient(fixture, "--allow-changes")
            _ = try await console.groups(of: 4)
            let revealed = try await console.ask("/api/failures/reveal", post: #"{"name":"e2"}"#)
            let value = try #require((revealed.object["values"] as? [[String: Any]])?.first, "\(revealed.text)")
            let place = try #require(value["place"] as? String)
            let text = try #require(value["value"] as? String).replacing("user-2", with: "carl")
            func request(_ value: String) throws -> String {
                String(
                    decoding: try JSONSerialization.data(
                        withJSONObject: [
                            "filter": [:], "ramp": "all", "wait": "0", "edit": ["place": place, "value": value],
                        ]), as: UTF8.self)
            }
            let (_, wrong) = try await console.plan(try request("{"))
            #expect(wrong["state"] as? String == "failed", "\(wrong)")
            let (id, made) = try await console.plan(try request(text))
            #expect(made["planned"] as? Int == 1, "\(made)")
            let corrections = try #require(made["corrections"] as? [[String: Any]])
            #expect((corrections.first?["words"] as? String)?.contains("carl") == true, "\(corrections)")
            _ = try await console.ended(try await console.start(id, count: 1, reason: "moved"))
            try await fixture.wait("it is replayed") { fixture.count("notifications") == 1 }
            #expect(fixture.requests.first?.keyText == "carl")

            let (resolve, what) = try await console.plan(#"{"kind":"resolve","filter":{"where":"offset >= 0"}}"#)
            #expect(what["planned"] as? Int == 3, "\(what)")
            let done = try await console.ended(try await console.start(resolve, count: 3, reason: "by phone"))
            #expect(done["state"] as? String == "done", "\(done)")
            let (_, none) = try await console.plan(#"{"filter":{"where":"offset >= 0"}}"#)
            #expect(none["planned"] as? Int == 0, "\(none)")
        }
    }
}

@Suite("The console and its broker", .ownKafka("The console and its broker"), .hangLimit)
struct ConsoleBrokerTests {
    @Test("A broker that goes away and comes back is waited for, and the groups go on")
    func away() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .mortal
        plan.more = Fixture.replayTopics
        try await Fixture.run(plan) { fixture in
            try await fixture.publishDeadLetters(0..<10)
            let console = try await ConsoleClient(fixture)
            _ = try await console.groups(of: 10)
            fixture.kafka.kill(node: 1)
            let away = try await console.ask("/api/failures/groups")
            #expect(away.status == 200 && away.object["matched"] as? Int == 10, "\(away.text)")
            try await fixture.kafka.revive(node: 1)
            try await fixture.publishDeadLetters(10..<25)
            #expect(try await console.groups(of: 25).first?["count"] as? Int == 25)
        }
    }
}
