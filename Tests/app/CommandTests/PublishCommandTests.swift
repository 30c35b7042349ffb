import Foundation
import HeraldKafka
import TestSupport
import Testing

@Suite("Publishing, as a process on a real broker", .realKafka("Publishing, as a process on a real broker"))
struct PublishCommandTests {
    private func numbers(_ record: [String: Any]) -> [Int] {
        ["partition", "offset"].compactMap { record[$0] as? Int }
    }

    @Test("One event is a record with the user as key; its place and new id are printed")
    func one() async throws {
        let fixture = try await ClusterFixture()
        try await fixture.makeTopics()
        let run = try await fixture.herald(
            "publish", "--user", "ann", "--pns", "apns,gcm", "--message", "grüß\"e", "--source", "s", "--campaign", "c",
            "--not-before", "2026-01-02T03:04:05Z", "--expires-at", "2036-01-02T03:04:05Z", "-o", "jsonl")
        #expect(run.status == 0, "\(run.error)")
        let printed = try #require(run.records.first)
        let id = try #require(printed["id"] as? String)
        #expect(id.count == 32 && run.records.count == 1)
        #expect(printed["topic"] as? String == fixture.requests && printed["user"] as? String == "ann")
        let record = try #require(try await fixture.records(of: fixture.requests, count: 1).first)
        #expect(record.key == "ann")
        #expect(
            record.value == #"{"id":"\#(id)","user":"ann","message":"grüß\"e","pns":["apns","gcm"],"source":"s","#
                + #""campaign":"c","expiresAt":"2036-01-02T03:04:05.000Z","notBefore":"2026-01-02T03:04:05.000Z"}"#)
        #expect(numbers(printed) == [Int(record.partition), Int(record.offset)])
        let table = try await fixture.herald(
            "publish", "--user", "ann", "--pns", "apns", "--message", "m", "--id", "my")
        #expect(table.status == 0 && table.output.hasPrefix("ID  USER  TOPIC"))
        #expect(table.output.contains("my  ann   \(fixture.requests)"))
    }

    @Test("Lines of standard input become records unchanged, each user's in order, with ids where missing")
    func file() async throws {
        let fixture = try await ClusterFixture()
        try await fixture.makeTopics()
        var input = "\n"
        for index in 0..<300 {
            input += #"{"user":"u\#(index % 7)","message":"m\#(index)","pns":"apns","extra":[1]}"# + "\n"
        }
        input += #"{"id":"own","user":"u","message":"m","pns":["wns"]}"#
        let run = try await fixture.herald("publish", "--file", "-", "--id", "night", "-o", "jsonl", input: input)
        #expect(run.status == 0, "\(run.error)")
        #expect(
            run.error == "line 2: warning: extra is no field and is ignored\n"
                + "299 lines more: warning: extra is no field and is ignored\n301 events published.\n")
        let records = try await fixture.records(of: fixture.requests, count: 301)
        #expect(records.count == 301 && run.records.count == 301)
        #expect(records.contains { $0.value == #"{"id":"own","user":"u","message":"m","pns":["wns"]}"# })
        var last: [String: Int] = [:]
        for record in records where record.key != "u" {
            let text = record.value.split(separator: #""message":"m"#)[1].prefix { $0.isNumber }
            let index = try #require(Int(text))
            #expect(record.value.hasPrefix(#"{"id":"night-\#(index + 2)","user":"\#(record.key)","#))
            #expect(last.updateValue(index, forKey: record.key) ?? -1 < index)
        }
        let places = Set(records.map { [Int($0.partition), Int($0.offset)] })
        #expect(Set(run.records.map(numbers)) == places)
        #expect(Set(run.records.compactMap { $0["line"] as? Int }) == Set(2...302))
    }

