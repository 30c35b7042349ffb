import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

/// The parsed lines of `herald doctor`.
private struct Diagnosis {
    let run: HeraldProgram.Run
    let lines: [String]

    init(_ run: HeraldProgram.Run) {
        self.run = run
        lines = run.output.split(separator: "\n").map(String.init)
    }

    /// The lines that begin with this mark and name.
    func lines(_ mark: String, _ name: String) -> [String] { lines.filter { $0.hasPrefix("\(mark) \(name) ") } }

    /// The names with that mark, without repetitions.
    func names(_ mark: String) -> [String] {
        lines.filter { $0.hasPrefix("\(mark) ") }.reduce(into: []) { names, line in
            let name = line.dropFirst(2).prefix(19).split(separator: " ").joined(separator: " ")
            if !names.contains(name) { names.append(name) }
        }
    }
}

private func diagnose(_ environment: [String: String], _ words: String...) async throws -> Diagnosis {
    Diagnosis(try await HeraldProgram.run(["doctor"] + words, environment: environment))
}

/// A diagnosis that had the time for all that it looks at: the doctor ends after some seconds, however busy the machine.
private func unhurriedDiagnosis(_ environment: [String: String]) async throws -> Diagnosis {
    var diagnosis = try await diagnose(environment)
    for _ in 1..<5 where diagnosis.lines.contains(where: { $0.contains(" in time") || $0.contains(" no time left ") }) {
        diagnosis = try await diagnose(environment)
    }
    return diagnosis
}

private func backendEnvironment(_ backend: ReferenceBackend, password: String = "herald") -> [String: String] {
    [
        "HERALD_BACKEND_URL": backend.url, "HERALD_BACKEND_AUTH_USERNAME": "herald",
        "HERALD_BACKEND_AUTH_PASSWORD": password,
    ]
}

@Suite("The doctor on a plain broker", .realKafka("The doctor on a plain broker"))
struct DoctorOnPlainBrokerTests {
    private func environment(_ fixture: ClusterFixture, _ backend: ReferenceBackend) -> [String: String] {
        fixture.environment.merging(backendEnvironment(backend)) { $1 }
            .merging(["HERALD_KAFKA_GROUP": fixture.requests]) { $1 }
    }

    @Test("All checks pass, even a second time, and nothing is left for readers or the group")
    func well() async throws {
        let fixture = try await ClusterFixture()
        let backend = try ReferenceBackend(ReferenceBackend.Configuration())
        defer { backend.stop() }
        #expect(try await fixture.herald("topics", "apply", "--yes", "--topics-partitions", "1").status == 0)
        var environment = environment(fixture, backend)
        environment["HERALD_TOPICS_PARTITIONS"] = "1"
        for _ in 0..<2 {
            let diagnosis = try await unhurriedDiagnosis(environment)
            #expect(diagnosis.run.status == 0, "\(diagnosis.run.output)\(diagnosis.run.error)")
            #expect(diagnosis.names("✗").isEmpty && diagnosis.names("!").isEmpty, "\(diagnosis.run.output)")
            #expect(diagnosis.names("-") == ["write"])
            #expect(diagnosis.lines("✓", "write").count == 8 && diagnosis.lines("✓", "topic").count == 9)
            #expect(diagnosis.lines("✓", "backend credentials").count == 1)
            #expect(!diagnosis.run.output.contains("\u{1B}"))
            #expect(diagnosis.run.error.contains("0 to be fixed"))
        }
        #expect(backend.calls.isEmpty)
        try await fixture.write(results: ["the first"])
        #expect(try await fixture.records(of: fixture.results, count: 1, partitions: 1).map(\.value) == ["the first"])
        try await fixture.deleteTopics()
    }

