internal import HeraldCore
internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTelemetry
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime

/// The I/O of the ``ControlMachine``: brokers, lanes, clocks and the log.
///
/// One thread; it blocks while the brokers are asked, while a pause is written, and while it waits.
final class ControlClients: JobIO {
    /// The longest wait for a record on the way to the topic's end; at the end, records wake it.
    private static let turnLength: Milliseconds = .milliseconds(250)
    private static let recordsPerTurn = 1_000
    /// The silence after which the reader is assigned again at the same position; the topic may be quiet for hours.
    private static let silence = Duration.seconds(30)

    private enum Answer {
        case found([TopicPartition])
        case notFound(KafkaError)
        case readingFailed(KafkaError)
        case written(KafkaError?)
    }

    private let configuration: CampaignConfiguration
    private let admin: Admin
    private let lanes: CampaignWatch
    private let logger: Logger
    private let reader: TopicFollower
    private var hasReadAll = false
    private var answers: [Answer] = []
    /// The pause that it has written last, until it comes back from the topic.
    private var written: CampaignControl?

    init(_ configuration: CampaignConfiguration, admin: Admin, lanes: CampaignWatch, wakeup: Wakeup, logger: Logger) {
        self.configuration = configuration
        self.admin = admin
        self.lanes = lanes
        self.logger = logger
        reader = TopicFollower(
            configuration.readerProperties, silence: Self.silence, recordsPerTurn: Self.recordsPerTurn, wakeup: wakeup)
    }

    func close() { reader.close() }

    // MARK: What the machine wants

    var now: Moment { SystemClock.moment() }

    func perform(_ action: ControlMachine.Action) {
        switch action {
        case .findPartitions:
            do throws(KafkaError) {
                answers.append(.found(try partitions()))
            } catch {
                answers.append(.notFound(error))
            }
        case .read(let partitions):
            hasReadAll = false
            do throws(KafkaError) { try reader.read(partitions) } catch { answers.append(.readingFailed(error)) }
        case .tell(let name, let control): lanes.tell(name, control)
        case .settled: lanes.settle()
        case .write(let name, let control):
            do throws(KafkaError) {
                try write(control, of: name)
                answers.append(.written(nil))
            } catch {
                answers.append(.written(error))
            }
        case .notice(let notice): announce(notice)
        }
    }

    private func partitions() throws(KafkaError) -> [TopicPartition] {
        let found = try admin.metadata(
            topics: [configuration.topic], timeout: TopicFollower.questionTimeout
        ).topics
        guard let topic = found.first, topic.error == nil, !topic.partitions.isEmpty else {
            throw found.first?.error
                ?? KafkaError(code: KafkaError.Code.unknownTopicOrPartition, message: "the topic is missing")
        }
        return topic.partitions.map { TopicPartition(topic: configuration.topic, partition: $0.id) }
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
        try producer.flush(timeout: TopicFollower.questionTimeout * 5) { _, error in failure = error }
        if let failure { throw failure }
        written = control
    }

    /// Writes its own pause down in the audit, once the lanes obey it; a worker that may not write there has paused the
    /// campaign all the same.
    private func record(_ control: CampaignControl, of campaign: String) {
        guard control == written, let (topic, key, value) = configuration.audit?(campaign, control) else { return }
        written = nil
        var failure: KafkaError?
        do throws(KafkaError) {
            let producer = try Producer(properties: configuration.writerProperties)
            defer { producer.close() }
            let target = try producer.topic(topic)
            failure = producer.produce(topic: target, key: key.span.bytes, value: value.span.bytes, token: 0)
            if failure == nil {
                try producer.flush(timeout: TopicFollower.questionTimeout) { _, error in failure = error }
            }
        } catch {
            failure = error
        }
        guard let failure else { return }
        logger.warning(
            "the pause of a campaign is not in \(topic): \(failure)"
                + failure.advice(KafkaPermission(.write, on: .topic(topic))), ["campaign": .string(campaign)])
    }

    // MARK: What arrives

    func deliver(to machine: inout ControlMachine) {
        if lanes.isStopping { machine.stop() }
        for failures in lanes.takeFailures() { machine.failing(failures) }
        let answers = answers
        self.answers = []
        for answer in answers {
            switch answer {
            case .found(let partitions): machine.found(partitions, now: now)
            case .notFound(let error): machine.notFound(error, now: now)
            case .readingFailed(let error): readingFailed(error, &machine)
            case .written(let error): machine.written(error, now: now)
            }
        }
        do throws(KafkaError) {
            try reader.take(wait: hasReadAll ? .zero : Self.turnLength) { step in
                switch step {
                case .record(let message): receive(message, by: &machine)
                case .end:
                    hasReadAll = true
                    machine.reachedEnd(now: now)
                }
            }
        } catch {
            readingFailed(error, &machine)
        }
    }

    private func readingFailed(_ error: KafkaError, _ machine: inout ControlMachine) {
        close()
        machine.readingFailed(error, now: now)
    }

    private func receive(_ message: Message, by machine: inout ControlMachine) {
        var problem: InvalidArgument?
        message.withKey { key in
            guard let key else { return }
            message.withValue { value in
                do throws(InvalidArgument) {
                    try machine.receive(key: key, value: value)
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

    func wait(until moment: MonotonicTime?) {
        if answers.isEmpty { reader.wait(until: moment) }
    }

    // MARK: People

    private func announce(_ notice: ControlMachine.Notice) {
        switch notice {
        case .unreadable(let error):
            logger.warning(
                "\(configuration.topic) cannot be read, retrying: \(error); campaigns are neither paused nor "
                    + "cancelled meanwhile"
                    + error.advice(KafkaPermission(.read, on: .topic(configuration.topic))))
        case .changed(let name, let control):
            announce(name, control)
            record(control, of: name)
        case .unwritten(let failures, let error):
            logger.error(
                "the campaign could not be paused, retrying: \(error)",
                ["campaign": .string(failures.campaign), "failed": .int(failures.failed), "of": .int(failures.of)])
        }
    }

    private func announce(_ name: String, _ control: CampaignControl) {
        var fields: LogFields = ["campaign": .string(name), "by": .string(control.by)]
        if let reason = control.reason { fields["reason"] = .string(reason) }
        switch control.state {
        case .running: logger.info("campaign runs", fields)
        case .paused: logger.info("campaign paused: its events wait in the retry topics", fields)
        case .cancelled: logger.info("campaign cancelled: its events end without a call", fields)
        }
    }
}
