import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@testable import HeraldCore
@testable import HeraldWorker

@Suite("Workers and the topics of opt-outs and recalls, on the embedded broker")
struct LastWordWatchTests {
    private let cluster: MockCluster
    private let table = LastWord(hashSeed: 7, pushServices: .standard, maxLag: .seconds(5))
    private let watch: LastWordWatch

    init() throws {
        cluster = try MockCluster()
        for topic in ["preferences", "recalls"] { try cluster.createTopic(topic, partitions: 1) }
        let common: ClientProperties = [("bootstrap.servers", cluster.bootstrapServers)]
        watch = try LastWordWatch(
            configuration: LastWordConfiguration(
                table: table, maxLag: .seconds(5), pushServices: .standard, preferencesTopic: "preferences",
                recallsTopic: "recalls",
                readerProperties: common + [
                    ("group.id", "g"), ("enable.partition.eof", "true"), ("fetch.wait.max.ms", "20"),
                ]),
            admin: try Admin(properties: common), logger: .silent)
    }

    private func write(_ value: String?, of key: String, to topic: String = "preferences") throws {
        let producer = try Producer(properties: [("bootstrap.servers", cluster.bootstrapServers), ("linger.ms", "0")])
        defer { producer.close() }
        let handle = try producer.topic(topic)
        let bytes = value.map { Array($0.utf8) }
        let refusal =
            if let bytes {
                producer.produce(topic: handle, key: Array(key.utf8).span.bytes, value: bytes.span.bytes, token: 0)
            } else {
                producer.produce(topic: handle, key: Array(key.utf8).span.bytes, value: nil, token: 0)
            }
        #expect(refusal == nil)
        try producer.flush(timeout: Patience.timeout) { _, error in #expect(error == nil) }
    }

    /// Follows the topics on a thread of its own while `body` runs.
    private func following(_ body: () async throws -> Void) async throws {
        let thread = try OwnThread(name: "word-watch") { [watch] in watch.run() }
        defer {
            watch.stop()
            thread.join()
        }
        try await body()
    }

    @Test("A start waits until both topics are read; then each record is applied as it comes")
    func reading() async throws {
        try write(#"{"optOut":["promotional"]}"#, of: "ann")
        try write(#"{"optOut":[]}"#, of: "bob")
        try write(#"{"at":"2026-11-21T08:40:26Z","by":"ops"}"#, of: "campaign:spring", to: "recalls")
        try await following {
            watch.waitUntilRead()
            #expect(table.users == 1)
            #expect(table.recalls == 1)
            #expect(table.currentAsOf != nil)
            try write(#"{"optOut":["all"]}"#, of: "bob")
            try await wait { table.users == 2 }
            try write(nil, of: "ann")
            try write(nil, of: "campaign:spring", to: "recalls")
            try await wait { table.users == 1 && table.recalls == 0 }
        }
    }

    @Test("What is known gets younger with each question and its answer")
    func currency() async throws {
        try await following {
            watch.waitUntilRead()
            let first = try #require(table.currentAsOf)
            try await wait { (table.currentAsOf ?? first) > first }
        }
    }

    @Test("Broken records are counted, and opt nobody in")
    func broken() async throws {
        try write(#"{"optOut":["all"]}"#, of: "ann")
        try write(#"{"optOut":[]"#, of: "ann")
        try write("nonsense", of: "bob")
        try write("nonsense", of: "nonsense", to: "recalls")
        try await following {
            watch.waitUntilRead()
            #expect(watch.report.broken == 3)
            #expect(table.users == 2)
        }
    }

    @Test("Missing topics keep no start waiting, are told of, and are read once they exist")
    func missing() async throws {
        for topic in ["preferences", "recalls"] {
            cluster.setError(ofTopic: topic, KafkaError.Code.unknownTopicOrPartition)
        }
        try await following {
            watch.waitUntilRead()
            #expect(table.currentAsOf == nil)
            let finding = try #require(watch.report.finding(now: SystemClock.monotonic()))
            #expect(finding.sentence.contains("herald topics apply"))
            for topic in ["preferences", "recalls"] { cluster.setError(ofTopic: topic, 0) }
            try write(#"{"optOut":["all"]}"#, of: "ann")
            try await wait { table.users == 1 && watch.report.missing.isEmpty && table.currentAsOf != nil }
        }
    }

    private func wait(_ condition: @escaping () -> Bool) async throws {
        #expect(try await eventually { condition() })
    }
}