    @Test("JSON holds every check with its verdict")
    func json() async throws {
        let fixture = try await ClusterFixture()
        let backend = try ReferenceBackend(ReferenceBackend.Configuration())
        defer { backend.stop() }
        try await fixture.makeTopics()
        let run = try await diagnose(environment(fixture, backend), "-o", "json", "-q").run
        let checks = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: String]])
        #expect(run.status == 1 && run.error.isEmpty)
        let missing = checks.filter { $0["verdict"] == "failed" }
        #expect(
            missing.map { $0["subject"] } == ["\(fixture.retry).5s", "\(fixture.retry).1m", fixture.deadLetter],
            "\(run.output)")
        #expect(missing.allSatisfy { $0["check"] == "topic" && $0["fix"] == "herald topics apply" })
        #expect(checks.first?["check"] == "settings" && checks.last?["check"] == "clock")
        try await fixture.deleteTopics()
    }

    @Test("Records that break the contract draw a warning, each fault with an example")
    func publishers() async throws {
        let fixture = try await ClusterFixture()
        let backend = try ReferenceBackend(ReferenceBackend.Configuration())
        defer { backend.stop() }
        #expect(try await fixture.herald("topics", "apply", "--yes", "--topics-partitions", "6").status == 0)
        var environment = environment(fixture, backend)
        environment["HERALD_TOPICS_PARTITIONS"] = "6"
        #expect(
            try await fixture.herald("publish", "--user", "alice", "--pns", "apns", "--message", "Hi").status == 0)
        let well = try await diagnose(environment, "--only", "kafka")
        #expect(well.lines("✓", "publishers").count == 1 && well.lines("!", "publishers").isEmpty, "\(well.run.output)")
        try await fixture.write(requests: [(nil, 0), ("order-17", 1), ("alice", 5)])
        let faulty = try await diagnose(environment, "--only", "kafka")
        let lines = faulty.lines("!", "publishers")
        #expect(faulty.run.status == 0 && lines.count == 3, "\(faulty.run.output)")
        #expect(lines.allSatisfy { $0.contains("of the newest 4 events 1 ") }, "\(lines)")
        #expect(lines.first?.contains("have no key, the last at \(fixture.requests)/0/0") == true, "\(lines)")
        #expect(lines.last?.contains("\(fixture.requests)/5/0") == true, "\(lines)")
        try await fixture.deleteTopics()
    }

    @Test("Records waiting without a worker draw a warning, and a backend that refuses the password fails")
    func waiting() async throws {
        let fixture = try await ClusterFixture()
        let backend = try ReferenceBackend(ReferenceBackend.Configuration())
        defer { backend.stop() }
        #expect(try await fixture.herald("topics", "apply", "--yes").status == 0)
        #expect(
            try await fixture.herald("publish", "--user", "ann", "--pns", "apns", "--message", "Hi").status == 0)
        var environment = environment(fixture, backend)
        let waiting = try await diagnose(environment)
        #expect(waiting.run.status == 0 && waiting.names("!") == ["group", "group lag"], "\(waiting.run.output)")
        #expect(waiting.lines("!", "group lag").count == 1)
        environment["HERALD_BACKEND_AUTH_PASSWORD"] = "wrong"
        let refused = try await diagnose(environment, "--only", "backend")
        #expect(refused.run.status == 1 && refused.names("✗") == ["backend credentials"], "\(refused.run.output)")
        #expect(!refused.run.output.contains("wrong"))
        try await fixture.deleteTopics()
    }
}

@Suite("The doctor with everything unreachable", .realTime)
struct DoctorWithoutBrokerTests {
    @Test("An unreachable server is reported once, and dependent checks are skipped")
    func unreachable() async throws {
        let environment = [
            "HERALD_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:\(try LoopbackSocket.unusedPort())",
            "HERALD_BACKEND_URL": "http://no-such-host.invalid", "HERALD_BACKEND_AUTH_KIND": "none",
        ]
        let diagnosis = try await diagnose(environment)
        #expect(diagnosis.run.status == 1)
        #expect(diagnosis.names("✗") == ["broker tcp", "backend dns"], "\(diagnosis.run.output)")
        #expect(diagnosis.names("-").count == 17)
        #expect(diagnosis.lines("-", "write") == ["- write                because of broker tcp"])
        let half = try await diagnose(environment.filter { !$0.key.contains("BACKEND") }, "--only", "kafka")
        #expect(half.run.status == 1 && half.names("✗") == ["broker tcp"])
    }

