import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("init from flags, as a process", .realTime)
struct InitCommandTests {
    private let broker: EmbeddedBroker
    private let backend: ReferenceBackend
    private let folder: InitFolder

    init() throws {
        broker = try EmbeddedBroker(topics: [.init("notifications", partitions: 6)])
        backend = try ReferenceBackend(ReferenceBackend.Configuration())
        folder = try InitFolder()
    }

    /// All settings without a default.
    private var environment: [String: String] {
        [
            "HERALD_KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "HERALD_BACKEND_URL": backend.url,
            "HERALD_BACKEND_AUTH_USERNAME": "herald",
            "HERALD_BACKEND_AUTH_PASSWORD_FILE": folder.path("password"),
        ]
    }

    @Test("Working settings are written, pass config check, show doctor's verdict and name the next command")
    func well() async throws {
        defer { backend.stop() }
        try folder.write("herald\n", "password")
        let run = try await folder.run("--limits-per-second", "9", environment: environment)
        #expect(run.status == 0, "\(run.output)\(run.error)")
        #expect(run.error.contains("Next: herald ") && run.output.contains("✓ backend credentials"), "\(run.error)")
        let text = try folder.text("herald.yaml")
        #expect(
            text.contains("\n  perSecond: 9\n") && text.contains("\n    passwordFile: \(folder.path("password"))\n"))
        #expect(try folder.names == ["herald.yaml", "password"])
        let check = try await HeraldProgram.run(["config", "check", "--config", folder.path("herald.yaml")])
        #expect(check.status == 0 && check.error == "The settings are right.\n", "\(check.error)")
        #expect(backend.calls.isEmpty)
    }

    @Test("Failing settings are explained, nothing is written, and the status separates silence from refusal")
    func refused() async throws {
        defer { backend.stop() }
        try folder.write("CANARY", "password")
        let wrong = try await folder.run(environment: environment)
        #expect(wrong.status == 1 && wrong.error.contains("✗ backend credentials  refused: "), "\(wrong.error)")
        #expect(!(wrong.output + wrong.error).contains("CANARY"))
        let silent = try await folder.run(
            environment: environment.merging([
                "HERALD_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:\(try LoopbackSocket.unusedPort())"
            ]) { $1 })
        #expect(silent.status == 5 && silent.error.contains("✗ broker tcp"), "\(silent.error)")
        #expect(try folder.names == ["password"])
        let skipped = try await folder.run("--skip-checks", environment: environment)
        #expect(skipped.status == 0 && skipped.output.isEmpty, "\(skipped.error)")
        #expect(try folder.names == ["herald.yaml", "password"])
    }

    @Test("An existing file stays unchanged without --force")
    func present() async throws {
        defer { backend.stop() }
        try folder.write("herald", "password")
        try folder.write("mine", "herald.yaml")
        let run = try await folder.run("--skip-checks", environment: environment)
        #expect(run.status == 1 && run.error.contains("--force"), "\(run.error)")
        #expect(try folder.text("herald.yaml") == "mine")
        let forced = try await folder.run("--skip-checks", "--force", environment: environment)
        #expect(forced.status == 0, "\(forced.error)")
        #expect(try folder.text("herald.yaml").contains("\nkafka:\n"))
    }

    @Test("Missing settings are named by their flags, and a secret that would be written by its variable")
    func mistakes() async throws {
        defer { backend.stop() }
        let missing = try await folder.run("--yes")
        #expect(missing.status == 2, "\(missing.error)")
        #expect(
            missing.error.contains(
                "--kafka-bootstrap-servers, --backend-url, --backend-auth-username, --backend-auth-password-file (or "
                    + "--backend-auth-kind none, for a backend that wants no credentials)\n"))
        let open = try await folder.run(environment: ["HERALD_BACKEND_AUTH_PASSWORD": "CANARY"])
        #expect(open.status == 78 && open.error.contains("--backend-auth-password-file"), "\(open.error)")
        #expect(!open.error.contains("CANARY"))
        let wrong = try await folder.run("--kafka-group", "", environment: environment)
        #expect(wrong.status == 78 && wrong.error.contains("flag --kafka-group"), "\(wrong.error)")
        let unreadable = try await folder.run(environment: environment)
        #expect(unreadable.status == 78 && unreadable.error.contains("cannot be read"), "\(unreadable.error)")
        let config = try await folder.run("--config", "herald.yaml")
        #expect(config.status == 2 && config.error.contains("--output"), "\(config.error)")
        #expect(try folder.names.isEmpty)
    }
}

