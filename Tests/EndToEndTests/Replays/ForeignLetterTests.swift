import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Dead letters of others", .realKafka("Dead letters of others"))
struct ForeignLetterTests {
    private static var plan: Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics + ["orders", "orders.DLT", "orders.copy"]
        return plan
    }

    private func bytes(_ number: Int64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * Int64($0))) }
    }

    /// A letter in the format of `DeadLetterPublishingRecoverer`.
    private func spring(_ number: Int, of topic: String, replays: String? = nil) -> Publication {
        var letter = Publication(
            user: "customer-\(number)", text: #"{"order":\#(number)}"#,
            headers: [
                .init("__TypeId__", "shop.Order"), .init("kafka_dlt-original-topic", topic),
                .init("kafka_dlt-original-partition", bytes(1, 4)),
                .init("kafka_dlt-original-offset", bytes(Int64(number), 8)),
                .init("kafka_dlt-original-timestamp", bytes(1_795_250_426_123, 8)),
                .init("kafka_dlt-original-timestamp-type", "CreateTime"),
                .init("kafka_dlt-original-consumer-group", "billing"),
                .init(
                    "kafka_dlt-exception-fqcn", "org.springframework.kafka.listener.ListenerExecutionFailedException"),
                .init("kafka_dlt-exception-cause-fqcn", "java.lang.IllegalStateException"),
                .init("kafka_dlt-exception-message", "Listener failed; order \(number)"),
                .init("kafka_dlt-exception-stacktrace", "java.lang.IllegalStateException\n\tat shop.Billing.bill"),
            ])
        if let replays { letter.headers.append(.init("herald-replays", replays)) }
        letter.topic = "orders.DLT"
        return letter
    }

    /// A letter in the format of Kafka Connect's `DeadLetterQueueReporter`.
    private func connect(_ number: Int, of topic: String) -> Publication {
        var letter = Publication(
            user: "customer-\(number)", text: "no JSON \(number)",
            headers: [
                .init("__connect.errors.topic", topic), .init("__connect.errors.partition", "0"),
                .init("__connect.errors.offset", "\(number)"), .init("__connect.errors.connector.name", "search"),
                .init("__connect.errors.task.id", "0"), .init("__connect.errors.stage", "VALUE_CONVERTER"),
                .init("__connect.errors.class.name", "org.apache.kafka.connect.json.JsonConverter"),
                .init("__connect.errors.exception.class.name", "org.apache.kafka.connect.errors.DataException"),
                .init("__connect.errors.exception.message", "Converting byte[] to Kafka Connect data failed"),
                .init("__connect.errors.exception.stacktrace", "org.apache.kafka.connect.errors.DataException"),
            ])
        letter.topic = "orders.DLT"
        return letter
    }

    /// A letter of a real application, moved to this test's topic.
    private func real(_ letter: SpringLetters.Letter, of topic: String) -> Publication {
        var publication = Publication(
            key: letter.key, value: letter.value,
            headers: letter.headers.map { name, value in
                name.hasSuffix("original-topic") ? .init(name, topic) : .init(name, value)
            })
        publication.topic = "orders.DLT"
        return publication
    }

    private func objects(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").filter { $0.hasPrefix("{") }.compactMap {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    private func text(_ record: StoredRecord) -> String { String(decoding: record.value ?? [], as: UTF8.self) }

    /// The arguments of a replay of letters from a topic.
    private func replayWords(_ letters: String, from topic: String) -> [String] {
        ["replay", "--topic", letters, "--where", "topic = \(topic)", "--wait", "0", "-o", "jsonl"]
    }

    @Test("Spring's and Connect's are replayed once, unchanged, to their origin on request")
    func wholeWay() async throws {
        try await Fixture.run(Self.plan) { fixture in
            let (orders, letters) = (fixture.topic("orders"), fixture.topic("orders.DLT"))
            try await fixture.publish((0..<30).map { spring($0, of: orders) })
            try await fixture.publish((30..<40).map { connect($0, of: orders) })
            // Herald's own lie in the same places, and do not match.
            try await fixture.publishDeadLetters(0..<40)

            let missing = try await fixture.dlq("list", "--topic", "\(letters).x")
            #expect(missing.status == 1 && missing.output.contains("there is no topic \(letters).x on these brokers"))
            #expect(!missing.output.contains("topics apply"), "\(missing.output)")
            let untold = try await fixture.dlq("replay", "--topic", letters, "--where", "topic = \(orders)", "--yes")
            let advice = "such as \(orders): give --to TOPIC"
            #expect(untold.status == 1 && untold.output.contains(advice), "\(untold.output)")
            let nowhere = try await fixture.dlq(
                "replay", "--topic", letters, "--where", "topic = \(orders)", "--to", "\(orders).x", "--yes")
            #expect(nowhere.status == 1 && nowhere.output.contains("no topic \(orders).x"), "\(nowhere.output)")
            #expect(!nowhere.output.contains("topics apply"), "\(nowhere.output)")
            let words = replayWords(letters, from: orders) + ["--to", orders]
            let refused = try fixture.startDLQ(words)
            #expect(try await refused.waitForExit() == 4, "\(refused.output)")
            #expect(refused.output.contains("nobody reports whether they are processed"), "\(refused.output)")
            let run = try fixture.startDLQ(words + ["--yes", "--reason", "billing is fixed"])
            #expect(try await run.waitForExit() == 0, "\(run.output)")
            #expect(try objects(run.output).last?["replayed"] as? Int == 40, "\(run.output)")

            try await fixture.catchUp()
            let replayed = fixture.records("orders")
            #expect(Set(replayed.map(text)).count == 40 && replayed.count == 40)
            for record in replayed {
                let isSpring = text(record).hasPrefix("{")
                #expect(record.originalHeaders == (isSpring ? [.init("__TypeId__", "shop.Order")] : []))
                #expect(record.heraldHeaders == ["herald-replays": "1"])
            }
            let keys = Dictionary(grouping: fixture.records("orders.DLT"), by: \.keyText)
            #expect(replayed.allSatisfy { keys[$0.keyText]?.first?.partition == $0.partition }, "by key")

            let again = try fixture.startDLQ(words + ["--yes"])
            #expect(try await again.waitForExit() == 0)
            #expect(
                (try objects(again.output).last?["leftOut"] as? [String: Int])?["replayed"] == 40, "\(again.output)")
            let own = try await fixture.dlq("replay", "--where", "offset >= 0", "--dry-run", "-o", "jsonl")
            #expect(
                try objects(own.output).last?["planned"] as? Int == 40, "their marks are not Herald's: \(own.output)")
        }
    }

    @Test("A real Spring application's are listed, shown and replayed, in order and unchanged", .judged(by: .spring))
    func real() async throws {
        try await Fixture.run(Self.plan) { fixture in
            let (orders, letters) = (fixture.topic("orders"), fixture.topic("orders.DLT"))
            let real = try SpringLetters.read()
            try await fixture.publish(
                (real.retryable + real.recovered + real.waiting).map { self.real($0, of: orders) }
                    + [connect(9, of: orders)])
            try await fixture.catchUp()

            let list = try await fixture.dlq("list", "--topic", letters, "-o", "jsonl")
            let groups = try objects(list.output)
            #expect(
                groups.compactMap { $0["group"] as? String } == [
                    "reason=java.lang.IllegalStateException", "reason=java.lang.IllegalArgumentException",
                    "reason=org.apache.kafka.connect.errors.DataException",
                ], "\(list.output)")
            #expect(groups.compactMap { $0["count"] as? Int } == [6, 3, 1], "\(list.output)")
            let messages = try await fixture.dlq("list", "--topic", letters, "--group-by", "detail", "-o", "jsonl")
            let message = "detail=Listener failed; backend answered 503 for user0"
            #expect(
                try objects(messages.output).contains { $0["group"] as? String == message && $0["count"] as? Int == 2 },
                "\(messages.output)")
            let one = try await fixture.dlq("list", "--topic", letters, "--group", message, "-o", "jsonl")
            #expect(try objects(one.output).first?["count"] as? Int == 2, "\(one.output)")

            let sample = try #require(groups.first?["sample"] as? String)
            let show = try await fixture.dlq("show", "--topic", letters, sample, "-o", "jsonl")
            let shown = try #require(try objects(show.output).first)
            #expect(shown["source"] as? String == "notifier", "\(show.output)")
            #expect((shown["origin"] as? String)?.hasPrefix("\(orders)/0/") == true, "\(show.output)")

            let replay = try fixture.startDLQ(
                replayWords(letters, from: orders) + ["--to", orders, "--yes", "--reason", "mended"])
            #expect(try await replay.waitForExit() == 0, "\(replay.output)")
            try await fixture.catchUp()
            let replayed = fixture.records("orders")
            #expect(replayed.count == 10)
            for partition in 0..<2 {
                func order(_ records: [StoredRecord]) -> [String] {
                    records.filter { $0.partition == partition }.sorted { $0.offset < $1.offset }.map(text)
                }
                #expect(order(replayed) == order(fixture.records("orders.DLT")))
            }
            for record in replayed {
                let isEvent = text(record).contains(#""user""#)
                #expect(record.originalHeaders.map(\.name) == (isEvent ? ["traceparent", "x-tenant"] : []))
                #expect(record.heraldHeaders == ["herald-replays": "1"])
            }
        }
    }

    @Test("Letters for Herald's workers are checked before, and their outcomes are awaited and counted")
    func workers() async throws {
        var plan = Self.plan
        plan.misbehaviour = [.status(400) { $0.pns = "wns" }]
        try await Fixture.run(plan) { fixture in
            let (requests, letters) = (fixture.topic("notifications"), fixture.topic("orders.DLT"))
            func event(_ id: String, pns: [String], topic: String) -> Publication {
                var event = Publication(id: id, user: "user-\(id)", pns: pns)
                event.headers = spring(0, of: topic).headers
                event.topic = "orders.DLT"
                return event
            }
            try await fixture.publish((0..<5).map { spring($0, of: requests) })
            let none = try await fixture.dlq(
                "replay", "--topic", letters, "--where", "offset >= 0", "--yes", "-o", "jsonl")
            #expect(none.status == 0 && none.output.contains("5 left out: no event"), "\(none.output)")
            #expect((try objects(none.output).last?["leftOut"] as? [String: Int]) == ["still-invalid": 5])

            try await fixture.publish([
                event("a", pns: ["apns", "gcm"], topic: requests), event("b", pns: ["wns"], topic: requests),
            ])
            _ = try await fixture.startWorker()
            let run = try await fixture.dlq(
                "replay", "--topic", letters, "--where", "offset >= 0", "--yes", "--ramp", "all",
                "--stop-if-failures", "100%", "-o", "jsonl")
            let report = try #require(try objects(run.output).last)
            #expect(run.status == 0 && report["end"] as? String == "complete", "\(run.output)")
            #expect(report["delivered"] as? Int == 2 && report["failed"] as? Int == 1, "\(run.output)")
            #expect(report["open"] as? Int == 0 && report["notifications"] as? Int == 3, "\(run.output)")
            try await fixture.catchUp()
            #expect(fixture.deadLetters.count == 1, "what was no event is not there")
            #expect(fixture.deadLetters.first?.heraldHeaders["herald-origin"]?.hasPrefix("\(letters)/") == true)
            #expect(fixture.deadLetters.first?.originalHeaders == [.init("__TypeId__", "shop.Order")])

            // Its outcome stays known.
            let list = try await fixture.dlq("list", "--topic", letters, "--where", "user = user-a", "-o", "jsonl")
            let failed = try await fixture.dlq("list", "--topic", letters, "--where", "user = user-b", "-o", "jsonl")
            #expect(try objects(list.output).first?["delivered"] as? Int == 1, "\(list.output)")
            #expect(try objects(failed.output).first?["failedAgain"] as? Int == 1, "\(failed.output)")

            let explained = try await fixture.tool("explain", "a")
            #expect(explained.output.contains("and was replayed: \(letters), partition"), "\(explained.output)")
            #expect(explained.output.contains("apns: the backend took it"), "\(explained.output)")

            // With a target it is replayed; another replay fails like one of Herald's own letters.
            let again = try await fixture.dlq(
                "replay", "--topic", letters, "--where", "user = user-b", "--to", requests, "--again", "--yes")
            #expect(again.status == 3 && again.output.contains("1 of 1 outcomes are bad"), "\(again.output)")
        }
    }

    @Test("They are listed by exception, shown, exported, and a stray one goes to a given target")
    func looks() async throws {
        try await Fixture.run(Self.plan) { fixture in
            let (orders, letters) = (fixture.topic("orders"), fixture.topic("orders.DLT"))
            var stray = Publication(user: "ann", text: "stray")
            stray.topic = "orders.DLT"
            try await fixture.publish((0..<3).map { spring($0, of: orders) } + [connect(3, of: orders), stray])
            let list = try await fixture.dlq("list", "--topic", letters, "-o", "jsonl")
            let groups = try objects(list.output)
            #expect(list.status == 0 && groups.count == 3, "\(list.output)")
            let group = try #require(groups.first)
            #expect(group["group"] as? String == "reason=java.lang.IllegalStateException")
            #expect(groups.compactMap { $0["count"] as? Int } == [3, 1, 1], "\(list.output)")

            let sample = try #require(group["sample"] as? String)
            let show = try await fixture.dlq("show", "--topic", letters, sample)
            #expect(show.output.contains("origin      \(orders)/1/"), "\(show.output)")
            #expect(show.output.contains("herald dlq replay --topic \(letters) \(sample) --to TOPIC"))
            #expect(!show.output.contains("shop.Billing") && !show.output.contains(#"{"order""#))
            let export = try await fixture.dlq("export", "--topic", letters, "--where", "replays = 0")
            #expect(try objects(export.output).count == 5, "\(export.output)")

            let rest = try fixture.startDLQ(
                replayWords(letters, from: "none") + ["--to", fixture.topic("orders.copy"), "--yes"])
            #expect(try await rest.waitForExit() == 0, "\(rest.output)")
            try await fixture.catchUp()
            #expect(fixture.records("orders.copy").map(text) == ["stray"])
            let after = try await fixture.dlq("list", "--topic", letters, "--where", "replays = 0")
            #expect(after.output.contains("–"), "nobody reports it: \(after.output)")
        }
    }

    @Test("A letter that comes back as a new dead letter stops the replay")
    func comesBack() async throws {
        try await Fixture.run(Self.plan) { fixture in
            let (orders, letters) = (fixture.topic("orders"), fixture.topic("orders.DLT"))
            try await fixture.publish((0..<20).map { spring($0, of: orders) })
            let run = try fixture.startDLQ([
                "replay", "--topic", letters, "--where", "replays = 0", "--yes", "--ramp", "1,all", "--wait", "10m",
                "--to", orders, "-o", "jsonl",
            ])
            try await fixture.wait("the first is replayed") { fixture.count("orders") == 1 }
            // A service that still cannot process it does the same.
            try await fixture.publish([spring(0, of: orders, replays: "1")])
            #expect(try await run.waitForExit() == 3, "\(run.output)")
            #expect(run.output.contains("1 of them came back"), "\(run.output)")
            #expect(try objects(run.output).last?["end"] as? String == "stopped")
            try await fixture.catchUp()
            #expect(fixture.count("orders") == 1)
            let back = try await fixture.dlq("list", "--topic", letters, "--where", "replays > 0", "-o", "jsonl")
            #expect(try objects(back.output).first?["count"] as? Int == 1, "\(back.output)")
        }
    }

    @Test("A letter for a deleted topic is refused with the topic's name")
    func gone() async throws {
        try await Fixture.run(Self.plan) { fixture in
            try await fixture.publish([spring(0, of: fixture.topic("gone"))])
            let gone = try await fixture.dlq(
                "replay", "--topic", fixture.topic("orders.DLT"), "--where", "offset >= 0", "--to",
                fixture.topic("gone"), "--yes")
            #expect(gone.status == 1 && gone.output.contains(fixture.topic("gone")), "\(gone.output)")
        }
    }
}
