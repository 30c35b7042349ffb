import Glibc
import HeraldAdmin
import HeraldCommandLine
import HeraldDriver
import HeraldEvents
import HeraldHTTP
import HeraldSandbox
import HeraldSettings
import HeraldTelemetry
import HeraldText
import HeraldThreads
import HeraldTime
import HeraldTools
import HeraldTraces
import HeraldWorker

enum SandboxCommand: HeraldCommand {
    private static let brokerPort = CommandOption.standard(
        "broker-port", .wholeNumber(0...0, "PORT"), default: "0",
        "The broker's port: always 0, a free one, because the embedded broker takes no other.")
    private static let brokers = CommandOption.optional(
        "brokers", .text("HOST:PORT,…"),
        "Use these brokers, without a login, instead of the embedded one, in a group of its own, and create the topics "
            + "that are missing.")
    private static let kafkaHome = CommandOption.optional(
        "kafka-home", .text("DIR"),
        "Start a real Apache Kafka of one node for this run, from the folder that its release unpacks to. Default: KAFKA_HOME "
            + "of the environment; empty: the embedded broker all the same.")
    private static let backendPort = CommandOption.standard(
        "backend-port", .wholeNumber(0...65_535, "PORT"), default: "0", "The backend's port; 0 takes a free one.")
    private static let partitions = CommandOption.standard(
        "partitions", .wholeNumber(1...100), default: "3", "How many partitions each topic has.")

    static let declaration = CommandDeclaration(
        "sandbox", "Run broker, backend and worker in one process, for the tests of other services.",
        details:
            "It starts an embedded broker with Herald's topics, the reference backend, and an ordinary worker, writes their "
            + "addresses in one line when a test can begin, and ends with 0 when its standard input is closed, so that it "
            + "never outlives the test that started it. It ends on SIGTERM too. PUT /sandbox/misbehaviour on the backend "
            + "makes calls fail, GET /sandbox/calls shows them (herald help backend), and "
            + "PUT /sandbox/preferences/USER says what a user does not want. docs/TESTING.md has examples.\n\n"
            + "The embedded broker's group needs three seconds for its first member: events that are published before are "
            + "delivered then. It keeps nothing and has no real transactions. Kafka's own Java client, kafka-python, and "
            + "kafkajs with an idempotent producer cannot talk to it. With --kafka-home the sandbox starts a real Kafka, "
            + "with --brokers it takes one that runs, such as Testcontainers starts. There it has a random group, and takes "
            + "what is published from then on. A --kafka-group with members or offsets is refused.",
        options: [brokerPort, brokers, kafkaHome, backendPort, partitions, OutputFormat.option],
        examples: [
            .init("herald sandbox -o json", "Write the addresses as one JSON object in one line."),
            .init("herald sandbox -o json --retry-delays 100ms,200ms", "Retry soon, so that a test need not wait."),
            .init("herald sandbox -o json --kafka-home /opt/kafka", "Start a real Kafka for this run: for any client."),
            .init("herald sandbox -o json --brokers localhost:9092", "Use the broker that a test has started."),
        ])
    static let isService = true
    static let usedSettings: UsedSettings =
        ["kafka.group"]
        + .topics("requests", "results", "retry", "deadLetter", "campaigns", "preferences", "recalls", "classes") + [
            "preferences", "backend.body", "backend.statuses",
        ]
        + .events + [
            "delivery.ordering", "delivery.lanes", "delivery.maxInFlight", "delivery.dedupe", "retry", "limits",
            "outages", "log", "traces",
        ]

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try StopSignals.catchAll()
        let broker = try await Broker(loadedSettings(invocation), invocation)
        defer { withExtendedLifetime(broker) {} }
        let records = try SandboxRecords(broker.settings)
        defer { records.stop() }
        var configuration = ReferenceBackend.Configuration()
        configuration.server.port = UInt16(clamping: invocation.parsed[backendPort])
        configuration.recordOfCall = { records.record(of: $0) }
        let words =
            broker.settings.preferences.enabled
            ? try SandboxWords(broker.settings, environment: invocation.environment) : nil
        configuration.words = words
        let backend = try ReferenceBackend(configuration)
        defer { backend.stop() }
        let settings = try broker.settings.replacing(["backend-url": [backend.url]])
        let writer = try settings.logWriter()
        defer { writer.close(within: .seconds(1)) }
        let logger = Logger(writer, level: settings.log.level)
        var workerConfiguration = try settings.workerConfiguration(descriptors: FileDescriptorLimit.raise())
        let exporter = try settings.traceExporter(logger: logger)
        defer { exporter?.close(within: .seconds(2)) }
        workerConfiguration.tracing = try exporter.flatMap { try settings.tracing(into: $0.queue) }
        let worker = Worker(configuration: workerConfiguration, logger: logger)
        words?.follow(worker)
        let admin = try settings.adminServer(of: worker, writer: writer, spans: exporter?.queue)
        defer { admin?.stop() }

