import Foundation
import HeraldKafka
import TestSupport
import Testing

@Suite("Batches damaged by a disk", .ownKafka("Batches damaged by a disk"), .hangLimit)
struct DamagedBatchTests {
    struct Damage: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var place: RawBatch.Place
        var byte: UInt8
    }

    private static let damages = [
        Damage(testDescription: "the length of a record, of which clients say nothing", place: .firstLength, byte: 4),
        Damage(testDescription: "the codec", place: .codec, byte: 7),
        Damage(testDescription: "the version", place: .magic, byte: 3),
    ]

    @Test(
        "A damaged batch is skipped, with one dead letter; a broker's failed look-up stops nothing",
        arguments: damages)
    func passedOver(damage: Damage) async throws {
        var plan = Fixture.Plan()
        plan.topicConfigurations = ["notifications": ["compression.type": "producer"]]
        try await Fixture.run(plan) { fixture in
            let partition = TopicPartition(topic: fixture.topic("notifications"), partition: 0)
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20)
            try await fixture.waitUntilAllIsCommitted()
            let first = try #require(try await fixture.committed()[partition])
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            try await Blocking.run {
                let kafka = fixture.kafka
                let begin = try kafka.logSize(of: partition)
                let now = Int64(Date().timeIntervalSince1970 * 1_000)
                #expect(try kafka.produce(RawBatch.plain(records: 3, at: now), to: partition.topic, 0) == 0)
                try kafka.damage(damage.place, of: partition, batchAt: begin, damage.byte)
            }
            try await fixture.publish(Batch.events(20..<40))
            let next = try await fixture.startWorker()
            try await fixture.waitForResults(41, within: 120)
            try await fixture.waitUntilAllIsCommitted()
            try await fixture.catchUp()
            let letter = try #require(fixture.deadLetters.first)
            #expect(fixture.deadLetters.count == 1 && letter.key == nil && letter.value == nil)
            #expect(letter.heraldHeaders["herald-reason"] == "unreadable")
            #expect(letter.heraldHeaders["herald-origin"] == "\(partition.topic)/0/\(first)")
            let detail = letter.heraldHeaders["herald-detail"] ?? ""
            #expect(detail.hasPrefix("offsets \(first) to \(first + 2) can't be read: "), "\(detail)")
            try await next.waitUntilReady()

            let found = try await fixture.tool("find", "--user", "user-1", "--all-partitions")
            #expect(found.status == 0, "\(found.output)")
            let gap = "\(partition) from offset \(first) to \(first + 2), which can't be read"
            #expect(found.output.contains(gap), "\(found.output)")
            let oracle = try await Oracle(fixture)
            oracle.expectCalls { _ in 1 }
            next.terminate()
            #expect(try await next.waitForExit() == 0)
        }
    }
}
