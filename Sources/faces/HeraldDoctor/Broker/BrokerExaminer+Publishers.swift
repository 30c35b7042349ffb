internal import HeraldBytes
internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
import HeraldTime
internal import HeraldTools

extension BrokerExaminer {
    /// Of each partition so many offsets are looked at, and of each topic so many partitions.
    private static let newestOffsets: Int64 = 20
    private static let mostPartitions = 64
    private static let readingTime = Milliseconds.seconds(3)

    /// Reads the newest records of each request topic, and says which were published otherwise than the contract asks.
    func examinePublishers() -> StageReport {
        guard !timeLeft.isOver else {
            return StageReport(.publishers, "", .skipped, "there is no time left for it")
        }
        let wanted = topics.filter { plan.topics.names.requests.contains($0.name) && !$0.partitions.isEmpty }
        var judgements: [String: PublisherJudgement] = [:]
        for topic in wanted { judgements[topic.name] = PublisherJudgement(partitions: topic.partitions.count) }
        var trouble: KafkaError?
        do throws(KafkaError) {
            try readNewest(of: wanted) { message in
                judgements[message.topicName()]?.look(at: message, plan.decoder)
            }
        } catch {
            trouble = error
        }
        // A topic that has more partitions meanwhile may have been written by that number.
        let counts = partitionCounts(of: wanted.map(\.name))
        return StageReport(
            wanted.flatMap { topic -> [Check] in
                guard let judgement = judgements[topic.name] else { return [] }
                if judgement.seen == 0, let trouble {
                    return [
                        Check(.publishers, topic.name, .skipped, "its newest records could not be read: \(trouble)")
                    ]
                }
                guard counts[topic.name] == topic.partitions.count else {
                    return [
                        Check(
                            .publishers, topic.name, .skipped,
                            "no broker says that it still has \(topic.partitions.count) partitions")
                    ]
                }
                let clock = judgement.clock(of: topic.name, now: SystemClock.wall())
                return judgement.checks(of: topic.name) + [clock].compactMap(\.self)
            }, isDeadEnd: false)
    }

    /// How many partitions these topics have now; empty when no broker says it.
    private func partitionCounts(of names: [String]) -> [String: Int] {
        let metadata = try? admin?.metadata(topics: names, timeout: requestLimit)
        return Dictionary((metadata?.topics ?? []).map { ($0.name, $0.partitions.count) }) { $1 }
    }

    private func readNewest(
        of topics: [ClusterMetadata.Topic], _ body: (Message) -> Void
    ) throws(KafkaError) {
        let limit = timeLeft.step(atMost: Self.readingTime)
        let end = ContinuousClock.now + limit.duration
        let reader = try TopicReader(
            properties: plan.committedReaderProperties, patience: limit.duration, questions: limit.duration)
        clients.topicReaders.append(reader)
        var starts: [TopicPartition: TopicReader.Start] = [:]
        for topic in topics {
            for partition in topic.partitions.prefix(Self.mostPartitions) where partition.leader != nil {
                guard ContinuousClock.now < end else { break }
                let place = TopicPartition(topic: topic.name, partition: partition.id)
                let (low, high) = try reader.consumer.queries.watermarks(
                    of: place, timeout: timeLeft.step(atMost: limit))
                if high > low { starts[place] = .offset(max(low, high - Self.newestOffsets)) }
            }
        }
        guard !starts.isEmpty else { return }
        try reader.begin(starts, to: .committed)
        while ContinuousClock.now < end {
            switch try reader.next(wait: .milliseconds(50)) {
            case .end: return
            case .nothing: continue
            case .record(let message):
                body(message)
                message.release()
            }
        }
    }
}

/// What the newest records of a request topic tell of their publishers.
struct PublisherJudgement {
    private struct Faulty {
        var count: Int
        /// The last of them.
        var example: String
    }

    private let partitions: Int
    /// How many events there were.
    private(set) var seen = 0
    private var faults: [PublisherFault: Faulty] = [:]
    private var event = DecodedEvent()
    /// The latest moment that a publisher's clock gave a record, and where.
    private var latest: (at: WallTime, place: String)?
    /// A clock that is further ahead is wrong.
    private static let patience = Milliseconds.seconds(10)

    init(partitions: Int) {
        self.partitions = partitions
    }

    mutating func look(at message: Message, _ decoder: RecordDecoder) {
        note(
            WallTime(milliseconds: message.timestampMilliseconds),
            at: "\(message.topicName())/\(message.partition)/\(message.offset)")
        var headers = HeaderList()
        message.forEachHeader { headers.append(name: $0, value: $1) }
        message.withKey { key in
            message.withValue { value in
                look(
                    at: value, key: key, headers, topic: message.topicName(), partition: message.partition,
                    offset: message.offset, decoder)
            }
        }
    }

    /// What is no event becomes a dead letter, which says why; a replay is Herald's own record.
    mutating func look(
        at value: RawSpan?, key: RawSpan?, _ headers: HeaderList, topic: String, partition: Int32, offset: Int64,
        _ decoder: RecordDecoder
    ) {
        guard let value else { return }
        let failure = decoder.decode(
            topicKind: .request, topic: topic, partition: partition, offset: offset, value: value, headers: headers,
            into: &event)
        guard failure == nil, !event.origin.isPresent else { return }
        seen += 1
        let found = event.publisherFault(
            key: key, value: value, partition: partition, of: partitions, headers: headers)
        guard let fault = found else { return }
        let source = event.bytes(of: event.source, value: value).text
        let example = "\(topic)/\(partition)/\(offset)" + (source.isEmpty ? "" : ", source \(source.prefix(64))")
        faults[fault] = Faulty(count: (faults[fault]?.count ?? 0) + 1, example: example)
    }

    mutating func note(_ moment: WallTime, at place: String) {
        if latest.map({ $0.at < moment }) ?? true { latest = (moment, place) }
    }

    /// What is wrong with the clock of a publisher, or this machine's; `nil` when no record is of the future.
    func clock(of topic: String, now: WallTime) -> Check? {
        guard let latest, latest.at.time(since: now) > Self.patience else { return nil }
        return Check(
            .publishers, topic, .warning,
            "the record \(latest.place) was published \(latest.at.time(since: now).wholeSeconds) s from now: its publisher's "
                + "clock is ahead, or this machine's is behind",
            fix: "set the clocks of both by NTP")
    }

    func checks(of topic: String) -> [Check] {
        guard seen > 0 else { return [Check(.publishers, topic, .passed, "there are no events to look at")] }
        let found = PublisherFault.allCases.compactMap { fault in
            faults[fault].map { faulty in
                Check(
                    .publishers, topic, .warning,
                    "of the newest \(seen) events \(faulty.count) \(fault.words), the last at \(faulty.example): "
                        + fault.consequence,
                    fix: "\(fault.remedy); see docs/PUBLISHING.md")
            }
        }
        guard found.isEmpty else { return found }
        let newest = seen == 1 ? "the newest event is" : "the newest \(seen) events are"
        return [Check(.publishers, topic, .passed, "\(newest) published as the contract asks")]
    }
}
