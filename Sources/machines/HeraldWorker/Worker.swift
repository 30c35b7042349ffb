public import HeraldBackend
import HeraldCore
package import HeraldDriver
import HeraldEvents
public import HeraldKafka
public import HeraldTelemetry
import HeraldThreads
import HeraldTime

/// The configuration of a worker process.
public struct WorkerConfiguration: Sendable {
    /// One for each lane.
    public var lanes: [LaneConfiguration]
    /// Reads the backend's secrets again and returns its configuration with them; `nil` when none is in a file.
    ///
    /// Called on a thread of its own, may block and throw.
    public var readBackendAgain: (@Sendable () throws -> BackendConfiguration)?
    /// librdkafka's properties for the questions at the start.
    public var adminProperties: ClientProperties
    /// Whether the brokers have to have transactions.
    public var needsTransactions: Bool
    /// The topics that have to exist.
    public var requiredTopics: [String]
    /// What the settings want of the topics.
    package var wishes: TopicWishes
    /// The following of campaigns.
    public var campaigns: CampaignConfiguration
    /// The following of opt-outs and recalls; `nil` when nobody is asked for them.
    public var lastWord: LastWordConfiguration?
    /// The tracing of spans; `nil` when none are wanted.
    public var tracing: Tracing?

    /// A worker's configuration.
    package init(
        lanes: [LaneConfiguration], readBackendAgain: (@Sendable () throws -> BackendConfiguration)? = nil,
        adminProperties: ClientProperties, needsTransactions: Bool, requiredTopics: [String], wishes: TopicWishes,
        campaigns: CampaignConfiguration
    ) {
        self.lanes = lanes
        self.readBackendAgain = readBackendAgain
        self.adminProperties = adminProperties
        self.needsTransactions = needsTransactions
        self.requiredTopics = requiredTopics
        self.wishes = wishes
        self.campaigns = campaigns
    }
}

