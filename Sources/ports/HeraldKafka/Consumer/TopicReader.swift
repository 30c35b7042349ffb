public import HeraldTime

/// Reads partitions between bounds, in order, as a member of no group, and hands out no record twice.
///
/// After its broker was killed and came back, a client was seen to fetch nothing for minutes from a partition whose end
/// it had not reached, and to go on at once when reassigned; other users of librdkafka report the same
/// (confluentinc/librdkafka#5153). So a reader that receives nothing for a while is reassigned at its position, which
/// costs one fetch when there is nothing to receive. Records that the client repeats after that are dropped.
///
/// A batch that cannot be read is skipped and listed in ``unreadable``.
///
/// The caller may stop at any step. It belongs to one thread.
public final class TopicReader {
    /// The place at which reading a partition begins.
    public enum Start: Sendable, Equatable {
        /// At its first record.
        case beginning
        /// After all written records, open transactions included.
        case end
        /// At this offset, or at the records of a moment (milliseconds since the Unix epoch) if these come first.
        ///
        /// An offset beyond the partition's end means that the topic was recreated: then all of it is read.
        case offset(Int64, lookingBackTo: Int64? = nil)
        /// At the first record of this moment (milliseconds since the Unix epoch) or later, or at the end without one;
        /// at the beginning when the broker cannot search by time (an embedded one).
        case moment(Int64)
    }

    /// The place up to which partitions are read.
    public enum End: Sendable, Equatable {
        /// The last committed record: open transactions are not waited for. Later records are handed out, too.
        case committed
        /// The last written record, committed or not: waits until all open transactions end. Later records are handed
        /// out, too.
        case written
        /// Exactly these offsets; a partition without one is not read.
        case offsets([TopicPartition: Int64])
        /// None: reads for ever.
        case none
    }

    /// The result of ``next(wait:)``.
    public enum Step {
        /// A record; release it.
        case record(Message)
        /// Nothing arrived in time; the reader goes on waiting for absent brokers and moving leaders.
        case nothing
        /// The end has been reached.
        case end
    }

    private struct Key: Hashable {
        var topic: TopicHandleID
        var partition: Int32
    }

    private struct Place {
        let partition: TopicPartition
        var position: Int64
        var end: Int64?
        var stopsAtEnd = false

        var isReached: Bool { end.map { position >= $0 } ?? true }
        var isFinished: Bool { stopsAtEnd && isReached }
    }

    /// The records between two wake-ups: fewer than a full queue has, by default 100 000.
    private static let recordsPerWakeUp = 20_000
    /// How soon a queue that was full is filled again.
    private static let fetchPause = ("fetch.queue.backoff.ms", "20")
    private static let fetchesAgainSoon = KafkaLibrary.takes(fetchPause.0, fetchPause.1)

    /// For queries, wake-ups and notices; its records come out of ``next(wait:)`` alone.
    public let consumer: Consumer
    private let properties: ClientProperties
    private let silence: Duration
    private let patience: Duration
    private let questionTimeout: Milliseconds

    private var places: [Key: Place] = [:]
    private var end = End.none
    private var unreachedCount = 0
    private var recordsToWakeUp = recordsPerWakeUp
    private var hasNews = false
    private var lastNews = ContinuousClock.now
    /// Whether a topic was missing at the last query.
    private var isMissing = false
    /// The time spent in this object waiting for the next step towards the end.
    private var waited = Duration.zero
    private var trouble: KafkaError?

    /// The number of offsets passed since the end was set, and their total.
    public private(set) var progress: (passed: Int64, total: Int64) = (0, 0)
    /// The batches that could not be read and were skipped.
    public private(set) var unreadable: [UnreadableBatch] = []
    /// The number of requested offsets that were deleted before they could be read.
    public private(set) var deletedCount: Int64 = 0

