import Foundation
import HeraldKafka
import TestSupport
import Testing

@Suite("herald sandbox, as a process", .realTime, .disabled(if: ThreadSanitizer.isActive, "librdkafka crashes it"))
struct SandboxCommandTests {
    @Test("It prints its addresses in one line, is ready, and ends with 0 when its standard input is closed")
    func inputCloses() async throws {
        let sandbox = try RunningHerald(
            ["sandbox", "-o", "json", "--retry-delays", "100ms", "--topics-results", "outcomes"], keepsErrors: true)
        let addresses = try await sandbox.object()
        #expect((addresses["bootstrapServers"] as? String)?.contains(":") == true, "\(addresses)")
        let topics = addresses["topics"] as? [String: Any]
        #expect(topics?["results"] as? String == "outcomes")
        #expect(topics?["retry"] as? [String] == ["notifications.retry.100ms"])
        #expect(topics?["campaigns"] as? String == "notifications.campaigns")
        #expect(topics?["state"] as? String == "notifications.dead-letter.state")
        #expect(addresses["group"] as? String == "herald")
        for name in ["backendURL", "adminURL"] {
            let text = try #require(addresses[name] as? String)
            let port = try #require(URL(string: text)?.port)
            let answer = try PlainHTTP.request(port: UInt16(port), "GET", "/livez")
            #expect([200, 403].contains(answer.status), "\(name): \(answer.status)")
        }
        try sandbox.closeInput()
        let end = try await sandbox.end()
        // The client's remarks about a healthy broker help no reader.
        #expect(end.status == 0 && !end.error.contains("librdkafka"), "\(end.error)")
    }

    private static let program = Bundle.main.bundleURL.appendingPathComponent("herald").path
    private static let examples = Repository.root.appending(path: "docs/examples/sandbox")

