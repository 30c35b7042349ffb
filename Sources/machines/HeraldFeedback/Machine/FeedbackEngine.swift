package import HeraldCore
package import HeraldEvents
package import HeraldHub
package import HeraldTime

/// Decides when to ask the hub about each message, what happened to it, and what may be committed: pure.
///
/// A message is taken from the results topic, asked about until the hub gives a final answer, and then *concluded*.
/// Concluded messages leave in a batch together with their offsets; both become durable in one transaction, or the
/// engine is discarded and another begins at the last transaction. So a kill repeats only questions.
package struct FeedbackEngine {
    /// Its limits.
    package struct Configuration: Sendable {
        /// The maximum number of questions per second.
        package var asksPerSecond = 100.0
        /// The maximum number of questions in flight.
        package var inFlightLimit = 64
        /// The maximum number of messages in memory, until their feedback is durable.
        package var messageLimit = 50_000
        /// The maximum number of bytes of their results.
        package var byteLimit = 64 << 20
        /// The maximum number of records in one transaction.
        package var batchLimit = 1_000
        /// The intervals between transactions with records, and with offsets only.
        package var commitInterval: Milliseconds = .seconds(1)
        package var offsetsInterval: Milliseconds = .seconds(5)
        /// The interval after which every offset is committed again: a replaced follower notices its replacement by it,
        /// and brokers forget the offsets of partitions that are quiet for days.
        package var refreshInterval: Milliseconds = .seconds(10)

        package init() {}
    }

    /// A question to the hub.
    package struct Ask: Equatable, Sendable {
        /// Comes back with the answer.
        package var token: UInt64
        package var backendID: String
    }

    /// The offset at which a partition may resume, and the completed offsets beyond it.
    package struct Position: Equatable, Sendable {
        package var partition: Int32
        package var offset: Int64
        package var metadata: String
    }

    /// The feedback and positions that become durable together.
    package struct Batch: Sendable {
        package var feedback: [NotificationFeedback]
        package var positions: [Position]
    }

    /// The progress of the work, for people.
    package struct Counts: Equatable, Sendable {
        /// Messages in memory without a conclusion.
        package var waiting = 0
        /// Questions without an answer.
        package var inFlight = 0
        /// Questions so far.
        package var asked = 0
        /// Feedback that is durable, by its conclusion.
        package var recorded: [NotificationFeedback.Conclusion: Int] = [:]
        /// The time at which the oldest waiting message was sent.
        package var oldest: WallTime?
    }

    private struct Message {
        var result: NotificationResult
        var backendID: String
        var partition: Int32
        var offset: Int64
        var byteCount: Int
        /// The time after which an answer is the last.
        var deadline: MonotonicTime
        var askCount = 0
        var lastDetails: MessageDetails?
    }

    private struct Partition {
        var tracker: OffsetTracker
        let identity: PartitionIdentity
    }

    private struct Concluded {
        var feedback: NotificationFeedback
        var partition: Int32
        var offset: Int64
        var byteCount: Int
    }

    /// The age at which a hub forgets or abandons a message (Microsoft's page on message telemetry).
    static let ageLimit: Milliseconds = .minutes(30)
    /// The age before which a hub hardly knows a message.
    static let firstPause: Milliseconds = .seconds(5)
    /// The growing pauses between questions about a message.
    static let pauses: [Milliseconds] = [
        .seconds(10), .seconds(20), .seconds(40), .seconds(80), .seconds(160), .minutes(5),
    ]

    private let configuration: Configuration
    private var partitions: [Int32: Partition] = [:]
    private var messages: [UInt64: Message] = [:]
    private var inFlight: Set<UInt64> = []
    private var due = DueQueue<UInt64>()
    private var limiter: QuestionLimiter
    private var lastToken: UInt64 = 0
    private var concluded: [Concluded] = []
    /// The messages of the batch that is being written.
    private var writing: [Concluded]?
    private var marks: [Int32: Int] = [:]
    private var byteCount = 0
    private var lastBatch: MonotonicTime
    private var lastRefresh: MonotonicTime
    private var asked = 0
    private var recorded: [NotificationFeedback.Conclusion: Int] = [:]

    /// An engine without partitions.
    ///
    /// - Parameter former: The discarded engine; answers to its questions do not count for this one.
    package init(_ configuration: Configuration, now: MonotonicTime, after former: FeedbackEngine? = nil) {
        self.configuration = configuration
        lastToken = former?.lastToken ?? 0
        limiter = QuestionLimiter(
            perSecond: configuration.asksPerSecond, inFlightLimit: configuration.inFlightLimit, now: now)
        lastBatch = now
        lastRefresh = now
    }

    // MARK: Intake

    /// Begins a partition at its last transaction.
    package mutating func begin(
        _ partition: Int32, at offset: Int64, done: CompletionMap = CompletionMap(), identity: PartitionIdentity
    ) {
        partitions[partition] = Partition(tracker: OffsetTracker(startingAt: offset, done: done), identity: identity)
    }

    /// Whether there is room for the partition's next record, whatever it is.
    package func mayTake(_ partition: Int32, _ offset: Int64) -> Bool {
        held < configuration.messageLimit && byteCount < configuration.byteLimit
            && partitions[partition]?.tracker.mayTake(offset) ?? false
    }

    /// Takes a record of the results topic.
    ///
    /// - Parameter result: `nil` for a foreign record.
    package mutating func take(
        _ result: NotificationResult?, byteCount: Int, partition: Int32, offset: Int64, now: MonotonicTime,
        wall: WallTime
    ) {
        guard partitions[partition]?.tracker.accept(offset) == .new else { return }
        guard let result, result.outcome.standing == .reached, let backendID = result.backendID else {
            partitions[partition]?.tracker.complete(offset)
            return
        }
        let age = wall.time(since: result.completedAt)
        let left = min(Self.ageLimit, max(.zero, Self.ageLimit - max(.zero, age)))
        let pause = min(Self.firstPause, max(.zero, Self.firstPause - max(.zero, age)))
        lastToken += 1
        messages[lastToken] = Message(
            result: result, backendID: backendID, partition: partition, offset: offset, byteCount: byteCount,
            deadline: now.advanced(by: left))
        self.byteCount += byteCount
        due.add(.init(due: now.advanced(by: pause), purpose: lastToken))
    }

    /// The partition was read up to there: missing lower offsets will never come.
    package mutating func reachedEnd(of partition: Int32, at offset: Int64) {
        _ = partitions[partition]?.tracker.reachEnd(offset)
    }

    // MARK: Questions

    /// The next question, if one may be asked now.
    package mutating func nextAsk(now: MonotonicTime) -> Ask? {
        guard limiter.mayAsk(inFlight: inFlight.count, now: now), let token = due.takeDue(at: now)?.purpose,
            let message = messages[token]
        else { return nil }
        limiter.asked(now: now)
        asked += 1
        messages[token]?.askCount += 1
        inFlight.insert(token)
        return Ask(token: token, backendID: message.backendID)
    }

    /// The moment at which ``nextAsk(now:)`` may have a question; `nil` when only an input can change that.
    package var nextAskMoment: MonotonicTime? {
        guard let first = due.earliest, let turn = limiter.earliest(inFlight: inFlight.count) else { return nil }
        return max(first, turn)
    }

    package mutating func answered(_ token: UInt64, _ answer: MessageAnswer, now: MonotonicTime, wall: WallTime) {
        guard inFlight.remove(token) != nil, let message = messages[token] else { return }
        switch answer {
        case .details(let details):
            limiter.succeeded()
            messages[token]?.lastDetails = details
            if details.state.isFinal { return conclude(token, .final, details, wall) }
            if now >= message.deadline { return conclude(token, .tooOld, details, wall) }
            askAgain(token, message, now)
        case .notKnown:
            limiter.succeeded()
            guard now >= message.deadline else { return askAgain(token, message, now) }
            conclude(token, message.lastDetails == nil ? .unknown : .tooOld, message.lastDetails, wall)
        case .unavailable(_, let retryAfter):
            // This was no answer about the message.
            messages[token]?.askCount -= 1
            limiter.failed(retryAfter: retryAfter, now: now)
            due.add(.init(due: now, purpose: token))
        }
    }

    private mutating func askAgain(_ token: UInt64, _ message: Message, _ now: MonotonicTime) {
        let pauses = Self.pauses
        let next = now.advanced(by: pauses[min(message.askCount, pauses.count) - 1])
        // The last question comes when the message is too old, never before the shortest pause.
        let last = max(message.deadline, now.advanced(by: pauses[0]))
        due.add(.init(due: min(next, last), purpose: token))
    }

    private mutating func conclude(
        _ token: UInt64, _ conclusion: NotificationFeedback.Conclusion, _ details: MessageDetails?, _ wall: WallTime
    ) {
        guard let message = messages.removeValue(forKey: token) else { return }
        let feedback = NotificationFeedback(
            on: message.result, backendID: message.backendID, conclusion: conclusion, state: details?.state.name,
            outcomes: details?.outcomes ?? [:], checkedAt: wall)
        concluded.append(
            Concluded(
                feedback: feedback, partition: message.partition, offset: message.offset, byteCount: message.byteCount))
    }

    // MARK: Transactions

    /// The moment at which ``takeBatch(now:isLast:)`` has a batch; `nil` when only an input can change that.
    package var nextBatchMoment: MonotonicTime? {
        guard writing == nil else { return nil }
        if concluded.count >= configuration.batchLimit { return .distantPast }
        if !concluded.isEmpty { return lastBatch.advanced(by: configuration.commitInterval) }
        if partitions.values.contains(where: \.tracker.hasUncommitted) {
            return lastBatch.advanced(by: configuration.offsetsInterval)
        }
        return partitions.isEmpty ? nil : lastRefresh.advanced(by: configuration.refreshInterval)
    }

    /// The next batch to make durable; nil while another one is being written.
    ///
    /// - Parameter isLast: Whether the work ends with it, so that it is not delayed.
    package mutating func takeBatch(now: MonotonicTime, isLast: Bool = false) -> Batch? {
        guard writing == nil, let next = nextBatchMoment, isLast || next <= now else { return nil }
        let part = Array(concluded.prefix(configuration.batchLimit))
        concluded.removeFirst(part.count)
        for item in part { partitions[item.partition]?.tracker.complete(item.offset) }
        let isRefresh = now >= lastRefresh.advanced(by: configuration.refreshInterval)
        if isRefresh { lastRefresh = now }
        var positions: [Position] = []
        for (number, partition) in partitions where partition.tracker.hasUncommitted || isRefresh {
            let offset = partition.tracker.watermark
            positions.append(
                Position(
                    partition: number, offset: offset,
                    metadata: partition.tracker.completions.text(committing: offset, of: partition.identity)))
            marks[number] = partition.tracker.mark
        }
        guard !part.isEmpty || !positions.isEmpty else { return nil }
        lastBatch = now
        writing = part
        return Batch(
            feedback: part.map(\.feedback), positions: positions.sorted { $0.partition < $1.partition })
    }

    /// Notes that the batch is durable.
    package mutating func committed() {
        guard let written = writing else { return }
        writing = nil
        for item in written {
            byteCount -= item.byteCount
            recorded[item.feedback.conclusion, default: 0] += 1
        }
        for (partition, mark) in marks { partitions[partition]?.tracker.acknowledge(mark) }
        marks.removeAll(keepingCapacity: true)
    }

    // MARK: For people

    /// The number of messages in memory.
    package var held: Int { messages.count + concluded.count + (writing?.count ?? 0) }

    /// The progress of the work; walks over all messages.
    package var counts: Counts {
        Counts(
            waiting: messages.count, inFlight: inFlight.count, asked: asked, recorded: recorded,
            oldest: messages.values.lazy.map(\.result.completedAt).min())
    }
}