    /// Makes the client; nothing is read before ``begin(_:to:)``.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's, with a `group.id`, which is not joined; ends of partitions are always reported.
    ///   - silence: The time without a record after which the client is reassigned.
    ///   - patience: The time limit for an unknown topic, a moving leader, or a step towards the end; beyond it no
    ///     broker answers, or a transaction does not end.
    ///   - questions: The time limit of one query to the brokers.
    public init(
        properties: ClientProperties, silence: Duration = .seconds(10), patience: Duration = .seconds(60),
        questions: Duration = .seconds(10)
    ) throws(KafkaError) {
        self.properties = properties
        self.silence = silence
        self.patience = patience
        questionTimeout = Milliseconds(questions)
        var own = properties + [("enable.partition.eof", "true")]
        if Self.fetchesAgainSoon, properties[Self.fetchPause.0] == nil {
            own.append(Self.fetchPause.0, Self.fetchPause.1)
        }
        consumer = try Consumer(properties: own)
    }

    /// Reads exactly these partitions from now on; blocks for the brokers' answers.
    public func begin(_ starts: [TopicPartition: Start], to end: End = .none) throws(KafkaError) {
        let offsets = try outwaiting { () throws(KafkaError) in try self.offsets(of: starts) }
        places = [:]
        for (partition, offset) in offsets {
            let key = Key(topic: try consumer.topicID(of: partition.topic), partition: partition.partition)
            places[key] = Place(partition: partition, position: offset)
        }
        try setEnd(end)
        lastNews = .now
        try assign()
    }

    /// Continues to another end; blocks for the brokers' answers.
    public func setEnd(_ end: End) throws(KafkaError) {
        let ends = try outwaiting { () throws(KafkaError) in try self.ends(end) }
        var stopsAtEnd = false
        if case .offsets = end { stopsAtEnd = true }
        self.end = end
        progress = (0, 0)
        unreachedCount = 0
        for (key, place) in places {
            places[key]?.end = ends[place.partition] ?? (stopsAtEnd ? place.position : nil)
            places[key]?.stopsAtEnd = stopsAtEnd
            guard let end = ends[place.partition], end > place.position else { continue }
            progress.total += end - place.position
            unreachedCount += 1
        }
        waited = .zero
    }

    /// The next offset to read, by partition; empty before ``begin(_:to:)``.
    public var positions: [TopicPartition: Int64] {
        Dictionary(uniqueKeysWithValues: places.values.map { ($0.partition, $0.position) })
    }

    /// The partitions that are read to their end.
    public var reached: [TopicPartition] { places.values.filter(\.isReached).map(\.partition) }

    /// The next record, waiting up to this long for it.
    ///
    /// - Throws: When the topic was deleted, recreated or forbidden, and the cause of the delay when nothing arrives
    ///   within `patience`.
    public func next(wait: Milliseconds = .zero) throws(KafkaError) -> Step {
        if isAtEnd { return .end }
        while let message = consumer.queue.next(wait: wait) {
            if let step = try take(message) { return step }
            if isAtEnd { return .end }
        }
        try noteSilence(wait.duration)
        return .nothing
    }

    /// Ends the client.
    public func close() { consumer.close() }

    // MARK: Records

    private var isAtEnd: Bool { end != .none && unreachedCount == 0 }

    private func take(_ message: Message) throws(KafkaError) -> Step? {
        let key = Key(topic: message.topic, partition: message.partition)
        let offset = message.offset
        if let error = message.error {
            message.release()
            if error.kind == .unreadable, let place = places[key] {
                try judgeBatch(at: place, key)
                return nil
            }
            guard error.code == KafkaError.Code.partitionEOF else { return try note(error) }
            hasNews = true
            // The markers that end transactions lie after the last record.
            return try reach(offset, key)
        }
        hasNews = true
        guard let place = places[key], !place.isFinished, offset >= place.position else {
            message.release()
            return nil
        }
        guard !place.stopsAtEnd || offset < place.end ?? .max else {
            message.release()
            advance(key, to: offset)
            return nil
        }
        advance(key, to: offset + 1)
        if unreachedCount > 0 { wakeFetcher() }
        return .record(message)
    }