    /// Runs a program with `variables`; returns its status and output.
    private static func run(
        _ words: [String], _ variables: [String: String] = [:]
    ) async throws -> (status: Int32, text: String) {
        let log = FileManager.default.temporaryDirectory.appending(path: "herald-sandbox-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        let all = ["/usr/bin/env", "HERALD=\(program)", "KAFKA_HOME="] + variables.map { "\($0)=\($1)" } + words
        let status = try await Blocking.run {
            try Java.start(words.prefix(1).filter { $0.hasPrefix("java") }) {
                try ChildProcess(all, output: log).wait()
            }
        }
        return (status, (try? String(contentsOf: log, encoding: .utf8)) ?? "")
    }

    @Test(
        "The first publication in a document is delivered beside a sandbox, exactly as written",
        arguments: ["README.md", "docs/PUBLISHING.md"])
    func firstPublication(document: String) async throws {
        let sandbox = try RunningHerald(["sandbox", "-o", "json"])
        let broker = try #require(try await sandbox.object()["bootstrapServers"] as? String)
        let text = try String(contentsOf: Repository.root.appending(path: document), encoding: .utf8)
        let shown = try ["    export HERALD_KAFKA_BOOTSTRAP_SERVERS=localhost:9092", "    herald publish "].map {
            begin in
            String(try #require(text.split(separator: "\n").first { $0.hasPrefix(begin) }, "\(document): \(begin)"))
        }
        let folder = URL(fileURLWithPath: Self.program).deletingLastPathComponent().path
        let script = shown.joined(separator: "\n").replacing("localhost:9092", with: broker)
        let run = try await Self.run(["bash", "-c", "PATH=\(folder):$PATH\n\(script)"])
        #expect(run.status == 0 && run.text.contains("delivered"), "\(run.text)")
        try sandbox.closeInput()
        #expect(try await sandbox.end().status == 0)
    }

    @Test("A service's test in Python passes: docs/examples/sandbox")
    func python() async throws {
        for python in ["/usr/bin/python3", "python3"]
        where try await Self.run([python, "-c", "import confluent_kafka"]).status == 0 {
            let run = try await Self.run([python, Self.examples.appending(path: "test_notifications.py").path])
            #expect(run.status == 0, "\(run.text)")
            return
        }
        SkippedSuites.note(absent: "confluent-kafka for Python, for docs/examples/sandbox")
    }

    @Test(
        "A service's test in Java passes, on a Kafka that the sandbox starts: docs/examples/sandbox",
        .long("a compiler, JUnit and a broker; the Python one stays"),
        .ownKafka("docs/examples/sandbox in Java"))
    func java() async throws {
        let junit = "/usr/share/java/junit-platform-console-standalone.jar"
        let hasJava = try await Self.run(["javac", "--version"]).status == 0
        guard let home = RealKafka.home, hasJava, FileManager.default.fileExists(atPath: junit) else {
            return SkippedSuites.note(absent: "javac or junit5, for docs/examples/sandbox in Java")
        }
        let classes = FileManager.default.temporaryDirectory.appending(path: "herald-java-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: classes) }
        let path = "\(home)/libs/*:/usr/share/java/*"
        let compiled = try await Self.run([
            "javac", "-d", classes.path, "-cp", path, Self.examples.appending(path: "NotificationsTest.java").path,
        ])
        try #require(compiled.status == 0, "\(compiled.text)")
        let run = try await Self.run(
            [
                "java", "-cp", "\(classes.path):\(home)/libs/*:\(junit)", "org.junit.platform.console.ConsoleLauncher",
                "--select-class", "NotificationsTest",
            ], ["KAFKA_HOME": home])
        #expect(run.status == 0 && run.text.contains("1 tests successful"), "\(run.text)")
    }

    @Test(
        "The Kafka of a sandbox ends with it, even when it is killed, and leaves nothing",
        .ownKafka("herald sandbox --kafka-home"))
    func kafkaHome() async throws {
        let home = try #require(RealKafka.home)
        let folder = FileManager.default.temporaryDirectory.appending(path: "herald-tmp-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for isKilled in [false, true] {
            let sandbox = try RunningHerald(
                ["sandbox", "-o", "json", "--kafka-home", home], environment: ["TMPDIR": folder.path])
            let broker = try #require(try await sandbox.object()["bootstrapServers"] as? String)
            let port = try #require(broker.split(separator: ":").last.flatMap { UInt16($0) })
            _ = try PlainHTTP(port: port)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
            if isKilled { sandbox.signal(SIGKILL) } else { try sandbox.closeInput() }
            #expect(try await sandbox.end().status == (isKilled ? SIGKILL : 0))
            let isGone = try await eventually {
                try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty
            }
            #expect(isGone)
            #expect(throws: (any Error).self) { try PlainHTTP(port: port) }
        }
    }

    @Test(
        "Without a Kafka, or with a broken one, it explains why, and leaves nothing", .ownKafka("a sandbox's Kafka"))
    func brokenHome() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "herald-tmp-\(UUID().uuidString)")
        let empty = folder.appending(path: "empty/libs")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (home, words) in [
            ("/nowhere", "has no folder libs"), (folder.path + "/empty", "Kafka stopped while it started"),
        ] {
            let run = try await Self.run(
                [Self.program, "sandbox", "--kafka-home", home], ["TMPDIR": folder.path])
            #expect(run.status == 1 && run.text.contains("--kafka-home: ") && run.text.contains(words), "\(run.text)")
        }
        let both = try await Self.run([
            Self.program, "sandbox", "--kafka-home", "/opt/kafka", "--brokers", "localhost:1",
        ])
        #expect(both.status == 1 && both.text.contains("exclude each other"), "\(both.text)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["empty"])
    }

    @Test("What a user does not want is said, shown and forgotten by HTTP, and holds when that is answered")
    func preferences() async throws {
        let sandbox = try RunningHerald([
            "sandbox", "-o", "json", "--preferences-enabled", "true", "--topics-classes",
            "notifications=promotional",
        ])
        let addresses = try await sandbox.object()
        let broker = try #require(addresses["bootstrapServers"] as? String)
        let backend = try #require((addresses["backendURL"] as? String).flatMap { URL(string: $0)?.port })
        func ask(_ method: String, _ user: String, _ body: String = "") async throws -> (status: Int, text: String) {
            let answer = try await Blocking.run {
                try PlainHTTP.request(
                    port: UInt16(backend), method, "/sandbox/preferences/\(user)",
                    headers: ["Authorization": "Basic YW5uOmFubg=="], body: body)
            }
            return (answer.status, answer.text)
        }
        #expect(try await ask("GET", "ann%231").status == 404)
        let broken = try await ask("PUT", "ann%231", #"{"optOut":["promo"]}"#)
        #expect(broken.status == 400 && broken.text.contains("is unknown; allowed: all, promotional, pns:NAME"))
        #expect(try await ask("PUT", "ann%231", "nonsense").status == 400)
        #expect(try await ask("GET", "ann%231").status == 404)
        #expect(try await ask("POST", "ann%231").status == 405)
        let word = #"{"optOut":["promotional"],"by":"a test","colour":"blue"}"#
        #expect(try await ask("PUT", "ann%231", word).status == 200)
        #expect(try await ask("GET", "ann%231") == (200, word))
        func outcome() async throws -> String {
            let run = try await Self.run(
                [Self.program, "publish", "--user", "ann#1", "--pns", "apns", "--message", "m", "--wait", "60s"],
                ["HERALD_KAFKA_BOOTSTRAP_SERVERS": broker])
            return run.text
        }
        #expect(try await outcome().contains("suppressed"))
        #expect(try await ask("DELETE", "ann%231").status == 200)
        #expect(try await ask("GET", "ann%231").status == 404)
        #expect(try await outcome().contains("delivered"))
        try sandbox.closeInput()
        #expect(try await sandbox.end().status == 0)
    }

    @Test("Each call names its record, and the fault of that record's key")
    func records() async throws {
        let sandbox = try RunningHerald(["sandbox", "-o", "json", "--retry-delays", "100ms"])
        let addresses = try await sandbox.object()
        let broker = try #require(addresses["bootstrapServers"] as? String)
        let backend = try #require((addresses["backendURL"] as? String).flatMap { URL(string: $0)?.port })
        try await Blocking.run {
            let producer = try Producer(properties: [("bootstrap.servers", broker)])
            defer { producer.close() }
            let topic = try producer.topic("notifications")
            let event = #"{"user":"ann","pns":["apns"],"message":"m","source":"shop/1"}"#
            for (key, partition) in [(nil, 0), ("bob", 0), ("ann", 1), ("ann", 2)] as [(String?, Int32)] {
                func produce(_ key: RawSpan?) -> KafkaError? {
                    producer.produce(
                        topic: topic, partition: partition, key: key, value: event.utf8.span.bytes, token: 0)
                }
                let error = if let key { produce(key.utf8.span.bytes) } else { produce(nil) }
                if let error { throw error }
            }
            try producer.flush(timeout: Patience.timeout)
        }
        var calls: [[String: Any]] = []
        _ = try await eventually {
            let answer = try PlainHTTP.request(
                port: UInt16(backend), "GET", "/sandbox/calls", headers: ["Authorization": "Basic YW5uOmFubg=="])
            calls = try answer.text.split(separator: "\n").compactMap {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            return calls.count == 4
        }
        let places = calls.map { call in
            let partition = call["partition"] as? Int ?? -1
            let offset = call["offset"] as? Int ?? -1
            return "\(partition)/\(offset) \(call["recordKey"] ?? "-") \(call["fault"] ?? "-")"
        }
        // murmur2 puts ann into the last of three partitions, CRC 32 into the first.
        #expect(places.sorted() == ["0/0 - no-key", "0/1 bob key-not-user", "1/0 ann partitioner", "2/0 ann -"])
        try sandbox.closeInput()
        #expect(try await sandbox.end().status == 0)
    }

    @Test("A service's test in Go passes: docs/examples/sandbox")
    func go() async throws {
        guard try await Self.run(["go", "version"]).status == 0 else {
            return SkippedSuites.note(absent: "docs/examples/sandbox in Go")
        }
        let module = FileManager.default.temporaryDirectory.appending(path: "herald-go-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: module, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: module) }
        let test = "notifications_test.go"
        try FileManager.default.copyItem(at: Self.examples.appending(path: test), to: module.appending(path: test))
        let folder = URL(fileURLWithPath: Self.program).deletingLastPathComponent().path
        let script = "cd \(module.path) && PATH=$PATH:\(folder) && go mod init orders && go mod tidy && go test ."
        let run = try await Self.run(["bash", "-c", script])
        #expect(run.status == 0, "\(run.text)")
    }
}
