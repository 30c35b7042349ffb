import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

/// The night in which records are deleted before they are read.
@Suite("Lost records", .realKafka("Lost records"), .hangLimit)
struct LostRecordsTests {
    private typealias Finding = (state: String, cause: String)

    private static var plan: Fixture.Plan {
        get throws {
            var plan = Fixture.Plan()
            plan.more = Fixture.replayTopics
            plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
            plan.settings["admin.listen"] = "127.0.0.1:\(try #require(FreePorts.take(1).first))"
            return plan
        }
    }

    private static func events(_ range: Range<Int>, in partition: Int32) -> [Publication] {
        range.map {
            var event = Publication(id: "p\(partition)-\($0)", user: "user-\(partition)-\($0)")
            event.partition = partition
            return event
        }
    }

    private static func verdict(
        _ console: ConsoleClient, _ isSo: @escaping ([String: Finding]) -> Bool
    ) async throws -> [String: Finding] {
        func findings(_ answer: [String: Any]) -> [String: Finding] {
            let all = [answer] + (answer["others"] as? [[String: Any]] ?? [])
            return Dictionary(
                all.map { ($0["key"] as? String ?? "", ($0["state"] as? String ?? "", $0["cause"] as? String ?? "")) }
            ) { $1 }
        }
        return findings(try await console.ask("/api/verdict") { isSo(findings($0)) })
    }

    private static func dayCauses(_ answer: [String: Any]) -> [String] {
        (answer["spans"] as? [[String: Any]] ?? []).filter { $0["key"] as? String == "records-lost" }
            .compactMap { $0["cause"] as? String }
    }