        try stopAtTheEnd(worker)
        try announce(
            broker: broker.address, backend: backend.url, admin: "http://\(admin?.address ?? "")", settings, worker,
            invocation)
        let end = worker.run()
        broker.group?.end(try settings.adminClient())
        switch end {
        case .stopped: return .done
        case .failed(let sentence): throw CommandFailure(sentence)
        }
    }

    /// The settings, with unreachable addresses as placeholders for those not known yet.
    private static func loadedSettings(_ invocation: Invocation) throws -> LoadedSettings {
        let parsed = invocation.parsed
        guard parsed[brokers] == nil || parsed[kafkaHome] == nil else {
            throw CommandFailure("--brokers and --kafka-home exclude each other: give one of them.")
        }
        var flags = [
            "kafka-auth-kind": ["none"], "kafka-bootstrap-servers": [parsed[brokers] ?? "127.0.0.1:1"],
            "backend-url": ["http://127.0.0.1:1"], "backend-http": ["1.1"], "backend-path": ["/api/notifications"],
            "backend-auth-kind": ["basic"], "backend-auth-username": ["herald"], "backend-auth-password": ["herald"],
            "admin-listen": ["127.0.0.1:0"],
        ]
        if parsed[brokers] == nil, Broker.home(invocation) == nil {
            // The embedded broker delays a fetch by this time even when records are there.
            flags["kafka-properties"] = ["fetch.wait.max.ms=100"]
            flags["delivery-guarantee"] = ["at-least-once"]
        }
        return try invocation.loadedSettings(requiring: [.kafka, .backend], replacing: flags)
    }

    /// The broker with the topics: one in this process, or an external one.
    private struct Broker {
        let address: String
        let settings: Settings
        /// The group created on an external broker.
        let group: SandboxGroup?
        /// The broker owned by the sandbox, which ends with it.
        private let own: (any Sendable)?

        init(_ loaded: LoadedSettings, _ invocation: Invocation) async throws {
            let count = invocation.parsed[partitions]
            if let address = invocation.parsed[brokers] {
                let group = SandboxGroup(loaded)
                (self.address, self.group, own) = (address, group, nil)
                settings = try loaded.settings.replacing(["kafka-group": [group.name]])
                let admin = try settings.adminClient()
                try group.refuseIfKnown(admin)
                try await Self.makeTopics(settings, count)
                let names = settings.topicNames
                try group.begin(at: names.requests + settings.retry.delays.map(names.retryTopic), settings)
                group.warnOfOthers(on: names.requests, admin, invocation.console)
            } else if let home = Self.home(invocation) {
                let kafka = try Self.localKafka(home, invocation)
                (address, group, own) = (kafka.bootstrapServers, nil, kafka)
                settings = try loaded.settings.replacing(["kafka-bootstrap-servers": [address]])
                try await Self.makeTopics(settings, count)
            } else {
                let cluster = try EmbeddedBroker(
                    topics: loaded.settings.topicWishes.topicNames.map { EmbeddedBroker.Topic($0, partitions: count) })
                (address, group, own) = (cluster.bootstrapServers, nil, cluster)
                settings = try loaded.settings.replacing(["kafka-bootstrap-servers": [address]])
            }
        }

        /// The folder of a real Kafka to start; `nil` for the embedded broker.
        static func home(_ invocation: Invocation) -> String? {
            let home = invocation.parsed[kafkaHome] ?? invocation.environment["KAFKA_HOME"] ?? ""
            return home.isEmpty ? nil : home
        }

        private static func localKafka(_ home: String, _ invocation: Invocation) throws -> LocalKafka {
            do throws(LocalKafka.Failure) {
                return try LocalKafka(home: home, environment: invocation.environment)
            } catch {
                let source = invocation.parsed[kafkaHome] == nil ? "KAFKA_HOME" : "--kafka-home"
                throw CommandFailure("\(source): \(error)")
            }
        }

        private static func makeTopics(_ settings: Settings, _ partitions: Int) async throws {
            let administrator = TopicAdministrator(admin: try settings.adminClient(), reach: settings.clusterReach)
            var wishes = settings.topicWishes
            wishes.partitions = partitions
            let made = try await administrator.apply(administrator.plan(wishes), for: wishes)
            if let refusal = made.refusals.first {
                throw CommandFailure("topic \(refusal.topic): \(SafeText.escaped(refusal.reason))")
            }
        }
    }

    /// Prints the addresses as soon as the worker has started.
    private static func announce(
        broker: String, backend: String, admin: String, _ settings: Settings, _ worker: Worker, _ invocation: Invocation
    ) throws {
        let (topics, group) = (settings.topicNames, settings.kafka.group)
        let retries = settings.retry.delays.map(topics.retryTopic)
        var names: [JSONValue.Member] = [
            .init("requests", .array(topics.requests.map { .string($0) })), .init("results", .string(topics.results)),
            .init("retry", .array(retries.map { .string($0) })), .init("deadLetter", .string(topics.deadLetter)),
            .init("campaigns", .string(topics.campaigns)), .init("state", .string(topics.state)),
        ]
        if settings.preferences.enabled {
            names += [
                .init("preferences", .string(topics.preferences)), .init("recalls", .string(topics.recalls)),
            ]
            if !settings.preferences.caps.isEmpty { names.append(.init("caps", .string(topics.caps))) }
        }
        let members: [JSONValue.Member] = [
            .init("bootstrapServers", .string(broker)), .init("backendURL", .string(backend)),
            .init("adminURL", .string(admin)), .init("group", .string(group)), .init("topics", .object(names)),
        ]
        let lines = ["broker   \(broker)", "backend  \(backend)", "admin    \(admin)", "group    \(group)"]
        let format = invocation.format
        _ = try OwnThread(name: "announcement") {
            while Readiness(worker.report, now: SystemClock.monotonic()).isStarting {
                // Polls, because no event announces a lane.
                usleep(10_000)
            }
            try? format.writeLine(members, lines: lines, to: invocation.console)
        }
    }

    /// Stops the worker when standard input is closed, or on a signal; a second signal ends the process at once.
    private static func stopAtTheEnd(_ worker: Worker) throws {
        _ = try OwnThread(name: "input") {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = read(STDIN_FILENO, &bytes, bytes.count)
                guard count > 0 || (count < 0 && errno == EINTR) else { return worker.stop() }
            }
        }
        _ = try OwnThread(name: "signals") {
            _ = StopSignals.wait()
            worker.stop()
            _ = StopSignals.wait()
            _exit(ExitStatus.failed.rawValue)
        }
    }
}
