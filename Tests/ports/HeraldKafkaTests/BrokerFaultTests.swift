import HeraldKafka
import HeraldTime
import TestSupport
import Testing

@Suite("A real broker that hangs and dies", .ownKafka("A real broker that hangs and dies"))
struct BrokerFaultTests {
    @Test("Records wait for a hanging and for a killed broker, and each is there once")
    func hangAndDie() async throws {
        try await RealKafka.mortal.take(Self.hangAndDie)
    }

    private static func hangAndDie(_ kafka: RealKafka) async throws {
        let topic = try kafka.makeTopic("hurt")
        let producer = try Producer(properties: [
            ("bootstrap.servers", kafka.bootstrapServers), ("enable.idempotence", "true"), ("linger.ms", "0"),
            ("reconnect.backoff.max.ms", "500"), ("socket.timeout.ms", "10000"),
        ])
        try producer.fill(topic, 0..<1)
        kafka.pause(node: 1)
        #expect(try producer.produce(topic, partition: 0, value: Array("r-1".utf8)) == nil)
        let hanging = #expect(throws: KafkaError.self) { try producer.flush(timeout: .milliseconds(500)) }
        #expect(hanging?.code == KafkaError.Code.timedOut)
        kafka.resume(node: 1)
        try producer.flush(timeout: Patience.timeout) { _, error in #expect(error == nil) }

        kafka.kill(node: 1)
        #expect(try producer.produce(topic, partition: 0, value: Array("r-2".utf8)) == nil)
        try await kafka.revive(node: 1)
        try producer.flush(timeout: .minutes(1)) { _, error in #expect(error == nil) }
        let member = try Member(kafka.bootstrapServers, group: topic)
        try member.assign(topic, partitions: 0..<1)
        try await member.poll("all three are there", seconds: 60) { member.records.count == 3 }
        #expect(member.records.map(\.text) == ["r-0", "r-1", "r-2"])
    }

    @Test("A query for a group fails while its coordinator is away, and succeeds when it is back")
    func groupOfDeadCoordinator() async throws {
        try await RealKafka.mortal.take(Self.groupOfDeadCoordinator)
    }

    private static func groupOfDeadCoordinator(_ kafka: RealKafka) async throws {
        let group = RealKafka.uniqueName("asked")
        let member = try Member(kafka.bootstrapServers, group: group)
        try member.consumer.subscribe([try kafka.makeTopic("group")])
        try await member.poll("the group assigns") { !member.history.isEmpty }
        let admin = try kafka.admin()
        #expect(try describe(group, admin).members.count == 1)
        kafka.kill(node: 1)
        let error = #expect(throws: KafkaError.self) {
            _ = try admin.describeGroup(group, timeout: .milliseconds(300))
        }
        #expect(error?.kind == .unreachable)
        try await kafka.revive(node: 1)
        #expect(try describe(group, admin).state != "Dead")
        member.consumer.close()
    }

    @Test("An unknown group is dead, on a cluster without any group as on another")
    func unknownGroup() async throws {
        // Only a new cluster is without any group.
        let kafka = try await RealKafka.new()
        defer { kafka.stop() }
        let before = try Self.describe("unknown", try kafka.admin())
        #expect(before.state == "Dead" && before.members.isEmpty)
        let member = try Member(kafka.bootstrapServers, group: "known")
        try member.consumer.subscribe([try kafka.makeTopic("group")])
        try await member.poll("the group assigns") { !member.history.isEmpty }
        let after = try Self.describe("unknown", try kafka.admin())
        #expect(after.state == "Dead" && after.members.isEmpty)
        member.consumer.close()
    }

    @Test("When the asked broker dies, another one answers a metadata query")
    func askedBrokerDies() async throws {
        try await RealKafka.three.take(Self.askedBrokerDies)
    }

    private static func askedBrokerDies(_ kafka: RealKafka) async throws {
        let first = try #require(kafka.bootstrapServers.split(separator: ",").first)
        let admin = try Admin(properties: [("bootstrap.servers", String(first))])
        #expect(try admin.metadata(topics: [], timeout: Patience.timeout).brokers.count == 3)
        // The node dies with the query under way.
        kafka.pause(node: 1)
        let brokers = Blocking.begin { try admin.metadata(topics: [], timeout: .seconds(20)).brokers }
        try await Task.sleep(for: .milliseconds(200))
        kafka.kill(node: 1)
        #expect(try await brokers.value.count >= 2)
    }

    /// The description of the group once its coordinator has taken over.
    private static func describe(_ group: String, _ admin: Admin) throws -> GroupDescription {
        try SettlingPatience(.seconds(60)).outwait { () throws(KafkaError) in
            try admin.describeGroup(group, timeout: Patience.timeout)
        }
    }
}