    @Test("--wait shows the outcome for each push service and ends with 0 when all are delivered")
    func delivered() async throws {
        let fixture = try await ClusterFixture()
        try await fixture.makeTopics()
        async let running = fixture.herald(
            "publish", "--user", "u", "--pns", "gcm,apns", "--message", "m", "--wait", "60s", "-o", "jsonl")
        let record = try #require(try await fixture.records(of: fixture.requests, count: 1).first)
        var other = record
        other.offset += 1
        try await fixture.write(results: [
            fixture.result(of: other, "apns", "expired"), "no result", fixture.result(of: record, "wns", "expired"),
            fixture.result(of: record, "apns", "delivered", more: #""status":200,"attempts":1,"#),
            fixture.result(of: record, "gcm", "delivered", more: #""status":200,"attempts":3,"#),
        ])
        let run = try await running
        #expect(run.status == 0, "\(run.error)")
        #expect(Set(run.records.compactMap { $0["pns"] as? String }) == ["apns", "gcm"])
        for printed in run.records {
            #expect(printed["outcome"] as? String == "delivered" && printed["status"] as? Int == 200)
            #expect(printed["attempts"] as? Int == (printed["pns"] as? String == "gcm" ? 3 : 1))
            #expect(numbers(printed) == [Int(record.partition), Int(record.offset)])
        }
    }

    @Test("--wait names a push service as the event did, even if the backend's name differs")
    func otherName() async throws {
        let fixture = try await ClusterFixture()
        try await fixture.makeTopics()
        async let running = fixture.herald(
            "publish", "--user", "u", "--pns", "fcm", "--message", "m", "--wait", "60s", "-o", "jsonl")
        let record = try #require(try await fixture.records(of: fixture.requests, count: 1).first)
        try await fixture.write(results: [
            fixture.result(of: record, "gcm", "delivered", more: #""requestedPns":["fcm"],"#)
        ])
        let run = try await running
        #expect(run.status == 0 && run.records.compactMap { $0["pns"] as? String } == ["fcm"], "\(run.error)")
    }

    @Test("--wait ends with 3 when an outcome differs or does not come in time")
    func notDelivered() async throws {
        let fixture = try await ClusterFixture()
        try await fixture.makeTopics()
        let input = #"{"user":"u","message":"m","pns":"apns"}"# + "\n" + #"{"user":"u","message":"m","pns":"apns"}"#
        async let running = fixture.herald("publish", "-f", "-", "--wait", "60s", "-o", "jsonl", input: input)
        let records = try await fixture.records(of: fixture.requests, count: 2)
        try #require(records.count == 2)
        try await fixture.write(results: [
            fixture.result(of: records[0], "apns", "delivered"),
            fixture.result(of: records[1], "apns", "dead-lettered", more: #""reason":"rejected","status":400,"#),
        ])
        let run = try await running
        #expect(run.status == 3)
        let outcomes = run.records.map { [$0["outcome"], $0["reason"]].map { $0 as? String } }
        #expect(Set(outcomes) == [["delivered", nil], ["dead-lettered", "rejected"]])
        #expect(
            run.error.contains("Not delivered: apns of ")
                && run.error.contains(": dead-lettered: rejected. To know more: "),
            "\(run.error)")
        // Earlier results are not this event's.
        let late = try await fixture.herald(
            "publish", "--user", "u", "--pns", "apns", "--message", "m", "--wait", "300ms", "-o", "jsonl")
        #expect(late.status == 3 && late.records.first?["outcome"] as? String == "pending")
        let id = try #require(late.records.first?["id"] as? String)
        #expect(
            late.error.contains(
                "Not delivered: apns of \(id), and no failure of it is recorded. To know more: herald explain \(id) --user u\n"
            ),
            "\(late.error)")
    }

    @Test("--wait treats a duplicate of a delivered event as success, and reports the first one's outcome")
    func duplicate() async throws {
        let fixture = try await ClusterFixture()
        try await fixture.makeTopics()
        let words = ["publish", "--user", "u", "--pns", "apns", "--message", "m", "--wait", "60s", "-o", "jsonl"]
        for (index, (first, status)) in [("delivered", 0), ("expired", 3)].enumerated() {
            async let running = HeraldProgram.run(words, environment: fixture.environment)
            let record = try #require(
                try await fixture.records(of: fixture.requests, count: index + 1).first { $0.offset == Int64(index) })
            let more = #""firstOutcome":"\#(first)","detail":"why","#
            try await fixture.write(results: [fixture.result(of: record, "apns", "duplicate", more: more)])
            let run = try await running
            #expect(run.status == Int32(status), "\(run.output) \(run.error)")
            let printed = try #require(run.records.first)
            #expect(printed["outcome"] as? String == "duplicate" && printed["firstOutcome"] as? String == first)
            #expect(printed["detail"] as? String == "why")
        }
    }

    @Test("Interrupted while waiting, it prints known outcomes and the id to publish again, and ends with 3")
    func interrupted() async throws {
        let fixture = try await ClusterFixture()
        try await fixture.makeTopics()
        let running = try RunningHerald(
            ["publish", "--user", "u", "--pns", "apns", "--message", "m", "--wait", "10m", "-o", "jsonl"],
            environment: fixture.environment, keepsErrors: true)
        _ = try await fixture.records(of: fixture.requests, count: 1)
        running.signal(SIGINT)
        let pending = try await running.object()
        #expect(pending["outcome"] as? String == "pending")
        let end = try await running.end()
        let id = try #require(pending["id"] as? String)
        #expect(end.status == 3 && end.error.contains("interrupted; 1 event published"), "\(end)")
        #expect(end.error.contains("publish it again with --id \(id)"), "\(end)")
    }

    @Test("A missing topic ends with 1 and the command that creates it, and nothing is created")
    func missingTopic() async throws {
        let fixture = try await ClusterFixture()
        let event = ["--user", "u", "--pns", "apns", "--message", "m"]
        let run = try await HeraldProgram.run(["publish"] + event, environment: fixture.environment)
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(run.error == "herald: there is no topic \(fixture.requests); make it with: herald topics apply\n")
        let other = try await HeraldProgram.run(
            ["publish", "--topic", "\(fixture.requests).x"] + event, environment: fixture.environment)
        #expect(other.status == 1 && other.error.contains("add it to topics.requests, then: herald topics apply"))
        try await Blocking.run { try fixture.kafka.makeTopics([NewTopic(name: fixture.requests, partitions: 1)]) }
        let waiting = try await HeraldProgram.run(
            ["publish", "--wait", "1s"] + event, environment: fixture.environment)
        #expect(waiting.status == 1 && waiting.error.contains("there is no topic \(fixture.results)"))
        let sent = try await HeraldProgram.run(["publish", "-o", "jsonl"] + event, environment: fixture.environment)
        #expect(sent.records.first?["offset"] as? Int == 0)
    }

    @Test("A record that the topic refuses ends with 1 and the way to continue")
    func refused() async throws {
        let fixture = try await ClusterFixture()
        try await Blocking.run {
            try fixture.kafka.makeTopics([
                NewTopic(name: fixture.requests, partitions: 1, configuration: ["max.message.bytes": "600"])
            ])
        }
        let large = String(repeating: "x", count: 2_000)
        let run = try await fixture.herald("publish", "--user", "u", "--pns", "apns", "--message", large, "--id", "a")
        #expect(run.status == 1, "\(run.error)")
        #expect(run.error.contains("MSG_SIZE_TOO_LARGE") && run.error.contains("publish it again with --id a"))
    }
}

@Suite("Publishing, as a process without a broker", .realTime)
struct PublishWithoutBrokerTests {
    private let nowhere = ["HERALD_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"]

