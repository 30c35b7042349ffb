import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Brokers that throttle a worker's producer", .realKafka("Brokers that throttle"), .hangLimit)
struct QuotaTests {
    /// Lets clients of this id write so many bytes a second.
    private func limit(_ client: String, to bytes: Int, on servers: String) async throws {
        try await Java.run(
            "kafka.admin.ConfigCommand",
            [
                "--bootstrap-server", servers, "--alter", "--add-config", "producer_byte_rate=\(bytes)",
                "--entity-type",
                "clients", "--entity-name", client,
            ])
    }

    @Test("A quota lets little pass in a transaction's time: all is recorded once, and no call repeated")
    func quota() async throws {
        try await Fixture.run { fixture in
            try await limit(fixture.name, to: 3_000, on: fixture.bootstrapServers)
            let worker = try await fixture.startWorker(changing: [
                "kafka.properties":
                    #"{client.id: "\#(fixture.name)", session.timeout.ms: "60000", heartbeat.interval.ms: "500"}"#
            ])
            try await fixture.publish(Batch.events(0..<250))
            try await worker.waitForLog("throttle this worker's producer")
            try await fixture.waitForResults(250)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<250))
            oracle.expectCalls { _ in 1 }
            #expect(try await worker.metrics()["herald_kafka_throttled_seconds_total"] ?? 0 > 0)
        }
    }
}
