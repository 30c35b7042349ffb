import HeraldBytes
import HeraldCommandLine
import HeraldEvents
import HeraldKafka
import HeraldSandbox
import HeraldThreads
import HeraldTime

/// Reads every topic from its beginning without a consumer group, and passes each record to the tracker.
final class TopicWatcher {
    private static let questionTimeout = Milliseconds.seconds(5)

    private let reader: TopicReader
    private let topics: Topics
    private let partitions: [TopicPartition]

    init(bootstrapServers: String, topics: Topics, list: [EmbeddedBroker.Topic], wakeup: Wakeup) throws {
        self.topics = topics
        partitions = list.flatMap { topic in
            (0..<topic.partitions).map { TopicPartition(topic: topic.name, partition: Int32($0)) }
        }
        reader = try TopicReader(properties: [
            ("bootstrap.servers", bootstrapServers), ("client.id", "demo-watcher"),
            // The client needs a group id; nothing is committed.
            ("group.id", "demo-watcher"), ("isolation.level", "read_committed"), ("auto.offset.reset", "earliest"),
            // The embedded broker delays a fetch by this time even when records are there.
            ("fetch.wait.max.ms", "50"),
        ])
        reader.consumer.queue.notify(wakeup)
        try reader.begin(Dictionary(uniqueKeysWithValues: partitions.map { ($0, .beginning) }))
    }

    deinit { reader.close() }

    /// Reads new records; returns whether there were any.
    func read(into tracker: inout DemoTracker) throws -> Bool {
        var hasRead = false
        while case .record(let message) = try reader.next() {
            defer { message.release() }
            hasRead = true
            try add(message, into: &tracker)
        }
        return hasRead
    }

    /// Whether everything now in the topics has been read; asks the broker.
    func hasReadAll() throws -> Bool {
        let positions = reader.positions
        for partition in partitions {
            let ends = try reader.consumer.queries.watermarks(
                of: partition, timeout: Self.questionTimeout)
            if positions[partition, default: 0] < ends.high { return false }
        }
        return true
    }

    private func add(_ message: Message, into tracker: inout DemoTracker) throws {
        let topic = message.topicName()
        var headers = HeaderList()
        message.forEachHeader { headers.append(name: $0, value: $1) }
        if topics.requests.contains(topic) {
            let origin = Origin(topic: topic, partition: message.partition, offset: message.offset)
            guard let number = headers.lastValue(named: DemoEvent.numberHeader)?.decimal else { return }
            tracker.placed(Int(number), at: origin)
        } else if topic == topics.results {
            let result = try NotificationResult(decoding: message.valueCopy ?? [])
            tracker.add(.result(result), origin: result.origin)
        } else if topic == topics.deadLetter {
            let letter = try DeadLetter(
                key: message.keyCopy, value: message.valueCopy ?? [], headers: headers)
            tracker.add(.deadLetter(letter), origin: letter.origin)
        } else if let delay = topics.delay(ofTopic: topic) {
            guard let note = RetryNote(delay: delay.description, headers: headers),
                let place = headers.lastValue(named: HeaderName.origin.literal)?.text, let origin = Origin(place)
            else { throw CommandFailure("a record of \(topic) does not have the contract's headers") }
            tracker.add(.retry(note), origin: origin)
        }
    }
}
