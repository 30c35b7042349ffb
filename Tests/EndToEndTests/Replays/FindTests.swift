import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Finding an event's fate", .realKafka("Finding events"))
struct FindTests {
    private static func plan(_ change: (inout Fixture.Plan) -> Void = { _ in }) -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.partitions = 3
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        change(&plan)
        return plan
    }

    /// The events of `-o jsonl`.
    private func events(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").filter { $0.hasPrefix("{") }.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
    }

    private func steps(_ event: [String: Any]) -> [String] {
        (event["steps"] as? [[String: Any]] ?? []).compactMap { $0["step"] as? String }
    }

    @Test("A user's events are found with each call, wait, replay and outcome, and no other user's")
    func wholeWay() async throws {
        let plan = Self.plan {
            $0.misbehaviour = [
                .status(503) {
                    $0.pns = "apns"
                    $0.callsPerKey = 1
                }, .status(400) { $0.pns = "gcm" },
            ]
        }
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let others = (0..<10).map { Publication(id: "o\($0)", user: "other-\($0)") }
            let anns = [
                Publication(id: "order-17", user: "ann", pns: ["apns", "gcm"], more: ["source": "shop"]),
                Publication(id: "order-18", user: "ann"),
            ]
            try await fixture.publish(others + anns)
            try await fixture.waitForResults(13)
            fixture.backend.misbehave([])
            let replay = try await fixture.dlq("replay", "--group", "status=400", "--yes", "-o", "jsonl")
            #expect(replay.status == 0, "\(replay.output)")
            try await fixture.waitForResults(14)

            let found = try await fixture.tool("find", "--user", "ann", "-o", "jsonl")
            #expect(found.status == 0, "\(found.output)")
            let events = try events(found.output)
            #expect(events.compactMap { $0["id"] as? String } == ["order-17", "order-18"])
            let first = try #require(events.first)
            #expect(first["source"] as? String == "shop" && (first["open"] as? [String])?.isEmpty == true)
            #expect(Set(steps(first)) == ["published", "called", "delayed", "settled", "dead-lettered", "replayed"])
            // apns once and gcm once before the replay; the delivery is a result.
            let calls = (first["steps"] as? [[String: Any]] ?? []).filter { $0["step"] as? String == "called" }
            #expect(calls.compactMap { $0["status"] as? Int }.sorted() == [400, 503])
            #expect(calls.allSatisfy { $0["ms"] is Int })
            #expect(!found.output.contains("Hello") && !found.output.contains("other-"))

            let table = try await fixture.tool("find", "--user", "ann", "--id", "order-17")
            #expect(table.status == 0 && table.output.contains("order-17 for ann by shop"), "\(table.output)")
            #expect(table.output.contains("replayed as") && table.output.contains("apns: delivered (200) with 2 calls"))
            #expect(!table.output.contains("order-18"))
            let explained = try await fixture.tool("explain", "order-17", "--user", "ann")
            #expect(explained.status == 0 && explained.output.contains("It was replayed once."), "\(explained.output)")
        }
    }

    @Test("Events without a key are found with their outcomes, in whichever partition these lie")
    func keyless() async throws {
        try await Fixture.run { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish([Publication(id: "keyed", user: "ann")])
            try await fixture.waitForResults(1)
            let partition = try #require(fixture.records("notifications").first?.partition)
            try await fixture.publish(
                (0..<8).map { number in
                    var publication = Publication(id: "keyless-\(number)", user: "ann")
                    (publication.key, publication.partition) = (nil, partition)
                    return publication
                })
            let headers = ["ce_specversion": "1.0", "ce_id": "\"c\"", "ce_source": "\"shop\"", "ce_type": "t"]
            try await fixture.publish([
                Publication(
                    user: "ann", text: #"{"user":"ann","pns":"apns","message":"Hi"}"#,
                    headers: headers.map { StoredRecord.Header($0.key, $0.value) })
            ])
            try await fixture.waitForResults(10)
            let found = try await fixture.tool("find", "--user", "ann", "-o", "jsonl")
            let events = try events(found.output)
            let faults = events.compactMap { $0["publisherFault"] as? String }
            #expect(events.count == 10 && Set(faults) == ["no-key", "quoted-headers"], "\(found.output)")
            #expect(events.allSatisfy { ($0["open"] as? [String])?.isEmpty == true }, "\(found.output)")
        }
    }

    @Test("A waiting event is explained with the reason; an unconsumed one, with the doctor")
    func waiting() async throws {
        let plan = Self.plan {
            $0.settings = ["retry.delays": "[1h]"]
            $0.misbehaviour = [.status(503)]
        }
        try await Fixture.run(plan) { fixture in
            try await fixture.publish([Publication(id: "early", user: "bob")])
            let early = try await fixture.tool("explain", "early")
            #expect(early.status == 0, "\(early.output)")
            #expect(early.output.contains("No worker runs in the group \(fixture.name)"), "\(early.output)")
            #expect(early.output.contains("systemctl status herald"))
            _ = try await fixture.startWorker()
            let waits = try await eventually {
                try await fixture.catchUp()
                return fixture.retries.count == 1
            }
            #expect(waits)
            let waiting = try await fixture.tool("explain", "early", "--user", "bob")
            #expect(waiting.status == 0, "\(waiting.output)")
            #expect(waiting.output.contains("apns: it waits in \(fixture.topic("notifications.retry.1h")) until"))
            #expect(waiting.output.contains("can pass (apns was answered 503 at 2"), "\(waiting.output)")
            #expect(waiting.output.contains("Not read: other partitions than that of the user's key"))
            #expect(waiting.output.contains("call 2 of at most 2"))
            #expect(waiting.output.contains("If that fails too, it becomes a dead letter."))
        }
    }

    @Test("Without a worker, and in an outage, no worker is reported as calling an event")
    func nobodyCalls() async throws {
        try await Fixture.run(Self.plan { $0.misbehaviour = [.status(401)] }) { fixture in
            let admin = ["admin.listen": "127.0.0.1:\(try #require(FreePorts.take(1).first))"]
            let worker = try await fixture.startWorker(changing: admin)
            try await fixture.publish([Publication(id: "e", user: "ann")])
            try await worker.waitForLog("outage")
            let outage = try await fixture.tool("explain", "e", "--user", "ann", changing: admin)
            #expect(outage.status == 0 && outage.output.contains("says that it does not deliver"), "\(outage.output)")
            #expect(!outage.output.contains("just now"), "\(outage.output)")
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let alone = try await fixture.tool("explain", "e", "--user", "ann", changing: admin)
            #expect(alone.output.contains("No worker runs in the group \(fixture.name)"), "\(alone.output)")
            #expect(!alone.output.contains("just now"), "\(alone.output)")
        }
    }

    @Test("Ann's code waits behind her earlier event although the backend is well: one command says so")
    func behindUser() async throws {
        let plan = Self.plan {
            $0.settings = Held.settings
            $0.misbehaviour = [.hold { $0.user = "ann" }]
        }
        try await Fixture.run(plan) { fixture in
            let admin = [
                "admin.listen": "127.0.0.1:\(try #require(FreePorts.take(1).first))",
                "admin.token": "t0ken-of-the-worker",
            ]
            let worker = try await fixture.startWorker(changing: admin)
            try await fixture.publish([
                Publication(id: "news", user: "ann"), Publication(id: "code", user: "ann"),
                Publication(id: "other", user: "bob"),
            ])
            try await fixture.waitForResults(1)
            try await fixture.wait("her first event is being called") { fixture.backend.heldCount == 1 }
            let found = try await fixture.tool("explain", "code", "--user", "ann", changing: admin)
            #expect(found.status == 0, "\(found.output)")
            #expect(found.output.contains("has it in memory since 2"), "\(found.output)")
            #expect(
                found.output.contains("apns: it waits behind 1 earlier event of its user, of which news ("),
                "\(found.output)")
            #expect(found.output.contains("is first: apns is being called since 2"), "\(found.output)")
            #expect(found.output.contains("(delivery.ordering)") && !found.output.contains("just now"))

            let json = try await fixture.tool("explain", "code", "--user", "ann", "-o", "json", changing: admin)
            let begin = try #require(json.output.firstIndex(of: "{"))
            let text = json.output[begin...].prefix(through: try #require(json.output.lastIndex(of: "}")))
            let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            let waits = (object?["waiting"] as? [String: Any])?["waits"] as? [[String: Any]]
            #expect(waits?.compactMap { $0["reason"] as? String } == ["behind-user"], "\(json.output)")

            let line = try await fixture.tool("find", "--user", "ann", changing: admin)
            #expect(line.status == 0 && line.output.contains("no outcome yet for apns"), "\(line.output)")
            #expect(
                line.output.contains("  apns: it waits behind 1 earlier event of its user, of which news ("),
                "\(line.output)")
            let both = try events(
                try await fixture.tool("find", "--user", "ann", "-o", "jsonl", changing: admin).output)
            let reasons = both.map { event in
                let waits = (event["waiting"] as? [String: Any])?["waits"] as? [[String: Any]]
                return waits?.compactMap { $0["reason"] as? String } ?? []
            }
            #expect(reasons == [["calling"], ["behind-user"]], "\(both)")

            // Without the worker's token, the reader learns that the worker was not heard, and no reason.
            let stranger = admin.merging(["admin.token": "another"]) { $1 }
            let unheard = try await fixture.tool("find", "--id", "code", changing: stranger)
            #expect(unheard.output.contains("was not heard (it wants the token of admin.token"), "\(unheard.output)")
            #expect(!unheard.output.contains("it waits behind"))
            let refused = try await fixture.tool("explain", "code", "--user", "ann", changing: stranger)
            #expect(refused.output.contains("was not heard (it wants the token of admin.token"), "\(refused.output)")

            let ready = try await worker.page("/readyz")
            #expect(ready.text.contains(#""waiting""#), "\(ready.text)")
            let counted = try await eventually {
                try await worker.metrics()[#"herald_waiting_events{reason="behind-user"}"#] == 1
            }
            #expect(counted)
            fixture.backend.misbehave([])
            try await fixture.waitForResults(3)
            let done = try await fixture.tool("explain", "code", "--user", "ann", changing: admin)
            #expect(done.output.contains("the backend took it at"), "\(done.output)")
        }
    }

    @Test("Not found is not reported as never published unless all was read; a tombstone is named")
    func absent() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            var tombstone = Publication(key: Array("ann".utf8), value: nil)
            tombstone.partition = 1
            try await fixture.publish([tombstone])
            let narrow = try await fixture.tool("explain", "order-17", "--user", "ann")
            #expect(narrow.status == 1 && narrow.output.contains("Not read: other partitions"), "\(narrow.output)")
            #expect(!narrow.output.contains("never published"), "\(narrow.output)")
            let wide = try await fixture.tool("explain", "order-17", "--user", "ann", "--all-partitions")
            #expect(wide.output.contains("1 record of this user has no value"), "\(wide.output)")
            let place = "\(fixture.topic("notifications"))/1/"
            let first = try await fixture.tool("explain", place + "0")
            #expect(first.status == 1 && first.output.contains("has no value (a tombstone)"), "\(first.output)")
            let next = try await fixture.tool("explain", place + "7")
            #expect(next.output.contains("nothing is there yet: the partition ends at offset 1"), "\(next.output)")
            var named = Publication(id: "order-18", user: "bob")
            named.partition = 1
            try await fixture.publish([named])
            let other = try await fixture.tool("explain", place + "1")
            #expect(other.status == 0 && other.output.contains("Event order-18 for bob"), "\(other.output)")
        }
    }

    @Test("A publisher with another partitioner is detected, and all its events with --all-partitions")
    func strays() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            let events = (0..<3).map { partition in
                var event = Publication(id: "s\(partition)", user: "carl")
                event.partition = Int32(partition)
                return event
            }
            try await fixture.publish(events)
            try await fixture.waitForResults(3)
            let some = try await fixture.tool("find", "--user", "carl", "-o", "jsonl")
            #expect(some.output.contains("their producer has another partitioner or key"), "\(some.output)")
            let all = try await fixture.tool("find", "--user", "carl", "--all-partitions", "-o", "jsonl")
            let found = try self.events(all.output)
            #expect(found.compactMap { $0["id"] as? String }.sorted() == ["s0", "s1", "s2"])
            #expect(found.allSatisfy { steps($0) == ["published", "settled"] }, "\(all.output)")
        }
    }

    @Test("Where the topic had fewer partitions, that is said of older events, and no partitioner is blamed")
    func grown() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            // The only partition, at first, had all users; of three it is not this one's.
            let user = "ann"
            var older = Publication(id: "older", user: user)
            older.partition = 0
            try await fixture.publish([older])
            try await fixture.waitForResults(1)
            let some = try await fixture.tool("find", "--user", user)
            #expect(
                some.output.contains("when \(fixture.topic("notifications")) had fewer partitions"), "\(some.output)")
            #expect(!some.output.contains("another partitioner"), "\(some.output)")
        }
    }

    @Test("An event with a wrong key is not silently missed: unread parts are named, and the keys")
    func wrongKey() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            let wrong = ["order-17", "order-18"].map { key in
                var event = Publication(id: key == "order-17" ? "w" : "x", user: "eve")
                event.key = Array(key.utf8)
                return event
            }
            try await fixture.publish(wrong + [Publication(id: "right", user: "eve")])
            try await fixture.waitForResults(3)
            let some = try await fixture.tool("find", "--user", "eve", "--id", "right")
            #expect(some.status == 0 && some.output.contains("Events with another key than the user"), "\(some.output)")
            let all = try await fixture.tool("find", "--user", "eve", "--all-partitions")
            #expect(!all.output.contains("Not read"), "\(all.output)")
            let faults = all.output.split(separator: "\n").filter {
                $0.contains("its record has a key that is not its user")
            }
            #expect(faults.count == 2, "\(all.output)")
            let explained = try await fixture.tool("explain", "w")
            #expect(explained.output.contains("Its record has a key that is not its user"), "\(explained.output)")
        }
    }

    @Test("A request that claims to be another topic's replay adds nothing to that event's history")
    func forged() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            var order = Publication(id: "order-17", user: "ann")
            order.partition = 1
            var forged = Publication(id: "order-17", user: "ann", pns: ["gcm"], more: ["source": "shop"])
            forged.topic = "notifications.bulk"
            forged.partition = 1
            let call = #"[{"at":"2026-11-01T10:00:00.000Z","pns":"apns","status":503,"ms":7}]"#
            let headers = [
                "herald-origin": "\(fixture.topic("notifications"))/1/0", "herald-replays": "1", "herald-history": call,
            ]
            forged.headers = headers.map { StoredRecord.Header($0.key, Array($0.value.utf8)) }
            try await fixture.publish([order, forged])
            let found = try await fixture.tool("find", "--id", "order-17", "-o", "jsonl")
            let events = try events(found.output)
            #expect(events.map(steps) == [["published"], ["published"]], "\(found.output)")
            let places = ["notifications", "notifications.bulk"].map { fixture.topic($0) + "/1/0" }
            #expect(events.compactMap { $0["origin"] as? String } == places, "\(found.output)")
        }
    }

    @Test("An event without an id is found by its place, and an undecodable one by its key")
    func unnamed() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            var event = Publication(
                user: "dora", text: #"{"user":"dora","pns":"apns","message":"Hello"}"#)
            event.partition = 1
            try await fixture.publish([event, Publication(user: "dora", text: "no event")])
            try await fixture.waitForResults(2)
            let place = "\(fixture.topic("notifications"))/1/0"
            let byPlace = try await fixture.tool("find", "--id", place, "-o", "jsonl")
            #expect(try events(byPlace.output).map(steps) == [["published", "settled"]], "\(byPlace.output)")
            let all = try await fixture.tool("find", "--user", "dora", "--all-partitions")
            #expect(all.output.contains("malformed") && all.output.contains("2 events."), "\(all.output)")
            let nobody = try await fixture.tool("find", "--user", "nobody")
            #expect(nobody.status == 1 && nobody.output.contains("0 events."), "\(nobody.output)")
        }
    }

    private func output(_ fixture: Fixture, _ words: [String]) async throws -> String {
        let process = try fixture.startTool(words)
        #expect(try await process.waitForExit(within: 120) == 0, "\(process.output)")
        return process.output
    }

    @Test(
        "An undecodable record is found and explained by its place, with its dead letter and its user",
        arguments: ["no event", #""{\"user\":\"zed\"}""#, "[]", #"{"pns":["apns"],"message":"hi"}"#])
    func malformed(value: String) async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish([Publication(user: "zed", text: value)])
            try await fixture.waitForResults(1)
            let record = try #require(fixture.records("notifications").first)
            let place = "\(fixture.topic("notifications"))/\(record.partition)/\(record.offset)"
            for user in [[], ["--user", "zed"]] {
                let found = try await output(fixture, ["find", "--id", place, "-o", "jsonl"] + user)
                #expect(
                    try events(found).map { Set(steps($0)) } == [["published", "settled", "dead-lettered"]],
                    "\(found)")
                let explained = try await output(fixture, ["explain", place] + user)
                #expect(explained.contains("herald dlq show"), "\(explained)")
            }
        }
    }
}
