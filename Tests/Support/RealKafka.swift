import Foundation
import Glibc
public import HeraldKafka
import Synchronization

/// A real Apache Kafka: one that runs already (`KAFKA_BOOTSTRAP_SERVERS`), or started from `KAFKA_HOME`.
///
/// Give a suite the trait `.realKafka("its name")` and take ``shared()``; for killing and pausing brokers `.ownKafka` and
/// ``start(nodes:settings:)``. Everything that was started ends with the test process, however that ends.
public final class RealKafka: Sendable {
    /// The addresses, for the property `bootstrap.servers`.
    public let bootstrapServers: String
    /// The address of the listener with TLS and passwords, if it was asked for one.
    public let secureServers: String?
    private let nodes: [KafkaNode]
    /// The controller, when it has a process of its own.
    private let controller: KafkaNode?
    private let directory: URL?
    private let madeTopics = Mutex<[String]>([])

    private static let startSeconds = 90
    private static let sessionMilliseconds = 2_000

    /// Whether ``shared()`` has something to run on.
    public static var isAvailable: Bool { runningServers != nil || canStart }

    /// Whether ``start(nodes:settings:)`` can start brokers.
    public static var canStart: Bool { home != nil }

    private static var runningServers: String? { variable("KAFKA_BOOTSTRAP_SERVERS") }
    /// The Apache Kafka that ``start(nodes:controllerOutlivesBroker:settings:behind:secure:)`` starts.
    public static var home: String? { variable("KAFKA_HOME") }

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let sharing = Task<RealKafka, any Error> {
        guard let servers = runningServers else { return try await start(nodes: 1) }
        return RealKafka(bootstrapServers: servers, secureServers: nil, nodes: [], controller: nil, directory: nil)
    }

    /// The one cluster that all tests of this process share; started when first asked for.
    public static func shared() async throws -> RealKafka { try await sharing.value }

    /// Starts a cluster of its own for a test that hurts it; call ``stop()`` at the end.
    ///
    /// - Parameters:
    ///   - controllerOutlivesBroker: gives the controller a process of its own, for a test that kills the only broker.
    ///     A node that is both comes back believing that it leads what it led. It loads the transactions, is fenced a moment
    ///     later, finds no leader for the partitions of one that was about to end, takes them for deleted, and ends it without
    ///     a marker (Kafka 4.3.1, TransactionMarkerChannelManager): what was committed stays invisible, or what was
    ///     aborted becomes visible with that producer's next commit. No client can do anything about that.
    ///   - settings: added to the brokers' `server.properties`.
    ///   - proxy: stands before a second listener of a single node: who begins there stays there.
    ///   - secure: a second listener of a single node, and permissions; who comes in by the first may do anything.
    public static func start(
        nodes count: Int, controllerOutlivesBroker isApart: Bool = false, settings: [String: String] = [:],
        behind proxy: KafkaProxy? = nil, secure: SecureListener? = nil
    ) async throws -> RealKafka {
        try await Blocking.run {
            guard let home else { throw ChildProcess.Failure(description: "KAFKA_HOME is not set") }
            let directory = FileManager.default.temporaryDirectory
                .appending(path: "herald-kafka-\(getpid())-\(UUID().uuidString)")
            let kafka = try make(home: home, count, isApart, settings, proxy, secure, directory)
            AtExit.run { kafka.stop() }
            do {
                for node in kafka.processes { try node.start() }
                try kafka.waitUntilReady()
                return kafka
            } catch {
                kafka.stop()
                throw error
            }
        }
    }

