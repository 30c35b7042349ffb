internal import FoundationEssentials
internal import HeraldBytes
internal import HeraldDriver
package import HeraldEvents
package import HeraldKafka
internal import HeraldText
package import HeraldTime
package import HeraldTools

/// Reads an account out of Herald's topics: each of them once, in an order in which nothing that moves is overlooked.
///
/// An event goes from its request to a retry topic, to the next one, and to its result. So the requests are read first,
/// then the group's offsets, the retry topics by their delays, and the results last: what has moved meanwhile is met
/// again further on.
package struct AccountReader: Sendable {
    /// What a publisher's clock may be ahead of a worker's.
    private static let clockTolerance = Milliseconds.minutes(10)
    private static let questionTimeout = Milliseconds.seconds(10)

    private let topics: Topics
    /// Of the settings.
    private let delays: [DelayName]
    private let readerProperties: ClientProperties
    private let decoder: RecordDecoder
    private let group: WorkerGroup

    /// - Parameters:
    ///   - delays: those of the settings; other retry topics that there are are read too.
    ///   - readerProperties: librdkafka's for readers: `read_committed`, and the workers' group as `group.id`, which is
    ///     not joined.
    package init(
        topics: Topics, delays: [DelayName], readerProperties: ClientProperties, decoder: RecordDecoder,
        group: WorkerGroup
    ) {
        self.topics = topics
        self.delays = delays
        self.readerProperties = readerProperties
        self.decoder = decoder
        self.group = group
    }

    /// The names of what is read, for progress.
    package enum Stage: String, Sendable {
        case requests
        case retries = "retry topics"
        case results
    }

    /// Reads the events that were published from `since` until `until`.
    ///
    /// - Parameters:
    ///   - since: the beginning of the topics without one.
    ///   - until: now without one.
    ///   - limit: how many of the missing are named.
    ///   - onProgress: what is read, and how many of how many offsets were passed; `false` ends the reading.
    /// - Returns: `nil` when the reading was ended.
    package func account(
        since: WallTime?, until: WallTime?, naming limit: Int, reach: ClusterReach, admin: Admin,
        onProgress: (Stage, _ passed: Int64, _ total: Int64) -> Bool
    ) throws -> Account? {
        var gaps: [String] = []
        // Workers go on with the topic of a delay that the settings do not have any more until it is empty.
        let delayTopics = try reach.delays(delays, of: topics, admin).map(topics.retryTopic)
        let known = try partitions(delayTopics, reach, admin, &gaps)
        let requests = topics.requests.flatMap { known[$0] ?? [] }
        let results = known[topics.results] ?? []
        let now = SystemClock.wall()
        var records = AccountRecords(decoder: decoder, since: since, until: until)
        let start: TopicReader.Start = since.map { .moment($0.milliseconds) } ?? .beginning

        var asked = Reading()
        guard
            try read(
                requests, from: { _ in start }, until: until, &asked, { onProgress(.requests, $0, $1) },
                { records.addRequest($0, topic: $1) })
        else { return nil }
        gaps += asked.gaps
        let allSkips = skips(reach, admin)
        var deleted: [String] = []
        for (partition, begin) in since == nil ? [] : asked.truncated {
            let words = "what was deleted from \(partition) before offset \(begin)"
            let skip = allSkips.lazy.flatMap { $0.skippedSpans(ofGroup: group.name) }
                .first { $0.partition == partition && $0.offsets.upperBound >= begin }?.skip
            guard let skip else {
                gaps.append(words)
                continue
            }
            deleted.append("\(words), and skipped by \(skip.by) at \(skip.at.text) (herald offsets skip-lost)")
        }

        let (committed, lost) = try committed(requests + delayTopics.flatMap { known[$0] ?? [] }, admin)
        for partition in requests {
            records.ledger.open(
                topic: partition.topic, partition: partition.partition, committed: committed[partition])
        }
        for (index, topic) in delayTopics.enumerated() {
            var waiting = Reading()
            guard
                try read(
                    known[topic] ?? [], from: { .offset(committed[$0] ?? 0) }, &waiting,
                    { onProgress(.retries, $0, $1) }, { records.addWaiting($0, topic: $1, inDelay: index) })
            else { return nil }
            gaps += waiting.gaps
        }

        var told = Reading()
        /// The first result that is left in each partition.
        var firsts: [Int32: WallTime] = [:]
        let first = since.map { TopicReader.Start.moment($0.advanced(by: -Self.clockTolerance).milliseconds) }
        guard
            try read(
                results, from: { _ in first ?? .beginning }, &told, { onProgress(.results, $0, $1) },
                { message, _ in
                    if firsts[message.partition] == nil {
                        firsts[message.partition] = WallTime(milliseconds: message.timestampMilliseconds)
                    }
                    records.addResult(message)
                })
        else { return nil }
        gaps += told.gaps
        // What lies behind a transaction that is open cannot be read.
        let held = openTransactions(requests + results)
        gaps += held.map { "\($0.words); \($0.remedy(now: SystemClock.wall()))" }
        if held.contains(where: { $0.partition.topic == topics.results }) {
            records.ledger.forgetResults(before: nil)
        } else if let first = told.truncated.map({ firsts[$0.0.partition] ?? now }).max() {
            gaps.append("results before \(RFC3339.text(first)), which were deleted")
            records.ledger.forgetResults(before: try offsets(of: requests, at: first))
        }
        let skips = allSkips.filter { entry in
            guard let since, let at = entry.moment else { return true }
            return at >= since
        }
        var account = Account(
            records.ledger, since: since, until: until.map { min($0, now) } ?? now, naming: limit,
            acknowledgement: try acknowledgement(of: skips, requests))
        account.delayTopics = delayTopics
        account.gaps = gaps
        account.acknowledgedGaps = deleted
        account.lost = lost
        let report = group.lossReport(on: lost.partitions, admin)
        account.doubtful = Int(max(0, lost.count { report.consumed.contains($0) } - report.count))
        account.lost.isBound = account.doubtful > 0
        account.skipped = skips.reduce(0) { $0 + ($1.skippedCount ?? 0) }
        account.lostRetries =
            Int(lost.count { topics.delay(ofTopic: $0.topic) != nil }) + skips.reduce(0) { $0 + $1.skippedRetryCount }
        return account
    }

    // MARK: Questions to the brokers

    /// The partitions of what is read; without request or results topic there is no account.
    private func partitions(
        _ delayTopics: [String], _ reach: ClusterReach, _ admin: Admin, _ gaps: inout [String]
    ) throws -> [String: [TopicPartition]] {
        var known: [String: [TopicPartition]] = [:]
        for topic in try reach.topics(topics.requests + delayTopics + [topics.results], admin).topics {
            if let error = topic.error {
                let failure = ToolFailure(topic: topic.name, error, allow: .read)
                guard delayTopics.contains(topic.name) else { throw failure }
                gaps.append(failure.description)
                continue
            }
            known[topic.name] = topic.partitions.map { TopicPartition(topic: topic.name, partition: $0.id) }
        }
        return known
    }

    private func committed(
        _ partitions: [TopicPartition], _ admin: Admin
    ) throws -> ([TopicPartition: Int64], lost: LostRecords) {
        // An offset that a worker is just committing would keep a `read_committed` consumer waiting.
        try asking(partitions, isolation: "read_uncommitted") { queries throws(KafkaError) in
            var offsets: [TopicPartition: Int64] = [:]
            for position in try queries.committed(partitions, timeout: Self.questionTimeout) where position.offset >= 0
            {
                offsets[position.partition] = position.offset
            }
            // The embedded broker deletes nothing, and is not asked.
            guard !admin.isOfEmbeddedBroker(timeout: .zero) else { return (offsets, LostRecords([])) }
            let survey = GroupSurvey(queries, admin: admin) { Self.questionTimeout }
            return (offsets, try survey.positions(of: partitions).lostRecords)
        }
    }

    /// What operators have skipped of lost records, as far as the audit topic can be read.
    private func skips(_ reach: ClusterReach, _ admin: Admin) -> [AuditEntry] {
        var found: [AuditEntry] = []
        let topic = try? reach.topics([topics.audit], admin).topics.first { $0.error == nil }
        let places = topic?.partitions.map { TopicPartition(topic: topics.audit, partition: $0.id) } ?? []
        var reading = Reading()
        _ = try? read(
            places, from: { _ in .beginning }, &reading, { _, _ in true },
            { message, _ in
                let entry = message.valueCopy.flatMap { try? JSONDecoder().decode(AuditEntry.self, from: Data($0)) }
                if let entry, entry.skippedCount != nil, entry.selection == group.name { found.append(entry) }
            })
        return found
    }

    /// What these say of retries; `nil` where they skipped none.
    private func acknowledgement(
        of skips: [AuditEntry], _ requests: [TopicPartition]
    ) throws -> Account.LossAcknowledgement? {
        let retries = skips.filter { $0.skippedRetryCount > 0 }
        let moments = retries.compactMap { entry in entry.moment.map { (entry, $0) } }
        guard let (last, at) = moments.max(by: { $0.1 < $1.1 }) else { return nil }
        return .init(
            retries: retries.reduce(0) { $0 + $1.skippedRetryCount }, by: last.by, at: at,
            ends: try offsets(of: requests, at: at))
    }

    /// The offsets of a moment; a partition whose records are all older ends there.
    private func offsets(of partitions: [TopicPartition], at moment: WallTime) throws -> [TopicPartition: Int64] {
        try asking(partitions, isolation: "read_committed") { queries throws(KafkaError) in
            let ends = try queries.ends(of: partitions, timeout: Self.questionTimeout)
            guard queries.knowsTimes else { return ends }
            let moments = Dictionary(uniqueKeysWithValues: partitions.map { ($0, max(0, moment.milliseconds)) })
            return ends.merging(try queries.offsets(at: moments, timeout: Self.questionTimeout)) { min($0, $1) }
        }
    }

    private func openTransactions(_ partitions: [TopicPartition]) -> [OpenTransaction] {
        // Where the brokers do not say it, nothing is missing.
        (try? OpenTransactionSurvey(readerProperties).transactions(
            in: partitions, patience: .zero, now: SystemClock.wall(), timeout: Self.questionTimeout)) ?? []
    }

    private func asking<Answer>(
        _ partitions: [TopicPartition], isolation: String, _ ask: (ConsumerQueries) throws(KafkaError) -> Answer
    ) throws -> Answer {
        try ToolFailure.reading(names(partitions)) { () throws(KafkaError) in
            let consumer = try Consumer(properties: readerProperties + [("isolation.level", isolation)])
            defer { consumer.close() }
            return try readerProperties.outwaiting(within: Self.questionTimeout.duration) { () throws(KafkaError) in
                try ask(consumer.queries)
            }
        }
    }

    private func names(_ partitions: [TopicPartition]) -> String {
        Set(partitions.map(\.topic)).sorted().joined(separator: ", ")
    }

    // MARK: Records

    /// What is to say of what was read.
    private struct Reading {
        var gaps: [String] = []
        /// Partitions that begin later than what was asked for, with their first offsets.
        var truncated: [(TopicPartition, Int64)] = []
    }

    /// Reads to what is committed now, or was at `until`; `false` when it was ended.
    private func read(
        _ partitions: [TopicPartition], from start: (TopicPartition) -> TopicReader.Start, until: WallTime? = nil,
        _ reading: inout Reading, _ onProgress: (Int64, Int64) -> Bool, _ body: (Message, String) -> Void
    ) throws -> Bool {
        guard !partitions.isEmpty else { return true }
        let end = try until.map { TopicReader.End.offsets(try offsets(of: partitions, at: $0)) } ?? .committed
        let reader = try ToolFailure.reading(names(partitions)) { () throws(KafkaError) in
            let reader = try TopicReader(properties: readerProperties)
            try reader.begin(Dictionary(uniqueKeysWithValues: partitions.map { ($0, start($0)) }))
            return reader
        }
        defer { reader.close() }
        let begins = try ToolFailure.reading(names(partitions)) { () throws(KafkaError) in
            try reader.consumer.queries.beginnings(of: partitions, timeout: Self.questionTimeout)
        }
        for (partition, position) in reader.positions where position > 0 && position == begins[partition] {
            reading.truncated.append((partition, position))
        }
        var topicNames: [TopicHandleID: String] = [:]
        let isRead = try reader.catchUp(to: end, onProgress: onProgress) { message in
            let topic = topicNames[message.topic] ?? message.topicName()
            topicNames[message.topic] = topic
            body(message, topic)
        }
        reading.gaps = reader.gaps
        return isRead
    }
}

