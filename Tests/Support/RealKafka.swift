import Foundation
import Glibc
public import HeraldKafka
import HeraldTime
import Synchronization

/// A real Apache Kafka: a running one (`KAFKA_BOOTSTRAP_SERVERS`), or one started from `KAFKA_HOME`.
///
/// Give a suite the trait `.realKafka("its name")` and use ``shared()``; for killing and pausing brokers use
/// `.ownKafka` and one of the clusters whose tests take turns, such as ``mortal``. Everything started ends with the
/// test process, however that ends.
public final class RealKafka: Sendable {
    /// The addresses, for the property `bootstrap.servers`.
    public let bootstrapServers: String
    /// The address of the listener with TLS and logins, if it has one.
    public let secureServers: String?
    /// The address of the listener with TLS and client certificates, if it has one.
    public let certifiedServers: String?
    /// The proxy before its second listener, if it has one.
    public let proxy: KafkaProxy?
    /// The proxy advertised to clients that come to ``proxy``.
    private let advertised: Mutex<KafkaProxy?>
    private let nodes: [KafkaNode]
    /// The controller, when it has a process of its own.
    private let controller: KafkaNode?
    private let directory: URL?
    /// The default configuration of topics.
    private let topicConfiguration: [String: String]
    private let madeTopics = Mutex<[String]>([])

    private static let startSeconds = 180

    /// Whether ``shared()`` has a Kafka to use.
    public static var isAvailable: Bool { runningServers != nil || canStart }

    /// Whether brokers can be started.
    public static var canStart: Bool { home != nil }

    static var runningServers: String? { variable("KAFKA_BOOTSTRAP_SERVERS") }
    /// The Apache Kafka to start.
    public static var home: String? { variable("KAFKA_HOME") }

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The same for callers that cannot do without.
    static func requireHome() throws -> String {
        guard let home else { throw ChildProcess.Failure(description: "KAFKA_HOME is not set") }
        return home
    }

    /// A cluster that runs already.
    init(running servers: String) {
        bootstrapServers = servers
        (secureServers, certifiedServers, proxy, controller, directory) = (nil, nil, nil, nil, nil)
        advertised = Mutex(nil)
        nodes = []
        topicConfiguration = [:]
        AtExit.run { self.deleteTopics() }
    }

    /// Starts a cluster.
    ///
    /// - Parameters:
    ///   - controllerOutlivesBroker: Gives the controller a process of its own, for a test that kills the only broker.
    ///     A combined node comes back believing that it still leads its partitions. It loads the transactions, is
    ///     fenced a moment later, finds no leader for the partitions of an ending transaction, takes them for deleted,
    ///     and ends it without a marker (Kafka 4.3.1, TransactionMarkerChannelManager): committed records stay
    ///     invisible, or aborted ones become visible with that producer's next commit. No client can prevent that.
    ///   - settings: Added to the brokers' `server.properties`.
    ///   - topicConfiguration: The default configuration of topics made by ``makeTopics(_:)``.
    ///   - isProxied: Puts a proxy before a second listener of a single node; its clients stay there.
    ///   - moves: Sends the proxy's clients on to another proxy, which ``revive(elsewhere:)`` replaces by a new one.
    ///   - secure: Further listeners of a single node, and permissions; clients of the first listener may do anything.
    static func start(
        nodes count: Int, controllerOutlivesBroker isApart: Bool = false, settings: [String: String] = [:],
        topicConfiguration: [String: String] = [:], behindProxy isProxied: Bool = false, moves: Bool = false,
        secure: SecureListener? = nil
    ) async throws -> RealKafka {
        try await Blocking.run {
            let kafka = try RealKafka(count, isApart, settings, topicConfiguration, isProxied, moves, secure)
            AtExit.run { kafka.stop() }
            do {
                try kafka.start(kafka.processes)
                return kafka
            } catch {
                kafka.stop()
                throw error
            }
        }
    }