    private static func make(
        home: String, _ count: Int, _ isApart: Bool, _ settings: [String: String], _ proxy: KafkaProxy?,
        _ secure: SecureListener?, _ directory: URL
    ) throws -> RealKafka {
        let ports = FreePorts.take(2 * count + 1)
        guard ports.count == 2 * count + 1 else { throw ChildProcess.Failure(description: "no free ports on loopback") }
        let clusterID = clusterID()
        let voters = (0..<count).map { "\($0 + 1)@127.0.0.1:\(ports[count + $0])" }.joined(separator: ",")
        let nodes = try (0..<count).map { index in
            var all = brokerSettings(
                node: index, of: count, voters: voters, port: ports[index], controllerPort: ports[count + index])
            if let proxy { put(proxy, before: ports[2 * count], &all) }
            try secure?.add(port: ports[2 * count], directory, to: &all)
            if isApart { makeBrokerOnly(&all) }
            return try KafkaNode(
                home: home, directory: directory.appending(path: "node-\(index + 1)"),
                settings: all.merging(settings) { $1 }, clusterID: clusterID, port: ports[index])
        }
        let controller =
            isApart
            ? try KafkaNode(
                home: home, directory: directory.appending(path: "controller"),
                settings: controllerSettings(voters: voters, port: ports[count]), clusterID: clusterID,
                port: ports[count]) : nil
        let servers = nodes.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return RealKafka(
            bootstrapServers: servers, secureServers: secure.map { _ in "127.0.0.1:\(ports[2 * count])" }, nodes: nodes,
            controller: controller, directory: directory)
    }

    private static func put(_ proxy: KafkaProxy, before port: Int, _ settings: inout [String: String]) {
        proxy.setTarget(port: port)
        let listeners = settings["listeners"] ?? ""
        let plain = listeners.split(separator: ",").first ?? ""
        settings["listeners"] = "\(listeners),PROXIED://127.0.0.1:\(port)"
        settings["advertised.listeners"] = "\(plain),PROXIED://127.0.0.1:\(proxy.port)"
        settings["listener.security.protocol.map", default: ""] += ",PROXIED:PLAINTEXT"
    }

    /// 16 random bytes in the URL's base 64, as Kafka wants it; no leading dash, which would look like an option.
    private static func clusterID() -> String {
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
        return "h"
            + Data(bytes).base64EncodedString().dropLast(2).dropFirst()
            .replacing("+", with: "a").replacing("/", with: "b")
    }

    private static func brokerSettings(
        node: Int, of count: Int, voters: String, port: Int, controllerPort: Int
    ) -> [String: String] {
        let replicas = String(min(count, 3))
        let inSync = count >= 3 ? "2" : "1"
        return [
            "process.roles": "broker,controller", "node.id": String(node + 1), "controller.quorum.voters": voters,
            "listeners": "PLAINTEXT://127.0.0.1:\(port),CONTROLLER://127.0.0.1:\(controllerPort)",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "inter.broker.listener.name": "PLAINTEXT", "controller.listener.names": "CONTROLLER",
            "num.network.threads": "2", "num.io.threads": "4", "auto.create.topics.enable": "false",
            "group.initial.rebalance.delay.ms": "0",
            "default.replication.factor": replicas, "min.insync.replicas": inSync,
            "offsets.topic.replication.factor": replicas, "offsets.topic.num.partitions": "10",
            "transaction.state.log.replication.factor": replicas, "transaction.state.log.min.isr": inSync,
            "transaction.state.log.num.partitions": "10",
            // A transaction whose producer died ends this soon after its time-out.
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
        ]
    }

    private static func makeBrokerOnly(_ settings: inout [String: String]) {
        settings["process.roles"] = "broker"
        settings["node.id"] = "101"
        settings["listeners"] = settings["listeners"]?.split(separator: ",").first.map(String.init)
        settings["broker.heartbeat.interval.ms"] = "500"
    }

    private static func controllerSettings(voters: String, port: Int) -> [String: String] {
        [
            "process.roles": "controller", "node.id": "1", "controller.quorum.voters": voters,
            "listeners": "CONTROLLER://127.0.0.1:\(port)", "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "broker.session.timeout.ms": String(sessionMilliseconds),
        ]
    }

    private var processes: [KafkaNode] { [controller].compactMap(\.self) + nodes }

