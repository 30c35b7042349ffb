import HeraldKafka
import Testing

@Suite("Errors, properties and the library")
struct KafkaErrorTests {
    @Test("A code gets the library's name and message")
    func names() {
        let error = KafkaError(code: KafkaError.Code.fenced)
        #expect(error.name == "_FENCED")
        #expect(error.description.hasPrefix("_FENCED: "))
        #expect(!error.isFatal)
        #expect(KafkaError(code: KafkaError.Code.fatal).isFatal)
        #expect(KafkaError(code: KafkaError.Code.unknownMemberID).name == "UNKNOWN_MEMBER_ID")
    }

    @Test(
        "Refused credentials are explained only with SCRAM and an old librdkafka",
        arguments: [
            ("SCRAM-SHA-256", KafkaError.Code.authentication, true),
            ("scram-sha-512", KafkaError.Code.saslAuthenticationFailed, true),
            ("PLAIN", KafkaError.Code.authentication, false), (nil, KafkaError.Code.authentication, false),
            ("SCRAM-SHA-256", KafkaError.Code.transport, false),
        ])
    func explanation(mechanism: String?, code: Int32, expected: Bool) {
        let isOld = KafkaLibrary.versionNumber < 0x0206_0100
        let error = KafkaError(code: code)
        let explained = error.explained(saslMechanism: mechanism)
        #expect(explained.message.contains("2.6.1") == (expected && isOld))
        #expect(explained.message.hasPrefix(error.message))
    }

    @Test("Every wrong property is found and named, good ones are not")
    func properties() {
        let found = KafkaLibrary.check(properties: [
            ("linger.ms", "5"), ("linger.mss", "5"), ("acks", "some"), ("compression.type", "zstd"),
        ])
        #expect(found.map(\.property) == ["linger.mss", "acks"])
        #expect(found.allSatisfy { $0.message.contains($0.property) })
    }

    @Test("A client is not made from a wrong property, and the error names it")
    func wrongProperty() throws {
        let consumer = #expect(throws: KafkaError.self) { _ = try Consumer(properties: [("group.idd", "g")]) }
        #expect(consumer?.message.contains("group.idd") == true)
        let producer = #expect(throws: KafkaError.self) { _ = try Producer(properties: [("acks", "x")]) }
        #expect(producer?.message.contains("acks") == true)
    }

    @Test("A rule between properties that is broken says why")
    func brokenRule() throws {
        let error = #expect(throws: KafkaError.self) {
            _ = try Producer(properties: [
                ("transactional.id", "t"), ("transaction.timeout.ms", "10000"), ("message.timeout.ms", "20000"),
            ])
        }
        #expect(error?.message.contains("message.timeout.ms") == true)
    }
}
