public import HeraldBackend
import HeraldKafka
public import HeraldTelemetry
import HeraldThreads

/// What a worker process needs to know.
public struct WorkerConfiguration: Sendable {
    /// One for each lane.
    public var lanes: [LaneConfiguration]
    /// Reads the backend's secrets again and gives its configuration with them; `nil` when none is in a file.
    ///
    /// Called on a thread of its own, may block and throw.
    public var readBackendAgain: (@Sendable () throws -> BackendConfiguration)?
    /// librdkafka's properties for the questions at the start.
    public var adminProperties: [(String, String)]
    /// Whether the brokers have to have transactions.
    public var needsTransactions: Bool
    /// The topics that have to exist.
    public var requiredTopics: [String]

    /// A worker's configuration.
    public init(
        lanes: [LaneConfiguration], readBackendAgain: (@Sendable () throws -> BackendConfiguration)? = nil,
        adminProperties: [(String, String)], needsTransactions: Bool, requiredTopics: [String]
    ) {
        self.lanes = lanes
        self.readBackendAgain = readBackendAgain
        self.adminProperties = adminProperties
        self.needsTransactions = needsTransactions
        self.requiredTopics = requiredTopics
    }
}

/// How a worker ended.
public enum WorkerEnd: Sendable, Equatable {
    /// It was told to stop and did.
    case stopped
    /// It can't go on; the sentence says what happened and what to do.
    case failed(String)
}

/// The lanes of one process: checks the topics, starts the lanes, stops them together.
public final class Worker: Sendable {
    private struct State {
        var isStopping = false
        var mailboxes: [Mailbox] = []
        var failure: String?
    }

    /// How long one question to the brokers may take at the start (milliseconds).
    private static let questionTimeout = 5_000

    private let configuration: WorkerConfiguration
    private let logger: Logger
    private let state = Guarded(State())

    /// A worker that does nothing before ``run()``.
    public init(configuration: WorkerConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Works until it is told to stop or can't go on.
    ///
    /// Blocks; call it once.
    public func run() -> WorkerEnd {
        guard let backend = configuration.lanes.first?.backend else { return .stopped }
        let credentials: CredentialSource
        do {
            credentials = try startCredentials(backend)
        } catch {
            return .failed("the backend's credentials could not be watched: \(error)")
        }
        defer { credentials.close() }
        if let end = checkTopics() { return end }
        // Else every start with a token to fetch would begin with a hold.
        credentials.waitUntilSettled()
        var threads: [OwnThread] = []
        do {
            for lane in configuration.lanes {
                let mailbox = try Mailbox()
                let mustDrain = state.withLock { state in
                    state.mailboxes.append(mailbox)
                    return state.isStopping
                }
                if mustDrain { mailbox.post(.drain) }
                threads.append(
                    try OwnThread(name: "lane-\(lane.number)") { [self] in
                        runLane(lane, mailbox: mailbox, credentials: credentials)
                    })
            }
        } catch {
            fail("a lane could not be started: \(error)")
        }
        for thread in threads { thread.join() }
        if let failure = state.withLock({ $0.failure }) { return .failed(failure) }
        return .stopped
    }

    /// Tells every lane to drain; ``run()`` returns when they have.
    ///
    /// From any thread.
    public func stop() {
        let mailboxes = state.withLock { state in
            state.isStopping = true
            return state.mailboxes
        }
        for mailbox in mailboxes { mailbox.post(.drain) }
    }

    /// The credentials that all lanes share; fetching a token takes place beside the questions to the brokers.
    private func startCredentials(_ backend: BackendConfiguration) throws -> CredentialSource {
        let source = try CredentialSource(backend, readAgain: configuration.readBackendAgain) { [logger] notice in
            if notice.isTrouble { logger.warning("\(notice.sentence)") } else { logger.info("\(notice.sentence)") }
        }
        try source.start()
        return source
    }

    private func runLane(_ lane: LaneConfiguration, mailbox: Mailbox, credentials: CredentialSource) {
        do {
            let end = try Lane(
                configuration: lane, mailbox: mailbox, credentials: credentials, logger: logger
            ).run()
            switch end {
            case .drained(let isComplete):
                logger.info("lane ended", ["lane": .int(lane.number), "complete": .bool(isComplete)])
            case .failed(let sentence): fail(sentence)
            }
        } catch {
            fail("lane \(lane.number) could not be started: \(error)")
        }
    }

    /// One lane that can't go on ends the process: its supervisor starts it again, whole.
    private func fail(_ sentence: String) {
        state.withLock { state in
            if state.failure == nil { state.failure = sentence }
        }
        stop()
    }

    // MARK: The start

    /// librdkafka's embedded broker answers to transactions, and throws their offsets away.
    private func checkTransactions(_ admin: Admin) -> WorkerEnd? {
        guard configuration.needsTransactions,
            admin.clusterID(timeoutMilliseconds: Self.questionTimeout)?.hasPrefix("mockCluster") == true
        else { return nil }
        return .failed(
            "this is librdkafka's embedded broker, which has no real transactions: set delivery.guarantee to at-least-once."
        )
    }

    /// Waits for the brokers and checks that the topics exist; `nil` when the lanes may start.
    private func checkTopics() -> WorkerEnd? {
        var wasTold = false
        do {
            let admin = try Admin(properties: configuration.adminProperties)
            while !state.withLock({ $0.isStopping }) {
                do {
                    let metadata = try admin.metadata(timeoutMilliseconds: Self.questionTimeout)
                    let present = Set(metadata.topics.map(\.name))
                    let missing = configuration.requiredTopics.filter { !present.contains($0) }
                    if missing.isEmpty { return checkTransactions(admin) }
                    let verb = missing.count == 1 ? "is" : "are"
                    return .failed(
                        "\(missing.joined(separator: ", ")) \(verb) missing, or Herald may not see "
                            + "\(missing.count == 1 ? "it" : "them"): run `herald topics apply`, or grant Describe.")
                } catch {
                    for notice in admin.takeNotices().notices { logger.kafka(notice) }
                    if !wasTold { logger.warning("no broker answers yet, trying on: \(error)") }
                    wasTold = true
                }
            }
        } catch {
            return .failed("the Kafka client could not be made: \(error)")
        }
        return .stopped
    }
}
