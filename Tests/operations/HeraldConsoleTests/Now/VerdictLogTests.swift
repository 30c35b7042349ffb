import HeraldTime
import Testing

@testable import HeraldConsole

@Suite("The day's verdicts")
struct VerdictLogTests {
    private static func at(_ seconds: Int64) -> WallTime { WallTime(milliseconds: 1_795_400_040_000 + seconds * 1_000) }

    private static let good = Verdict(Finding("delivering", .good, "Delivering"))

    private static func outage(_ waiting: Int64?, since: WallTime? = nil) -> Verdict {
        Verdict(
            Finding("outage", .bad, "Outage", "503", since: since, waiting: waiting),
            others: [Finding("dead-letters", .warn, "Some dead letters")])
    }

    @Test("say what was wrong from when to when, and how many waited at most")
    func spans() {
        var log = VerdictLog()
        log.note(Self.good, now: Self.at(0))
        log.note(Self.outage(5, since: Self.at(-30)), now: Self.at(2))
        log.note(Self.outage(90), now: Self.at(4))
        log.note(Self.outage(nil), now: Self.at(6))
        #expect(log.spans.map(\.isOver) == [false])
        for second in stride(from: Int64(8), through: 70, by: 2) { log.note(Self.good, now: Self.at(second)) }
        let span = log.spans[0]
        #expect(log.spans.count == 1 && span.isOver && span.level == .bad && span.mostWaiting == 90)
        #expect(span.from == Self.at(-30) && span.to == Self.at(6) && span.cause == "503")
    }

    @Test("take what comes back within a minute for the same, and what comes later for another")
    func gaps() {
        var log = VerdictLog()
        for second in [0, 30, 85, 200] as [Int64] {
            log.note(Self.outage(1), now: Self.at(second))
            log.note(Self.good, now: Self.at(second + 2))
        }
        for second in [290, 300] as [Int64] { log.note(Self.good, now: Self.at(second)) }
        #expect(log.spans.map(\.from) == [Self.at(0), Self.at(200)])
        #expect(log.spans.map(\.to) == [Self.at(85), Self.at(200)] && log.spans.allSatisfy(\.isOver))
    }

    @Test("are forgotten after a day, and never too many")
    func bounded() {
        var log = VerdictLog()
        for number in 0..<2_000 as Range<Int64> {
            log.note(Verdict(Finding("x\(number)", .warn, "Degraded")), now: Self.at(number))
        }
        #expect(log.spans.count == 500 && log.spans.last?.key == "x1999")
        log.note(Self.good, now: Self.at(100_000))
        #expect(log.spans.isEmpty)
    }
}
