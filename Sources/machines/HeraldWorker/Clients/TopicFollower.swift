internal import HeraldKafka
internal import HeraldThreads
internal import HeraldTime

/// Reads topics whole and then record by record as they come, on the one thread of a job's clients, which it may block.
final class TopicFollower {
    /// The longest time for one question to the brokers.
    static let questionTimeout = Milliseconds.seconds(2)
    /// The longest time between two checks of the client for trouble.
    private static let idlePause: Milliseconds = .seconds(5)

    /// What it comes upon.
    enum Step {
        /// A record, which is released afterwards.
        case record(Message)
        /// The ends that it was to read to.
        case end
    }

    private let properties: ClientProperties
    private let silence: Duration
    private let recordsPerTurn: Int
    private let wakeup: Wakeup
    private var reader: TopicReader?
    /// Whether more has arrived than a turn takes.
    private var isBusy = false

    /// A follower that reads nothing yet.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's: `read_committed`, with end-of-partition events.
    ///   - silence: After so long without a record it is assigned again at the same position; topics may be quiet for hours.
    ///   - wakeup: Records signal it.
    init(_ properties: ClientProperties, silence: Duration, recordsPerTurn: Int, wakeup: Wakeup) {
        self.properties = properties
        self.silence = silence
        self.recordsPerTurn = recordsPerTurn
        self.wakeup = wakeup
    }

    func close() {
        reader?.close()
        reader = nil
    }

    /// Reads these partitions from their beginning, to the ends that they have now and beyond.
    func read(_ partitions: [TopicPartition]) throws(KafkaError) {
        close()
        isBusy = true
        let reader = try TopicReader(
            properties: properties, silence: silence, patience: CampaignWatch.patience,
            questions: Self.questionTimeout.duration)
        self.reader = reader
        reader.consumer.queue.notify(wakeup)
        try reader.begin(Dictionary(uniqueKeysWithValues: partitions.map { ($0, .beginning) }), to: .committed)
    }

    /// Comes to an end once more when it has read as far as the partitions reach now.
    func askEnds() throws(KafkaError) {
        isBusy = true
        try reader?.setEnd(.committed)
    }

    /// The identity of a topic that it reads, as its records have it.
    func topicID(of topic: String) throws(KafkaError) -> TopicHandleID? { try reader?.consumer.topicID(of: topic) }

    /// Takes what has arrived, as much as a turn has room for.
    ///
    /// - Parameter wait: The longest wait for a record. Those without one wake the thread; only time spent waiting here
    ///   counts for the reader's patience, beyond which it says what is missing.
    func take(wait: Milliseconds = .zero, _ step: (Step) -> Void) throws(KafkaError) {
        isBusy = false
        guard let reader else { return }
        _ = reader.consumer.takeNotices()
        for _ in 0..<recordsPerTurn {
            switch try reader.next(wait: wait) {
            case .nothing:
                isBusy = wait > .zero
                return
            case .record(let message):
                defer { message.release() }
                step(.record(message))
            case .end:
                try reader.setEnd(.none)
                step(.end)
            }
        }
        isBusy = true
    }

    /// Waits for records, a signal, or the moment; not at all while more has arrived.
    func wait(until moment: MonotonicTime?) {
        guard !isBusy else { return }
        let now = SystemClock.monotonic()
        var end = now.advanced(by: Self.idlePause)
        if let moment { end = min(end, moment) }
        if wakeup.wait(for: max(.zero, end.time(since: now)).duration) { wakeup.drain() }
    }
}