    private init(
        _ count: Int, _ isApart: Bool, _ settings: [String: String], _ topicConfiguration: [String: String],
        _ isProxied: Bool, _ moves: Bool, _ secure: SecureListener?
    ) throws {
        let home = try Self.requireHome()
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "herald-kafka-\(getpid())-\(UUID().uuidString)")
        let ports = FreePorts.take(2 * count + 2)
        guard ports.count == 2 * count + 2 else { throw ChildProcess.Failure(description: "no free ports on loopback") }
        let more = ports[(2 * count)...]
        let clusterID = KafkaTemplate.identity()
        let voters = (0..<count).map { "\($0 + 1)@127.0.0.1:\(ports[count + $0])" }.joined(separator: ",")
        let proxy = isProxied ? try KafkaProxy() : nil
        let advertised = moves ? try KafkaProxy() : proxy
        self.advertised = Mutex(advertised)
        nodes = try (0..<count).map { index in
            var all = Self.brokerSettings(
                node: index, of: count, voters: voters, port: ports[index], controllerPort: ports[count + index])
            if let proxy, let advertised { Self.put(proxy, advertising: advertised, before: more[2 * count], &all) }
            try secure?.add(ports: Array(more), directory, to: &all)
            if isApart { Self.makeBrokerOnly(&all) }
            return try KafkaNode(
                home: home, directory: directory.appending(path: "node-\(index + 1)"),
                settings: all.merging(settings) { $1 }, clusterID: clusterID, port: ports[index])
        }
        controller =
            isApart
            ? try KafkaNode(
                home: home, directory: directory.appending(path: "controller"),
                settings: Self.controllerSettings(voters: voters, port: ports[count]), clusterID: clusterID,
                port: ports[count]) : nil
        bootstrapServers = nodes.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        secureServers = secure.map { _ in "127.0.0.1:\(more[2 * count])" }
        certifiedServers = secure.map { _ in "127.0.0.1:\(more[2 * count + 1])" }
        self.proxy = proxy
        self.directory = directory
        self.topicConfiguration = topicConfiguration
    }

    private var processes: [KafkaNode] { [controller].compactMap(\.self) + nodes }

    /// An admin client for it.
    public func admin() throws -> Admin {
        try Admin(properties: [("bootstrap.servers", bootstrapServers), ("reconnect.backoff.max.ms", "500")])
    }

    /// The loopback port of its first node.
    var firstPort: Int {
        bootstrapServers.split(separator: ",").first?.split(separator: ":").last.flatMap { Int($0) } ?? 0
    }

    /// Starts nodes together and waits until all running ones serve.
    private func start(_ nodes: [KafkaNode]) throws {
        try Java.start(nodes.map(\.kind)) {
            for node in nodes { try node.start() }
            let running = processes.filter(\.isRunning)
            try Self.waitUntilReady(ports: self.nodes.filter(\.isRunning).map(\.port)) {
                running.first { !$0.isRunning }?.failure("it stopped while starting")
            }
        }
    }

    /// Waits until each broker reports all of them: others name a killed broker for a while.
    static func waitUntilReady(ports: [Int], unless failure: () -> ChildProcess.Failure?) throws {
        let end = ContinuousClock.now + .seconds(startSeconds)
        for port in ports {
            func knowsAll() throws -> Bool {
                // A client that knows several brokers asks any of them.
                let admin = try Admin(properties: [("bootstrap.servers", "127.0.0.1:\(port)")])
                return (try? admin.metadata(topics: [], timeout: .milliseconds(500)))?.brokers.count == ports.count
            }
            while try !knowsAll() {
                if let failure = failure() { throw failure }
                guard ContinuousClock.now < end else {
                    throw ChildProcess.Failure(description: "Kafka is not ready in \(startSeconds) s")
                }
                // No event announces that a broker is ready, so it is polled.
                usleep(50_000)
            }
        }
    }

    /// A unique name, starting with `hint`.
    public static func uniqueName(_ hint: String) -> String {
        "\(hint)-\(UUID().uuidString.prefix(13).lowercased())"
    }

    /// Makes a topic under a unique name and returns that name.
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
        let all = topics.map { topic in
            var topic = topic
            topic.configuration.merge(topicConfiguration) { own, _ in own }
            return topic
        }
        for result in try admin.createTopics(all, timeout: Patience.timeout) {
            if let error = result.error { throw error }
            madeTopics.withLock { $0.append(result.topic) }
        }
        // The controller has made them; a broker learns of them a moment later.
        let names = topics.map(\.name)
        let end = ContinuousClock.now + .seconds(Patience.seconds)
        while ContinuousClock.now < end {
            let seen = try admin.metadata(topics: names, timeout: Patience.timeout).topics
            if seen.allSatisfy({ $0.error == nil && !$0.partitions.isEmpty && $0.leaderlessPartitions.isEmpty }) {
                return
            }
            usleep(20_000)
        }
        throw ChildProcess.Failure(
            description: "topics without leaders after \(Patience.seconds) s: \(names.joined(separator: ", "))")
    }

    /// Deletes the records of a partition before this offset, as retention does; on a single node.
    public func deleteRecords(of partition: TopicPartition, before offset: Int64) async throws {
        let port = firstPort
        try await Blocking.run {
            try KafkaWire.deleteRecords(
                port: port, topic: partition.topic, partition: partition.partition, before: offset)
        }
    }

    private func deleteTopics() {
        let names = madeTopics.withLock { names in
            defer { names = [] }
            return names
        }
        _ = try? admin().deleteTopics(names, timeout: Patience.timeout)
    }

    /// Kills a node (from 1), like a crash, and waits until it is gone.
    public func kill(node: Int) { nodes[node - 1].kill() }

    /// Stops a node's process from running, like a hang.
    public func pause(node: Int) { nodes[node - 1].pause() }

    /// Lets a paused node continue.
    public func resume(node: Int) { nodes[node - 1].signal(SIGCONT) }

    /// The size in bytes of a partition's log on the first node.
    public func logSize(of partition: TopicPartition) throws -> UInt64 {
        let handle = try FileHandle(forReadingFrom: logFile(of: partition))
        defer { try? handle.close() }
        return try handle.seekToEnd()
    }

    /// Cuts off the end of a partition's log on the first, killed node, like a disk that loses its last writes.
    public func cutLog(of partition: TopicPartition, to size: UInt64) throws {
        let handle = try FileHandle(forWritingTo: logFile(of: partition))
        defer { try? handle.close() }
        try handle.truncate(atOffset: size)
    }

    /// Alters a byte of the batch at this place of a partition's log, on the first node, like a faulty disk.
    public func damage(
        _ place: RawBatch.Place, of partition: TopicPartition, batchAt begin: UInt64, _ byte: UInt8
    ) throws {
        let handle = try FileHandle(forWritingTo: logFile(of: partition))
        defer { try? handle.close() }
        try handle.seek(toOffset: begin + place.rawValue)
        try handle.write(contentsOf: [byte])
    }

    private func logFile(of partition: TopicPartition) -> URL {
        nodes[0].data.appending(path: "\(partition.topic)-\(partition.partition)/00000000000000000000.log")
    }

    /// Restarts a killed node with its data, and waits until all running nodes serve.
    public func revive(node: Int) async throws {
        try await Blocking.run { [self] in try revive([nodes[node - 1]]) }
    }

    /// Restarts a killed node at an address that the proxy's clients do not know; the proxy stays.
    public func revive(elsewhere node: Int) async throws {
        try await Blocking.run { [self] in
            let node = nodes[node - 1]
            try advertised.withLock { advertised in
                guard let former = advertised else { return }
                let next = try former.moved()
                try node.replace(Self.advertisement(former), with: Self.advertisement(next))
                advertised = next
            }
            try revive([node])
        }
    }

    /// The same for several nodes, which need each other to serve.
    public func revive(nodes numbers: [Int]) async throws {
        try await Blocking.run { [self] in try revive(numbers.map { nodes[$0 - 1] }) }
    }

    private func revive(_ nodes: [KafkaNode]) throws {
        if let controller {
            // Its partitions must be leaderless before it comes back (see `start`). The controller does that when the
            // broker's session is over, or at once when it learns that the broker is gone for good.
            for node in nodes { try KafkaWire.unregister(broker: node.id, controllerPort: controller.port) }
        }
        try start(nodes)
    }

    /// Repairs the damage of a test for the next one.
    func heal() async throws {
        proxy?.reset()
        try await Blocking.run { [self] in
            for node in nodes { node.signal(SIGCONT) }
            let dead = nodes.filter { !$0.isRunning }
            if !dead.isEmpty { try revive(dead) }
            deleteTopics()
        }
    }

    /// Ends all nodes and deletes their data; does nothing for a cluster that was running already.
    public func stop() {
        for node in processes { node.kill() }
        if let directory { try? FileManager.default.removeItem(at: directory) }
    }
}