    @Test("A partition with records deleted unread is held alone, told everywhere, and goes on after skip-lost")
    func held() async throws {
        try await Fixture.run(try Self.plan) { fixture in
            let places = (0..<2).map { TopicPartition(topic: fixture.topic("notifications"), partition: Int32($0)) }
            let console = try await ConsoleClient(fixture)
            try await fixture.publish(Self.events(0..<10, in: 0) + Self.events(0..<4, in: 1))
            try await fixture.commit([places[0]: 2, places[1]: 0])
            try await fixture.kafka.deleteRecords(of: places[0], before: 7)
            let words = "5 records of \(places[0]) were deleted before they were read"

            // Nobody runs, and the loss is seen.
            let alone = try await Self.verdict(console) { $0["records-lost"]?.state == "bad" }
            #expect(alone["records-lost"]?.cause == words && alone["no-worker"] != nil, "\(alone)")

            let worker = try await fixture.startWorker()
            let sentence = try await worker.waitUntilNotReady("records-lost", naming: words)
            #expect(sentence.contains("herald offsets skip-lost --dry-run"), "\(sentence)")
            try await fixture.waitForResults(4)
            #expect(try await worker.metrics()["herald_records_lost"] == 5)
            #expect(try await fixture.committed()[places[0]] == 2)
            let told = try await Self.verdict(console) { $0["no-worker"] == nil && $0["records-lost"] != nil }
            #expect(told["records-lost"]?.cause == words && told["partition-stuck"] == nil, "\(told)")
            let doctor = try await fixture.tool("doctor", "--only", "kafka")
            #expect(doctor.output.contains(words) && doctor.output.contains("herald offsets skip-lost"))

            let span = "5 records of \(places[0]) (offsets 2 to 6"
            let explained = try await fixture.tool("explain", "p0-3")
            #expect(explained.status == 1 && explained.output.contains(span), "\(explained.output)")
            #expect(explained.output.contains("An event that was among them is lost"), "\(explained.output)")
            #expect(try await fixture.tool("find", "--id", "p0-3").output.contains(span))

            let dry = try await fixture.tool("offsets", "skip-lost", "--dry-run", "-o", "jsonl")
            #expect(dry.status == 0 && dry.output.contains(#""committed":2,"offset":7,"lost":5"#), "\(dry.output)")
            let unasked = try await fixture.tool("offsets", "skip-lost")
            #expect(unasked.status == 4 && unasked.output.contains("--yes"), "\(unasked.output)")
            #expect(try await fixture.committed()[places[0]] == 2)

            let skipped = try await fixture.tool("offsets", "skip-lost", "--yes", "--reason", "a test")
            #expect(skipped.status == 0 && skipped.output.contains("5 records of 1 partition skipped"))
            try await worker.waitUntilReady()
            try await fixture.waitForResults(7)
            try await fixture.waitUntilAllIsCommitted()
            #expect(try await worker.metrics()["herald_records_lost"] == 0)
            #expect(fixture.backend.calls.count == 7)
            _ = try await Self.verdict(console) { $0["records-lost"] == nil && $0["no-worker"] == nil }
            let day = try await console.ask("/api/verdict/day") {
                Self.dayCauses($0).contains { $0.contains("5 records skipped by ") }
            }
            #expect(Self.dayCauses(day).count == 1, "\(Self.dayCauses(day))")
            let audit = fixture.records("notifications.audit").map { String(decoding: $0.value ?? [], as: UTF8.self) }
            #expect(audit.count == 1 && audit[0].contains("offsets.skip-lost"), "\(audit)")
            let known = try await fixture.tool("explain", "p0-3")
            #expect(
                known.output.contains("\(span)) were deleted before they were read, and skipped by "), "\(known.output)"
            )
            let again = try await fixture.tool("offsets", "skip-lost", "--yes")
            #expect(again.status == 0 && again.output.contains("No record was deleted"), "\(again.output)")
            let account = try await fixture.tool("account", "--since", "1h", "--fail-if-missing")
            let gap = "Not in these numbers: what was deleted from \(places[0]) before offset 7, and skipped by "
            #expect(account.status == 0 && account.output.contains(gap), "\(account)")
        }
    }

    @Test(
        "Retries deleted under a worker: it stays ready, says how many; account leaves out what it has read"
    )
    func retries() async throws {
        var plan = try Self.plan
        plan.settings["retry.delays"] = "[1h]"
        plan.settings["retry.immediate"] = "0"
        plan.misbehaviour = [.status(503) { $0.user = "slow*" }]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            let slow = (0..<12).map { Publication(id: "slow-\($0)", user: "slow-\($0)") }
            try await fixture.publish(Array(slow[..<6]))
            // The worker has the first of each partition in memory, and fetches no more.
            try await fixture.wait("they wait", until: { fixture.retries.count == 6 }) { try await fixture.catchUp() }
            try await fixture.publish(Array(slow[6...]))
            try await fixture.wait("all wait", until: { fixture.retries.count == 12 }) { try await fixture.catchUp() }
            for place in Set(fixture.retries.map(\.topicPartition)) {
                let end = try #require(fixture.retries.filter { $0.topicPartition == place }.map(\.offset).max()) + 1
                try await fixture.kafka.deleteRecords(of: place, before: end)
            }
            func account() async throws -> (status: Int32, value: [String: Any], output: String) {
                let run = try await fixture.tool("account", "-o", "jsonl", "--fail-if-missing")
                let line = try #require(run.output.split(separator: "\n").first { $0.hasPrefix("{") }, "\(run.output)")
                let value = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return (run.status, try #require(value), run.output)
            }
            func number(_ name: String, of group: String, _ value: [String: Any]) -> Int? {
                (value[group] as? [String: Any])?[name] as? Int
            }
            var page = ""
            // They are due in an hour.
            try await fixture.wait("it says so", until: { page.contains("records-lost") }) {
                page = try await worker.page("/readyz").text
            }
            #expect(page.contains(#""ready": true"#) && page.contains("were deleted before they were read"), "\(page)")
            // All but the first of each partition, and the marks between them.
            var told = 0.0
            try await fixture.wait("it knows how many", until: { told >= 10 }) {
                told = try await worker.metrics()["herald_records_lost"] ?? 0
            }
            let found = try await account()
            #expect(found.status == 1 && number("missing", of: "total", found.value) == 12, "\(found.output)")
            let all = try #require(number("waiting", of: "lost", found.value))
            #expect(number("undecided", of: "lost", found.value) == all - Int(told), "\(found.output)")
            #expect(all > Int(told), "\(found.output)")

            let skipped = try await fixture.tool("offsets", "skip-lost", "--yes", "--reason", "a test")
            #expect(skipped.status == 0, "\(skipped.output)")
            // What the worker has in memory it writes anew, once it sees that the rest is skipped.
            try await fixture.wait("they are written anew", until: { fixture.retries.count == 14 }) {
                try await fixture.catchUp()
            }
            let closed = try await account()
            #expect(closed.status == 0 && closed.value["acknowledged"] as? Int == 10, "\(closed.output)")
            #expect(number("open", of: "total", closed.value) == 2, "\(closed.output)")
            // Anything else is missing as before.
            try await fixture.publish([Publication(id: "well", user: "well")])
            try await fixture.waitForResults(1)
            worker.terminate()
            _ = try await worker.waitForExit()
            try await fixture.loseEvent()
            let other = try await account()
            #expect(other.status == 1 && other.value["acknowledged"] as? Int == 10, "\(other.output)")
            #expect(!other.output.contains("skip-lost --dry-run"), "\(other.output)")
            let again = try await fixture.tool("offsets", "skip-lost", "--dry-run")
            #expect(again.output.contains("No record was deleted"), "\(again.output)")
        }
    }

    @Test("All partitions, requests and retries, lose records under a worker, and one command moves all of them")
    func everywhere() async throws {
        try await Fixture.run(try Self.plan) { fixture in
            let retry = TopicPartition(topic: fixture.topic("notifications.retry.1s"), partition: 0)
            let requests = (0..<2).map { TopicPartition(topic: fixture.topic("notifications"), partition: Int32($0)) }
            try await fixture.publish(Self.events(0..<6, in: 0) + Self.events(0..<6, in: 1))
            try await fixture.commit([requests[0]: 1, requests[1]: 1])
            for place in requests { try await fixture.kafka.deleteRecords(of: place, before: 6) }
            var delayed = Publication(id: "r", user: "r")
            (delayed.topic, delayed.partition) = ("notifications.retry.1s", 0)
            try await fixture.publish([delayed])
            try await fixture.commit([retry: 0])
            try await fixture.kafka.deleteRecords(of: retry, before: 1)
            let worker = try await fixture.startWorker()
            let sentence = try await worker.waitUntilNotReady("records-lost", naming: "11 records of ")
            for place in requests + [retry] { #expect(sentence.contains(place.description), "\(sentence)") }
            let skipped = try await fixture.tool("offsets", "skip-lost", "--yes")
            #expect(skipped.status == 0 && skipped.output.contains("11 records of 3 partitions"), "\(skipped.output)")
            try await worker.waitUntilReady()
            try await fixture.publish(Self.events(6..<9, in: 0) + Self.events(6..<9, in: 1))
            try await fixture.waitForResults(6)
            #expect(fixture.backend.calls.count == 6)
        }
    }
}
