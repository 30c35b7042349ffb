import HeraldTime
import Testing

@testable import HeraldKafka

@Suite("Open transactions")
struct OpenTransactionTests {
    private static let partition = TopicPartition(topic: "requests", partition: 3)

    private static func moment(_ seconds: Int64) -> Moment {
        Moment(
            monotonic: MonotonicTime(nanoseconds: 0).advanced(by: seconds * .seconds(1)),
            // 2026-11-23T02:14:00Z.
            wall: WallTime(milliseconds: 1_795_400_040_000).advanced(by: seconds * .seconds(1)))
    }

    private static func look(
        _ watch: inout OpenTransactionWatch, _ stable: Int64, _ end: Int64, at seconds: Int64
    ) -> [OpenTransaction] {
        watch.look(stable: [partition: stable], ends: [partition: end], now: moment(seconds))
    }

    @Test("A partition stuck behind one transaction for half a minute is reported, with its beginning")
    func lasting() {
        var watch = OpenTransactionWatch(servers: "b1:9092")
        #expect(Self.look(&watch, 120, 131, at: 0).isEmpty)
        #expect(Self.look(&watch, 120, 140, at: 29).isEmpty)
        let open = Self.look(&watch, 120, 141, at: 30)
        #expect(
            open == [
                OpenTransaction(
                    partition: Self.partition, offset: 120, end: 141, since: Self.moment(0).wall, isAtLeast: true,
                    servers: "b1:9092")
            ])
        #expect(open.first?.words.contains("has been open at least since ") == true)
        #expect(Self.look(&watch, 141, 141, at: 31).isEmpty)
        #expect(Self.look(&watch, 141, 145, at: 32).isEmpty)
    }

    @Test("A publisher of one transaction after another is always behind, and never reported")
    func alive() {
        var watch = OpenTransactionWatch(servers: "b1:9092")
        for second in Int64(0)..<600 {
            #expect(Self.look(&watch, second / 20 * 10, 10_000, at: second).isEmpty, "\(second)")
        }
    }

    @Test("Silence of a leader is no news: neither a transaction, nor its end")
    func silence() {
        var watch = OpenTransactionWatch(servers: "b1:9092")
        #expect(Self.look(&watch, 5, 6, at: 0).isEmpty)
        #expect(watch.look(stable: [:], ends: [:], now: Self.moment(20)).isEmpty)
        #expect(watch.look(stable: [Self.partition: 5], ends: [:], now: Self.moment(40)).isEmpty)
        #expect(Self.look(&watch, 5, 6, at: 41).count == 1)
        watch.keep([])
        #expect(Self.look(&watch, 5, 6, at: 42).isEmpty)
    }

    @Test("One that may be a live publisher's is to be waited for, not to be ended")
    func young() {
        let open = OpenTransaction(
            partition: Self.partition, offset: 120, end: 131, since: Self.moment(0).wall, servers: "b1:9092")
        #expect(!open.remedy(now: Self.moment(29).wall).contains("abort"))
        #expect(open.remedy(now: Self.moment(30).wall) == open.remedy)
    }

    @Test("The report has the place, the beginning, the stuck records, the end, and the way to end it")
    func words() {
        let open = OpenTransaction(
            partition: Self.partition, offset: 120, end: 131, since: Self.moment(0).wall, servers: "b1:9092")
        #expect(open.words.hasPrefix("requests/3: 11 offsets wait from 120 on behind a transaction that has been open"))
        #expect(open.words.hasSuffix("since 2026-11-23T02:14:00.000Z"))
        #expect(open.remedy.contains("by 2026-11-23T02:29:00.000Z (transaction.max.timeout.ms"))
        #expect(
            open.remedy.contains("--bootstrap-server b1:9092 abort --topic requests --partition 3 --start-offset 120`"))
    }
}
