import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Health", .realKafka("Health"))
struct HealthTests {
    @Test("A used port ends the worker with 78 before anything is consumed")
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

    @Test("Without a broker a worker is alive, reports why it is not ready, and stops when asked")
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

    @Test("A delivering worker is alive and ready, and has nothing else to report")
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

    @Test("A hundred clients that never end their requests cost nothing: events and metrics continue")
    func silentClients() async throws {
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker()
            let port = try await worker.adminPort()
            let clients = try (0..<100).map { number in
                let client = try PlainHTTP(port: port)
                if number % 2 == 0 { try client.send("GET /metrics HTTP/1.1\r\nHost:") }
                return client
            }
            try await fixture.publish(Batch.events(0..<100))
            try await fixture.waitForResults(100)
            #expect(try await worker.metrics()["herald_ready"] == 1)
            try await Oracle(fixture).expectResults(Batch.delivered(0..<100))
            withExtendedLifetime(clients) {}
        }
    }
}
