import Foundation
import HeraldHTTP
import HeraldKafka
import HeraldSandbox
import HeraldTime
import Synchronization
import TestSupport
import Testing

/// A test's own world: topics on a real Kafka, a reference backend, settings, and workers.
final class Fixture: Sendable {
    /// One of the clusters of a test process; tests use those that they harm one at a time.
    enum Cluster: Sendable {
        case shared, secured, strict, mortal, moving, proxied, three
    }

    /// The options of a test.
    struct Plan: Sendable {
        /// Partitions of every topic.
        var partitions = 2
        /// Changes to the settings.
        var settings: [String: String] = [:]
        /// More topics, by their short names.
        var more: [String] = []
        /// A topic that is not made, by its short name.
        var missing: String?
        /// Configurations of topics, by their short names.
        var topicConfigurations: [String: [String: String]] = [:]
        /// The replication of topics without the cluster's default, by their short names.
        var replication: [String: Int] = [:]
        /// The backend's misbehaviour from the start.
        var misbehaviour: [Misbehaviour] = []
        /// Its cluster.
        var cluster = Cluster.shared
    }

    /// The prefix of every topic's name, and the group.
    let name: String
    let bootstrapServers: String
    let backend: ReferenceBackend
    let settings: WorkerSettings
    let directory: URL
    let kafka: RealKafka
    let plan: Plan
    private let partitions: [TopicPartition]
    private let follower: Follower
    private let queries: ConsumerQueries
    /// Sees the records of open transactions, too.
    private let openQueries: ConsumerQueries
    private let processes = Mutex<[HeraldProcess]>([])

    /// `kafka.properties` of members whose session must expire: they are killed or paused, and others take over.
    static let shortSession = #"{session.timeout.ms: "6000", heartbeat.interval.ms: "500"}"#

    /// Runs a test in its own fixture and clears that away.
    ///
    /// The file named by `TESTS_TIMES` gets the seconds that it took without the wait for a place.
    static func run(_ plan: Plan = Plan(), _ body: (Fixture) async throws -> Void) async throws {
        // The turn first, so that waiting for it takes no place from others.
        func run(on kafka: RealKafka) async throws {
            try await Gate.fixtures.pass { try await runAtOnce(plan, on: kafka, body) }
        }
        switch plan.cluster {
        case .shared: try await run(on: RealKafka.shared())
        case .secured: try await run(on: RealKafka.secured())
        case .strict: try await run(on: RealKafka.strict())
        case .mortal: try await RealKafka.mortal.take(run)
        case .moving: try await RealKafka.moving.take(run)
        case .proxied: try await RealKafka.proxied.take(run)
        case .three: try await RealKafka.three.take(run)
        }
    }

    private static func runAtOnce(
        _ plan: Plan, on kafka: RealKafka, _ body: (Fixture) async throws -> Void
    ) async throws {
        let begin = ContinuousClock.now
        defer {
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            let name = Test.current.map { String(describing: $0.id) } ?? ""
            RunFile.append(String(format: "%.2f\t", seconds) + name, to: "TESTS_TIMES")
        }
        let fixture = try await Blocking.run { try Fixture(plan, kafka) }
        do {
            try await body(fixture)
        } catch {
            Issue.record("\(error)\nThe workers' logs end with:\n\(fixture.logTails)")
        }
        try await Blocking.run { fixture.clear() }
    }

    private init(_ plan: Plan, _ kafka: RealKafka) throws {
        name = RealKafka.uniqueName("e2e")
        self.kafka = kafka
        self.plan = plan
        bootstrapServers = kafka.bootstrapServers
        directory = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var configuration = ReferenceBackend.Configuration()
        configuration.misbehaviour = plan.misbehaviour
        backend = try ReferenceBackend(configuration)
        settings = Self.settings(name, bootstrapServers, backend.url).changing(plan.settings)
        let topics =
            [
                "notifications", "notifications.bulk", "notifications.results", "notifications.dead-letter",
                "notifications.campaigns",
            ]
            + settings.delays.map { "notifications.retry.\($0)" } + plan.more
        let made = topics.filter { $0 != plan.missing }.map { [name] in
            NewTopic(
                name: "\(name).\($0)", partitions: plan.partitions, replication: plan.replication[$0],
                configuration: Self.configuration(of: $0).merging(plan.topicConfigurations[$0] ?? [:]) { $1 })
        }
        try kafka.makeTopics(made)
        partitions = made.flatMap { topic in
            (0..<plan.partitions).map { TopicPartition(topic: topic.name, partition: Int32($0)) }
        }
        follower = try Follower(bootstrapServers: bootstrapServers, partitions: partitions)
        queries = try Self.queries(bootstrapServers, name)
        openQueries = try Self.queries(bootstrapServers, name, isolation: "read_uncommitted")
    }

