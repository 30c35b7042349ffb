import Foundation
import HeraldKafka
import TestSupport
import Testing

@Suite("Unreadable batches", .realKafka("Unreadable batches"), .hangLimit)
struct UnreadableBatchTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var batch: [UInt8]
    }

    private static let kinds = [
        Kind(testDescription: "a compression bomb of 90 MB", batch: RawBatch.bomb(records: 3, valueBytes: 30 << 20)),
        Kind(testDescription: "bytes behind a frame's end", batch: RawBatch.trailing(records: 3)),
    ]

    @Test(
        "One is skipped, with one dead letter that names it; all else is delivered, and commands continue",
        arguments: kinds)
    func passedOver(kind: Kind) async throws {
        var plan = Fixture.Plan()
        plan.topicConfigurations = ["notifications": ["compression.type": "producer"]]
        try await Fixture.run(plan) { fixture in
            let topic = fixture.topic("notifications")
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20)
            try await fixture.waitUntilAllIsCommitted()
            let partition = TopicPartition(topic: topic, partition: 0)
            let first = try #require(try await fixture.committed()[partition])
            let answer = try await Blocking.run { try fixture.kafka.produce(kind.batch, to: topic, 0) }
            #expect(answer == 0)
            try await fixture.publish(Batch.events(20..<40))
            try await fixture.waitForResults(41)
            try await fixture.waitUntilAllIsCommitted()
            try await fixture.catchUp()
            let letter = try #require(fixture.deadLetters.first)
            #expect(fixture.deadLetters.count == 1 && letter.key == nil && letter.value == nil)
            let headers = letter.heraldHeaders
            #expect(headers["herald-reason"] == "unreadable" && headers["herald-omitted"] == "value")
            #expect(headers["herald-origin"] == "\(topic)/0/\(first)")
            #expect(headers["herald-detail"]?.hasPrefix("offsets \(first) to \(first + 2) can't be read: ") == true)
            try await worker.waitUntilReady()
            #expect(try await worker.metrics()["herald_unreadable_records_total"] == 3)

            let found = try await fixture.tool("find", "--user", "user-1", "--all-partitions")
            #expect(found.status == 0, "\(found.output)")
            let gap = "\(partition) from offset \(first) to \(first + 2), which can't be read"
            #expect(found.output.contains(gap), "\(found.output)")
            let listed = try await fixture.dlq("list")
            #expect(listed.output.contains("unreadable"), "\(listed.output)")

            // The next owner reads earlier records for duplicates: nothing is reported twice.
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let next = try await fixture.startWorker()
            try await fixture.publish(Batch.events(40..<60))
            try await fixture.waitForResults(61)
            try await fixture.waitUntilAllIsCommitted()
            try await fixture.catchUp()
            #expect(fixture.deadLetters.count == 1)
            next.terminate()
            #expect(try await next.waitForExit() == 0)
        }
    }

    @Test("The first batch of a partition is skipped, too, before any event was taken", arguments: kinds)
    func first(kind: Kind) async throws {
        var plan = Fixture.Plan()
        plan.topicConfigurations = ["notifications": ["compression.type": "producer"]]
        try await Fixture.run(plan) { fixture in
            let topic = fixture.topic("notifications")
            let answer = try await Blocking.run { try fixture.kafka.produce(kind.batch, to: topic, 0) }
            #expect(answer == 0)
            _ = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(21)
            try await fixture.waitUntilAllIsCommitted()
            try await fixture.catchUp()
            #expect(fixture.deadLetters.map { $0.heraldHeaders["herald-origin"] } == ["\(topic)/0/0"])
        }
    }

    @Test("Brokers refuse a bomb for a topic made by `topics apply`, and accept it with another compression")
    func refused() async throws {
        var plan = Fixture.Plan()
        plan.topicConfigurations = [
            "notifications": ["compression.type": "uncompressed"], "notifications.bulk": ["compression.type": "gzip"],
        ]
        try await Fixture.run(plan) { fixture in
            let bomb = RawBatch.bomb(records: 3, valueBytes: 30 << 20)
            let answers = try await Blocking.run {
                try ["notifications", "notifications.bulk"].map {
                    try fixture.kafka.produce(bomb, to: fixture.topic($0), 0)
                }
            }
            // MESSAGE_TOO_LARGE.
            #expect(answers == [10, 0])
        }
    }
}
