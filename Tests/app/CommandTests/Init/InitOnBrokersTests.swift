import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("init on real brokers", .realKafka("init on real brokers"))
struct InitOnBrokersTests {
    @Test("A worker starts from the new file, and delivers")
    func delivers() async throws {
        let fixture = try await ClusterFixture()
        let backend = try ReferenceBackend(ReferenceBackend.Configuration())
        defer { backend.stop() }
        let folder = try InitFolder()
        try folder.write("herald", "password")
        let config = folder.path("herald.yaml")
        var made = HeraldProgram.Run(status: -1, output: "", error: "")
        // A new cluster's first transaction may take longer than the doctor waits.
        let isWell = try await eventually {
            made = try await folder.run(
                "--force", "--backend-url", backend.url, "--backend-auth-username", "herald",
                "--backend-auth-password-file", folder.path("password"), "--kafka-group", fixture.requests,
                "--admin-listen", "off", environment: fixture.environment)
            return made.status == 0
        }
        #expect(isWell, "\(made.output)\(made.error)")
        #expect(made.error.contains("Next: herald topics apply --config \(config)\n"), "\(made.error)")
        let topics = try await HeraldProgram.run(["topics", "apply", "--yes", "--config", config])
        #expect(topics.status == 0, "\(topics.error)")
        let worker = try RunningHerald(["worker", "--config", config])
        let sent = try await HeraldProgram.run([
            "publish", "--config", config, "--user", "ann", "--pns", "apns", "--message", "Hi", "--wait", "1m",
        ])
        #expect(sent.status == 0, "\(sent.output)\(sent.error)")
        #expect(backend.calls.count == 1)
        worker.signal(SIGTERM)
        #expect(try await worker.end().status == 0)
        try await fixture.deleteTopics()
    }
}

@Suite("init on brokers with TLS and logins", .ownKafka("init on brokers with TLS and logins"))
struct InitOnSecureBrokersTests {
    @Test("Authorities are asked for, a refused password again, and the file's login is accepted")
    func login() async throws {
        let certificates = try TestCertificates.shared()
        let servers = try #require(try await RealKafka.secured().secureServers)
        let folder = try InitFolder()
        let herald = try folder.ask(
            "--backend-url", "http://127.0.0.1:\(try LoopbackSocket.unusedPort())", "--backend-auth-kind", "none",
            "--backend-push-services", "apns", "--kafka-group", "herald")
        try await herald.answer("kafka.bootstrapServers [localhost:9092]: ", servers)
        try await herald.answer("kafka.auth.kind [none]: ", "plain")
        try await herald.answer("kafka.auth.username: ", SecuredUser.owner.rawValue)
        try await herald.answer("kafka.auth.passwordFile: a path, or Enter", "")
        try await herald.answer("which is not shown: ", "wrong-canary")
        try await herald.wait(for: "✗ broker tls")
        try await herald.answer("ssl.ca.location [none]: ", certificates.authorityFile)
        try await herald.wait(for: "✗ broker login")
        try await herald.answer("Keep it anyway? [y/N] ", "")
        try await herald.answer("kafka.auth.kind [plain]: ", "")
        try await herald.answer("kafka.auth.username [owner]: ", "")
        try await herald.answer("kafka.auth.passwordFile: a path, or Enter", "")
        try await herald.answer("which is not shown: ", SecuredUser.owner.password)
        try await herald.answer("ssl.ca.location [\(certificates.authorityFile)]: ", "")
        try await herald.wait(for: "✓ broker login         PLAIN as owner accepted")
        try await herald.wait(for: "✗ backend tcp")
        try await herald.answer("Keep it anyway? [y/N] ", "y")
        try await herald.wait(for: "then: herald doctor --config herald.yaml")
        #expect(try await herald.end() == 3)
        #expect(!herald.text.contains("canary"))
        #expect(try folder.text("herald.kafka-password") == SecuredUser.owner.password + "\n")
        #expect(try folder.mode("herald.kafka-password") == 0o600)
        #expect(try !folder.text("herald.yaml").contains("canary"))
        let plan = try await HeraldProgram.run(["topics", "plan", "--config", folder.path("herald.yaml")])
        #expect(plan.status == 0, "\(plan.error)")
    }

    @Test("Brokers with TLS get it without a question, and a login to brokers without TLS needs one")
    func encryption() async throws {
        let certificates = try TestCertificates.shared()
        let kafka = try await RealKafka.secured()
        let folder = try InitFolder()
        let herald = try folder.ask("--kafka-properties", "ssl.ca.location=\(certificates.authorityFile)")
        try await herald.answer("kafka.bootstrapServers [localhost:9092]: ", try #require(kafka.secureServers))
        try await herald.answer("kafka.auth.kind [none]: ", "")
        try await herald.wait(for: "✓ broker tls")
        // The port requires a login.
        try await herald.wait(for: "✗ broker login")
        try await herald.wait(for: "Keep it anyway? [y/N] ")
        herald.signal(SIGTERM)
        #expect(try await herald.end() == 4)
        let plain = try folder.ask("--kafka-bootstrap-servers", kafka.bootstrapServers)
        try await plain.answer("kafka.auth.kind [none]: ", "plain")
        try await plain.answer("Log in without TLS? y or n [n]: ", "")
        try await plain.answer("kafka.auth.kind [plain]: ", "")
        try await plain.answer("Log in without TLS? y or n [n]: ", "y")
        try await plain.wait(for: "kafka.auth.username: ")
        plain.signal(SIGTERM)
        #expect(try await plain.end() == 4)
        #expect(try folder.names.isEmpty)
    }
}
