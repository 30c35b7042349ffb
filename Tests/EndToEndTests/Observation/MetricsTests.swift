import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Metrics", .realKafka("Metrics"))
struct MetricsTests {
    @Test("Odd timestamps of requests distort neither the times to the outcome nor the console's day")
    func oddTimestamps() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["admin.listen": "127.0.0.1:\(try #require(FreePorts.take(1).first))"]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            let stamps: [Int64?] = [nil, 1, 1_800_000_000, -30_000_000_000_000_000, 1_400_000_000_000]
            let events = stamps.enumerated().map { number, stamp in
                var event = Publication(id: "e\(number)", user: "user-\(number)")
                event.timestamp = stamp
                return event
            }
            try await fixture.publish(events)
            try await fixture.waitForResults(events.count)
            let name = "herald_end_to_end_seconds"
            let topic = fixture.topic("notifications")
            var metrics: [String: Double] = [:]
            try await fixture.wait("all are counted") {
                metrics["\(name)_count{topic=\"\(topic)\"}"] == Double(events.count)
            } meanwhile: {
                metrics = try await worker.metrics()
            }
            let sum = try #require(metrics["\(name)_sum{topic=\"\(topic)\"}"])
            #expect(sum < Double(events.count * Patience.seconds), "\(sum)")
            #expect(metrics["herald_oldest_event_age_seconds{topic=\"\(topic)\"}"] ?? 0 < Double(Patience.seconds))