    @Test("Bad settings are the first line, end with 78, and are named on standard error")
    func settings() async throws {
        let diagnosis = try await diagnose(["HERALD_BACKEND_URL": "ftp://x"])
        #expect(diagnosis.run.status == 78 && diagnosis.lines.count == 1)
        #expect(diagnosis.lines[0].hasPrefix("✗ settings "))
        #expect(
            diagnosis.run.error.contains("HERALD_BACKEND_URL") && diagnosis.run.error.contains("kafka.bootstrapServers")
        )
        let record = try await diagnose([:], "-o", "jsonl").run.records
        #expect(record.count == 1 && record[0]["verdict"] as? String == "failed")
    }

    @Test(
        "Untrusted certificates are distinguished by cause, on a broker and on a backend",
        arguments: ["expired", "wrong host", "unknown authority"])
    func certificates(kind: String) async throws {
        let certificates = try TestCertificates.shared()
        let (identity, words) =
            switch kind {
            case "expired": (certificates.expired, "the certificate expired")
            case "wrong host": (certificates.wrongHost, "the certificate is for DNS:example.org, not for 127.0.0.1")
            default: (certificates.ofUnknownAuthority, "by an authority that is not trusted")
            }
        let server = try ScriptedServer(tls: identity) { _ in }
        defer { server.stop() }
        let diagnosis = try await diagnose([
            "HERALD_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:\(server.port)",
            "HERALD_KAFKA_PROPERTIES": "security.protocol=ssl,ssl.ca.location=\(certificates.authorityFile)",
            "HERALD_BACKEND_URL": server.origin, "HERALD_BACKEND_AUTH_KIND": "none",
            "HERALD_BACKEND_TLS_CA_FILE": certificates.authorityFile,
        ])
        #expect(diagnosis.run.status == 1)
        #expect(diagnosis.names("✗") == ["broker tls", "backend tls"], "\(diagnosis.run.output)")
        for name in diagnosis.names("✗") {
            let line = diagnosis.lines("✗", name)
            #expect(line.count == 1 && line[0].contains(words) && line[0].contains(" → "), "\(line)")
        }
    }

    @Test("A backend's clock that is an hour off fails, and one without a date is not blamed")
    func clock() async throws {
        for (header, mark) in [("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "✗"), ("", "-")] {
            let server = try ScriptedServer { peer in
                _ = try peer.readRequest()
                try peer.write("HTTP/1.1 405 No\r\n\(header)Content-Length: 0\r\nConnection: close\r\n\r\n")
            }
            defer { server.stop() }
            let diagnosis = try await diagnose(
                ["HERALD_BACKEND_URL": server.origin, "HERALD_BACKEND_AUTH_KIND": "none"], "--only", "backend")
            #expect(diagnosis.lines(mark, "clock").count == 1, "\(diagnosis.run.output)")
            #expect(diagnosis.run.status == (mark == "✗" ? 1 : 0))
        }
    }
}

@Suite("The doctor on a broker with TLS, passwords and permissions", .ownKafka("The doctor on a broker with TLS"))
struct DoctorOnSecureBrokerTests {
    @Test("Without permissions, with all of them, without one, and with a wrong password")
    func permissions() async throws {
        let certificates = try TestCertificates.shared()
        let kafka = try await RealKafka.secured()
        let backend = try ReferenceBackend(ReferenceBackend.Configuration())
        defer { backend.stop() }
        var environment = backendEnvironment(backend)
        let servers = try #require(kafka.secureServers)
        environment["HERALD_KAFKA_BOOTSTRAP_SERVERS"] = servers
        environment["HERALD_KAFKA_PROPERTIES"] = properties(password: SecuredUser.herald.password, certificates)
        environment["HERALD_RETRY_DELAYS"] = "5s"
        let made = try await HeraldProgram.run(
            ["topics", "apply", "--yes"],
            environment: [
                "HERALD_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrapServers, "HERALD_RETRY_DELAYS": "5s",
            ])
        #expect(made.status == 0, "\(made.error)")

        let plain = try await diagnose(["HERALD_KAFKA_BOOTSTRAP_SERVERS": servers], "--only", "kafka")
        #expect(plain.lines("✗", "broker login")[0].contains("→ the port speaks TLS: set "), "\(plain.run.output)")

        let nothing = try await diagnose(environment)
        #expect(nothing.run.status == 1 && nothing.lines("✗", "topic").count == 5, "\(nothing.run.output)")
        #expect(nothing.lines("!", "topic").count == 4 && nothing.lines("✗", "transactional id").count == 1)

        try await kafka.allow(.herald, [.read, .write, .describeConfigs], on: [.topics(prefix: "notifications")])
        try await kafka.allow(.herald, [.read], on: [.group("herald")])
        try await kafka.allow(.herald, [.write], on: [.transactionalIDs(prefix: "herald-")])
        let all = try await unhurriedDiagnosis(environment)
        #expect(all.run.status == 0, "\(all.run.output)")
        let notPassed = all.lines.filter { !$0.hasPrefix("✓ ") }
        #expect(notPassed.map { $0.prefix(8) } == ["- write "], "\(notPassed.joined(separator: "\n"))")
        #expect(
            all.lines("✓", "broker tls").count == 1 && all.lines("✓", "broker login")[0].contains("PLAIN as herald"))