@Suite("init on a terminal, as a process", .realTime)
struct InitOnTerminalTests {
    @Test("Answers are tested and asked for again until they work; a typed secret appears nowhere")
    func questions() async throws {
        let broker = try EmbeddedBroker(topics: [.init("notifications", partitions: 6)])
        let backend = try ReferenceBackend(ReferenceBackend.Configuration())
        defer { backend.stop() }
        let folder = try InitFolder()
        let herald = try folder.ask()
        try await herald.answer("kafka.bootstrapServers [localhost:9092]: ", "not a broker")
        try await herald.answer("kafka.bootstrapServers [localhost:9092]: ", "127.0.0.1:\(LoopbackSocket.unusedPort())")
        try await herald.wait(for: "✗ broker tcp")
        try await herald.answer("Keep it anyway? [y/N] ", "")
        // A failed answer is not offered again.
        try await herald.answer("kafka.bootstrapServers [localhost:9092]: ", broker.bootstrapServers)
        try await herald.answer("kafka.auth.kind [none]: ", "")
        try await herald.answer("backend.url, or azure-hub [http://localhost:8080]: ", backend.url)
        try await herald.answer("backend.auth.kind [basic]: ", "")
        try await herald.answer("backend.auth.username: ", "herald")
        try await herald.wait(
            for: "backend.auth.passwordFile: a path, or Enter to type the secret itself; neither is shown: ")
        #expect(!herald.showsInput)
        // A secret typed at the wrong prompt stays hidden.
        herald.type("CANARY\n")
        try await herald.wait(for: "✗ backend.auth.passwordFile: no file can be read under what was typed")
        try await herald.answer("neither is shown: ", "")
        try await herald.wait(for: "which is not shown: ")
        #expect(!herald.showsInput)
        herald.type("CANARY\n")
        try await herald.wait(for: "✗ backend credentials")
        try await herald.answer("Keep it anyway? [y/N] ", "n")
        try await herald.answer("backend.url, or azure-hub [\(backend.url)]: ", "")
        try await herald.answer("backend.auth.kind [basic]: ", "")
        try await herald.answer("backend.auth.username [herald]: ", "")
        try await herald.answer("backend.auth.passwordFile: a path, or Enter", "")
        try await herald.wait(for: "which is not shown: ")
        #expect(try folder.names.isEmpty)
        herald.type("herald\n")
        try await herald.answer("backend.pushServices [apns,gcm,wns]: ", "apns, fcm")
        try await herald.answer("kafka.group [herald]: ", "mine")
        try await herald.wait(for: "Next: herald ")
        #expect(try await herald.end() == 0)
        #expect(!herald.text.contains("CANARY"))
        #expect(try folder.names == ["herald.backend-password", "herald.yaml"])
        #expect(
            try folder.text("herald.backend-password") == "herald\n" && folder.mode("herald.backend-password") == 0o600)
        let text = try folder.text("herald.yaml")
        #expect(text.contains("  pushServices: [apns, fcm]\n") && text.contains("  group: mine\n"))
        #expect(text.contains("/herald.backend-password\n"))
    }

    @Test("A hub's connection string is typed, its authority named, and unreachable brokers kept")
    func hub() async throws {
        let hub = try HubEmulator()
        defer { hub.stop() }
        let folder = try InitFolder()
        let port = try LoopbackSocket.unusedPort()
        let herald = try folder.ask("--kafka-bootstrap-servers", "127.0.0.1:\(port)", "--kafka-auth-kind", "none")
        try await herald.answer("Keep it anyway? [y/N] ", "y")
        try await herald.answer("backend.url, or azure-hub [", "azure-hub")
        try await herald.answer("backend.hub.connectionStringFile: a path, or Enter", "")
        try await herald.answer("which is not shown: ", hub.connectionString)
        try await herald.answer("backend.hub.name: ", hub.hub)
        try await herald.wait(for: "✗ backend tls")
        try await herald.answer("backend.tls.caFile [none]: ", hub.caFile)
        try await herald.answer("backend.pushServices [apns,gcm,wns]: ", "")
        try await herald.answer("kafka.group [herald]: ", "")
        try await herald.wait(for: "then: herald doctor --config herald.yaml")
        #expect(try await herald.end() == 3)
        #expect(try folder.text("herald.backend-hub-connection-string") == hub.connectionString + "\n")
        let doctor = try await HeraldProgram.run(
            ["doctor", "--only", "backend", "--config", folder.path("herald.yaml")])
        #expect(doctor.status == 0, "\(doctor.output)")
    }

    @Test("An unreadable file is asked for again at once, even without tests")
    func unreadable() async throws {
        let folder = try InitFolder()
        try folder.write("secret", "password")
        let herald = try folder.ask(
            "--backend-url", "http://127.0.0.1:1", "--backend-auth-kind", "none", "--skip-checks",
            "--kafka-bootstrap-servers", "k",
            "--backend-push-services", "apns", "--kafka-group", "g")
        try await herald.answer("kafka.auth.kind [none]: ", "plain")
        try await herald.answer("kafka.auth.username: ", "u")
        try await herald.answer("kafka.auth.passwordFile: a path, or Enter", "passwrod")
        try await herald.wait(for: "✗ kafka.auth.passwordFile: no file can be read under what was typed")
        try await herald.answer("kafka.auth.passwordFile: a path, or Enter", "password")
        try await herald.wait(for: "Next: herald ")
        #expect(try await herald.end() == 0)
        #expect(try folder.text("herald.yaml").contains("passwordFile: \(folder.path("password"))\n"))
        #expect(try folder.names == ["herald.yaml", "password"])
    }

    @Test(
        "The end of input, and a signal, end it with status 4, and leave nothing", arguments: [Int32?.none, SIGTERM])
    func ended(signal: Int32?) async throws {
        let folder = try InitFolder()
        let herald = try folder.ask(
            "--kafka-bootstrap-servers", "k", "--kafka-auth-kind", "plain", "--kafka-auth-username", "u",
            "--skip-checks")
        try await herald.answer("kafka.auth.passwordFile: a path, or Enter", "")
        try await herald.wait(for: "which is not shown: ")
        if let signal { herald.signal(signal) } else { herald.type("\u{04}") }
        #expect(try await herald.end() == 4)
        #expect(herald.showsInput)
        #expect(try folder.names.isEmpty)
    }
}