            let console = try await ConsoleClient(fixture)
            let day = try await console.ask("/api/verdict/day") { day in
                let late = day["lateness"] as? [String: Any]
                return late?["isComplete"] as? Bool == true && late?["lookedAt"] as? Int == events.count
            }
            let spans = try #require(day["spans"] as? [[String: Any]])
            #expect((day["lateness"] as? [String: Any])?["scattered"] is NSNull, "\(day)")
            #expect(!spans.contains { $0["key"] as? String == "late" }, "\(day)")
        }
    }

    @Test("A worker's counts equal those of the records, and of the backend's calls")
    func counts() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [
            .status(503) { ($0.user, $0.callsPerKey) = ("flaky-*", 1) }, .status(400) { $0.user = "wrong-*" },
        ]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            let events =
                Batch.events(0..<200)
                + (0..<10).map { Publication(id: "f\($0)", user: "flaky-\($0)", pns: ["gcm"]) }
                + (0..<10).map { Publication(id: "w\($0)", user: "wrong-\($0)", pns: ["wns", "apns"]) }
                + (0..<10).map { Publication(user: "u\($0)", text: "no JSON") }
                + [Publication(key: [1], value: nil)]
                + [Publication(id: "old", user: "old", more: ["expiresAt": "2020-01-01T00:00:00Z"])]
            try await fixture.publish(events)
            try await fixture.waitForResults(200 + 10 + 20 + 10 + 1)
            try await fixture.waitUntilAllIsCommitted()

            var metrics: [String: Double] = [:]
            let lag = "herald_consumer_lag{topic=\"\(fixture.topic("notifications"))\",partition=\"0\"}"
            try await fixture.wait("the lag is gone and all calls are counted") {
                metrics[lag] == 0 && metrics["herald_retry_backlog{delay=\"1s\"}"] == 0
                    && metrics["herald_inflight"] == 0
                    && metrics.filter { $0.key.hasPrefix("herald_consumer_lag") }.allSatisfy { $0.value == 0 }
                    && metrics["herald_end_to_end_seconds_count{topic=\"\(fixture.topic("notifications"))\"}"] == 241
            } meanwhile: {
                metrics = try await worker.metrics()
            }
            func notifications(_ pns: String, _ outcome: String) -> Double? {
                metrics["herald_notifications_total{pns=\"\(pns)\",outcome=\"\(outcome)\"}"]
            }
            #expect(notifications("apns", "delivered") == 200 && notifications("gcm", "delivered") == 10)
            #expect(notifications("apns", "dead-lettered") == 10 && notifications("wns", "dead-lettered") == 10)
            #expect(notifications("", "dead-lettered") == 10 && notifications("apns", "expired") == 1)
            #expect(metrics["herald_calls_total{pns=\"gcm\",result=\"transient\"}"] == 10)
            #expect(metrics["herald_calls_total{pns=\"wns\",result=\"rejected\"}"] == 10)
            let calls = metrics.filter { $0.key.hasPrefix("herald_calls_total") }.values.reduce(0, +)
            #expect(Int(calls) == fixture.backend.calls.count)
            let answered = metrics.filter { $0.key.hasPrefix("herald_call_duration_seconds_count") }.values.reduce(0, +)
            #expect(answered == calls)
            #expect(metrics["herald_dead_letters_total{reason=\"rejected\"}"] == 10)
            #expect(metrics["herald_dead_letters_total{reason=\"malformed\"}"] == 10)
            #expect(metrics["herald_dead_letters_total{reason=\"expired\"}"] == 1)
            #expect(metrics["herald_retries_total{reason=\"transient\"}"] == 10)
            #expect(metrics["herald_tombstones_total"] == 1)
            #expect(metrics["herald_rebalances_total{kind=\"assigned\"}"] ?? 0 >= 1)
            #expect(metrics["herald_commits_total{outcome=\"committed\"}"] ?? 0 >= 1)
            #expect(metrics["herald_transaction_duration_seconds_count"] ?? 0 >= 1)
            #expect(metrics["process_resident_memory_bytes"] ?? 0 > 1e6)
        }
    }

    @Test("Records without a key, with a wrong one, or of another partitioner are delivered, counted, logged")
    func publisherFaults() async throws {
        var plan = Fixture.Plan()
        plan.partitions = 6
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            // The partition that murmur2 chooses for alice now (3), and the one it chose when there were five (4).
            var events = ["right", "older", "no-key", "wrong-key", "elsewhere", "http", "picture"].map {
                Publication(id: $0, user: "alice", more: ["source": "shop"])
            }
            events[1].partition = 4
            (events[2].key, events[2].partition) = (nil, 0)
            events[3].key = Array("order-17".utf8)
            events[4].partition = 5
            events[5].headers = [.init("ce-id", "order-17")]
            events[6] = Publication(
                id: "picture", user: "alice", more: ["source": "shop", "imageUrl": "https://cdn.example/parcel.png"])
            try await fixture.publish(events)
            try await fixture.waitForResults(7)
            #expect(fixture.backend.calls.count == 7)
            let topic = fixture.topic("notifications")
            var metrics: [String: Double] = [:]
            func count(_ fault: String) -> Double? {
                metrics["herald_publisher_faults_total{topic=\"\(topic)\",fault=\"\(fault)\"}"]
            }
            let faults = ["no-key", "key-not-user", "partitioner", "http-headers", "foreign-fields"]
            try await fixture.wait("each fault is counted") {
                faults.allSatisfy { count($0) ?? 0 > 0 }
            } meanwhile: {
                metrics = try await worker.metrics()
            }
            #expect(faults.map { count($0) } == [1, 1, 1, 1, 1], "\(metrics.filter { $0.key.contains("faults") })")
            let line = try await worker.waitForLog("records of \(topic) do not lie where murmur2 puts their key")
            #expect(line.level == "warning" && line.text.contains("\(topic)/5/0, source shop"), "\(line.text)")
            try await worker.waitForLog("records of \(topic) have no key")
            try await worker.waitForLog("records of \(topic) have a key that is not their user")
            let page = try await worker.page("/readyz")
            #expect(page.status == 200 && page.text.contains("publisher-faults"), "\(page.text)")
        }
    }

    @Test("An event that fails for long ages its topic's oldest event, for the next worker too")
    func oldestEvent() async throws {
        var plan = Fixture.Plan()
        plan.partitions = 1
        plan.settings = ["retry.delays": "[1s, 10m]", "outages.breaker.of": "0"]
        plan.misbehaviour = [.status(503) { $0.user = "stubborn" }]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            func ages() async throws -> [String: Double] {
                let metrics = try await worker.metrics()
                let name = "herald_oldest_event_age_seconds"
                return Dictionary(
                    uniqueKeysWithValues: ["notifications", "notifications.bulk"].compactMap { topic in
                        metrics["\(name){topic=\"\(fixture.topic(topic))\"}"].map { (topic, $0) }
                    })
            }
            #expect(try await ages() == ["notifications": 0, "notifications.bulk": 0], "nothing waits yet")
            let published = ContinuousClock.now
            try await fixture.publish([Publication(id: "stubborn", user: "stubborn")] + Batch.events(0..<100))
            try await fixture.waitForResults(100)
            var found: [String: Double] = [:]
            // By then it lies in the longest delay topic, with no event before it, and no worker makes a call.
            try await fixture.wait("its age grows") {
                found["notifications"] ?? 0 >= 2 && fixture.count("notifications.retry.10m") == 1
            } meanwhile: {
                found = try await ages()
            }
            #expect(found["notifications"] ?? .infinity <= (ContinuousClock.now - published) / .seconds(1))
            #expect(found["notifications.bulk"] == 0)
            #expect(fixture.count("notifications.results") == 100)

            // Another worker has its partition now, and never saw the event before.
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let other = try await fixture.startWorker()
            let name = "herald_oldest_event_age_seconds{topic=\"\(fixture.topic("notifications"))\"}"
            var age = 0.0
            try await fixture.wait("the other worker knows how old it is") {
                age >= 2
            } meanwhile: {
                age = try await other.metrics()[name] ?? 0
            }
        }
    }

    @Test(
        "promtool accepts a worker's metrics, and a real Prometheus scrapes them",
        .long("a Prometheus of its own; promtool's word on the page is in HeraldAdminTests"), .promtool)
    func prometheus() async throws {
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<100))
            try await fixture.waitForResults(100)
            let page = try await worker.page("/metrics").text
            #expect(try await Blocking.run { try Promtool.check(page) } == "")

            let prometheus = try await Prometheus(scraping: try await worker.adminPort(), in: fixture.directory)
            defer { prometheus.stop() }
            var found: String?
            _ = try await eventually(within: Patience.seconds) {
                found = try? await prometheus.value(of: #"herald_notifications_total{pns="apns",outcome="delivered"}"#)
                return found == "100"
            }
            #expect(found == "100")
            #expect(try await prometheus.value(of: "up") == "1")
            #expect(try await prometheus.value(of: "herald_build_info") == "1")
            #expect(
                try await prometheus.value(of: "histogram_quantile(0.99, herald_call_duration_seconds_bucket) > 0")
                    != nil)
        }
    }
}

