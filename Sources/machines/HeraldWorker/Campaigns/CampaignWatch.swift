import HeraldEvents
public import HeraldKafka
import HeraldTelemetry
import HeraldText
import HeraldThreads
import HeraldTime

/// Follows the campaigns topic on a thread of its own, tells the lanes which campaigns are paused or cancelled, and writes
/// that one is paused when a lane says that too many of its events failed.
///
/// A missing topic is looked for now and then: without campaigns none is needed.
final class CampaignWatch: Sendable {
    /// Between two looks for a topic that is missing.
    private static let lookIntervalMilliseconds: Int64 = 2_000
    /// Partitions that were added are found within this time.
    private static let countIntervalMilliseconds: Int64 = 60_000
    /// How long one wait for a record may take on the way to the topic's end; at the end, records wake it.
    private static let turnMilliseconds: Int32 = 250
    /// The topic is quiet for hours: after so long its reader is assigned again at the same position.
    private static let silence = Duration.seconds(30)
    /// It looks for trouble of its client this often at least.
    private static let idle = Duration.seconds(5)
    /// How long one question to the brokers may take.
    private static let questionTimeoutMilliseconds = 2_000
    /// How long a start waits for what stands in the topic, and the reading for a step towards its end.
    private static let patience = Duration.seconds(10)

    /// Of a campaign whose record is gone.
    private static let unwritten = CampaignControl(state: .running, at: WallTime(milliseconds: 0), by: "")

    private struct State {
        var known = CampaignStates()
        var listeners: [@Sendable (String, CampaignControl) -> Void] = []
        var failures: [CampaignFailures] = []
        var isRead = false
        var isStopping = false
    }

    private let configuration: CampaignConfiguration
    private let admin: Admin
    private let logger: Logger
    private let state = Guarded(State())
    /// Records, failing campaigns and the worker's end wake the thread.
    private let wakeup: Wakeup
    /// Signalled once, when the topic was read or the worker ends, and never drained: it ends every later wait at once.
    private let readiness: Wakeup

    init(configuration: CampaignConfiguration, admin: Admin, logger: Logger) throws(SystemError) {
        self.configuration = configuration
        self.admin = admin
        self.logger = logger
        wakeup = try Wakeup()
        readiness = try Wakeup()
    }

    /// Tells a listener of every campaign that is known, and from then on of every change.
    ///
    /// It is called under a lock, on any thread.
    func listen(_ listener: @escaping @Sendable (String, CampaignControl) -> Void) {
        state.withLock { state in
            for name in state.known.names.sorted() {
                if let control = state.known.control(of: name) { listener(name, control) }
            }
            state.listeners.append(listener)
        }
    }

    /// Too many of a campaign's events failed: writes that it is paused; from any thread.
    func pause(_ failures: CampaignFailures) {
        state.withLock { $0.failures.append(failures) }
        wakeup.signal()
    }