    /// Has librdkafka look now and then whether its queue has room.
    ///
    /// Before 2.3 it sleeps for up to a second once the queue was full, however soon that is empty: a reader of millions gets
    /// some 150 000 records a second. Each request to the partition's leader wakes it.
    private func wakeFetcher() {
        guard !Self.fetchesAgainSoon else { return }
        recordsToWakeUp -= 1
        guard recordsToWakeUp <= 0 else { return }
        recordsToWakeUp = Self.recordsPerWakeUp
        let unreached = places.values.lazy.filter { !$0.isReached }.map(\.partition)
        _ = try? consumer.queries.ends(of: Array(unreached), timeout: .milliseconds(100))
    }

    private func note(_ error: KafkaError) throws(KafkaError) -> Step? {
        if error.isOfTopic { throw error }
        trouble = error
        return nil
    }

    /// Skips an unreadable batch, or tries it again.
    private func judgeBatch(at place: Place, _ key: Key) throws(KafkaError) {
        guard !place.isFinished else { return }
        _ = try passOver(place, key, patience: .seconds(10))
        try assign()
    }

    /// Whether the batch at this place is unreadable; if so, it is skipped.
    private func passOver(_ place: Place, _ key: Key, patience: Duration) throws(KafkaError) -> Bool {
        let finder = BatchFinder(place.partition, properties: properties, patience: patience)
        do throws(KafkaError) {
            guard case .unreadable(let batch) = try finder.reading(at: place.position) else { return false }
            unreadable.append(batch)
            hasNews = true
            advance(key, to: batch.offsets.upperBound)
            return true
        } catch {
            _ = try note(error)
            return false
        }
    }

    /// Handles a silence: a client that has met damaged records does not report them.
    ///
    /// Everything is reassigned in any case, unless messages have arrived meanwhile.
    private func lookForDamage() throws(KafkaError) {
        let open = places.filter { !$0.value.isFinished }
        let ends = consumer.queries.answers(
            Offset.end, of: open.values.map(\.partition), timeout: questionTimeout
        ).found
        let unread = open.filter { $0.value.position < ends[$0.value.partition] ?? 0 }
            .min { ($0.value.partition.topic, $0.key.partition) < ($1.value.partition.topic, $1.key.partition) }
        var isPassed = false
        if let (key, place) = unread { isPassed = try passOver(place, key, patience: .seconds(5)) }
        if isPassed || consumer.queue.count == 0 { try assign() }
    }

    private func reach(_ offset: Int64, _ key: Key) throws(KafkaError) -> Step? {
        guard let place = places[key] else { return nil }
        if offset < place.position, !place.isFinished { try checkAge(of: place) }
        advance(key, to: offset)
        return nil
    }

    /// Throws when a partition ends before the position: its topic was recreated, or its log was truncated.
    private func checkAge(of place: Place) throws(KafkaError) {
        // Without an answer nothing is thrown; the next end is checked again.
        guard let high = try? watermarks(of: place.partition).high, high < place.position else { return }
        throw KafkaError(
            code: KafkaError.Code.offsetOutOfRange,
            message: "\(place.partition) was read up to \(place.position) and ends at \(high): "
                + "it was recreated, or its log was cut off")
    }

    private func advance(_ key: Key, to position: Int64) {
        guard let place = places[key], position > place.position else { return }
        places[key]?.position = position
        properties.answers?.note()
        waited = .zero
        trouble = nil
        guard let end = place.end, !place.isReached else { return }
        progress.passed += min(position, end) - place.position
        guard position >= end else { return }
        unreachedCount -= 1
        // Records beyond the end need not be fetched.
        if place.stopsAtEnd { try? consumer.pause([place.partition]) }
    }

    private func noteSilence(_ wait: Duration) throws(KafkaError) {
        let now = ContinuousClock.now
        if hasNews {
            (hasNews, isMissing) = (false, false)
            lastNews = now
        } else if now - lastNews >= silence {
            if try areTopicsThere() { try lookForDamage() }
            // The search takes time, which does not count as silence.
            lastNews = .now
        }
        guard end != .none else { return }
        waited += wait
        guard waited < patience else {
            throw trouble
                ?? KafkaError(
                    code: KafkaError.Code.timedOut,
                    message: "nothing has come for \(patience.components.seconds) s; either no broker answers, "
                        + "or a transaction does not end")
        }
    }