/// A Prometheus of its own that scrapes one worker.
private final class Prometheus: Sendable {
    private let process: ChildProcess
    private let port: UInt16

    init(scraping target: UInt16, in directory: URL) async throws {
        guard let port = FreePorts.take(1).first.flatMap({ UInt16(exactly: $0) }) else {
            throw WorldError("no free port")
        }
        self.port = port
        let configuration = directory.appending(path: "prometheus.yml")
        try """
        global: {scrape_interval: 1s}
        scrape_configs:
          - job_name: herald
            static_configs: [{targets: ["127.0.0.1:\(target)"]}]
        """.write(to: configuration, atomically: true, encoding: .utf8)
        process = try ChildProcess(
            [
                "prometheus", "--config.file=\(configuration.path)", "--web.listen-address=127.0.0.1:\(port)",
                "--storage.tsdb.path=\(directory.appending(path: "prometheus").path)",
            ], output: directory.appending(path: "prometheus.log"))
    }

    func stop() { process.kill() }

    /// The first value of a query; `nil` without one.
    func value(of query: String) async throws -> String? {
        let encoded = query.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let answer = try await Blocking.run { [port] in
            try PlainHTTP.request(port: port, "GET", "/api/v1/query?query=\(encoded)")
        }
        let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        let results = (object?["data"] as? [String: Any])?["result"] as? [[String: Any]]
        return (results?.first?["value"] as? [Any])?.last as? String
    }
}
