import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldConsole

@Suite("The day's verdicts")
struct VerdictLogTests {
    private static func at(_ seconds: Int64) -> WallTime { WallTime(milliseconds: 1_795_400_040_000 + seconds * 1_000) }

    private static let good = Verdict(first: told("delivering", .good, "Delivering"))

    private static func outage(_ waiting: Int64?, since: WallTime? = nil) -> Verdict {
        var outage = told("outage", .bad, "Outage", since: since)
        outage.finding.what = "503"
        outage.waiting = waiting
        return Verdict(first: outage, others: [told("dead-letters", .warn, "Some dead letters")])
    }

    private static func told(
        _ key: String, _ severity: Finding.Severity, _ title: String, since: WallTime? = nil
    ) -> ToldFinding {
        ToldFinding(Finding(key: key, severity, title: title, since: since))
    }

    @Test("give the beginning and end of a fault, and the maximum number of waiting events")
    func spans() {
        var log = VerdictLog()
        log.note(Self.good, now: Self.at(0))
        log.note(Self.outage(5, since: Self.at(-30)), now: Self.at(2))
        log.note(Self.outage(90), now: Self.at(4))
        log.note(Self.outage(nil), now: Self.at(8))
        let span = log.told[0]
        #expect(log.told.count == 1 && span.isPresent && span.severity == .bad && span.mostWaiting == 90)
        #expect(span.from == Self.at(-30) && span.to == Self.at(8) && span.what == "503")
    }

    @Test("say who skipped lost records, whether this console saw the loss or not")
    func skippedLoss() {
        var log = VerdictLog()
        let lost = Verdict(first: Self.told(FindingKey.recordsLost.rawValue, .bad, "Records are lost"))
        for second in [0, 29] as [Int64] { log.note(lost, now: Self.at(second)) }
        let skips = [-7_200, 33].map { SkippedLoss(at: Self.at($0), by: "ann@ops", count: 79) }
        let spans = log.told(besides: skips)
        #expect(spans.count == 2 && log.told.count == 1)
        #expect(spans[0].isPresent && !spans[1].isPresent)
        for (span, skip) in zip(spans, skips.reversed()) {
            #expect(span.what.hasSuffix("79 records skipped by ann@ops at \(skip.at.clock(now: skip.at))"))
        }
        #expect(spans.map(\.title) == ["Records are lost", "Records are lost"])
        log.note(Self.good, now: Self.at(40))
        let whole = log.told(besides: skips)[0].what
        #expect(whole.hasPrefix("79 records deleted before they were read; 79 records skipped by"), "\(whole)")
    }

    @Test("mark a fault as current only while the verdict has it")
    func now() {
        var log = VerdictLog()
        for second in [0, 6] as [Int64] { log.note(Self.outage(1), now: Self.at(second)) }
        log.note(Self.good, now: Self.at(8))
        #expect(log.told.map(\.isPresent) == [false] && log.told.map(\.to) == [Self.at(6)])
        #expect(log.told[0].json(nil)["to"] == .string(Self.at(6).text))
        log.note(Self.outage(1), now: Self.at(30))
        #expect(log.told.map(\.isPresent) == [true] && log.told[0].json(nil)["to"] == .null)
    }

    @Test("treat a fault that returns within half a minute as the same one, a later one as another")
    func gaps() {
        var log = VerdictLog()
        for second in [0, 25, 50, 200, 206] as [Int64] {
            log.note(Self.outage(1), now: Self.at(second))
            log.note(Self.good, now: Self.at(second + 2))
        }
        for second in [290, 300] as [Int64] { log.note(Self.good, now: Self.at(second)) }
        #expect(log.told.map(\.from) == [Self.at(0), Self.at(200)])
        #expect(log.told.map(\.to) == [Self.at(50), Self.at(206)] && log.told.allSatisfy(\.isOver))
    }

    @Test("leave out faults seen for less than five seconds, whatever their claimed age")
    func short() {
        var log = VerdictLog()
        for second in [0, 2, 4] as [Int64] {
            log.note(Verdict(first: Self.told("stuck", .bad, "Stuck", since: Self.at(-90))), now: Self.at(second))
        }
        log.note(Self.good, now: Self.at(6))
        #expect(log.told.isEmpty)
    }

    @Test("treat a finding with the beginning of one that has just gone as the same")
    func tails() {
        func stuck(_ since: Int64, _ severity: Finding.Severity = .bad) -> Verdict {
            Verdict(first: Self.told("stuck", severity, "6 partitions are stuck", since: Self.at(since)))
        }
        var log = VerdictLog()
        for second in stride(from: Int64(0), through: 90, by: 15) {
            log.note(Self.outage(5, since: Self.at(-2)), now: Self.at(second))
        }
        for second in stride(from: Int64(92), through: 300, by: 2) { log.note(stuck(-1), now: Self.at(second)) }
        #expect(log.told.map(\.title) == ["Outage"] && log.told.map(\.to) == [Self.at(300)])

        var other = VerdictLog()
        for second in stride(from: Int64(0), through: 90, by: 15) {
            other.note(Self.outage(5, since: Self.at(-2)), now: Self.at(second))
        }
        for second in [92, 100] as [Int64] { other.note(stuck(60), now: Self.at(second)) }
        #expect(other.told.map(\.title) == ["Outage", "6 partitions are stuck"])
        // Both at once are two.
        var both = VerdictLog()
        for second in [0, 10] as [Int64] {
            both.note(
                Verdict(first: Self.told("outage", .bad, "Outage", since: Self.at(-2)), others: [stuck(-1).first]),
                now: Self.at(second))
        }
        #expect(both.told.count == 2)
    }

    @Test("are forgotten after a day, and bounded in number")
    func bounded() {
        var log = VerdictLog()
        for number in 0..<2_000 as Range<Int64> {
            for second in [0, 5] as [Int64] {
                log.note(Verdict(first: Self.told("x\(number)", .warn, "Degraded")), now: Self.at(number * 10 + second))
            }
        }
        #expect(log.told.count == 500 && log.told.last?.key == "x1999")
        log.note(Self.good, now: Self.at(200_000))
        #expect(log.told.isEmpty)
    }
}