    /// A client does not report that a topic was deleted while it reads it, and must not be assigned to a missing one:
    /// librdkafka 2.0 may then stop a partition twice, which aborts the process.
    private func areTopicsThere() throws(KafkaError) -> Bool {
        var missing: KafkaError?
        for topic in Set(places.values.lazy.filter { !$0.isFinished }.map(\.partition.topic)) {
            do throws(KafkaError) {
                _ = try consumer.queries.partitions(of: topic, timeout: questionTimeout)
            } catch {
                // Absent brokers are waited for.
                if error.isOfTopic { missing = error }
            }
        }
        // Once is not enough: a broker that has just come back may not know all topics yet.
        if let missing, isMissing { throw missing }
        isMissing = missing != nil
        return !isMissing
    }

    private func assign() throws(KafkaError) {
        let open = places.values.filter { !$0.isFinished }
        guard !open.isEmpty else { return }
        try consumer.assign(open.map { ($0.partition, offset: $0.position) })
        // A partition that was paused at its end stays paused when it is assigned for another range.
        try? consumer.resume(open.map(\.partition))
    }

    // MARK: Places

    /// Offsets as numbers, because the client asks for the beginning only half a second after a first attempt.
    private func offsets(of starts: [TopicPartition: Start]) throws(KafkaError) -> [TopicPartition: Int64] {
        var moments: [Int64: [TopicPartition]] = [:]
        for (partition, start) in starts {
            switch start {
            case .moment(let moment), .offset(_, lookingBackTo: let moment?):
                moments[max(0, moment), default: []].append(partition)
            case .beginning, .end, .offset: break
            }
        }
        var times: [TopicPartition: Int64] = [:]
        var ends: [TopicPartition: Int64] = [:]
        for (moment, partitions) in moments {
            let (queries, limit) = (consumer.queries, questionTimeout)
            let found = queries.answers(moment, of: partitions, timeout: limit)
            // A partition is read whole if no broker can answer for it.
            let unknown = queries.knowsTimes ? Array(found.failures.keys) : partitions
            times.merge(found.found.merging(unknown.map { ($0, 0) }) { $1 }) { $1 }
            try ends.merge(queries.ends(of: partitions, timeout: limit)) { $1 }
        }
        deletedCount = 0
        var offsets: [TopicPartition: Int64] = [:]
        for (partition, start) in starts {
            let marks = try watermarks(of: partition)
            switch start {
            case .beginning: offsets[partition] = marks.low
            case .end: offsets[partition] = marks.high
            case .moment: offsets[partition] = max(marks.low, times[partition] ?? ends[partition] ?? marks.low)
            case .offset(let offset, _):
                deletedCount += max(0, marks.low - offset)
                let place = offset > marks.high ? marks.low : max(offset, marks.low)
                offsets[partition] = max(marks.low, min(place, times[partition] ?? place))
            }
        }
        return offsets
    }

    private func ends(_ end: End) throws(KafkaError) -> [TopicPartition: Int64] {
        let partitions = places.values.map(\.partition)
        var ends: [TopicPartition: Int64]
        switch end {
        case .none: return [:]
        case .offsets(let ends): return ends
        case .committed:
            ends = try consumer.queries.ends(of: partitions, timeout: questionTimeout)
        case .written:
            // The ends that a `read_uncommitted` client sees.
            let other = try Consumer(properties: properties + [("isolation.level", "read_uncommitted")])
            defer { other.close() }
            ends = try other.queries.ends(of: partitions, timeout: questionTimeout)
        }
        // An embedded broker answers no query about ends.
        for partition in partitions where ends[partition] == nil {
            ends[partition] = try watermarks(of: partition).high
        }
        return ends
    }

    private func watermarks(of partition: TopicPartition) throws(KafkaError) -> (low: Int64, high: Int64) {
        try consumer.queries.watermarks(of: partition, timeout: questionTimeout)
    }

    private func outwaiting<Answer>(_ ask: () throws(KafkaError) -> Answer) throws(KafkaError) -> Answer {
        try properties.outwaiting(within: patience, ask)
    }
}
