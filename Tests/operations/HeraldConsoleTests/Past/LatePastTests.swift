import HeraldTime
import Testing

@testable import HeraldConsole

@Suite("What came late within the last day")
struct LatePastTests {
    private static let quarter: Int64 = 1_994_889

    /// So many seconds after the beginning of a quarter of an hour.
    private static func at(_ seconds: Int64) -> WallTime {
        WallTime(milliseconds: quarter * PastQuarter.milliseconds + seconds * 1_000)
    }

    private typealias Delivery = (due: Int64, completed: Int64)

    private static func past(_ deliveries: [Delivery], weight: Double = 1, prompt: Int = 0) -> LatePast {
        var past = LatePast()
        let quarters = Dictionary(grouping: deliveries) { LatePast.quarter(of: at($0.completed)) }
        for (number, members) in quarters {
            var quarter = PastQuarter()
            quarter.isWhole = weight == 1
            for member in members { quarter.add(due: at(member.due), completed: at(member.completed), weight: weight) }
            for _ in 0..<prompt { quarter.add(due: nil, completed: at(0), weight: weight) }
            past.note(quarter, number: number, now: at(0))
        }
        return past
    }

    /// One event each second from a moment on, all delivered when the outage ends.
    private static func outage(_ from: Int64, _ to: Int64) -> [Delivery] {
        (from..<to).map { (due: $0, completed: to + 1) }
    }

    @Test("is told from when to when, with how many came late and how many waited at the same time")
    func outage() throws {
        let past = Self.past(Self.outage(100, 400), prompt: 50)
        let run = try #require(past.runs.first)
        #expect(past.runs.count == 1)
        // The earliest twentieth of 240 late ones does not date it.
        #expect(run.from >= Self.at(100) && run.from <= Self.at(112) && run.to == Self.at(401))
        #expect(run.lateness == Lateness(count: 241, isExact: true, worstMilliseconds: 301_000))
        #expect(run.mostWaiting == 241 && past.scattered == nil)
    }

    @Test("stands for as many as the sample was taken of, and is an estimate then")
    func samples() throws {
        let run = try #require(Self.past(Self.outage(100, 400), weight: 30).runs.first)
        #expect(run.lateness.count == 241 * 30 && !run.lateness.isExact && run.mostWaiting == 241 * 30)
    }

    @Test("is one by one, and no time of its own, when nearly all of the quarter's deliveries were prompt")
    func scattered() {
        let past = Self.past([(0, 100), (300, 420)], prompt: 100)
        #expect(past.runs.isEmpty && past.scattered == Lateness(count: 2, isExact: true, worstMilliseconds: 120_000))
        #expect(past.basis == (102, 102))
    }

    @Test("is two times when more than a minute passes between them, and one across a quarter's end")
    func gaps() {
        let two = Self.past(Self.outage(0, 200) + Self.outage(500, 700)).runs
        #expect(two.map(\.to) == [Self.at(201), Self.at(701)] && two.allSatisfy { $0.mostWaiting == 141 })
        let one = Self.past(Self.outage(700, 890) + Self.outage(840, 1_000)).runs
        #expect(one.count == 1 && one.first?.to == Self.at(1_001))
    }

    @Test("begins a minute after it was due")
    func minute() {
        #expect(Self.past([(0, 60)]).runs.isEmpty)
        #expect(Self.past([(0, 61)]).runs.count == 1)
    }

    @Test("belongs to each time in which it waited")
    func meanwhile() {
        let past = Self.past(Self.outage(100, 400))
        #expect(past.lateness(from: Self.at(150), to: Self.at(160))?.count == 61)
        #expect(past.lateness(from: Self.at(0), to: Self.at(99)) == nil)
        #expect(past.lateness(from: Self.at(402), to: Self.at(500)) == nil)
    }

    @Test("is not told again when the console saw it from its beginning, and is when it saw its end alone")
    func seen() throws {
        let run = try #require(Self.past(Self.outage(100, 400)).runs.first)
        func log(_ since: Int64, _ level: Finding.Level) -> VerdictLog {
            var log = VerdictLog()
            log.note(Verdict(Finding("outage", level, "Outage", since: Self.at(since))), now: Self.at(390))
            return log
        }
        #expect(log(105, .bad).hasSeen(run))
        #expect(!log(300, .bad).hasSeen(run) && !log(105, .warn).hasSeen(run))
        #expect(!VerdictLog().hasSeen(run))
    }

    @Test("is forgotten after a day")
    func day() {
        var past = Self.past(Self.outage(100, 400))
        past.note(PastQuarter(), number: Self.quarter + 95, now: Self.at(95 * 900))
        #expect(past.runs.count == 1)
        past.note(PastQuarter(), number: Self.quarter + 96, now: Self.at(96 * 900))
        #expect(past.runs.isEmpty && past.quarters.count == 2)
    }
}

@Suite("Samples of a range of offsets")
struct SampleRangesTests {
    @Test(
        "are all of it when it is small, and else four pieces in equal distances, the last at its end",
        arguments: [
            (0..<0, 1, []), (5..<261, 1, [5..<261]),
            (0..<1_000, 1, [0..<64, 312..<376, 624..<688, 936..<1_000]),
        ] as [(Range<Int64>, Int, [Range<Int64>])])
    func pieces(_ range: Range<Int64>, _ partitions: Int, _ pieces: [Range<Int64>]) {
        #expect(SampleRanges.pieces(of: range, partitions: partitions) == pieces)
    }

    @Test("are bounded however much there is, lie in it, and do not overlap")
    func bounded() {
        for partitions in [1, 3, 16, 1_000] {
            for count in [1, 15, 17, 255, 257, 1_000_003] as [Int64] {
                let pieces = SampleRanges.pieces(of: 7..<7 + count, partitions: partitions)
                #expect(pieces.reduce(0) { $0 + $1.count } <= max(16, 256 / partitions))
                #expect(pieces.first?.lowerBound == 7 && pieces.last?.upperBound == 7 + count)
                #expect(zip(pieces, pieces.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
            }
        }
    }

    @Test("cover what lies near to each other together, and what lies far apart alone")
    func covering() {
        #expect(SampleRanges.covering([900, 3, 1, 3, 250, 5_000]) == [1..<251, 900..<901, 5_000..<5_001])
        #expect(SampleRanges.covering([]).isEmpty)
    }
}
