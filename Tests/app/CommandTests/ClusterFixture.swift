import HeraldKafka
import HeraldTime
import TestSupport

/// A test's own topics on the real broker, and the settings that name them.
struct ClusterFixture: Sendable {
    let kafka: RealKafka
    let requests: String
    let results: String
    let retry: String
    let deadLetter: String
    let campaigns: String
    let audiences: String
    let state: String
    let audit: String

    /// Chooses names; creates nothing.
    init() async throws {
        kafka = try await RealKafka.shared()
        requests = RealKafka.uniqueName("requests")
        results = "\(requests).results"
        retry = "\(requests).retry"
        deadLetter = "\(requests).dead-letter"
        campaigns = "\(requests).campaigns"
        audiences = "\(requests).audiences"
        state = "\(requests).state"
        audit = "\(requests).audit"
    }

    var environment: [String: String] {
        [
            "HERALD_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrapServers, "HERALD_TOPICS_REQUESTS": requests,
            "HERALD_TOPICS_RESULTS": results, "HERALD_TOPICS_RETRY": retry, "HERALD_TOPICS_DEAD_LETTER": deadLetter,
            "HERALD_TOPICS_CAMPAIGNS": campaigns, "HERALD_TOPICS_AUDIENCES": audiences,
            "HERALD_TOPICS_STATE": state, "HERALD_TOPICS_AUDIT": audit,
            "HERALD_RETRY_DELAYS": "5s,1m", "HERALD_TOPICS_PARTITIONS": "3",
        ]
    }

    var all: [String] {
        [requests, results, "\(retry).5s", "\(retry).1m", deadLetter, campaigns, audiences, state, audit]
    }

    func herald(_ words: String..., input: String? = nil) async throws -> HeraldProgram.Run {
        try await HeraldProgram.run(words, environment: environment, input: input)
    }

    /// Creates the request topic and the results topic.
    func makeTopics() async throws {
        let topics = [requests, results].map { NewTopic(name: $0, partitions: 3) }
        try await Blocking.run { try kafka.makeTopics(topics) }
    }

    /// One record of a topic.
    struct Record: Sendable, Equatable {
        var partition: Int32
        var offset: Int64
        var key: String
        var value: String
    }

    /// The topic's first records, once this many are there.
    func records(of topic: String, count: Int, partitions: Int32 = 3) async throws -> [Record] {
        try await Blocking.run {
            let reader = try TopicReader(properties: [
                ("bootstrap.servers", kafka.bootstrapServers), ("group.id", "test"),
            ])
            defer { reader.close() }
            var starts: [TopicPartition: TopicReader.Start] = [:]
            for partition in 0..<partitions { starts[TopicPartition(topic: topic, partition: partition)] = .beginning }
            try reader.begin(starts)
            var records: [Record] = []
            let end = ContinuousClock.now + .seconds(30)
            while records.count < count, ContinuousClock.now < end {
                guard case .record(let message) = try reader.next(wait: .milliseconds(100)) else { continue }
                defer { message.release() }
                records.append(
                    Record(
                        partition: message.partition, offset: message.offset, key: message.withKey(Self.text),
                        value: message.withValue(Self.text)))
            }
            return records.sorted { ($0.partition, $0.offset) < ($1.partition, $1.offset) }
        }
    }

    private static func text(_ bytes: RawSpan?) -> String {
        guard let bytes else { return "" }
        return bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes results as a worker does.
    func write(results texts: [String]) async throws {
        try await Blocking.run {
            let producer = try Producer(properties: [("bootstrap.servers", kafka.bootstrapServers)])
            let topic = try producer.topic(results)
            for text in texts {
                if let error = producer.produce(topic: topic, key: nil, value: text.utf8.span.bytes, token: 0) {
                    throw error
                }
            }
            try producer.flush(timeout: Patience.timeout)
            producer.close()
        }
    }

    /// Writes an event of alice's to the first request topic for each of these, at the given places.
    func write(requests places: [(key: String?, partition: Int32)]) async throws {
        try await Blocking.run {
            let producer = try Producer(properties: [("bootstrap.servers", kafka.bootstrapServers)])
            let topic = try producer.topic(requests)
            let event = #"{"user":"alice","pns":"apns","message":"m","source":"shop"}"#
            for (key, partition) in places {
                func produce(_ key: RawSpan?) -> KafkaError? {
                    producer.produce(
                        topic: topic, partition: partition, key: key, value: event.utf8.span.bytes, token: 0)
                }
                let error = if let key { produce(key.utf8.span.bytes) } else { produce(nil) }
                if let error { throw error }
            }
            try producer.flush(timeout: Patience.timeout)
            producer.close()
        }
    }

    func result(of record: Record, _ service: String, _ outcome: String, more: String = "") -> String {
        #"{"id":"x","pns":"\#(service)","outcome":"\#(outcome)","completedAt":"2026-11-21T08:40:26.123Z",\#(more)"#
            + #""origin":{"topic":"\#(requests)","partition":\#(record.partition),"offset":\#(record.offset)}}"#
    }

    /// Deletes the topics that the program has created.
    func deleteTopics() async throws {
        let names = all
        _ = try await Blocking.run { try kafka.admin().deleteTopics(names, timeout: Patience.timeout) }
    }
}
