import Dispatch
import HeraldBackend
import HeraldBytes
import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldHTTP
package import HeraldKafka
import HeraldKernel
import HeraldTelemetry
import HeraldThreads
import HeraldTime

/// The clients of a worker's lane: a member of the group, a producer, connections to the backend, and the loop that
/// waits for all of them.
///
/// It belongs to the lane's thread. The few blocking calls (committed offsets, ends of partitions, transactions) run on
/// queues of their own and report through the ``Mailbox``.
final class LaneClients: LaneIO {
    typealias Record = Message
    typealias Member = GroupMetadata

    /// The owner of an event in the loop.
    private enum Owner {
        static let consumer: UInt8 = 1
        static let producer: UInt8 = 2
        static let mailbox: UInt8 = 3
        static let backend: UInt8 = 4
    }

    let configuration: LaneConfiguration
    let logger: Logger
    let mailbox: Mailbox
    let snapshot: LaneSnapshot
    let troubles: TroubleLog
    let campaigns: CampaignWatch
    let caps: CapReader?
    /// The queue of blocking questions.
    let helper: DispatchQueue
    let transactionQueue: DispatchQueue
    let lostOffsets: LostOffsets

    let loop: EventLoop
    let consumerWakeup: Wakeup
    let producerWakeup: Wakeup
    let consumer: Consumer
    let commits: EventQueue
    /// The queue of each of the engine's sources.
    @exclusivity(unchecked) var queues: [MessageQueue] = []
    /// The queues among them that have filled.
    @exclusivity(unchecked) var arrivals: QueueArrivals
    /// The producer of records; recreated when the broker does not know it any more.
    @exclusivity(unchecked) var producer: RecordProducer
    /// The producer's transactional calls; `nil` without transactions.
    var transactionCalls: TransactionCalls?
    let calls: BackendCalls
    let pushServiceNames: [[UInt8]]
    @exclusivity(unchecked) var jitter = SplitMix64(seed: .random(in: .min ... .max))
    var credentials: LaneCredentials
    /// What the latest call said that an outage begins by, such as what is wrong with a certificate.
    var outageDetail: String?
    var statistics = LaneStatistics()
    private var throttling = Throttling.Client.allCases.map(Throttling.init)

    /// Makes the clients, on the lane's own thread.
    init(
        configuration: LaneConfiguration, mailbox: Mailbox, credentials: CredentialSource,
        campaigns: CampaignWatch, caps: CapReader?, snapshot: LaneSnapshot, troubles: TroubleLog, logger: Logger
    ) throws {
        self.configuration = configuration
        self.mailbox = mailbox
        self.campaigns = campaigns
        self.caps = caps
        self.snapshot = snapshot
        self.troubles = troubles
        self.logger = logger
        helper = DispatchQueue(label: "herald.lane.\(configuration.number).helper")
        transactionQueue = DispatchQueue(label: "herald.lane.\(configuration.number).transactions")
        lostOffsets = LostOffsets(
            topics: configuration.engine.topics, delays: configuration.engine.retryDelays,
            properties: configuration.readerProperties, logger: logger)
        loop = try EventLoop()
        consumerWakeup = try Wakeup()
        producerWakeup = try Wakeup()
        consumer = try Consumer(properties: configuration.consumerProperties)
        producer = try RecordProducer(configuration: configuration)
        commits = consumer.makeEventQueue()
        arrivals = QueueArrivals(consumerWakeup)
        calls = BackendCalls(
            loop: loop, owner: Owner.backend, configuration: configuration.backend,
            retryAfterLimit: configuration.engine.retry.retryAfterLimit)
        pushServiceNames = configuration.engine.decoder.pushServices.names.map { Array($0.utf8) }
        self.credentials = LaneCredentials(source: credentials)
        try loop.add(consumerWakeup.descriptor, token: EventToken(owner: Owner.consumer), interest: .readable)
        try loop.add(producerWakeup.descriptor, token: EventToken(owner: Owner.producer), interest: .readable)
        try loop.add(mailbox.wakeup.descriptor, token: EventToken(owner: Owner.mailbox), interest: .readable)
        consumer.queue.notify(consumerWakeup)
        consumer.notifyFetched(consumerWakeup)
        commits.notify(consumerWakeup)
        producer.client.notify(producerWakeup)
        credentials.listen { mailbox.post($0) }
        campaigns.listen { mailbox.post(.campaign($0, $1)) }
    }

