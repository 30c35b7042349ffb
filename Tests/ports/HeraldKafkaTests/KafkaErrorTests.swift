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
        "A headline has neither error names nor the library's words; brokers' answers stay",
        arguments: [
            (KafkaError(code: KafkaError.Code.timedOut), "no broker answered in time"),
            (
                KafkaError(
                    code: KafkaError.Code.timedOut, message: "Failed while waiting for controller: Local: Timed out"),
                "no broker answered in time"
            ),
            (KafkaError(code: KafkaError.Code.transport), "the connection to a broker broke"),
            (
                KafkaError(
                    code: KafkaError.Code.transport,
                    message: "k:1: Connect to ipv4#10.0.0.1:1 failed: Connection refused (after 0ms in state CONNECT)"
                ), "connection refused"
            ),
            (
                KafkaError(
                    code: KafkaError.Code.resolve, message: "k:1: Failed to resolve 'k:1': unknown (after 2ms)"),
                "a broker's name is not found"
            ),
            (KafkaError(code: KafkaError.Code.allBrokersDown), "no broker can be reached"),
            // Herald's own words.
            (
                KafkaError(
                    code: KafkaError.Code.transport, message: "the coordinator is none of the brokers that answer"),
                "the coordinator is none of the brokers that answer"
            ),
            (
                KafkaError(code: KafkaError.Code.invalidConfig, message: "no such retention"),
                "INVALID_CONFIG: no such retention"
            ),
        ])
    func words(error: KafkaError, expected: String) {
        #expect(error.words == expected)
        #expect(!error.words.contains("Local: ") && !error.words.hasPrefix("_"))
        #expect(error.wordsInFull.hasPrefix(expected))
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

    @Test("Every wrong property is found, with its allowed values; valid ones are not")
    func properties() {
        let found = KafkaLibrary.check(properties: [
            ("linger.ms", "5"), ("linger.mss", "5"), ("acks", "some"), ("compression.type", "zstd"),
            ("security.protocol", "SLS"), ("plugin.library.paths", "/no/such/plugin"),
        ])
        #expect(found.map(\.property) == ["linger.mss", "acks", "security.protocol", "plugin.library.paths"])
        #expect(found[0].problem == .unknown)
        #expect(found[1].problem == .value(allowed: "-1 .. 1000"))
        #expect(found[2].problem == .value(allowed: "plaintext, ssl, sasl_plaintext, sasl_ssl"))
        guard case .refused = found[3].problem else { return #expect(Bool(false), "\(found[3])") }
        #expect(Set(KafkaLibrary.propertyNames).isSuperset(of: ["security.protocol", "acks", "sasl.mechanism"]))
    }

    @Test(
        "A client that cannot be made is refused without a connection, and a valid one is not",
        arguments: [
            ([("security.protocol", "ssl"), ("ssl.ca.location", "/no/such/file")], "ssl.ca.location"),
            ([("session.timeout.ms", "400000"), ("max.poll.interval.ms", "300000")], "max.poll.interval.ms"),
            ([("security.protocol", "sasl_plaintext"), ("sasl.mechanism", "PLAN")], "PLAN"),
            ([("security.protocol", "sasl_ssl")], nil),
            ([("security.protocol", "SASL_SSL"), ("sasl.mechanism", "OAUTHBEARER")], nil),
            ([("bootstrap.servers", "127.0.0.1:1")], nil),
        ] as [(ClientProperties, String?)])
    func clients(properties: ClientProperties, expected: String?) {
        let refusal = KafkaLibrary.refusal(of: .consumer, properties: properties + [("group.id", "g")])
        #expect(expected.map { refusal?.contains($0) == true } ?? (refusal == nil), "\(refusal ?? "")")
    }

    @Test("A client is not made from a wrong property, and the error names it")
    func wrongProperty() throws {
        let consumer = #expect(throws: KafkaError.self) { _ = try Consumer(properties: [("group.idd", "g")]) }
        #expect(consumer?.message.contains("group.idd") == true)
        let producer = #expect(throws: KafkaError.self) { _ = try Producer(properties: [("acks", "x")]) }
        #expect(producer?.message.contains("acks") == true)
    }

    @Test("A broken rule between properties is reported with its reason")
    func brokenRule() throws {
        let error = #expect(throws: KafkaError.self) {
            _ = try Producer(properties: [
                ("transactional.id", "t"), ("transaction.timeout.ms", "10000"), ("message.timeout.ms", "20000"),
            ])
        }
        #expect(error?.message.contains("message.timeout.ms") == true)
    }
}
