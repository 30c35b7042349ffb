import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Offsets from the results")
struct OffsetRecoveryTests {
    private static let topic = "notifications"
    private static let retryTopic = "notifications.retry.5s"

    private struct Fixture {
        let places: [OffsetRecovery.Place]
        var recovery: OffsetRecovery

        init(requests: Range<Int64> = 0..<10, retries: Range<Int64> = 0..<0, resultsSince: Int64? = nil) {
            places = [
                .init(topic: topic, partition: 0, range: requests),
                .init(topic: retryTopic, partition: 0, range: retries),
            ]
            recovery = OffsetRecovery(places, resultsSince: resultsSince.map { WallTime(milliseconds: $0) })
        }

        /// The offset of each request is also its moment.
        mutating func requests(_ offsets: some Sequence<Int64>) {
            for offset in offsets { request(offset) }
        }

        mutating func request(_ offset: Int64, lineage: EventLineage? = nil, isEmpty: Bool = false) {
            recovery.request(
                topic, 0, offset, at: WallTime(milliseconds: offset), lineage: lineage, isEmpty: isEmpty)
        }

        mutating func retry(
            _ offset: Int64, of origin: Int64, attempts: Int = 1, replays: Int = 0, services: PushServiceSet = [0],
            dueAt: Int64? = nil
        ) {
            let lineage = EventLineage(
                origin: place(origin), replays: replays, attempts: attempts,
                dueAt: dueAt.map { WallTime(milliseconds: $0) }, services: services)
            recovery.retry(
                retryTopic, 0, offset, at: WallTime(milliseconds: offset), lineage: lineage, isEmpty: false)
        }

        mutating func results(
            _ offsets: some Sequence<Int64>, replays: Int = 0, service: Int? = 0, at time: Int64 = 1_000_000
        ) {
            for offset in offsets {
                recovery.result(
                    origin: place(offset), replays: replays, service: service, at: WallTime(milliseconds: time))
            }
        }

        func place(_ offset: Int64) -> Origin { Origin(topic: topic, partition: 0, offset: offset) }

        mutating func positions() -> [OffsetRecovery.Position] {
            recovery.positions(
                { PartitionIdentity(cluster: "c", topic: $0.topic, partition: $0.partition) }, of: places)
        }
    }

    @Test("The group is placed at the first request without an outcome, and knows the done ones beyond it")
    func holes() {
        var fixture = Fixture()
        // Offset 3 is the end of a transaction.
        fixture.requests([0, 1, 2, 4, 5, 6, 7, 8, 9])
        fixture.results([0, 1, 4, 6, 7])
        let position = fixture.positions()[0]
        #expect(position.offset == 2)
        #expect(position.map.done == [3..<5, 6..<8])
        #expect([position.done, position.open, position.unknown, position.passedOver] == [5, 4, 0, 0])
    }

    @Test("Where every record has an outcome, or needs none, the group is placed at the end")
    func complete() {
        var fixture = Fixture()
        fixture.requests(0..<8)
        fixture.request(8, isEmpty: true)
        fixture.results(0..<8, service: nil)
        #expect(fixture.positions()[0].offset == 10)
    }

    @Test("Without outcomes nothing is done")
    func nothing() {
        var fixture = Fixture()
        fixture.requests(2..<10)
        #expect(fixture.positions()[0].offset == 2)
        #expect(fixture.positions()[0].map.done.isEmpty)
    }

    @Test("A request that continues as a retry is done, and its retry is not")
    func retried() {
        var fixture = Fixture(requests: 0..<2, retries: 0..<1)
        fixture.requests([0, 1])
        fixture.retry(0, of: 0)
        fixture.results([1])
        let positions = fixture.positions()
        #expect(positions.map(\.offset) == [2, 0])
        #expect(positions[1].open == 1)
    }

    @Test("A retry is done when a later one, or a result, concerns one of its push services")
    func chains() {
        var fixture = Fixture(requests: 0..<3, retries: 0..<6)
        fixture.requests(0..<3)
        // Request 0 waits as retry 3, request 1 has ended, request 2 waits for its second push service.
        fixture.retry(0, of: 0, attempts: 1)
        fixture.retry(1, of: 1, attempts: 1)
        fixture.retry(2, of: 2, attempts: 1, services: [0, 1])
        fixture.retry(3, of: 0, attempts: 2)
        fixture.retry(4, of: 2, attempts: 2, services: [1])
        fixture.results([1])
        fixture.results([2], service: 0)
        let positions = fixture.positions()
        #expect(positions[0].offset == 3)
        #expect(positions[1].offset == 3)
        #expect([positions[1].done, positions[1].open] == [3, 2])
    }

    @Test("The outcome of a replay belongs to the record that replayed, not only to the event's first one")
    func replays() {
        var fixture = Fixture(requests: 0..<4)
        fixture.requests([0])
        for offset in [1, 2, 3] as [Int64] {
            fixture.request(
                offset,
                lineage: EventLineage(
                    origin: fixture.place(0), replays: 1, services: offset == 3 ? [1] : [0]))
        }
        fixture.results([0])
        #expect(fixture.positions()[0].offset == 1)
        fixture.results([0], replays: 1, service: 1)
        #expect(fixture.positions()[0].offset == 1)
        #expect(fixture.positions()[0].map.done == [3..<4])
        fixture.results([0], replays: 1)
        #expect(fixture.positions()[0].offset == 4)
    }

    @Test("Records older than the oldest result count as done and unknown; a retry before its time does not")
    func old() {
        var fixture = Fixture(requests: 0..<10, retries: 0..<2, resultsSince: 4)
        fixture.requests(0..<10)
        fixture.results([1, 5])
        fixture.retry(0, of: 100)
        fixture.retry(1, of: 101, dueAt: 9)
        let positions = fixture.positions()
        #expect(positions[0].offset == 4)
        #expect([positions[0].done, positions[0].unknown, positions[0].open] == [2, 3, 5])
        #expect([positions[1].offset, Int64(positions[1].unknown)] == [1, 1])
    }

    @Test("Outcomes from before a partition's first record concern a former topic of the same name")
    func recreated() {
        var fixture = Fixture()
        fixture.requests(2..<10)
        fixture.results(2..<10, at: 1)
        #expect(fixture.positions()[0].offset == 2)
    }

    @Test("Where not all done offsets fit, no event is called twice: the first undone ones are passed over")
    func tooMuch() {
        let count: Int64 = 100_000
        var fixture = Fixture(requests: 0..<count)
        fixture.requests(0..<count)
        // Every third one is open: no map has room for all of it.
        fixture.results((0..<count).lazy.filter { $0 % 3 != 0 })
        let position = fixture.positions()[0]
        #expect(position.passedOver > 0)
        #expect(position.passedOver + position.open == Int(count + 2) / 3)
        #expect(position.passedRange?.lowerBound == 0)
        let identity = PartitionIdentity(cluster: "c", topic: Self.topic, partition: 0)
        let text = position.map.text(committing: position.offset, of: identity)
        let read = CompletionMap(text: text, committed: position.offset, of: identity)
        #expect(read == position.map)
        #expect(read?.done.last?.upperBound == count - 1)
    }
}
