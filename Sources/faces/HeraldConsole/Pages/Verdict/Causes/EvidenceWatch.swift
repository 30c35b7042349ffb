import HeraldBytes
import HeraldEvents
import HeraldKafka
import HeraldReplay
import HeraldThreads
import HeraldTime
import HeraldTimeline
import HeraldTools

/// Takes samples of the results and of what waits for a retry, on a thread of its own.
///
/// However much there is, it reads a bounded part: of each partition the newest records of each turn, and when it begins some
/// of each five minutes of the last hour.
final class EvidenceWatch: ClusterWatch {
    static let threadName = "console-evidence"
    private static let turn = Duration.seconds(3)
    private static let questionTimeout = Milliseconds.seconds(4)
    /// A turn ends after so long, whatever is left.
    private static let patience = Duration.seconds(10)
    private static let newestOfTurn: Int64 = 500
    private static let samplesOfPast: Int64 = 50
    private static let pastSteps: Int64 = 12
    private static let pastStep: Milliseconds = .minutes(5)

    private let plan: NowPlan
    private let state = Guarded(Evidence())
    let wakeup: Wakeup

    init(_ plan: NowPlan) throws(SystemError) {
        self.plan = plan
        wakeup = try Wakeup()
    }

    var evidence: Evidence { state.withLock { $0 } }

    func run() { repeated(follow) }

    private func follow() throws {
        let reader = try TopicReader(properties: plan.readerProperties, patience: Self.patience)
        defer { reader.close() }
        let partitions = partitions(reader)
        guard !partitions.isEmpty else { return }
        var entry = DeadLetterEntry(decoder: RecordDecoder())
        let results = partitions.filter { $0.topic == plan.search.topics.results }
        let now = SystemClock.wall().milliseconds
        for step in stride(from: Self.pastSteps, to: 0, by: -1) where !results.isEmpty {
            let begins = try reader.consumer.queries.offsets(
                of: results, at: now - step * Self.pastStep.count, timeout: Self.questionTimeout)
            try read(reader, begins.mapValues { $0..<$0 + Self.samplesOfPast }, &entry)
        }
        var positions: [TopicPartition: Int64] = [:]
        repeat {
            let ends = try reader.consumer.queries.ends(
                of: partitions, timeout: Self.questionTimeout)
            var ranges: [TopicPartition: Range<Int64>] = [:]
            for (partition, end) in ends {
                let begin = max(positions[partition] ?? 0, end - Self.newestOfTurn, 0)
                if begin < end { ranges[partition] = begin..<end }
            }
            try read(reader, ranges, &entry)
            positions.merge(ends) { $1 }
        } while !wakeup.wait(for: Self.turn)
    }

    private func partitions(_ reader: TopicReader) -> [TopicPartition] {
        let (topics, queries) = (plan.search.topics, reader.consumer.queries)
        let existing = (try? queries.topics(timeout: Self.questionTimeout)) ?? []
        let retries = topics.delays(plan.search.delays, among: existing).map(topics.retryTopic)
        return ([topics.results] + retries).flatMap { topic in
            (try? queries.partitions(of: topic, timeout: Self.questionTimeout)) ?? []
        }
    }

    private func read(
        _ reader: TopicReader, _ ranges: [TopicPartition: Range<Int64>], _ entry: inout DeadLetterEntry
    ) throws {
        try reader.read(ranges, within: Self.patience, unless: wakeup) { message in
            let results = try? reader.consumer.topicID(of: plan.search.topics.results)
            take(message, &entry, isResult: message.topic == results)
        }
    }

    private func take(_ message: borrowing Message, _ entry: inout DeadLetterEntry, isResult: Bool) {
        let moment = WallTime(milliseconds: message.timestampMilliseconds)
        guard isResult else {
            entry.fill(message)
            // Others wait for a moment of their own, or behind their user's.
            guard entry.text(.reason).flatMap(RetryReason.init)?.isFailure ?? false else { return }
            let traits = NotificationTraits(retry: &entry)
            state.withLock { $0.add(failing: traits, at: moment) }
            if entry.replays > 0, let origin = entry.text(.origin) {
                let next = entry.headers.lastValue(named: HeaderName.notBefore.literal)?.decimal
                let replay = OpenReplay(
                    origin: NotificationTraits.cut(origin), services: traits.services, status: traits.status,
                    detail: traits.detail, answeredAt: moment, nextCall: next.map { WallTime(milliseconds: $0) })
                state.withLock { $0.add(open: replay) }
            }
            return
        }
        guard let result = message.result else { return }
        if result.outcome.standing == .reached {
            state.withLock { $0.add(delivered: NotificationTraits(result), at: result.completedAt) }
        } else if result.reason == .rejected {
            state.withLock { $0.add(rejected: NotificationTraits(result), at: result.completedAt) }
        }
    }
}