    @Test("An unreachable cluster ends with 5 and the reason in one line, followed by the client's own words")
    func unreachable() async throws {
        let run = try await HeraldProgram.run(
            ["publish", "--user", "u", "--pns", "apns", "--message", "m"], environment: nowhere)
        #expect(run.status == 5 && run.output.isEmpty)
        #expect(run.error.hasPrefix("herald: no broker answers at 127.0.0.1:1 (") && run.error.contains("refused"))
        let lines = run.error.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasSuffix("and whether Kafka runs"), "\(run.error)")
        #expect(lines[0].contains("(connection refused)") && lines[1].contains("the Kafka client says: _TRANSPORT"))
    }

    @Test(
        "Contradicting options are a usage mistake",
        arguments: [
            (["--user", "u"], "--user, --pns and --message are needed, or --file"),
            (["--file", "x", "--user", "u"], "--file and --user do not go together"),
            (
                [
                    "--user", "u", "--pns", "apns", "--message", "m", "--expires-in", "1h", "--expires-at",
                    "2026-11-21T08:40:26Z",
                ], "--expires-in and --expires-at do not go together"
            ),
            (["--user", "u", "--pns", "apns", "--message", "m", "--not-before", "noon"], "RFC 3339"),
            (
                ["--user", "u", "--pns", "apns", "--message", "m", "--topic", "notifications.retry.5s"],
                "only Herald writes to it"
            ),
        ])
    func usage(words: [String], expected: String) async throws {
        let run = try await HeraldProgram.run(["publish"] + words, environment: nowhere)
        #expect(run.status == 2 && run.error.contains(expected), "\(run.error)")
    }

