/// The clusters of a test process, each started once, on first use.
extension RealKafka {
    private static let sharing = Task {
        if let runningServers { return RealKafka(running: runningServers) }
        return try await start(nodes: 1)
    }

    /// One unharmed node, for nearly all tests.
    public static func shared() async throws -> RealKafka { try await sharing.value }

    /// One node for a test that needs a new cluster; the test calls ``stop()`` at the end.
    public static func new() async throws -> RealKafka { try await start(nodes: 1) }

    private static let securing = Task {
        let certificates = try TestCertificates.shared()
        return try await start(
            nodes: 1,
            secure: SecureListener(identity: certificates.good, authorityFile: certificates.authorityFile))
    }

    /// One node with TLS, logins and permissions, where each test has its own users and topics.
    public static func secured() async throws -> RealKafka { try await securing.value }

    private static let restricting = Task {
        try await start(
            nodes: 1,
            settings: [
                "group.max.session.timeout.ms": "30000", "group.max.size": "2",
                "transaction.state.log.replication.factor": "3",
            ])
    }

    /// One node with limits for groups, and without transactions, whose topic it cannot make.
    public static func strict() async throws -> RealKafka { try await restricting.value }

    /// A broker whose controller outlives it, to be killed and paused, also behind a proxy.
    public static let mortal = ClusterInTurns {
        try await start(nodes: 1, controllerOutlivesBroker: true, behindProxy: true)
    }

    /// One node behind a proxy, to be paused, with permissions: actions without a rule are allowed to everybody.
    public static let proxied = ClusterInTurns {
        try await start(
            nodes: 1,
            settings: [
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "allow.everyone.if.no.acl.found": "true",
            ], behindProxy: true)
    }

    /// A broker whose controller outlives it, to be killed and restarted at another address.
    public static let moving = ClusterInTurns {
        try await start(nodes: 1, controllerOutlivesBroker: true, behindProxy: true, moves: true)
    }

    /// Three nodes, one of which may be killed at a time.
    ///
    /// Its default for topics is one copy in sync, which `herald topics` has to change; topics made by tests have two.
    public static let three = ClusterInTurns {
        try await start(
            // The absence of a node is noticed soon.
            nodes: 3, settings: ["broker.session.timeout.ms": "3000", "min.insync.replicas": "1"],
            topicConfiguration: ["min.insync.replicas": "2"])
    }
}

/// A cluster that tests harm in turn; the damage of each is repaired before the next one's turn.
public final class ClusterInTurns: Sendable {
    private let starting: Task<RealKafka, any Error>
    private let gate = Gate(places: 1)

    fileprivate init(_ start: @escaping @Sendable () async throws -> RealKafka) {
        starting = Task { try await start() }
    }

    /// Waits for a turn and holds the cluster while `body` runs.
    public func take(_ body: (RealKafka) async throws -> Void) async throws {
        try await gate.pass {
            let kafka = try await starting.value
            let result: Result<Void, any Error>
            do { result = .success(try await body(kafka)) } catch { result = .failure(error) }
            try await kafka.heal()
            try result.get()
        }
    }
}