    // MARK: Time, chance, messages

    var now: Moment { SystemClock.moment() }

    var nextDeadline: MonotonicTime? { calls.nextDeadline }

    func entropy() -> UInt64 { jitter.next() }

    func drainMessages() -> [LaneMessage] {
        mailbox.drain().compactMap { letter in
            switch letter {
            case .message(let message): message
            case .access(let news): credentials.receive(news, for: calls, now: SystemClock.monotonic())
            }
        }
    }

    /// Waits for all clients; the backend's sockets are served at once.
    func wait(timeout: Milliseconds) -> LaneEvents {
        let mayWait = !calls.hasUnwritten || calls.flush(now: SystemClock.monotonic())
        let count = loop.wait(timeout: mayWait ? timeout : .zero)
        let now = SystemClock.monotonic()
        var events: LaneEvents = []
        for index in 0..<count {
            let event = loop[index]
            switch event.token.owner {
            case Owner.consumer:
                consumerWakeup.drain()
                events.insert(.consumer)
            case Owner.producer:
                producerWakeup.drain()
                events.insert(.producer)
            case Owner.mailbox: events.insert(.messages)
            default: calls.handle(event, now: now)
            }
        }
        calls.tick(now)
        return events
    }

    func readCaps(of homes: [Int32], assignment: Int) {
        caps?.read(homes, lane: configuration.number, assignment: assignment, into: mailbox)
    }

    // MARK: People

    func announceTroubles(_ counters: Counters, since before: Counters, now: MonotonicTime) {
        troubles.note(counters.troubles(since: before, services: pushServiceNames), now: now)
    }

    func pauseCampaign(_ failures: CampaignFailures) { campaigns.pause(failures) }

    func isBroken(_ what: StaticString) {
        logger.error("\(what): this is a mistake in Herald, please report it. Nothing is lost.")
    }

    func leave(_ report: LaneReport) -> Bool {
        updateStatistics()
        noteThrottling()
        producer.use(configuration.limits)
        return snapshot.leave(completed(report))
    }

    /// Notes the time that the brokers made the clients wait since the last report.
    private func noteThrottling() {
        let now = now.monotonic
        for index in throttling.indices {
            let news =
                switch throttling[index].client {
                case .producer: producer.client.takeThrottleTime()
                case .consumer: consumer.takeThrottleTime()
                }
            guard news.count > 0 else { continue }
            throttling[index].note(news, now: now)
            troubles.throttled(throttling[index], count: news.count, now: now)
        }
    }

    private func completed(_ report: LaneReport) -> LaneReport {
        var report = report
        report.connections = calls.connectionCount
        report.sharedConnections = calls.sharedConnectionCount
        report.statistics = statistics
        report.throttling = throttling
        return report
    }

    private func updateStatistics() {
        if let text = consumer.takeStatistics() {
            statistics.consumer = text
            statistics.number += 1
        }
        if let text = producer.client.takeStatistics() {
            statistics.producer = text
            statistics.number += 1
        }
    }

    // MARK: The end

    func beginClosing() throws(KafkaError) { try consumer.beginClosing() }

    var isClosed: Bool { consumer.isClosed }

    func close(_ report: LaneReport) {
        transactionCalls?.close()
        helper.async { [lostOffsets] in lostOffsets.close() }
        queues.removeAll()
        calls.close()
        consumer.close()
        producer.client.close()
        snapshot.leaveLast(completed(report))
    }
}

extension Message: LaneRecord {
    package var retained: RetainedMessage { RetainedMessage(self) }
}

extension RetainedMessage: RetainedRecord {}
