import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Brokers that throttle a worker's producer", .realKafka("Brokers that throttle"), .hangLimit)
struct QuotaTests {
    /// Limits clients of this id to this many bytes per second of writing, or reading.
    private func limit(
        _ client: String, _ quota: String = "producer_byte_rate", to bytes: Int, on servers: String
    ) async throws {
        try await Java.run(
            "kafka.admin.ConfigCommand",
            [
                "--bootstrap-server", servers, "--alter", "--add-config", "\(quota)=\(bytes)",
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
            try await worker.waitForLog("throttles this worker's producer")
            try await fixture.waitForResults(250)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<250))
            oracle.expectCalls { _ in 1 }
            #expect(try await worker.metrics()["herald_kafka_throttled_seconds_total"] ?? 0 > 0)
        }
    }

    @Test("While brokers throttle, readyz, log and doctor name broker and quota, not the brokers' disks")
    func named() async throws {
        try await Fixture.run { fixture in
            // An hour's worth of this quota is used up at once.
            try await limit(fixture.name, to: 20, on: fixture.bootstrapServers)
            let worker = try await fixture.startWorker(changing: [
                "kafka.properties":
                    #"{client.id: "\#(fixture.name)", session.timeout.ms: "60000", heartbeat.interval.ms: "500"}"#
            ])
            try await fixture.publish(Batch.events(0..<250))
            let line = try await worker.waitForLog("throttles this worker's producer")
            #expect(line.message.hasPrefix("Broker 1 (") && line.message.contains("producer_byte_rate"), "\(line.text)")
            let page = try await worker.page("/readyz").text
            #expect(page.contains("brokers-throttle") && page.contains("this worker's producer, and told"), "\(page)")
            let sentence = try await worker.waitUntilNotReady("records-refused", naming: "producer_byte_rate")
            #expect(!sentence.contains("disks"), "\(sentence)")
            let address = "127.0.0.1:\(try await worker.adminPort())"
            let doctor = try await fixture.tool("doctor", "--only", "kafka", "--workers", address)
            #expect(doctor.output.contains("throttled this worker's producer"), "\(doctor.output)")
            worker.kill()
        }
    }

    @Test("Brokers that throttle the reading of events are named with that quota")
    func reading() async throws {
        try await Fixture.run { fixture in
            try await limit(fixture.name, "consumer_byte_rate", to: 200, on: fixture.bootstrapServers)
            let worker = try await fixture.startWorker(changing: [
                "kafka.properties": #"{client.id: "\#(fixture.name)", session.timeout.ms: "60000"}"#
            ])
            try await fixture.publish(Batch.events(0..<250))
            let line = try await worker.waitForLog("throttles this worker's consumer")
            #expect(line.message.contains("consumer_byte_rate or request_percentage"), "\(line.text)")
            #expect(try await worker.page("/readyz").text.contains("brokers-throttle"))
            worker.kill()
        }
    }
}