    private init(
        bootstrapServers: String, secureServers: String?, nodes: [KafkaNode], controller: KafkaNode?, directory: URL?
    ) {
        self.bootstrapServers = bootstrapServers
        self.secureServers = secureServers
        self.nodes = nodes
        self.controller = controller
        self.directory = directory
        if nodes.isEmpty { AtExit.run { self.deleteTopics() } }
    }

    /// An admin client for it.
    public func admin() throws -> Admin {
        try Admin(properties: [("bootstrap.servers", bootstrapServers), ("reconnect.backoff.max.ms", "500")])
    }

    private func waitUntilReady() throws {
        let admin = try admin()
        let end = ContinuousClock.now + .seconds(Self.startSeconds)
        while ContinuousClock.now < end {
            if let dead = processes.first(where: { !$0.isRunning }) { throw dead.failure("it stopped while starting") }
            let brokers = (try? admin.metadata(topics: [], timeoutMilliseconds: 500))?.brokers.count
            if brokers == nodes.count { return }
            // Nothing tells when a broker is ready: it has to be asked again.
            usleep(50_000)
        }
        throw nodes[0].failure("not ready in \(Self.startSeconds) s")
    }

    /// A name that no other test uses, starting with `hint`.
    public static func uniqueName(_ hint: String) -> String {
        "\(hint)-\(UUID().uuidString.prefix(13).lowercased())"
    }

    /// Makes a topic under a name of its own and answers that name.
    public func makeTopic(
        _ hint: String, partitions: Int = 1, configuration: [String: String] = [:]
    ) throws -> String {
        let name = Self.uniqueName(hint)
        try makeTopics([NewTopic(name: name, partitions: partitions, configuration: configuration)])
        return name
    }

    /// Makes these topics and waits until the brokers serve them.
    public func makeTopics(_ topics: [NewTopic]) throws {
        let admin = try admin()
        for result in try admin.createTopics(topics, timeoutMilliseconds: Patience.milliseconds) {
            if let error = result.error { throw error }
            madeTopics.withLock { $0.append(result.topic) }
        }
        // The controller has made them; a broker hears of it a moment later.
        let names = topics.map(\.name)
        let end = ContinuousClock.now + .seconds(Patience.seconds)
        while ContinuousClock.now < end {
            let seen = try admin.metadata(topics: names, timeoutMilliseconds: Patience.milliseconds).topics
            if seen.allSatisfy({ $0.error == nil && !$0.partitions.isEmpty && $0.leaderlessPartitions.isEmpty }) {
                return
            }
            usleep(20_000)
        }
        throw ChildProcess.Failure(
            description: "topics without leaders after \(Patience.seconds) s: \(names.joined(separator: ", "))")
    }

    private func deleteTopics() {
        let names = madeTopics.withLock { $0 }
        _ = try? admin().deleteTopics(names, timeoutMilliseconds: Patience.milliseconds)
    }

    /// Ends a node (from 1) as a crash does, and waits until it is gone.
    public func kill(node: Int) { nodes[node - 1].kill() }

    /// Stops a node's process from running, as a hang.
    public func pause(node: Int) { nodes[node - 1].pause() }

    /// Lets a paused node go on.
    public func resume(node: Int) { nodes[node - 1].signal(SIGCONT) }

    /// Starts a killed node again with its data; `waitUntilReady` waits until all nodes serve.
    public func revive(node: Int, waitUntilReady wait: Bool = true) async throws {
        // The broker's session has to be over (see ``start(nodes:controllerOutlivesBroker:settings:behind:secure:)``), and only
        // the controller's clock tells when.
        if controller != nil { try await Task.sleep(for: .milliseconds(2 * Self.sessionMilliseconds)) }
        try await Blocking.run { [self] in
            try nodes[node - 1].start()
            if wait { try waitUntilReady() }
        }
    }

    /// Ends all nodes and deletes their data; nothing for a cluster that was running already.
    public func stop() {
        for node in processes { node.kill() }
        if let directory { try? FileManager.default.removeItem(at: directory) }
    }
}
