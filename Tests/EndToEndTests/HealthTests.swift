import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Health", .realKafka("Health"))
struct HealthTests {
    @Test("A port that is taken ends the worker with 78 before anything is consumed")
    func portTaken() async throws {
        try await Fixture.run { fixture in
            try await fixture.publish([Publication(id: "e", user: "anna")])
            let first = try await fixture.startWorker(changing: [
                "topics.requests": "[\(fixture.topic("notifications.bulk"))]"
            ])
            let port = try await first.adminPort()
            let second = try fixture.spawnWorker(changing: ["admin.listen": "127.0.0.1:\(port)"])
            #expect(try await second.waitForExit() == 78)
            #expect(second.output.contains("admin.listen") && second.output.contains("another program has that port"))
            #expect(fixture.backend.calls.isEmpty)
        }
    }

    @Test("Without a broker a worker is alive, says that it is not ready and why, and stops when it is told to")
    func noBroker() async throws {
        try await Fixture.run { fixture in
            let port = try #require(FreePorts.take(1).first)
            let worker = try fixture.spawnWorker(changing: ["kafka.bootstrapServers": "[\"127.0.0.1:\(port)\"]"])
            try await worker.waitUntilNotReady("brokers-unreachable", naming: "kafka.bootstrapServers")
            #expect(try await worker.page("/livez").status == 200)
            #expect(try await worker.metrics()["herald_brokers_reachable"] == 0)
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
        }
    }

    @Test("A worker that delivers is alive and ready, and has nothing else to show")
    func ready() async throws {
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker(changing: ["delivery.lanes": "2"])
            try await worker.waitUntilReady()
            #expect(try await worker.page("/livez").text == "alive\n")
            let page = try await worker.page("/readyz").text
            #expect(page.contains("\"lanes\": 2") && page.contains("\"brokers\": \"reachable\""))
            #expect(try await worker.page("/console").status == 404)
        }
    }

    @Test("A backend that does not answer shows, and that it is back")
    func backendAway() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.hangUp()]
        plan.settings = ["retry.delays": "[1s, 2s, 3s, 4s, 5s]"]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<10))
            try await worker.waitUntilNotReady("backend-unreachable", naming: "backend.url")
            #expect(try await worker.page("/livez").status == 200)
            #expect(try await worker.page("/readyz").text.contains("\"backend\": \"unreachable\""))
            fixture.backend.misbehave([])
            try await fixture.waitForResults(10)
            try await worker.waitUntilReady()
        }
    }

    @Test("A hundred clients that never end their requests cost nothing: events are delivered, and metrics answer")
    func silentClients() async throws {
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker()
            let port = try await worker.adminPort()
            let clients = try (0..<100).map { number in
                let client = try PlainHTTP(port: port)
                if number % 2 == 0 { try client.send("GET /metrics HTTP/1.1\r\nHost:") }
                return client
            }
            try await fixture.publish(Batch.events(0..<500))
            try await fixture.waitForResults(500)
            #expect(try await worker.metrics()["herald_ready"] == 1)
            try await Oracle(fixture).expectResults(Batch.delivered(0..<500))
            withExtendedLifetime(clients) {}
        }
    }

    private struct OutageCase: Sendable {
        var reason: String
        var settings: [String: String] = [:]
        var misbehaviour: [Misbehaviour] = []
    }

    private static let outages = [
        OutageCase(reason: "credentials", misbehaviour: [.status(403)]),
        OutageCase(reason: "name-not-found", settings: ["backend.url": "http://backend.invalid:8080"]),
        OutageCase(reason: "tls", settings: ["backend.url": "https"]),
        OutageCase(reason: "breaker", settings: ["retry.delays": "[1s, 2s, 4s, 8s]"], misbehaviour: [.status(503)]),
        OutageCase(reason: "dead-letter-breaker", misbehaviour: [.status(404)]),
    ]

    @Test(
        "Each hold shows in readiness and metrics with the sentence of the log, in one line for its beginning and one for its end",
        arguments: outages.indices)
    func outage(index: Int) async throws {
        let expected = Self.outages[index]
        var plan = Fixture.Plan()
        plan.settings = expected.settings
        plan.misbehaviour = expected.misbehaviour
        try await Fixture.run(plan) { fixture in
            var changes: [String: String] = [:]
            // Answers in plain words to whoever speaks TLS.
            let plain = try ScriptedServer { peer in
                try peer.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                _ = peer.readToEnd()
            }
            defer { plain.stop() }
            if expected.reason == "tls" {
                changes["backend.url"] = plain.origin.replacing("http:", with: "https:")
            }
            let worker = try await fixture.startWorker(changing: changes)
            try await fixture.publish(Batch.events(0..<600))
            let sentence = try await worker.waitUntilNotReady("outage-\(expected.reason)")
            #expect(sentence.contains(": ") && sentence.hasSuffix("."))
            let metrics = try await worker.metrics()
            #expect(metrics["herald_outage{reason=\"\(expected.reason)\"}"] == 1 && metrics["herald_ready"] == 0)
            #expect(metrics.filter { $0.key.hasPrefix("herald_outage{") && $0.value != 0 }.count == 1)
            #expect(try await worker.page("/livez").status == 200)
            let line = try await worker.waitForLog("outage:")
            #expect(line.message.contains(sentence), "\(line.message)")
            if !expected.misbehaviour.isEmpty {
                fixture.backend.misbehave([])
                try await worker.waitForLog("resuming")
                try await worker.waitUntilReady()
                #expect(worker.logLines.count { $0.message.contains("outage:") } == 1)
                #expect(worker.logLines.count { $0.message.contains("resuming") } == 1)
            }
        }
    }
}