/// The end of a worker.
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
        /// The lanes' settings, when they have changed since the start.
        var settings: [LaneSettings]?
        /// The number of partitions of each request topic; 0 when unknown.
        var partitionCounts: [Int] = []
        var mailboxes: [Mailbox] = []
        var snapshots: [LaneSnapshot] = []
        var watch: BrokerMonitor?
        var words: LastWordWatch?
        var caps: CapReader?
        var failure: String?
        /// The admin port's address, if the settings do not have it.
        var adminPort: UInt16?
    }

    let configuration: WorkerConfiguration
    let logger: Logger
    let troubles: TroubleLog
    private let state = Guarded(State())
    let limits = RecordLimits()
    let reach = PartitionReach()

    /// A worker that does nothing before ``run()``.
    public init(configuration: WorkerConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        troubles = TroubleLog(logger: logger)
    }

    /// Works until it is stopped or can't continue.
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
        let watch: BrokerMonitor
        let campaigns: CampaignWatch
        var words: LastWordWatch?
        var caps: CapReader?
        do {
            let admin = try Admin(properties: configuration.adminProperties)
            watch = try BrokerMonitor(
                admin: admin, properties: configuration.adminProperties,
                requiredTopics: configuration.requiredTopics, wishes: configuration.wishes,
                requestTopics: requestTopics, group: group,
                transactionalIDs: configuration.lanes.compactMap { $0.producerProperties["transactional.id"] },
                pushServices: pushServices, limits: limits, reach: reach, troubles: troubles)
            state.withLock { $0.watch = watch }
            if let end = checkTopics(admin, watch) { return end }
            campaigns = try CampaignWatch(configuration: configuration.campaigns, admin: admin, logger: logger)
            if let lastWord = configuration.lastWord {
                words = try LastWordWatch(
                    configuration: lastWord, admin: try Admin(properties: configuration.adminProperties),
                    logger: logger)
                caps = try lastWord.caps.map { caps throws(SystemError) in try CapReader(caps, logger: logger) }
                state.withLock { [words, caps] in ($0.words, $0.caps) = (words, caps) }
            }
        } catch {
            return .failed("the Kafka client could not be made: \(error)")
        }
        let listener: OwnThread?
        do {
            listener = try words.map { words in try OwnThread(name: "word-watch") { words.run() } }
        } catch {
            return .failed("opt-outs and recalls could not be followed: \(error)")
        }
        defer {
            words?.stop()
            listener?.join()
        }
        let capThread: OwnThread?
        do {
            capThread = try caps.map { caps in try OwnThread(name: "cap-reader") { caps.run() } }
        } catch {
            return .failed("caps could not be read: \(error)")
        }
        defer {
            caps?.stop()
            capThread?.join()
        }
        let follower: OwnThread
        do {
            follower = try OwnThread(name: "campaign-watch") { campaigns.run() }
        } catch {
            return .failed("the campaigns could not be followed: \(error)")
        }
        defer {
            campaigns.stop()
            follower.join()
        }
        campaigns.waitUntilRead()
        words?.waitUntilRead()
        // Else every start with a token to fetch would begin with an outage.
        credentials.waitUntilSettled()
        var lanes: [OwnThread] = []
        var watching: OwnThread?
        do {
            for lane in configuration.lanes { lanes.append(try start(lane, credentials, campaigns)) }
            watching = try OwnThread(name: "cluster-watch") { [self] in
                watch.run(
                    reports: { laneReports },
                    tell: {
                        use(partitionCounts: $0)
                        // A lane may have learned of a missing topic before, and waits for this.
                        if !$0.isEmpty { post(.missingTopics(Set(watch.latest.missingTopics))) }
                    }, doubt: { post(.standingStill($0)) }, overtake: { post(.overtaken($0)) })
            }
        } catch {
            fail("a lane could not be started: \(error)")
        }
        for lane in lanes { lane.join() }
        watch.stop()
        watching?.join()
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

    /// Puts the admin port into the `client.id` of the group's members, which is the only place that tells it; before
    /// ``run()``.
    public func announce(adminPort: UInt16) { state.withLock { $0.adminPort = adminPort } }

    /// Tells every lane its settings, in the order of the configuration's lanes; also those that are still to start.
    ///
    /// From any thread.
    public func use(_ settings: [LaneSettings]) {
        let mailboxes = state.withLock { state in
            state.settings = settings
            return state.mailboxes
        }
        for (mailbox, settings) in zip(mailboxes, settings) { mailbox.post(.settings(settings)) }
    }

    /// Tells every lane how many partitions the request topics have, by what brokers have said, if that is news.
    func use(partitionCounts known: [String: Int]) {
        let topics = requestTopics
        let news = state.withLock { state -> ([Int], [Mailbox])? in
            let former = state.partitionCounts
            let counts = topics.enumerated().map { place, topic in
                known[topic] ?? (former.indices.contains(place) ? former[place] : 0)
            }
            guard counts != former else { return nil }
            state.partitionCounts = counts
            return (counts, state.mailboxes)
        }
        guard let (counts, mailboxes) = news else { return }
        for mailbox in mailboxes { mailbox.post(.partitionCounts(counts)) }
    }

    /// Tells every lane.
    private func post(_ message: LaneMessage) {
        for mailbox in state.withLock({ $0.mailboxes }) { mailbox.post(message) }
    }

    /// Its report; from any thread, at any time.
    public var report: WorkerReport {
        let (watch, words, caps, isStopping) = state.withLock { ($0.watch, $0.words, $0.caps, $0.isStopping) }
        var report = WorkerReport(
            pushServices: pushServices, requestTopics: requestTopics, lanes: laneReports,
            cluster: watch?.latest ?? ClusterReport(), isStopping: isStopping)
        report.group = group
        report.lastWord = words?.report
        report.lastWord?.hasCaps = caps != nil
        report.lastWord?.caps = caps?.report
        report.address = configuration.lanes.first.map { GroupAddress($0.consumerProperties) } ?? GroupAddress()
        return report
    }

    /// The ways into the lanes, in their order.
    var mailboxes: [Mailbox] { state.withLock { $0.mailboxes } }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    private var laneReports: [LaneReport] { state.withLock { $0.snapshots }.map(\.latest) }

    private var pushServices: [String] { configuration.lanes.first?.engine.decoder.pushServices.names ?? [] }

    private var group: String { configuration.lanes.first?.consumerProperties["group.id"] ?? "" }

    private var requestTopics: [String] { configuration.lanes.first?.engine.topics.requests ?? [] }

    /// The credentials that all lanes share; fetching a token takes place beside the questions to the brokers.
    private func startCredentials(_ backend: BackendConfiguration) throws -> CredentialSource {
        let source = try CredentialSource(backend, readAgain: configuration.readBackendAgain) { [logger] notice in
            let sentence = notice.sentence(of: .backend)
            if notice.isTrouble { logger.warning("\(sentence)") } else { logger.info("\(sentence)") }
        }
        try source.start()
        return source
    }

    private func start(
        _ lane: LaneConfiguration, _ credentials: CredentialSource, _ campaigns: CampaignWatch
    ) throws -> OwnThread {
        let mailbox = try Mailbox()
        let snapshot = LaneSnapshot(
            LaneReport(
                number: lane.number, at: SystemClock.monotonic(), services: pushServices.count,
                requestTopics: requestTopics.count))
        let (mustDrain, settings, partitionCounts) = state.withLock { state in
            let settings = state.settings?[state.mailboxes.count]
            state.mailboxes.append(mailbox)
            state.snapshots.append(snapshot)
            return (state.isStopping, settings, state.partitionCounts)
        }
        if let settings { mailbox.post(.settings(settings)) }
        mailbox.post(.partitionCounts(partitionCounts))
        if mustDrain { mailbox.post(.drain) }
        let lane = carrying(state.withLock { $0.adminPort }, knowingTopics(lane))
        return try OwnThread(name: "lane-\(lane.number)") { [self] in
            run(lane, mailbox, snapshot, credentials, campaigns)
        }
    }

    private func run(
        _ lane: LaneConfiguration, _ mailbox: Mailbox, _ snapshot: LaneSnapshot, _ credentials: CredentialSource,
        _ campaigns: CampaignWatch
    ) {
        do {
            let logger = logger.with(["lane": .int(lane.number)])
            let clients = try LaneClients(
                configuration: lane, mailbox: mailbox, credentials: credentials, campaigns: campaigns,
                caps: state.withLock { $0.caps },
                snapshot: snapshot, troubles: troubles, logger: logger)
            let tracer = configuration.tracing.map { tracing in
                LaneTracer(
                    tracing, slots: lane.engine.maxBuffered, pushServices: pushServices,
                    seed: .random(in: .min ... .max))
            }
            let end = Lane(
                number: lane.number, configuration: lane.engine, requestWeights: lane.requestWeights, io: clients,
                logger: logger, tracer: tracer
            ).run()
            switch end {
            case .drained(let isComplete):
                logger.info("lane ended", ["complete": .bool(isComplete)])
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
}
