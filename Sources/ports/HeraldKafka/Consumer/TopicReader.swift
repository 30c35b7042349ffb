public import HeraldTime

/// Reads partitions between bounds, in their order, as a member of no group, and hands out nothing twice.
///
/// After its broker was killed and came back, a client was seen to fetch nothing for minutes from a partition whose end
/// it had not reached, and to go on at once when it was assigned again; other users of librdkafka report the same
/// (confluentinc/librdkafka#5153). So a reader that receives nothing for a while is assigned again at its position.
/// Where there is nothing to receive that costs a fetch. Records that the client repeats after that are dropped.
///
/// A batch that nobody can read is passed over, and told by ``unreadable``.
///
/// The caller may stop at any step. One thread.
public final class TopicReader {
    /// Where the reading of a partition begins.
    public enum Start: Sendable, Equatable {
        /// At its first record.
        case beginning
        /// Behind everything that was written, open transactions included.
        case end
        /// At this offset, or at the records of a moment (milliseconds since the Unix epoch) where these come before it.
        ///
        /// An offset beyond the partition's end is of a topic that was recreated since: then all of it is read.
        case offset(Int64, lookingBackTo: Int64? = nil)
        /// At the first record of this moment (milliseconds since the Unix epoch) or later, at the end where there is none;
        /// at the beginning when the broker cannot tell (an embedded one).
        case moment(Int64)
    }

    /// Up to where partitions are read.
    public enum End: Sendable, Equatable {
        /// To what is committed now: an open transaction is not waited for. What comes behind it is handed out, too.
        case committed
        /// To what was written last, committed or not: waits for the end of every transaction that is open now. What comes
        /// behind it is handed out, too.
        case written
        /// Exactly to these offsets; a partition without one is not read.
        case offsets([TopicPartition: Int64])
        /// Reads on for ever.
        case none
    }

    /// What ``next(wait:)`` found.
    public enum Step {
        /// A record; release it.
        case record(Message)
        /// Nothing came in time. Brokers that are away and leaders that move are waited for.
        case nothing
        /// Everything up to the end was read.
        case end
    }

    private struct Key: Hashable {
        var topic: TopicHandleID
        var partition: Int32
    }

    private struct Place {
        let partition: TopicPartition
        /// The next offset to read.
        var position: Int64
        var end: Int64?
        /// Whether nothing beyond the end is read.
        var stopsAtEnd = false

        var isReached: Bool { end.map { position >= $0 } ?? true }
        var isFinished: Bool { stopsAtEnd && isReached }
    }

    /// Questions, wake-ups and notices; its records come out of ``next(wait:)`` alone.
    public let consumer: Consumer
    private let properties: ClientProperties
    private let silence: Duration
    private let patience: Duration
    private let questionTimeout: Milliseconds

    private var places: [Key: Place] = [:]
    private var end = End.none
    private var unreachedCount = 0
    private var hasNews = false
    private var lastNews = ContinuousClock.now
    /// Whether a topic was missing when it was asked for last.
    private var isMissing = false
    /// How long it was waited for the next step towards the end, in this object alone.
    private var waited = Duration.zero
    private var trouble: KafkaError?

    /// How many offsets have been passed since the end was set, and how many there were.
    public private(set) var progress: (passed: Int64, total: Int64) = (0, 0)
    /// What nobody can read, and was passed over.
    public private(set) var unreadable: [UnreadableBatch] = []
    /// Offsets that were asked for and were deleted before they could be read.
    public private(set) var deletedCount: Int64 = 0

    /// Makes the client; nothing is read before ``begin(_:to:)``.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's, with a `group.id`, which is not joined; ends of partitions are always told.
    ///   - silence: it is assigned again when nothing has come for so long.
    ///   - patience: for a topic that is not known yet or a leader that moves, and for a step towards the end: then no broker
    ///     answers, or a transaction does not end.
    ///   - questions: how long one question to the brokers may take.
    public init(
        properties: ClientProperties, silence: Duration = .seconds(10), patience: Duration = .seconds(60),
        questions: Duration = .seconds(10)
    ) throws(KafkaError) {
        self.properties = properties
        self.silence = silence
        self.patience = patience
        questionTimeout = Milliseconds(questions)
        consumer = try Consumer(properties: properties + [("enable.partition.eof", "true")])
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

    /// Reads to another end, on from where it is; blocks for the brokers' answers.
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

    /// The next record, waiting up to this long for it.
    ///
    /// - Throws: when the topic is not as it was: deleted, recreated, forbidden; and what kept it from the end, when
    ///   nothing has come for its patience.
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
            // Behind the last record lie the ends of transactions.
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
        return .record(message)
    }

    private func note(_ error: KafkaError) throws(KafkaError) -> Step? {
        if error.isOfTopic { throw error }
        trouble = error
        return nil
    }

    /// Goes on behind a batch if nobody can read it, or tries again.
    private func judgeBatch(at place: Place, _ key: Key) throws(KafkaError) {
        guard !place.isFinished else { return }
        _ = try passOver(place, key, patience: .seconds(10))
        try assign()
    }

    /// Whether nobody can read what lies at this place, which is behind it then.
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

    /// Nothing has come for a while: where there is more, the client may have met damaged records, of which it says nothing.
    ///
    /// All is assigned again in any case, unless something has come meanwhile.
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

    /// A partition that ends before what was read of it: its topic was recreated, or its log was cut off.
    private func checkAge(of place: Place) throws(KafkaError) {
        // Without an answer nothing is thrown; the next end tells.
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
        // What comes behind is not to be fetched for nothing.
        if place.stopsAtEnd { try? consumer.pause([place.partition]) }
    }

    /// Nothing came for this long.
    private func noteSilence(_ wait: Duration) throws(KafkaError) {
        let now = ContinuousClock.now
        if hasNews {
            (hasNews, isMissing) = (false, false)
            lastNews = now
        } else if now - lastNews >= silence {
            if try areTopicsThere() { try lookForDamage() }
            // Not since before it was looked for, which takes its time.
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

    /// A client says nothing of a topic that is deleted while it reads it, and must not be assigned one: librdkafka 2.0 may
    /// stop a partition twice then, which ends the process.
    private func areTopicsThere() throws(KafkaError) -> Bool {
        var missing: KafkaError?
        for topic in Set(places.values.lazy.filter { !$0.isFinished }.map(\.partition.topic)) {
            do throws(KafkaError) {
                _ = try consumer.queries.partitions(of: topic, timeout: questionTimeout)
            } catch {
                // Brokers that are away are waited for.
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

    /// Offsets as numbers, because the client asks for the beginning only half a second after a first try.
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
            // Where no broker can say it, all of the partition is read.
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
            // As a client sees them that reads what is not committed, too.
            let other = try Consumer(properties: properties + [("isolation.level", "read_uncommitted")])
            defer { other.close() }
            ends = try other.queries.ends(of: partitions, timeout: questionTimeout)
        }
        // An embedded broker answers no question about ends.
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
