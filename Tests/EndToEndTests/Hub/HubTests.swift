import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("A notification hub as the backend", .realKafka("A notification hub"), .hangLimit)
struct HubTests {
    /// Runs a test beside its own hub.
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

    @Test("A message too large for its push service is not sent, and its dead letter says by how much")
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
            #expect(
                detail == [
                    "the notification has 4110 bytes, 14 more than its push service takes; shorten message, which has 4090 bytes"
                ])
            #expect(try fixture.results.allSatisfy { !$0.members.contains("backendId") }, "telemetry is off")
        }
    }

    @Test("A refused key holds everything until the file has another one; no event is lost or dead")
    func rotation() async throws {
        try await run { fixture, hub in
            let worker = try await fixture.startHubWorker(hub, connectionString: hub.listenConnectionString)
            try await fixture.publish(Batch.events(0..<30))
            let line = try await worker.waitForLog("outage: ")
            #expect(line.message.contains("connection string"), "\(line.message)")
            try fixture.writeConnectionString(hub.connectionString)
            try await fixture.waitForResults(30)
            try await Oracle(fixture).expectResults(Self.delivered(0..<30))
        }
    }

    @Test("A used-up quota holds everything and is named")
    func quota() async throws {
        var configuration = HubEmulator.Configuration()
        configuration.pushQuota = 0
        try await run(configuration) { fixture, hub in
            let worker = try await fixture.startHubWorker(hub)
            try await fixture.publish(Batch.events(0..<30))
            let line = try await worker.waitForLog("outage: ")
            #expect(line.message.contains("quota"), "\(line.message)")
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            try await fixture.catchUp()
            #expect(fixture.count("notifications.results") == 0 && fixture.retries.isEmpty)
        }
    }

    @Test("Without an answer a call is not repeated if the settings forbid it")
    func unanswered() async throws {
        var configuration = HubEmulator.Configuration()
        configuration.misbehaviour = [
            .hangUp {
                $0.isCarriedOut = true
                $0.user = "user-1*"
            }
        ]
        try await run(configuration) { fixture, hub in
            _ = try await fixture.startHubWorker(hub, changing: ["backend.hub.retryUnanswered": "false"])
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20)
            let sends = Dictionary(grouping: hub.sends) { $0.tags ?? "" }
            #expect(sends.count == 20 && sends.values.allSatisfy { $0.count == 1 })
            for result in try fixture.results {
                let isAnswered = result.user?.hasPrefix("user-1") == false
                #expect(result.outcome == (isAnswered ? "delivered" : "dead-lettered"), "\(result.summary)")
                #expect(result.reason == (isAnswered ? nil : "unanswered"))
            }
        }
    }

    @Test("A hub that throttles with 403 and Retry-After is waited for, without dead letters or a hold")
    func throttled() async throws {
        var configuration = HubEmulator.Configuration()
        configuration.misbehaviour = [
            .status(403) { ($0.calls, $0.retryAfter) = (10, "1") }
        ]
        try await run(configuration) { fixture, hub in
            let worker = try await fixture.startHubWorker(hub)
            try await fixture.publish(Batch.events(0..<30))
            try await fixture.waitForResults(30)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Self.delivered(0..<30).mapValues { _ in ["apns": "delivered 201"] })
            #expect(hub.sends.count { $0.status == 403 } == 10)
            #expect(!worker.logLines.contains { $0.message.contains("outage") })
        }
    }

    @Test(
        "A hub that allows a hundred sends a minute gets them, without dead letters",
        .long("the hub counts whole minutes; EngineVerdictTests and HubLimitTests say the same in virtual time"),
        arguments: [429, 403])
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
}