/// Turns records into entries of a ledger.
private struct AccountRecords {
    var ledger: NotificationLedger
    private let decoder: RecordDecoder
    private let span: Range<Int64>
    private var event = DecodedEvent()
    private var headers = HeaderList()

    init(decoder: RecordDecoder, since: WallTime?, until: WallTime?) {
        self.decoder = decoder
        ledger = NotificationLedger(services: decoder.pushServices.names)
        let begin = since?.milliseconds ?? .min
        span = begin..<max(begin, until?.milliseconds ?? .max)
    }

    mutating func addRequest(_ message: Message, topic: String) {
        // Later records than a moment's first, and those of a broker that knows no times, may be older.
        guard span.contains(message.timestampMilliseconds) else { return }
        let record = Origin(topic: topic, partition: message.partition, offset: message.offset)
        guard let value = message.valueCopy else { return ledger.addTombstone() }
        let isEvent = decode(message, value, .request, topic)
        let origin = text(event.origin, value).flatMap(Origin.init)
        ledger.addEvent(
            at: record, services: isEvent ? event.pushServices : [], source: text(event.source, value),
            replay: event.replays > 0 ? origin.map { ($0, event.replays) } : nil)
    }

    mutating func addWaiting(_ message: Message, topic: String, inDelay delay: Int) {
        guard let value = message.valueCopy, decode(message, value, .retry, topic),
            let origin = text(event.origin, value).flatMap(Origin.init)
        else { return }
        ledger.addWaiting(of: origin, replays: event.replays, services: event.pushServices, inDelay: delay)
    }

    mutating func addResult(_ message: Message) {
        if let result = message.result { ledger.add(result) }
    }

    private mutating func decode(_ message: Message, _ value: [UInt8], _ kind: RecordDecoder.TopicKind, _ topic: String)
        -> Bool
    {
        headers.replaceAll(by: message)
        return decoder.decode(
            topicKind: kind, topic: topic, partition: message.partition, offset: message.offset,
            value: value.span.bytes, headers: headers, into: &event) == nil
    }

    private func text(_ field: ByteField, _ value: [UInt8]) -> String? {
        field.isPresent ? event.bytes(of: field, value: value.span.bytes).text : nil
    }
}
