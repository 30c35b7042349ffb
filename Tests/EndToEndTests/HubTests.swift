import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("A notification hub as the backend", .realKafka("A notification hub"), .hangLimit)
struct HubTests {
    /// Runs a test beside a hub of its own.
    private func run(
        _ configuration: HubEmulator.Configuration = HubEmulator.Configuration(),
        _ body: (Fixture, HubEmulator) async throws -> Void
    ) async throws {
        let hub = try HubEmulator(configuration)
        defer { hub.stop() }
        try await Fixture.run { fixture in try await body(fixture, hub) }
    }

    private static func delivered(_ range: Range<Int>) -> [String: [String: String]] {
        Batch.delivered(range).mapValues { $0.mapValues { $0.replacing("200", with: "201") } }
    }

    @Test("Each push service gets its format, tag and body, and the hub's message id is in the result")
    func formats() async throws {
        try await run { fixture, hub in
            _ = try await fixture.startHubWorker(
                hub,
                changing: [
                    "backend.pushServices": "[apns, gcm, fcm, wns, browser]", "backend.hub.formats": "{gcm: gcm}",
                    "backend.hub.telemetry": "true", "backend.hub.tag": "'u:{user}'",
                ])
            var event = Publication(
                id: "e", user: "ann", pns: ["apns", "gcm", "fcm", "wns", "browser"], message: "a \"b\" <c>")
            let options = #"{"pushType":"alert","priority":"high","collapseId":"c-1"}"#
            event.value = event.value.map { Array($0.dropLast()) + Array(",\"options\":\(options)}".utf8) }
            try await fixture.publish([event])
            try await fixture.waitForResults(5)
            let oracle = try await Oracle(fixture)
            let taken = "delivered 201 attempts 1"
            oracle.expectResults(
                ["e": ["apns": taken, "gcm": taken, "fcm": taken, "wns": taken, "browser": taken]])
            let sends = Dictionary(uniqueKeysWithValues: hub.sends.map { ($0.format ?? "none", $0) })
            #expect(
                sends.mapValues(\.text) == [
                    "apple": #"{"aps":{"alert":"a \"b\" <c>"}}"#,
                    "gcm": #"{"data":{"message":"a \"b\" <c>"},"priority":"high","collapse_key":"c-1"}"#,
                    "fcmv1": #"{"message":{"data":{"message":"a \"b\" <c>"},"#
                        + #""android":{"priority":"HIGH","collapse_key":"c-1"}}}"#,
                    "windows": "<toast><visual><binding template=\"ToastText01\"><text id=\"1\">a &quot;b&quot; "
                        + "&lt;c&gt;</text></binding></visual></toast>",
                    "browser": #"{"title":"","body":"a \"b\" <c>"}"#,
                ])
            #expect(hub.sends.allSatisfy { $0.tags == "u:ann" && $0.status == 201 })
            #expect(sends["apple"]?.header("apns-priority") == "10")
            #expect(sends["apple"]?.header("apns-collapse-id") == "c-1")
            let ids = try fixture.results.compactMap { $0.record.json?["backendId"] as? String }
            #expect(Set(ids) == Set(hub.sends.compactMap(\.messageID)) && ids.count == 5)
        }
    }

    @Test("What is too large for its push service is not sent, and its dead letter says by how much")
    func oversized() async throws {
        try await run { fixture, hub in
            _ = try await fixture.startHubWorker(hub)
            let message = String(repeating: "x", count: 4_090)
            try await fixture.publish([Publication(id: "e", user: "ann", pns: ["apns", "wns"], message: message)])
            try await fixture.waitForResults(2)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(
                ["e": ["apns": "dead-lettered oversized attempts 0", "wns": "delivered 201 attempts 1"]])
            #expect(hub.sends.map(\.format) == ["windows"])
            let detail = try fixture.results.compactMap { $0.record.json?["detail"] as? String }
            #expect(detail == ["the notification has 4110 bytes, 14 more than its push service takes"])
            #expect(try fixture.results.allSatisfy { !$0.members.contains("backendId") }, "telemetry is off")
        }
    }

    @Test(
        "A key that is refused holds everything until the file has another one; nothing is lost or dead",
        arguments: ["wrong", "listen"])
    func rotation(kind: String) async throws {
        try await run { fixture, hub in
            let wrong = hub.connectionString.replacing(/SharedAccessKey=.*/, with: "SharedAccessKey=wrong")
            let worker = try await fixture.startHubWorker(
                hub, connectionString: kind == "wrong" ? wrong : hub.listenConnectionString)
            try await fixture.publish(Batch.events(0..<30))
            let line = try await worker.waitForLog("outage: ")
            #expect(line.message.contains("connection string"), "\(line.message)")
            try fixture.writeConnectionString(hub.connectionString)
            try await fixture.waitForResults(30)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Self.delivered(0..<30))
        }
    }

    @Test("A quota that is used up, and a hub that is not there, hold everything and say so", arguments: [true, false])
    func holds(isQuota: Bool) async throws {
        var configuration = HubEmulator.Configuration()
        if isQuota { configuration.pushQuota = 0 }
        try await run(configuration) { fixture, hub in
            let worker = try await fixture.startHubWorker(
                hub, changing: isQuota ? [:] : ["backend.hub.name": "another"])
            try await fixture.publish(Batch.events(0..<30))
            let line = try await worker.waitForLog("outage: ")
            #expect(line.message.contains(isQuota ? "quota" : "no hub of that name"), "\(line.message)")
            #expect(fixture.count("notifications.results") == 0)
            #expect(fixture.retries.isEmpty)
        }
    }

    @Test("Without an answer a call is repeated, or never, as the settings say", arguments: [true, false])
    func unanswered(isRetried: Bool) async throws {
        var configuration = HubEmulator.Configuration()
        configuration.misbehaviour = [
            .hangUp {
                $0.isCarriedOut = true
                $0.share = 0.5
            }
        ]
        try await run(configuration) { fixture, hub in
            _ = try await fixture.startHubWorker(hub, changing: ["backend.hub.retryUnanswered": "\(isRetried)"])
            try await fixture.publish(Batch.events(0..<40))
            try await fixture.waitForResults(40)
            let sends = Dictionary(grouping: hub.sends) { $0.tags ?? "" }
            #expect(sends.count == 40)
            #expect(sends.values.contains { $0.count > 1 } == isRetried)
            let reasons = Set(try fixture.results.compactMap(\.reason))
            #expect(reasons.contains("unanswered") != isRetried, "\(reasons)")
            if !isRetried {
                for result in try fixture.results {
                    let status = sends["username:\(result.user ?? "")"]?.first?.status
                    #expect((result.outcome == "delivered") == (status == 201), "\(result.summary)")
                }
            }
        }
    }

    @Test(
        "A hub that takes a hundred sends a minute gets what it takes, and nothing dies of it", arguments: [429, 403])
    func limited(status: Int) async throws {
        var configuration = HubEmulator.Configuration()
        configuration.sendsPerMinute = 100
        configuration.throttleStatus = status
        try await run(configuration) { fixture, hub in
            let worker = try await fixture.startHubWorker(hub)
            try await fixture.publish(Batch.events(0..<150))
            try await fixture.waitForResults(150, within: 3 * Patience.seconds)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(
                Dictionary(uniqueKeysWithValues: (0..<150).map { ("e\($0)", ["apns": "delivered 201"]) }))
            #expect(hub.sends.contains { $0.status == status })
            #expect(!worker.logLines.contains { $0.message.contains("outage") })
        }
    }

    @Test("Killed at random, a worker loses nothing and records nothing twice; only calls in flight are repeated")
    func killed() async throws {
        var configuration = HubEmulator.Configuration()
        configuration.misbehaviour = [.latency(milliseconds: 1...40)]
        try await run(configuration) { fixture, hub in
            let count = 1_500
            let kills = 3
            var worker = try await fixture.startHubWorker(hub, changing: CrashTests.named)
            try await fixture.publish(Batch.events(0..<count))
            for kill in 1...kills {
                try await fixture.wait("some are sent") { hub.sends.count > kill * count / (kills + 2) }
                worker.kill()
                worker = try await fixture.startHubWorker(hub, changing: CrashTests.named)
            }
            try await fixture.waitForResults(count)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(
                Dictionary(uniqueKeysWithValues: (0..<count).map { ("e\($0)", ["apns": "delivered 201"]) }))
            oracle.expectNothingPassed(try await fixture.committed())
            let repeats = Dictionary(grouping: hub.sends) { $0.tags ?? "" }.mapValues(\.count)
            #expect(repeats.count == count && repeats.values.allSatisfy { $0 <= 1 + kills })
        }
    }
}
