import HeraldKafka
import TestSupport
import Testing

@Suite("A real broker that hangs and dies", .ownKafka("A real broker that hangs and dies"))
struct BrokerFaultTests {
    @Test("Records wait for a hanging and for a killed broker, and each is there once")
    func hangAndDie() async throws {
        let kafka = try await RealKafka.start(nodes: 1)
        defer { kafka.stop() }
        let topic = try kafka.makeTopic("hurt")
        let producer = try Producer(properties: [
            ("bootstrap.servers", kafka.bootstrapServers), ("enable.idempotence", "true"), ("linger.ms", "0"),
            ("reconnect.backoff.max.ms", "500"), ("socket.timeout.ms", "10000"),
        ])
        try producer.fill(topic, 0..<1)
        kafka.pause(node: 1)
        #expect(try producer.produce(topic, partition: 0, value: Array("r-1".utf8)) == nil)
        let hanging = #expect(throws: KafkaError.self) { try producer.flush(timeoutMilliseconds: 500) }
        #expect(hanging?.code == KafkaError.Code.timedOut)
        kafka.resume(node: 1)
        try producer.flush(timeoutMilliseconds: Patience.milliseconds) { _, error in #expect(error == nil) }

        kafka.kill(node: 1)
        #expect(try producer.produce(topic, partition: 0, value: Array("r-2".utf8)) == nil)
        try await kafka.revive(node: 1)
        try producer.flush(timeoutMilliseconds: 60_000) { _, error in #expect(error == nil) }
        let member = try Member(kafka.bootstrapServers, group: topic)
        try member.assign(topic, partitions: 0..<1)
        try await member.poll("all three are there", seconds: 60) { member.records.count == 3 }
        #expect(member.records.map(\.text) == ["r-0", "r-1", "r-2"])
    }
}