    /// What the settings want otherwise than the brokers' defaults.
    static func configuration(of topic: String) -> [String: String] {
        switch topic {
        case "notifications.campaigns", "notifications.audiences", "notifications.dead-letter.state",
            "notifications.preferences":
            ["cleanup.policy": "compact"]
        case "notifications", "notifications.bulk": ["compression.type": "uncompressed"]
        case "notifications.audit": ["retention.ms": "31536000000"]
        case "notifications.dead-letter": ["max.message.bytes": "1064972"]
        case _ where topic.hasPrefix("notifications.retry."): ["max.message.bytes": "1064972"]
        case _: [:]
        }
    }

    private static func queries(
        _ servers: String, _ group: String, isolation: String = "read_committed"
    ) throws(KafkaError) -> ConsumerQueries {
        try Consumer(properties: [
            ("bootstrap.servers", servers), ("group.id", group), ("isolation.level", isolation),
        ]).queries
    }

    private static func settings(_ name: String, _ servers: String, _ url: String) -> WorkerSettings {
        WorkerSettings([
            "kafka.bootstrapServers": "[\"\(servers.split(separator: ",").joined(separator: "\", \""))\"]",
            "kafka.group": name,
            // Times that must not expire are a minute, for slow machines; a test shortens those that must.
            "kafka.properties":
                #"{session.timeout.ms: "60000", heartbeat.interval.ms: "500", transaction.timeout.ms: "60000"}"#,
            "topics.requests": "[{name: \(name).notifications, weight: 10}, \(name).notifications.bulk]",
            "topics.results": "\(name).notifications.results",
            "topics.retry": "\(name).notifications.retry",
            "topics.deadLetter": "\(name).notifications.dead-letter",
            "topics.campaigns": "\(name).notifications.campaigns",
            "topics.audiences": "\(name).notifications.audiences",
            "topics.state": "\(name).notifications.dead-letter.state",
            "topics.feedback": "\(name).notifications.feedback",
            "topics.audit": "\(name).notifications.audit",
            "backend.url": url,
            "backend.auth.username": "herald",
            "backend.auth.password": "herald",
            "backend.timeout": "60s",
            "retry.immediate": "0",
            "retry.delays": "[1s, 2s]",
            "delivery.drainTimeout": "60s",
            "admin.listen": "127.0.0.1:0",
        ])
    }

    private var logTails: String {
        let logs = processes.withLock { $0 }.map(\.tail).joined(separator: "\n--\n")
        // The log counts calls without an answer; each retry has the error.
        let retries = retries.suffix(10).map { retry in
            retry.headers.filter { ["herald-history", "herald-detail"].contains($0.name) }
                .map { "\($0.name): \(String(decoding: $0.value ?? [], as: UTF8.self))" }.joined(separator: "; ")
        }
        return logs + (retries.isEmpty ? "" : "\nThe last retries:\n\(retries.joined(separator: "\n"))")
    }

    private func clear() {
        for process in processes.withLock({ $0 }) { process.kill() }
        backend.stop()
        follower.stop()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Settings of a worker that reaches the brokers through the cluster's proxy.
    var behindProxy: [String: String] {
        kafka.proxy.map { ["kafka.bootstrapServers": "[\"\($0.bootstrapServers)\"]"] } ?? [:]
    }

    /// The full name of a topic.
    func topic(_ shortName: String) -> String { "\(name).\(shortName)" }

    // MARK: Workers

    /// Starts a worker and waits until it has partitions.
    func startWorker(
        changing changes: [String: String] = [:], removing removed: [String] = [], under wrapper: [String] = []
    ) async throws -> HeraldProcess {
        let worker = try spawnWorker(changing: changes, removing: removed, under: wrapper)
        try await worker.waitForLog("partitions assigned")
        return worker
    }

    /// Starts a worker without waiting.
    ///
    /// - Parameters:
    ///   - command: A command that runs with the workers' settings, such as `feedback`.
    ///   - wrapper: A program and its arguments that starts it, such as `prlimit`.
    func spawnWorker(
        _ command: String = "worker", changing changes: [String: String] = [:], removing removed: [String] = [],
        under wrapper: [String] = []
    ) throws -> HeraldProcess {
        var settings = settings.changing(changes)
        for path in removed { settings[path] = nil }
        let number = processes.withLock { $0.count }
        let file = directory.appending(path: "\(command)-\(number).yaml")
        try settings.text.write(to: file, atomically: true, encoding: .utf8)
        let worker = try HeraldProcess(
            [command, "--config", file.path], under: wrapper,
            log: directory.appending(path: "\(command)-\(number).log"))
        processes.withLock { $0.append(worker) }
        return worker
    }

    // MARK: Records

    /// Publishes in order and waits until the broker has everything.
    func publish(_ publications: [Publication]) async throws {
        try await Blocking.run { [self] in
            let producer = try Producer(properties: [
                ("bootstrap.servers", bootstrapServers), ("enable.idempotence", "true"), ("linger.ms", "5"),
                // The topics decide which records are too large.
                ("message.max.bytes", "10000000"),
            ])
            for publication in publications {
                try producer.publish(publication, to: producer.topic(topic(publication.topic)))
            }
            var failed: KafkaError?
            try producer.flush(timeout: .minutes(1)) { _, error in failed = failed ?? error }
            producer.close()
            if let failed { throw failed }
        }
    }

    /// The records read from a topic so far, by its short name.
    func records(_ shortName: String) -> [StoredRecord] { follower.records(of: topic(shortName)) }

    /// The number of records read from a topic so far.
    func count(_ shortName: String) -> Int { follower.count(of: topic(shortName)) }

    /// The records of all request topics.
    var requests: [StoredRecord] { records("notifications") + records("notifications.bulk") }

    /// The records of all retry topics, the oldest first.
    var retries: [StoredRecord] {
        retryTopics.flatMap { follower.records(of: $0) }.sorted { $0.timestamp < $1.timestamp }
    }

    private var retryTopics: Set<String> {
        Set(partitions.map(\.topic).filter { $0.hasPrefix(topic("notifications.retry.")) })
    }

    /// The dead letters.
    var deadLetters: [StoredRecord] { records("notifications.dead-letter") }

    /// The results.
    var results: [ResultRecord] {
        get throws { try records("notifications.results").map { try ResultRecord($0) } }
    }

    /// Waits until `condition` holds.
    func wait(
        _ what: String, within seconds: Int = Patience.seconds, until condition: () throws -> Bool
    ) async throws {
        guard try await eventually(within: seconds, condition) else {
            throw WorldError("after \(seconds) s it was not so: \(what)")
        }
    }

    /// Waits until `condition` holds, calling `look` before each check.
    func wait(_ what: String, until condition: () -> Bool, meanwhile look: () async throws -> Void) async throws {
        let isTrue = try await eventually(within: Patience.seconds) {
            try await look()
            return condition()
        }
        guard isTrue else { throw WorldError("after \(Patience.seconds) s it was not so: \(what)") }
    }

    /// Waits until there are this many results.
    func waitForResults(_ expected: Int, within seconds: Int = Patience.seconds) async throws {
        do {
            try await wait("\(expected) results", within: seconds) { count("notifications.results") >= expected }
        } catch {
            throw WorldError("\(error); there are \(count("notifications.results"))")
        }
    }

    /// Waits until everything that the brokers have now was read.
    func catchUp() async throws {
        let ends = try await ends(of: partitions)
        try await wait("everything is read") { try follower.hasRead(to: ends) }
    }

    /// The number of a topic's records on the brokers, including transaction markers and uncommitted ones.
    func written(_ shortName: String) async throws -> Int {
        let wanted = partitions.filter { $0.topic == topic(shortName) }
        return try await Blocking.run { [openQueries] in
            try wanted.reduce(0) {
                $0 + Int(try openQueries.watermarks(of: $1, timeout: Patience.timeout).high)
            }
        }
    }

    /// Waits until a topic has `count` records, including markers and those of open transactions.
    func waitUntilWritten(_ count: Int, to shortName: String) async throws {
        var written = 0
        let isSo = try await eventually(within: Patience.seconds) {
            written = try await self.written(shortName)
            return written >= count
        }
        guard isSo else { throw WorldError("\(shortName) has \(written) records of \(count)") }
    }

    /// Whether a topic has records that are neither committed nor aborted.
    func hasOpenTransaction(_ shortName: String) throws -> Bool {
        let wanted = partitions.filter { $0.topic == topic(shortName) }
        let committed = try queries.ends(of: wanted, timeout: Patience.timeout)
        let written = try openQueries.ends(of: wanted, timeout: Patience.timeout)
        return wanted.contains { committed[$0] ?? 0 < written[$0] ?? 0 }
    }

    private func ends(of partitions: [TopicPartition]) async throws -> [TopicPartition: Int64] {
        try await Blocking.run { [queries, name, bootstrapServers] in
            let end = ContinuousClock.now + .seconds(Patience.seconds)
            var queries = queries
            var ends: [TopicPartition: Int64] = [:]
            for partition in partitions {
                while ends[partition] == nil {
                    do throws(KafkaError) {
                        ends[partition] = try queries.watermarks(of: partition, timeout: .seconds(10)).high
                    } catch {
                        // A leader that has moved; librdkafka goes on asking the former one, a new client does not.
                        guard ContinuousClock.now < end else { throw error }
                        usleep(100_000)
                        queries = try Self.queries(bootstrapServers, name)
                    }
                }
            }
            return ends
        }
    }

    // MARK: Offsets

    /// The partitions that workers consume.
    private var consumed: [TopicPartition] {
        let topics = retryTopics.union([topic("notifications"), topic("notifications.bulk")])
        return partitions.filter { topics.contains($0.topic) }
    }

    /// The group's committed offsets, 0 without a commit.
    func committed() async throws -> [TopicPartition: Int64] {
        try await commits().mapValues { max($0.offset, 0) }
    }

    /// The same with its metadata.
    func commits() async throws -> [TopicPartition: CommitPosition] {
        let consumed = consumed
        // A `read_committed` client waits for the end of a killed worker's transaction (KIP-447).
        let positions = try await Blocking.run { [openQueries] in
            try openQueries.committed(consumed, timeout: Patience.timeout)
        }
        return Dictionary(positions.map { ($0.partition, $0) }, uniquingKeysWith: { $1 })
    }

    /// Waits until the group has committed everything that there is.
    func waitUntilAllIsCommitted() async throws {
        let end = ContinuousClock.now + .seconds(Patience.seconds)
        while true {
            let (ends, committed) = (try await ends(of: consumed), try await committed())
            let open = ends.filter { $0.value != committed[$0.key] ?? 0 }
            if open.isEmpty { return }
            guard ContinuousClock.now < end else {
                throw WorldError("not all is committed: \(open.keys.map { "\($0)" }.sorted())")
            }
        }
    }

    /// Publishes an event and commits past it, so that nobody calls it; the group must have no members.
    @discardableResult
    func loseEvent() async throws -> StoredRecord {
        try await publish([Publication(id: "lost", user: "ann")])
        try await catchUp()
        let lost = try #require(requests.max { $0.timestamp < $1.timestamp })
        try await commit([lost.topicPartition: lost.offset + 1])
        return lost
    }

    /// Commits offsets for the group, which must have no members.
    func commit(_ offsets: [TopicPartition: Int64], metadata: String = "") async throws {
        try await Blocking.run { [bootstrapServers, name] in
            let consumer = try Consumer(properties: [("bootstrap.servers", bootstrapServers), ("group.id", name)])
            defer { consumer.close() }
            let positions = offsets.map { CommitPosition(partition: $0.key, offset: $0.value, metadata: metadata) }
            guard try consumer.commit(positions, within: .seconds(Patience.seconds)) else {
                throw WorldError("the commit has no outcome")
            }
        }
    }
}