    /// Ends ``run()``; from any thread.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeup.signal()
        readiness.signal()
    }

    /// Waits until the topic was read to its end, or is known to be missing; not for ever, because one-time codes wait too.
    ///
    /// - Returns: whether it is so; `false` when nothing was known in time.
    @discardableResult
    func waitUntilRead() -> Bool {
        if readiness.wait(for: Self.patience) { return true }
        logger.warning(
            "\(configuration.topic) could not be read yet: campaigns that are paused or cancelled are delivered "
                + "until it can be")
        return false
    }

    /// The thread's work.
    func run() {
        var trouble: KafkaError?
        while !isStopping {
            do throws(KafkaError) {
                try follow()
                trouble = nil
            } catch {
                let isMissing = error.isOfTopic && error.kind != .forbidden
                if error.code != trouble?.code, !isMissing {
                    logger.warning(
                        "\(configuration.topic) cannot be read, retrying: \(error); campaigns are neither paused nor "
                            + "cancelled meanwhile"
                            + error.advice(KafkaPermission(.read, on: .topic(configuration.topic))))
                }
                trouble = error
                // Then there is nothing that a start should wait for.
                if error.isOfTopic {
                    state.withLock { $0.isRead = true }
                    readiness.signal()
                }
                sleep(Self.lookIntervalMilliseconds)
            }
        }
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    private func sleep(_ milliseconds: Int64) {
        let end = SystemClock.monotonic().advanced(byMilliseconds: milliseconds)
        while !isStopping, case let rest = end.milliseconds(since: SystemClock.monotonic()), rest > 0 {
            if wakeup.wait(for: .milliseconds(rest)) { wakeup.drain() }
        }
    }

    /// Reads the topic from its beginning, until the worker ends or the topic changes.
    private func follow() throws(KafkaError) {
        let partitions = try partitionsOfTopic()
        let reader = try TopicReader(
            properties: configuration.readerProperties, silence: Self.silence, patience: Self.patience,
            questions: .milliseconds(Self.questionTimeoutMilliseconds))
        defer { reader.close() }
        reader.consumer.queue.notify(wakeup)
        try reader.begin(Dictionary(uniqueKeysWithValues: partitions.map { ($0, .beginning) }), to: .committed)
        // What is read on the way to the end has been overtaken by what comes later, perhaps.
        var states = CampaignStates()
        var hasReadAll = false
        var nextCount = SystemClock.monotonic().advanced(byMilliseconds: Self.countIntervalMilliseconds)
        while !isStopping {
            pauseFailing()
            if SystemClock.monotonic() >= nextCount {
                guard try partitionsOfTopic() == partitions else { return }
                nextCount = SystemClock.monotonic().advanced(byMilliseconds: Self.countIntervalMilliseconds)
            }
            _ = reader.consumer.takeNotices()
            switch try reader.next(waitMilliseconds: hasReadAll ? 0 : Self.turnMilliseconds) {
            case .nothing where hasReadAll:
                if wakeup.wait(for: Self.idle) { wakeup.drain() }
            case .nothing: break
            case .record(let message):
                defer { message.release() }
                receive(message, into: &states)
                if hasReadAll { publish(states) }
            case .end:
                hasReadAll = true
                publish(states)
                try reader.setEnd(.none)
            }
        }
    }

    private func partitionsOfTopic() throws(KafkaError) -> [TopicPartition] {
        let found = try admin.metadata(
            topics: [configuration.topic], timeoutMilliseconds: Self.questionTimeoutMilliseconds
        ).topics
        guard let topic = found.first, topic.error == nil, !topic.partitions.isEmpty else {
            throw found.first?.error
                ?? KafkaError(code: KafkaError.Code.unknownTopicOrPartition, message: "the topic is missing")
        }
        return topic.partitions.map { TopicPartition(topic: configuration.topic, partition: $0.id) }
    }

    private func receive(_ message: Message, into states: inout CampaignStates) {
        var problem: InvalidArgument?
        message.withKey { key in
            guard let key else { return }
            message.withValue { value in
                do throws(InvalidArgument) {
                    try states.record(key: key, value: value)
                } catch {
                    problem = error
                }
            }
        }
        guard let problem else { return }
        logger.warning(
            "\(configuration.topic): \(problem); it is ignored",
            ["partition": .int(Int(message.partition)), "offset": .int(Int(message.offset))])
    }

    /// Sends the lanes what has changed.
    private func publish(_ news: CampaignStates) {
        let (changes, wasRead) = state.withLock { state in
            var changes: [(name: String, control: CampaignControl)] = []
            for name in news.names.union(state.known.names).sorted() {
                let control = news.control(of: name)
                guard control != state.known.control(of: name) else { continue }
                changes.append((name, control ?? Self.unwritten))
            }
            for change in changes {
                for listener in state.listeners { listener(change.name, change.control) }
            }
            defer { state.isRead = true }
            state.known = news
            return (changes, state.isRead)
        }
        guard wasRead else {
            readiness.signal()
            return
        }
        for change in changes { publish(change.name, change.control) }
    }

    private func publish(_ name: String, _ control: CampaignControl) {
        var fields: LogFields = ["campaign": .string(name), "by": .string(control.by)]
        if let reason = control.reason { fields["reason"] = .string(reason) }
        switch control.state {
        case .running: logger.info("campaign runs", fields)
        case .paused: logger.info("campaign paused: its events wait in the retry topics", fields)
        case .cancelled: logger.info("campaign cancelled: its events end without a call", fields)
        }
    }

    // MARK: Pausing

    /// Writes that the campaigns are paused of which lanes say that too many events failed; one that could not be written
    /// is tried again at the next turn.
    private func pauseFailing() {
        let failing = state.withLock { state in
            defer { state.failures = [] }
            return state.failures
        }
        for failures in failing {
            // Another lane or process was faster, or an operator has decided otherwise.
            let control = state.withLock { $0.known.control(of: failures.campaign) } ?? Self.unwritten
            guard control.state == .running else { continue }
            do throws(KafkaError) {
                try write(paused(control, failures), of: failures.campaign)
            } catch {
                logger.error(
                    "the campaign could not be paused, retrying: \(error)",
                    ["campaign": .string(failures.campaign), "failed": .int(failures.failed), "of": .int(failures.of)])
                state.withLock { $0.failures.append(failures) }
                sleep(Self.lookIntervalMilliseconds)
            }
        }
    }

    private func paused(_ control: CampaignControl, _ failures: CampaignFailures) -> CampaignControl {
        CampaignControl(
            state: .paused, at: SystemClock.wall(), by: configuration.worker,
            reason: failures.reason,
            pauseIfFailures: control.pauseIfFailures, isByFailures: true)
    }

    private func write(_ control: CampaignControl, of campaign: String) throws(KafkaError) {
        let producer = try Producer(properties: configuration.writerProperties)
        defer { producer.close() }
        let topic = try producer.topic(configuration.topic)
        let (key, value) = (CampaignControl.key(of: campaign), control.encoded())
        if let error = producer.produce(topic: topic, key: key.span.bytes, value: value.span.bytes, token: 0) {
            throw error
        }
        var failure: KafkaError?
        try producer.flush(timeoutMilliseconds: Self.questionTimeoutMilliseconds * 5) { _, error in failure = error }
        if let failure { throw failure }
    }
}

/// What the following of campaigns needs to know.
public struct CampaignConfiguration: Sendable {
    /// The campaigns topic.
    public var topic: String
    /// The worker, as it signs what it writes.
    public var worker: String
    /// librdkafka's properties for reading: `read_committed`, with end-of-partition events.
    public var readerProperties: ClientProperties
    /// librdkafka's properties for writing.
    public var writerProperties: ClientProperties

    /// What the following of campaigns needs to know.
    public init(
        topic: String, worker: String, readerProperties: ClientProperties, writerProperties: ClientProperties
    ) {
        self.topic = topic
        self.worker = worker
        self.readerProperties = readerProperties
        self.writerProperties = writerProperties
    }
}

/// How many outcomes of a campaign a lane has seen fail, or how many of its latest calls were rejected with one status.
struct CampaignFailures: Sendable {
    var campaign: String
    var failed: Int
    var of: Int
    var status: Int?

    /// Why the campaign is paused, for people.
    var reason: String {
        guard let status else { return "\(failed) of \(of) outcomes of a worker failed" }
        return "its users are rejected: \(failed) of a worker's latest \(of) calls with status \(status)"
    }
}
