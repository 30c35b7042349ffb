internal import HeraldCore
internal import HeraldDriver
internal import HeraldKafka
internal import HeraldTelemetry
internal import HeraldThreads
internal import HeraldTime

/// The I/O of the ``WordsMachine``: brokers, the table of words, clocks and the log.
///
/// One thread; it blocks while the brokers are asked, and while it waits.
final class WordsClients: JobIO {
    private static let recordsPerTurn = 10_000
    /// The silence after which the reader is assigned again at the same position; the topics may be quiet for hours.
    private static let silence = Duration.seconds(10)
    /// The time between two log lines about broken records.
    private static let brokenInterval: Milliseconds = .minutes(1)

    private enum Answer {
        case found([TopicPartition], missing: [String])
        case notFound(KafkaError)
        case endsUnknown(KafkaError)
        case readingFailed(KafkaError)
    }

    private let configuration: LastWordConfiguration
    private let admin: Admin
    private let watch: LastWordWatch
    private let logger: Logger
    private let topics: TopicFollower
    private var keeper: WordKeeper
    private var preferences: TopicHandleID?
    /// Whether an offset says how far the preferences are read: they lie in one partition.
    private var isPlaced = false
    private var answers: [Answer] = []
    private var brokenSinceLog = 0
    private var lastBrokenLog: MonotonicTime?

    init(
        _ configuration: LastWordConfiguration, admin: Admin, watch: LastWordWatch, wakeup: Wakeup, logger: Logger
    ) {
        self.configuration = configuration
        self.admin = admin
        self.watch = watch
        self.logger = logger
        topics = TopicFollower(
            configuration.readerProperties, silence: Self.silence, recordsPerTurn: Self.recordsPerTurn, wakeup: wakeup)
        keeper = WordKeeper(configuration.table, pushServices: configuration.pushServices)
    }

    func close() { topics.close() }

    // MARK: What the machine wants

    var now: Moment { SystemClock.moment() }

    func perform(_ action: WordsMachine.Action) {
        switch action {
        case .findPartitions:
            do throws(KafkaError) { try findPartitions() } catch { answers.append(.notFound(error)) }
        case .read(let partitions, let isAgain):
            if isAgain { configuration.table.beginAgain() }
            do throws(KafkaError) { try read(partitions) } catch { answers.append(.readingFailed(error)) }
        case .askEnds:
            do throws(KafkaError) { try topics.askEnds() } catch { answers.append(.endsUnknown(error)) }
        case .current(let moment): configuration.table.noteCurrent(asOf: moment)
        case .settled: watch.settle()
        case .notice(let notice): announce(notice)
        }
    }

    private func findPartitions() throws(KafkaError) {
        let topics = [configuration.preferencesTopic, configuration.recallsTopic]
        let found = try admin.metadata(topics: topics, timeout: TopicFollower.questionTimeout).topics
        var partitions: [TopicPartition] = []
        var missing: [String] = []
        for name in topics {
            let topic = found.first { $0.name == name }
            if let topic, topic.error == nil, !topic.partitions.isEmpty {
                partitions += topic.partitions.map { TopicPartition(topic: name, partition: $0.id) }
            } else if let error = topic?.error, error.kind != .unknownTopic {
                throw error
            } else {
                missing.append(name)
            }
        }
        answers.append(.found(partitions, missing: missing))
    }

    private func read(_ partitions: [TopicPartition]) throws(KafkaError) {
        try topics.read(partitions)
        let topic = configuration.preferencesTopic
        let count = partitions.count { $0.topic == topic }
        preferences = count > 0 ? try topics.topicID(of: topic) : nil
        isPlaced = count == 1
        configuration.table.notePreferences(before: isPlaced ? 0 : nil)
    }

    // MARK: What arrives

    func deliver(to machine: inout WordsMachine) {
        if watch.isStopping { machine.stop() }
        let answers = answers
        self.answers = []
        for answer in answers {
            switch answer {
            case .found(let partitions, let missing): machine.found(partitions, missing: missing, now: now)
            case .notFound(let error): machine.notFound(error, now: now)
            case .endsUnknown(let error): machine.endsUnknown(error, now: now)
            case .readingFailed(let error): readingFailed(error, &machine)
            }
        }
        do throws(KafkaError) {
            try topics.take { step in
                switch step {
                case .record(let message): apply(message)
                case .end: machine.reachedEnd(now: now)
                }
            }
        } catch {
            readingFailed(error, &machine)
        }
    }

    private func readingFailed(_ error: KafkaError, _ machine: inout WordsMachine) {
        close()
        machine.readingFailed(error, now: now)
    }

    private func apply(_ message: Message) {
        var problem: String?
        let isPreference = message.topic == preferences
        message.withKey { key in
            message.withValue { value in
                problem =
                    isPreference
                    ? keeper.takePreference(key: key, value: value) : keeper.takeRecall(key: key, value: value)
            }
        }
        if isPreference, isPlaced { configuration.table.notePreferences(before: message.offset + 1) }
        if let problem { noteBroken(problem, message, isPreference: isPreference) }
    }

    func wait(until moment: MonotonicTime?) {
        if answers.isEmpty { topics.wait(until: moment) }
    }

    // MARK: People

    /// The first is logged at once, then one a minute: users are not named.
    private func noteBroken(_ problem: String, _ message: Message, isPreference: Bool) {
        watch.noteBroken()
        brokenSinceLog += 1
        let now = SystemClock.monotonic()
        if let last = lastBrokenLog, now.time(since: last) < Self.brokenInterval { return }
        let topic = isPreference ? configuration.preferencesTopic : configuration.recallsTopic
        logger.warning(
            "\(topic): a record \(problem); what of it was understood is added to what was known, and nobody is opted in",
            [
                "partition": .int(Int(message.partition)), "offset": .int(Int(message.offset)),
                "broken": .int(brokenSinceLog),
            ])
        (lastBrokenLog, brokenSinceLog) = (now, 0)
    }

    private func announce(_ notice: WordsMachine.Notice) {
        let (preferences, recalls) = (configuration.preferencesTopic, configuration.recallsTopic)
        switch notice {
        case .unreadable(let error):
            logger.warning(
                "\(preferences) and \(recalls) cannot be read, retrying: \(error); promotional events wait when this "
                    + "lasts longer than preferences.maxLag"
                    + error.advice(KafkaPermission(.read, on: .topic(preferences), .topic(recalls))))
        case .missing(let topics):
            watch.note(missing: topics)
            if !topics.isEmpty {
                logger.warning(
                    "there is no topic \(topics.joined(separator: ", ")), so promotional events wait; make it with: "
                        + "herald topics apply")
            }
        case .complete:
            logger.info(
                "opt-outs and recalls are read",
                ["users": .int(configuration.table.users), "recalls": .int(configuration.table.recalls)])
        }
    }
}
