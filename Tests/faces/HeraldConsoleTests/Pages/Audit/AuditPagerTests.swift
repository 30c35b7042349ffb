import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldConsole

@Suite("The audit, page by page")
struct AuditPagerTests {
    /// A topic in memory.
    private final class Topic {
        var records: [Int32: [AuditRecord]] = [:]
        private(set) var readCount = 0

        func add(_ partition: Int32, at second: Int64, by name: String = "ann@web1", _ action: String = "dlq.replay") {
            let offset = (records[partition]?.last?.offset ?? -1) + 1
            var entry = AuditEntry(action: action, phase: "done", at: "\(second)", by: name)
            entry.selection = "spring"
            records[partition, default: []].append(
                AuditRecord(
                    partition: partition, offset: offset, at: WallTime(milliseconds: second * 1_000),
                    value: entry.encoded()))
        }

        /// Offsets without a record, as left by the end of a transaction.
        func skip(_ partition: Int32) {
            records[partition, default: []].append(
                AuditRecord(
                    partition: partition, offset: (records[partition]?.last?.offset ?? -1) + 1,
                    at: WallTime(milliseconds: -1), value: nil))
        }

        var ranges: [Int32: Range<Int64>] { records.mapValues { 0..<Int64($0.count) } }

        func read(_ ranges: [Int32: Range<Int64>]) -> [AuditRecord] {
            let found = ranges.flatMap { partition, range -> [AuditRecord] in
                (records[partition] ?? []).filter { range.contains($0.offset) && $0.at.milliseconds >= 0 }
            }
            readCount += found.count
            return found
        }
    }

    private func pages(_ topic: Topic, _ filter: AuditFilter = AuditFilter()) -> [AuditPager.Page] {
        var pages: [AuditPager.Page] = []
        var place: AuditPager.Place?
        repeat {
            var pager = AuditPager(filter, ranges: topic.ranges, from: place)
            pages.append(pager.page(topic.read))
            place = pages[pages.count - 1].next
        } while place != nil && pages.count < 1_000
        return pages
    }

    @Test("All entries appear once, newest of all partitions first, with any page boundaries")
    func order() throws {
        let topic = Topic()
        for second in 0..<333 { topic.add(Int32(second * second % 3), at: Int64(second)) }
        for _ in 0..<100 { topic.skip(1) }
        topic.add(1, at: 333)
        let pages = pages(topic)
        let seconds = pages.flatMap(\.records).map { $0.at.milliseconds / 1_000 }
        #expect(seconds == (0...333).reversed().map(Int64.init))
        #expect(pages.dropLast().allSatisfy { $0.records.count == AuditPager.pageSize })
        // Entries written meanwhile do not shift the older pages.
        var first = AuditPager(AuditFilter(), ranges: topic.ranges, from: nil)
        let place = try #require(first.page(topic.read).next)
        for second in 400..<460 { topic.add(0, at: Int64(second)) }
        var second = AuditPager(AuditFilter(), ranges: topic.ranges, from: place)
        #expect(second.page(topic.read).records.first?.at == WallTime(milliseconds: 283_000))
    }

    @Test("Filters match a part of the name, the action or its beginning, and the age")
    func filters() {
        let topic = Topic()
        for second in 0..<100 {
            topic.add(
                0, at: Int64(second), by: second % 10 == 0 ? "Ben@ops" : "ann@web1",
                second % 2 == 0 ? "campaign.start" : "dlq.replay")
        }
        topic.records[1] = [AuditRecord(partition: 1, offset: 0, at: WallTime(milliseconds: 1_000), value: [0x3F])]
        func count(_ filter: AuditFilter) -> Int { pages(topic, filter).flatMap(\.records).count }
        #expect(count(AuditFilter(who: "ben")) == 10)
        #expect(count(AuditFilter(what: "campaign")) == 50 && count(AuditFilter(what: "dlq.replay")) == 50)
        #expect(count(AuditFilter(what: "camp")) == 0)
        #expect(count(AuditFilter(since: WallTime(milliseconds: 90_000))) == 10)
        #expect(count(AuditFilter(who: "ben", what: "campaign", since: WallTime(milliseconds: 50_000))) == 5)
        // Unreadable records are shown only without a filter.
        #expect(count(AuditFilter()) == 101)
    }

    @Test("A page without matches ends after a bounded search, and tells where to go on")
    func bounded() {
        let topic = Topic()
        for second in 0..<12_000 { topic.add(0, at: Int64(second)) }
        var pager = AuditPager(AuditFilter(who: "nobody"), ranges: topic.ranges, from: nil)
        let page = pager.page(topic.read)
        #expect(page.records.isEmpty && page.searchedCount == AuditPager.searchLimit)
        #expect(page.next == AuditPager.Place([0: 7_000]))
        #expect(topic.readCount <= AuditPager.searchLimit + 512)
        var newest = AuditPager(AuditFilter(), ranges: topic.ranges, from: nil)
        let before = topic.readCount
        #expect(newest.page(topic.read).records.count == AuditPager.pageSize)
        #expect(topic.readCount - before == 64)
    }

    @Test(
        "Only valid places are read, and read exactly",
        arguments: ["", "0", "0:", ":1", "0:1,", "0:1,0:2", "-1:2", "0:-1", "0:1:2", "a:b", "0:99999999999999999999"])
    func places(text: String) throws {
        #expect(throws: InvalidArgument.self) { try AuditPager.Place(text) }
        #expect(try AuditPager.Place("0:120,11:7").offsets == [0: 120, 11: 7])
        #expect(try AuditPager.Place(AuditPager.Place([3: 5, 1: 2]).text).offsets == [3: 5, 1: 2])
    }

    @Test("A place beyond the topic, or in unknown partitions, shows the existing entries")
    func foreignPlace() throws {
        let topic = Topic()
        for second in 0..<5 { topic.add(0, at: Int64(second)) }
        var pager = AuditPager(AuditFilter(), ranges: topic.ranges, from: try AuditPager.Place("0:900,7:3"))
        let page = pager.page(topic.read)
        #expect(page.records.count == 5 && page.next == nil)
        var empty = AuditPager(AuditFilter(), ranges: [0: 4..<4], from: nil)
        #expect(empty.page(topic.read) == AuditPager.Page())
    }

    @Test("An entry is shown with all its fields, and without absent ones")
    func json() {
        var entry = AuditEntry(action: "dlq.replay", phase: "ended", at: "2026-11-23T00:00:00.000Z", by: "ann")
        entry.job = "replay-1"
        entry.counts = ["replayed": 3, "failed": 0]
        entry.options = ["rate": "5/s\u{202E}"]
        let record = AuditRecord(partition: 2, offset: 17, at: WallTime(milliseconds: 0), value: entry.encoded())
        #expect(
            record.json.safe.compact
                == #"{"place":"2:17","at":"2026-11-23T00:00:00.000Z","by":"ann","action":"dlq.replay","phase":"ended","#
                + #""job":"replay-1","options":{"rate":"5/s\\u{202E}"},"counts":{"failed":0,"replayed":3}}"#)
        let damaged = AuditRecord(partition: 0, offset: 1, at: WallTime(milliseconds: 0), value: [])
        #expect(damaged.json["damaged"] == true)
    }
}
