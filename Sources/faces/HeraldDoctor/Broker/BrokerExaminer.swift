internal import HeraldKafka
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

/// The brokers' half of an examination: network, login, topics, permissions, group, transactions.
///
/// One thread. It writes nothing but records in transactions that it aborts, on topics that Herald writes itself, and
/// joins no group.
package final class BrokerExaminer: Examiner {
    static let requestTimeout = Milliseconds.seconds(4)
    /// How long a cluster may take for its first answer.
    package static let loginPatience = Duration.seconds(6)
    static let standardPort = 9_092

    let plan: BrokerPlan
    let timeLeft = TimeLeft(Examination.limit)
    /// How long a question may take now.
    var requestLimit: Milliseconds { timeLeft.step(atMost: Self.requestTimeout) }
    private let reachability: Reachability
    private let certificates: CertificateCheck
    private let endpoints: [Endpoint]
    private var addresses: [Endpoint: [SocketAddress]] = [:]
    private var reached: [Endpoint] = []

    let clients = Clients()
    var admin: Admin? { clients.admin }
    /// Asks for what the group has committed.
    var reader: Consumer? { clients.readers.first }
    var transactions: TransactionProbe?
    private var brokers: [ClusterMetadata.Broker] = []
    /// The numbers of those that take no connection.
    private(set) var silentBrokers: Set<Int32> = []
    /// The topics that are there and can be asked for.
    var topics: [ClusterMetadata.Topic] = []
    var endDurations: [Milliseconds] = []
    /// Where workers answered.
    var answering: [String] = []
    /// Nobody coordinates groups: the client would wait for that for ever, whatever its time limit.
    var lacksCoordinator = false

    package init(_ plan: BrokerPlan) {
        self.plan = plan
        reachability = Reachability(timeLeft: timeLeft)
        certificates = CertificateCheck(
            name: Stage.brokerTLS.rawValue, authoritySetting: "kafka.properties ssl.ca.location",
            now: SystemClock.wall())
        endpoints = plan.bootstrapServers.map { Endpoint($0, standardPort: Self.standardPort) }
    }

    deinit {
        // A client may wait for ever for a broker that has not answered: the doctor must not wait for that.
        _ = try? OwnThread(name: "doctor") { [clients] in clients.close() }
    }

    /// The clients, to be destroyed on a thread of its own; nothing else uses them by then.
    final class Clients: @unchecked Sendable {
        var admin: Admin?
        var readers: [Consumer] = []
        var probes: [TransactionProbe] = []
        var topicReaders: [TopicReader] = []

        fileprivate func close() {
            for reader in readers { reader.close() }
            for probe in probes { probe.close() }
            for reader in topicReaders { reader.close() }
            (admin, readers, probes, topicReaders) = (nil, [], [], [])
        }
    }

    package func examine(_ stage: Stage) -> StageReport {
        switch stage {
        case .brokerNames: names()
        case .brokerPorts: ports()
        case .brokerTLS: handshakes()
        case .brokerLogin: login()
        case .brokers: advertised()
        case .topics: examineTopics()
        case .reading: examineReading()
        case .group: StageReport(examineGroup() + examineFollower(), isDeadEnd: false)
        case .transactionalID: claim()
        case .writing: examineWriting()
        case .transaction: examineTransaction()
        case .publishers: examinePublishers()
        case .words: examineWords()
        case .clocks: examineClocks()
        default: StageReport([])
        }
    }

    // MARK: Network

    private func names() -> StageReport {
        let answers = reachability.lookUp(endpoints)
        for (endpoint, answer) in zip(endpoints, answers) {
            if case .addresses(let found) = answer { addresses[endpoint] = found }
        }
        return StageReport(
            zip(endpoints, answers).map { endpoint, answer in
                switch answer {
                case .addresses(let found):
                    Check(.brokerNames, endpoint.host, .passed, found.map(\.text).joined(separator: ", "))
                case .failed(let reason):
                    Check(
                        .brokerNames, endpoint.host, addresses.isEmpty ? .failed : .warning,
                        "the name is not found: \(reason)", fix: "check kafka.bootstrapServers and the resolver")
                }
            })
    }

    private func ports() -> StageReport {
        let targets = endpoints.filter { addresses[$0] != nil }
        let connections = reachability.connect(targets.map { addresses[$0] ?? [] })
        reached = zip(targets, connections).compactMap { if case .connected = $1 { $0 } else { nil } }
        return StageReport(
            zip(targets, connections).map { endpoint, connection in
                switch connection {
                case .connected(let address, let time):
                    Check(.brokerPorts, "\(endpoint)", .passed, "connected to \(address) in \(time.count) ms")
                case .failed(let reason):
                    Check(
                        .brokerPorts, "\(endpoint)", reached.isEmpty ? .failed : .warning, reason,
                        fix: "check kafka.bootstrapServers, the firewall, and whether Kafka runs")
                }
            })
    }

    private func handshakes() -> StageReport {
        guard plan.usesTLS else { return StageReport([]) }
        let outcomes = reachability.handshake(
            reached.map { (host: $0.host, addresses: addresses[$0] ?? []) }, trust: plan.trust)
        return StageReport(zip(reached, outcomes).map { certificates.check($1, of: $0, isVerified: plan.verifies) })
    }

    // MARK: Login

    private func login() -> StageReport {
        do throws(KafkaError) {
            clients.admin = try Admin(properties: plan.clientProperties)
        } catch {
            return StageReport(.brokerLogin, "", .failed, error.message, fix: "correct kafka.auth or kafka.properties")
        }
        guard let admin else { return StageReport([], isDeadEnd: true) }
        do {
            brokers = try plan.reach.topics([], admin).brokers
        } catch {
            return refusedLogin(error)
        }
        let username = plan.clientProperties.login?.username ?? plan.property("sasl.username")
        let who = username.map { " as \($0)" } ?? ""
        let certificate = plan.property("ssl.certificate.location").map { "the certificate in \($0)" }
        let way =
            (plan.saslMechanism.map { "\($0)\(who)" } ?? certificate).map { "\($0) accepted" }
            ?? "no login (\(plan.securityProtocol))"
        return StageReport(
            .brokerLogin, "", .passed, "\(way); \(brokers.count) broker\(brokers.count == 1 ? "" : "s")")
    }

    private func refusedLogin(_ failure: ToolFailure) -> StageReport {
        let words = failure.description + (failure.detail.map { " (\($0))" } ?? "")
        guard failure.kind == .unreachable else {
            return StageReport(
                .brokerLogin, "", .failed, words,
                fix: plan.clientProperties.login == nil
                    ? "check sasl.mechanism, sasl.username and sasl.password in kafka.properties"
                    : "check kafka.auth and the file with the secret")
        }
        // A broker says nothing to a client that speaks the other protocol.
        let speaksTLS = !plan.usesTLS && ListenerSecurity.find(at: plan.bootstrapServers, timeLeft) == .tls
        return StageReport(
            .brokerLogin, "", .failed, words,
            fix: speaksTLS
                ? "the port speaks TLS: set security.protocol in kafka.properties to "
                    + (plan.saslMechanism == nil ? "ssl, or kafka.auth.kind" : "sasl_ssl")
                : "check that security.protocol in kafka.properties (\(plan.securityProtocol)) is the listener's")
    }

    /// The addresses that the cluster names itself, which clients use after the first answer.
    private func advertised() -> StageReport {
        let others = brokers.map { Endpoint(host: $0.host, port: $0.port) }.filter { !reached.contains($0) }
        let answers = reachability.lookUp(others)
        var found: [(Endpoint, [SocketAddress])] = []
        var checks: [Check] = []
        for (endpoint, answer) in zip(others, answers) {
            switch answer {
            case .addresses(let addresses): found.append((endpoint, addresses))
            case .failed(let reason): checks.append(unreachable(endpoint, "its name is not found: \(reason)"))
            }
        }
        let connections = reachability.connect(found.map(\.1))
        var connected: [(Endpoint, [SocketAddress])] = []
        for ((endpoint, addresses), connection) in zip(found, connections) {
            switch connection {
            case .connected(let address, let time):
                connected.append((endpoint, addresses))
                checks.append(Check(.brokers, "\(endpoint)", .passed, "connected to \(address) in \(time.count) ms"))
            case .failed(let reason): checks.append(unreachable(endpoint, reason))
            }
        }
        if plan.usesTLS {
            let outcomes = reachability.handshake(
                connected.map { (host: $0.0.host, addresses: $0.1) }, trust: plan.trust)
            checks += zip(connected, outcomes).map {
                certificates.check($1, of: $0.0, isVerified: plan.verifies)
            }
        }
        let failed = Set(checks.filter { $0.verdict == .failed }.map(\.subject))
        silentBrokers = Set(brokers.filter { failed.contains("\(Endpoint(host: $0.host, port: $0.port))") }.map(\.id))
        return StageReport(checks, isDeadEnd: false)
    }

    private func unreachable(_ endpoint: Endpoint, _ reason: String) -> Check {
        Check(
            .brokers, "\(endpoint)", .failed, "the cluster names this broker so, and \(reason)",
            // What the settings name, too, has the right name.
            fix: endpoints.contains(endpoint)
                ? "see whether this broker runs"
                : "see whether this broker runs; if it does, correct its advertised.listeners, or the network")
    }
}