        try await missingOnesAreNamed(environment, kafka)
        try await followerIsExamined(environment, kafka)

        environment["HERALD_KAFKA_PROPERTIES"] = properties(password: "guessed", certificates)
        let refused = try await diagnose(environment, "--only", "kafka")
        #expect(refused.run.status == 1 && refused.names("✗") == ["broker login"], "\(refused.run.output)")
        #expect(!refused.run.output.contains("guessed"))
        environment["HERALD_KAFKA_PROPERTIES"] = "security.protocol=plaintext"
        #expect(try await diagnose(environment, "--only", "kafka").names("✗") == ["broker login"])
    }

    /// Names the missing permissions one by one, and continues with the rest.
    private func missingOnesAreNamed(_ environment: [String: String], _ kafka: RealKafka) async throws {
        try await kafka.deny(.herald, [.write], on: [.topic("notifications.results")])
        try await kafka.deny(.herald, [.read], on: [.topic("notifications.bulk")])
        try await kafka.takeBack(.herald, [.read], on: [.group("herald")])
        try await kafka.allow(.herald, [.describe], on: [.group("herald")])
        let some = try await unhurriedDiagnosis(environment)
        #expect(some.run.status == 1)
        #expect(
            some.lines.filter { $0.hasPrefix("✗") } == [
                "✗ read                 notifications.bulk: not allowed "
                    + "→ allow Read on the topic notifications.bulk with kafka-acls",
                "✗ write                notifications.results: not allowed "
                    + "→ allow Write on the topic notifications.results with kafka-acls",
                "✗ read                 group herald: not allowed → allow Read on the group herald with kafka-acls",
            ], "\(some.run.output)")
        #expect(some.lines("✓", "write").count == 6)
    }

    /// With a hub's telemetry: group, transactional id and topic of `herald feedback`, whose failures stop no worker.
    private func followerIsExamined(_ environment: [String: String], _ kafka: RealKafka) async throws {
        let hub = try HubEmulator()
        defer { hub.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "doctor-\(UUID().uuidString).txt")
        defer { try? FileManager.default.removeItem(at: file) }
        try hub.connectionString.write(to: file, atomically: true, encoding: .utf8)
        var settings = environment.filter { !$0.key.hasPrefix("HERALD_BACKEND_") }
        settings.merge([
            "HERALD_BACKEND_KIND": "azure-hub", "HERALD_BACKEND_HUB_NAME": hub.hub,
            "HERALD_BACKEND_HUB_CONNECTION_STRING_FILE": file.path, "HERALD_BACKEND_HUB_TELEMETRY": "true",
        ]) { $1 }
        func follower(_ diagnosis: Diagnosis) -> [String] {
            diagnosis.lines.filter { $0.contains("feedback") }.map { line in
                line.replacing(/doctor-\w+/, with: "doctor-…").replacing(/claimed in \d+ ms/, with: "claimed")
                    .split(separator: " ").joined(separator: " ")
            }
        }
        let none = try await diagnose(settings, "--only", "kafka")
        #expect(
            follower(none) == [
                "! topic notifications.feedback: it is missing (herald feedback needs it) → herald topics apply",
                "✓ transactional id herald-feedback-doctor-…: claimed",
                "! read group herald-feedback: not allowed (herald feedback needs it) "
                    + "→ allow Read on the group herald-feedback with kafka-acls",
            ], "\(none.run.output)")
        let made = try await HeraldProgram.run(
            ["topics", "apply", "--yes"],
            environment: settings.merging([
                "HERALD_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrapServers,
                "HERALD_KAFKA_PROPERTIES": "security.protocol=plaintext",
            ]) { $1 })
        #expect(made.status == 0, "\(made.error)")
        try await kafka.allow(.herald, [.read], on: [.group("herald-feedback")])
        let all = try await diagnose(settings, "--only", "kafka")
        #expect(follower(all).allSatisfy { $0.hasPrefix("✓") } && follower(all).count == 4, "\(all.run.output)")
    }

    private func properties(password: String, _ certificates: TestCertificates) -> String {
        "security.protocol=SASL_SSL,sasl.mechanism=PLAIN,sasl.username=herald,sasl.password=\(password),"
            + "ssl.ca.location=\(certificates.authorityFile)"
    }
}