    private static let plain = #"{"user":"u","message":"m","pns":"apns"}"#
    private static let cloudEvent =
        #"{"specversion":"1.0","type":"t","source":"s","id":"i","data":{"user":"u","message":"m","pns":"gcm"}}"#

    @Test("--check examines plain events and CloudEvents without a broker or a setting, and ends with 0 or 2")
    func check() async throws {
        let good = try await HeraldProgram.run(
            ["publish", "--check", "--file", "-"], input: "\(Self.plain)\n\n\(Self.cloudEvent)\n")
        #expect(good.status == 0 && good.output.isEmpty)
        #expect(
            good.error == """
                1 structured CloudEvent: its producer has to set the header content-type: application/cloudevents+json
                2 events checked: no mistakes; nothing was published.

                """)
        let bad = try await HeraldProgram.run(
            ["publish", "--check", "-f", "-"],
            input: """
                \(Self.plain)
                {"specversion":"1.0","type":"t","source":"s","data":{"user":"u","message":"m","pns":"gcm"}}
                \(Self.cloudEvent)
                {"specversion":"1.0","type":"t","source":"s","id":"j","data":{"user":"u","message":"m","pns":"fax"}}
                {"user":"u","pns":"apns"}
                """)
        #expect(bad.status == 2 && bad.output.isEmpty)
        let lines = bad.error.split(separator: "\n").map(String.init)
        #expect(
            lines.map { String($0.prefix(7)) } == ["line 2:", "line 4:", "line 5:", "3 struc", "herald:"],
            "\(bad.error)")
        #expect(lines[0].contains("the CloudEvent's id is missing") && lines[1].contains("apns, gcm, wns"))
        let words = ["publish", "--check", "--user", "u", "--pns", "apns", "--message"]
        #expect(try await HeraldProgram.run(words + ["m"]).status == 0)
        #expect(try await HeraldProgram.run(words + [""]).status == 2)
        #expect(try await HeraldProgram.run(words + ["m", "--wait", "1s"]).status == 2)
        let settings = try await HeraldProgram.run(words + ["m"], environment: ["HERALD_BACKEND_PUSH_SERVICES": "wns"])
        #expect(settings.status == 2)
    }

    @Test("--check names other programs' formats, and every ignored member, once for all lines")
    func foreignValues() async throws {
        let run = try await HeraldProgram.run(
            ["publish", "--check", "--file", "-"],
            input: """
                {"id":"a","user":"u","pns":"apns","message":"m","colour":"x"}
                {"id":"b","user":"u","pns":"apns","message":"m","colour":"y"}
                "{\\"id\\":\\"c\\"}"
                {"schema":{},"payload":{"id":"d"}}
                """)
        #expect(run.status == 2)
        #expect(run.error.contains("line 1: warning: colour is no field and is ignored\n"), "\(run.error)")
        #expect(run.error.contains("1 line more: warning: colour is no field and is ignored\n"), "\(run.error)")
        #expect(run.error.contains("line 3: malformed") && run.error.contains("was it serialized twice?"))
        #expect(run.error.contains("line 4: invalid") && run.error.contains("Kafka Connect's JsonConverter"))
    }

    @Test("--check names all mistakes of an event, and warns of likely ones")
    func allMistakes() async throws {
        let run = try await HeraldProgram.run(
            ["publish", "--check", "--file", "-"],
            input: """
                {"user":"a b","pns":"fax","message":"","expiresAt":"tomorrow"}
                {"user":"u","pns":"apns","message":"m","expiresat":"2036-01-01T00:00:00Z","campain":"c"}
                {"id":"a","user":"u","pns":"apns","message":"m","expiresAt":"2020-01-01T00:00:00Z"}
                {"id":"a","user":"u","pns":"apns","message":"m","notBefore":"2099-01-01T00:00:00Z"}
                {"id":"b","user":"u","pns":"apns","message":"m","notBefore":"2098-01-02T00:00:00Z","expiresAt":"2098-01-01T00:00:00Z"}
                {"id":"b","user":"v","pns":"apns","message":"m","options":{"collapse_id":"x"}}
                {"specversion":"2","type":"t","source":"s","id":"","data":{"user":"u","pns":"gcm"}}
                """)
        #expect(run.status == 2 && run.output.isEmpty)
        let lines = run.error.split(separator: "\n").map(String.init)
        func said(_ line: Int, _ part: String) -> Bool {
            lines.contains { $0.hasPrefix("line \(line): ") && $0.contains(part) }
        }
        #expect(said(1, "invalid: user holds") && said(1, "allowed are apns") && said(1, "message is empty"))
        #expect(said(1, "expiresAt is no RFC 3339"), "\(run.error)")
        #expect(said(2, "warning: expiresat is no field and is ignored: did you mean expiresAt?"), "\(run.error)")
        #expect(said(2, "campain") && said(3, "expiresAt (2020-01-01T00:00:00.000Z) is past"))
        #expect(said(4, "more than a year away") && said(4, "the id is that of line 3 too, with the same user"))
        #expect(said(5, "notBefore (2098-01-02T00:00:00.000Z) is not before expiresAt"))
        #expect(
            said(6, "collapse_id in options is no field and is ignored: did you mean options.collapseId?")
                && said(6, "only user or source tell them apart"))
        #expect(said(7, "specversion is not 1.0") && said(7, "id is empty") && said(7, "message is missing"))
        #expect(lines.last == "herald: 2 of 7 events cannot be sent; nothing was published", "\(run.error)")
    }

    @Test(
        "--check reports an empty file, and the expected form of a file in another one",
        arguments: [
            ("", "herald: there is no event to check"), ("\n\n", "herald: there is no event to check"),
            (#"[{"user":"u","message":"m","pns":"apns"}]"#, "without an array around them: jq -c '.[]' makes it"),
            ("{\n  \"user\": \"u\",\n  \"message\": \"m\"\n}", "each event has to be on one line: jq -c . makes it so"),
        ])
    func otherForms(input: String, words: String) async throws {
        let run = try await HeraldProgram.run(["publish", "--check", "--file", "-"], input: input)
        #expect(run.status == 2 && run.error.components(separatedBy: words).count == 2, "\(run.error)")
    }

    @Test("--check with -o json and jsonl prints a record for each event")
    func checkAsJSON() async throws {
        let input = """
            {"id":"a","user":"u","pns":"apns","message":"m"}
            {"id":"b","user":"u","pns":"apns","message":"m","notbefore":"2036-01-01T00:00:00Z"}
            {"id":"c","user":"u","pns":"fax","message":""}
            \(Self.cloudEvent)
            """
        let run = try await HeraldProgram.run(["publish", "--check", "-f", "-", "-o", "jsonl"], input: input)
        #expect(run.status == 2)
        #expect(run.records.map { $0["verdict"] as? String } == ["good", "warned", "refused", "good"], "\(run.output)")
        #expect(
            run.records.map { $0["line"] as? Int } == [1, 2, 3, 4]
                && run.records.map { $0["id"] as? String } == ["a", "b", "c", "i"])
        #expect((run.records[2]["mistakes"] as? [String])?.count == 2)
        #expect(
            run.records.map { $0["headers"] as? [String] }
                == [[], [], [], ["content-type: application/cloudevents+json"]])
        #expect((run.records[1]["warnings"] as? [String])?.first?.contains("notBefore") == true)
        let one = try await HeraldProgram.run(
            ["publish", "--check", "--user", "u", "--pns", "apns", "--message", "m", "-o", "json"])
        #expect(one.status == 0 && one.output.contains(#""verdict": "good""#), "\(one.output) \(one.error)")
    }

    @Test("Without brokers in the settings the exit status is 78, and a missing file is named")
    func settings() async throws {
        let run = try await HeraldProgram.run(["publish", "--user", "u", "--pns", "apns", "--message", "m"])
        #expect(run.status == 78 && run.error.contains("kafka.bootstrapServers"))
        let file = try await HeraldProgram.run(["publish", "--file", "/no/such"], environment: nowhere)
        #expect(file.status == 1 && file.error.contains("cannot open /no/such"))
    }

    /// The settings for an embedded broker with a topic for requests.
    private func embedded() throws -> (cluster: MockCluster, environment: [String: String]) {
        let cluster = try MockCluster()
        try cluster.createTopic("notifications", partitions: 3)
        return (cluster, ["HERALD_KAFKA_BOOTSTRAP_SERVERS": cluster.bootstrapServers])
    }

    @Test("On the embedded broker events are published, and topics cannot be changed")
    func embeddedBroker() async throws {
        let (cluster, environment) = try embedded()
        let run = try await HeraldProgram.run(
            ["publish", "--user", "u", "--pns", "apns", "--message", "m", "-o", "json"], environment: environment)
        #expect(run.status == 0 && run.output.contains(#""offset": 0"#), "\(run.error)")
        let plan = try await HeraldProgram.run(["topics", "plan"], environment: environment)
        #expect(plan.status == 1 && plan.error.contains("the embedded broker cannot do it"), "\(plan.error)")
        withExtendedLifetime(cluster) {}
    }

    /// Values from the tests of Kafka's own client, `org.apache.kafka.common.utils.Utils.murmur2`.
    @Test(
        "The partition is that of Java's producers",
        arguments: [("21", -973_932_308), ("foobar", -790_332_482)] as [(String, Int32)])
    func partitioner(user: String, hash: Int32) async throws {
        let (cluster, environment) = try embedded()
        let run = try await HeraldProgram.run(
            ["publish", "--user", user, "--pns", "apns", "--message", "m", "-o", "jsonl"], environment: environment)
        #expect(run.records.first?["partition"] as? Int == Int(hash & 0x7FFF_FFFF) % 3, "\(run.error)")
        withExtendedLifetime(cluster) {}
    }

    @Test("With one bad event nothing is sent, and each bad line is named with its reason")
    func badEvents() async throws {
        let (cluster, environment) = try embedded()
        let good = Self.plain
        let run = try await HeraldProgram.run(
            ["publish", "--file", "-"], environment: environment,
            input: "\(good)\n\n{\n\(good)\n{\"user\":\"a b\",\"message\":\"m\",\"pns\":\"apns\"}")
        #expect(run.status == 2 && run.output.isEmpty)
        #expect(run.error.contains("line 3: malformed: ") && run.error.contains("line 5: invalid: user holds"))
        #expect(run.error.contains("2 of 4 events cannot be sent; nothing was published"))
        let single = try await HeraldProgram.run(
            ["publish", "--user", "u", "--pns", "fax", "--message", "SECRET"], environment: environment)
        #expect(single.status == 2 && single.error.contains("allowed are apns, gcm, wns"))
        #expect(!single.error.contains("SECRET"))
        // The first record is the one published now.
        let last = try await HeraldProgram.run(
            ["publish", "--user", "u", "--pns", "apns", "--message", "m", "-o", "jsonl"], environment: environment)
        #expect(last.records.first?["offset"] as? Int == 0, "\(last.error)")
        withExtendedLifetime(cluster) {}
    }
}
