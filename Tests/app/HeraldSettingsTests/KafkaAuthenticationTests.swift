import HeraldSettings
import Testing

@Suite("Herald's login to the brokers")
struct KafkaAuthenticationTests {
    private static let servers = "bootstrapServers: [b]"

    @Test(
        "A broken rule is one mistake at the setting's place",
        arguments: [
            ("{auth: {username: u}}", "kafka.auth.username: needs kafka.auth.kind"),
            ("{auth: {kind: none, tokenURL: 'https://t'}}", "kafka.auth.tokenURL: needs kafka.auth.kind"),
            (
                "{auth: {kind: plain}, properties: {sasl.username: u}}",
                "sasl.username cannot be set beside kafka.auth.kind, which sets it"
            ),
            (
                "{auth: {kind: certificate}, properties: {ssl.key.location: k}}",
                "ssl.key.location cannot be set beside kafka.auth.kind, which sets it"
            ),
            (
                "{auth: {kind: scram-sha-256}, properties: {security.protocol: ssl}}",
                "security.protocol does not fit kafka.auth.kind, which is scram-sha-256; "
                    + "allowed: sasl_ssl, sasl_plaintext"
            ),
            (
                "{auth: {kind: certificate}, properties: {security.protocol: SASL_SSL}}",
                "security.protocol does not fit kafka.auth.kind, which is certificate; allowed: ssl"
            ),
            (
                "{auth: {kind: kerberos}}",
                "allowed: none, plain, scram-sha-256, scram-sha-512, oauthbearer, certificate"
            ),
        ])
    func broken(kafka: String, message: String) {
        let found = mistakes("kafka: \(kafka)")
        #expect(found.count == 1 && found[0].contains(message), "\(found)")
    }

    @Test(
        "The settings that a kind needs are required when the brokers are needed, and only then",
        arguments: [
            ("plain", ["kafka.auth.username", "kafka.auth.passwordFile"]),
            ("scram-sha-512", ["kafka.auth.username", "kafka.auth.passwordFile"]),
            ("oauthbearer", ["kafka.auth.tokenURL", "kafka.auth.clientID", "kafka.auth.clientSecretFile"]),
            ("certificate", ["kafka.auth.certificateFile", "kafka.auth.keyFile"]),
            ("none", []),
        ])
    func needs(kind: String, missing: [String]) {
        let yaml = "kafka: {\(Self.servers), auth: {kind: \(kind)}}"
        #expect(mistakes(yaml) == [])
        #expect(mistakes(yaml, requiring: .kafka).map { String($0.prefix { $0 != ":" }) } == missing)
    }

    @Test("Files that a kind needs must be readable")
    func files() {
        let yaml = """
            kafka:
              \(Self.servers)
              auth: {kind: plain, username: u, passwordFile: /nonexistent/p}
            """
        #expect(mistakes(yaml) == [])
        let found = mistakes(yaml, requiring: .kafka)
        #expect(
            found.count == 1 && found[0].contains("kafka.auth.passwordFile: \"/nonexistent/p\" cannot be read"),
            "\(found)")
    }

    @Test("A password in the clear draws a warning, except to this machine, over TLS, or with SCRAM")
    func unencrypted() throws {
        func warnings(_ kind: String, _ broker: String, _ properties: String = "") throws -> [String] {
            try load("kafka: {bootstrapServers: ['\(broker)'], auth: {kind: \(kind)}, properties: {\(properties)}}")
                .warnings.map(\.path)
        }
        let clear = "security.protocol: sasl_plaintext"
        #expect(try warnings("plain", "b.example.com:9092", clear) == ["kafka.properties"])
        #expect(try warnings("oauthbearer", "SASL_PLAINTEXT://b.example.com:9092", clear) == ["kafka.properties"])
        #expect(try warnings("plain", "b.example.com:9092") == [])
        #expect(try warnings("plain", "127.0.0.1:9092", clear) == [])
        #expect(try warnings("scram-sha-256", "b.example.com:9092", clear) == [])
    }

    @Test("A token's extensions stay the user's")
    func extensions() {
        #expect(
            mistakes(
                "kafka: {auth: {kind: oauthbearer}, properties: {sasl.oauthbearer.extensions: 'logicalCluster=l'}}"
            ) == [])
    }
}
