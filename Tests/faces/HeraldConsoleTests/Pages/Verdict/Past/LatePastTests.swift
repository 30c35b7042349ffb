import HeraldEvents
import HeraldKafka
import HeraldTime
import Testing

@testable import HeraldConsole

@Suite("Late deliveries of the last day")
struct LatePastTests {
    private static let quarter: Int64 = 1_994_889
    private static let place = TopicPartition(topic: "notifications", partition: 0)

    /// This many seconds after the beginning of a quarter of an hour.
    private static func at(_ seconds: Int64) -> WallTime {
        WallTime(milliseconds: quarter * LatePast.quarterLength.count + seconds * 1_000)
    }

    private typealias Delivery = (due: Int64, completed: Int64)

    private static func add(
        _ delivery: Delivery, offset: Int64, weight: Double = 1, to past: inout LatePast
    ) {
        let completed = at(delivery.completed)
        past.add(
            PastDelivery(request: place, offset: offset, completed: completed, weight: weight),
            due: at(delivery.due), quarter: LatePast.quarter(of: completed))
    }

    /// Events with an offset each; the same number of prompt ones, one per second.
    private static func past(
        _ deliveries: [Delivery], prompt: Range<Int64> = 0..<0, weight: Double = 1, limit: Int = 1_000
    ) -> LatePast {
        var past = LatePast(limit: limit)
        for (offset, delivery) in deliveries.enumerated() {
            add(delivery, offset: Int64(offset), weight: weight, to: &past)
        }
        for second in prompt { add((second, second), offset: 100_000 + second, weight: weight, to: &past) }
        for number in quarter...quarter + 1 { past.noteLook(at: number, isWhole: weight == 1) }
        return past
    }

    /// One event per second from a given time, all delivered when the outage ends.
    private static func outage(_ from: Int64, _ to: Int64) -> [Delivery] {
        (from..<to).map { (due: $0, completed: to + 1) }
    }

    @Test("have a beginning, an end, their number and the maximum number of waiting events")
    func outage() throws {
        let report = Self.past(Self.outage(100, 400), prompt: 0..<40).report
        let run = try #require(report.runs.first)
        #expect(report.runs.count == 1)
        // The earliest twentieth of 241 late ones does not date it.
        #expect(run.from >= Self.at(100) && run.from <= Self.at(112) && run.to == Self.at(401))
        #expect(run.lateness == Lateness(count: 241, isExact: true, worst: .seconds(301)))
        #expect(run.mostWaiting == 241 && report.scattered == nil)
        // The end of the outage was prompt.
        #expect(report.lookedAt == 340 && report.delivered == 340)
    }

    @Test("are reported at once, for times at any distance", arguments: [Int64.min / 2, 0])
    func farApart(due: Int64) {
        var past = Self.past([], prompt: 0..<40)
        let late = PastDelivery(request: Self.place, offset: 7, completed: Self.at(50), weight: 100)
        past.add(late, due: WallTime(milliseconds: due), quarter: Self.quarter)
        #expect(past.report.runs.first?.lateness.count == 1)
    }

    @Test("are found in a quarter of an hour that was nearly all prompt")
    func shortOutage() throws {
        let run = try #require(Self.past(Self.outage(0, 90), prompt: 91..<900).report.runs.first)
        #expect(run.lateness == Lateness(count: 31, isExact: true, worst: .seconds(91)))
    }

    @Test("count an event once, by its last delivery, even if that is in another quarter of an hour")
    func once() throws {
        var past = Self.past(Self.outage(600, 800))
        for completed in [801, 830, 1_000] as [Int64] {
            for offset in 0..<141 as Range<Int64> { Self.add((600 + offset, completed), offset: offset, to: &past) }
        }
        let runs = past.report.runs
        #expect(runs.map(\.lateness) == [Lateness(count: 141, isExact: true, worst: .seconds(400))])
        #expect(runs.first?.mostWaiting == 141)
    }

    @Test("are never estimated: samples, parts of a day, or a lack of room give a lower bound")
    func atLeast() throws {
        let sampled = try #require(Self.past(Self.outage(100, 400), weight: 30).report.runs.first)
        #expect(sampled.lateness.count == 241 && !sampled.lateness.isExact && sampled.mostWaiting == 241)

        // Events due in a quarter of an hour that was not examined may have been delivered in it.
        let unseen = try #require(Self.past(Self.outage(-200, 100)).report.runs.first)
        #expect(unseen.lateness.count == 241 && !unseen.lateness.isExact)

        let full = try #require(Self.past(Self.outage(100, 400), limit: 200).report.runs.first)
        #expect(full.lateness.count == 200 && !full.lateness.isExact)
    }

    @Test("have the same number at each look, and a greater one only when more came")
    func growth() {
        var past = LatePast()
        var counts: [Int] = []
        for (offset, delivery) in Self.outage(100, 400).enumerated() {
            Self.add(delivery, offset: Int64(offset), to: &past)
            past.noteLook(at: Self.quarter, isWhole: true)
            counts.append(past.report.runs.first?.lateness.count ?? 0)
        }
        #expect(counts == (1...241).map { $0 } + [Int](repeating: 241, count: 59))
    }

    @Test("are single ones, and no outage, when nearly all was prompt meanwhile")
    func scattered() {
        let report = Self.past([(0, 100), (300, 420)], prompt: 0..<500).report
        #expect(report.runs.isEmpty)
        #expect(report.scattered == Lateness(count: 2, isExact: true, worst: .minutes(2)))
    }

    @Test("are two outages when more than a minute passes between them, and one across a quarter's end")
    func gaps() {
        let two = Self.past(Self.outage(0, 200) + Self.outage(500, 700)).report.runs
        #expect(two.map(\.to) == [Self.at(201), Self.at(701)] && two.allSatisfy { $0.mostWaiting == 141 })
        let one = Self.past(Self.outage(700, 890) + Self.outage(840, 1_000)).report.runs
        #expect(one.count == 1 && one.first?.to == Self.at(1_001))
    }

    @Test("begin a minute after they were due")
    func minute() {
        #expect(Self.past([(0, 60)]).report.runs.isEmpty)
        #expect(Self.past([(0, 61)]).report.runs.count == 1)
    }

    @Test("are forgotten after a day")
    func day() {
        var past = Self.past(Self.outage(100, 400))
        past.forget(now: Self.at(95 * 900))
        #expect(past.report.runs.count == 1)
        past.forget(now: Self.at(96 * 900))
        #expect(past.report.runs.isEmpty && past.report.lookedAt == 0)
    }
}

@Suite("The entry that explains late deliveries")
struct LateTellerTests {
    private static func at(_ seconds: Int64) -> WallTime { WallTime(milliseconds: 1_795_400_040_000 + seconds * 1_000) }

    private static let run = LateRun(
        from: at(100), to: at(400), lateness: Lateness(count: 9, isExact: true, worst: .seconds(61)),
        mostWaiting: 9)

    private static func log(_ findings: ToldFinding...) -> VerdictLog {
        var log = VerdictLog()
        for second in [384, 390] as [Int64] {
            for finding in findings { log.note(Verdict(first: finding), now: at(second)) }
        }
        return log
    }

    private static func finding(_ key: String, _ severity: Finding.Severity, since: Int64) -> ToldFinding {
        ToldFinding(Finding(key: key, severity, title: "Outage", since: at(since)))
    }

    @Test("is a single one: faults before warnings, then the one with the nearest beginning")
    func one() {
        let log = Self.log(
            Self.finding("a", .warn, since: 100), Self.finding("b", .bad, since: 40),
            Self.finding("c", .bad, since: 105),
            Self.finding("d", .warn, since: 101))
        #expect(log.teller(of: Self.run).map { log.told[$0].key } == "c")
        let warnings = Self.log(Self.finding("a", .warn, since: 90), Self.finding("d", .warn, since: 101))
        #expect(warnings.teller(of: Self.run).map { warnings.told[$0].key } == "d")
    }

    @Test("is absent for a fault that saw only the end, and for a warning that began long before")
    func none() {
        #expect(Self.log(Self.finding("a", .bad, since: 300)).teller(of: Self.run) == nil)
        #expect(Self.log(Self.finding("a", .warn, since: -100)).teller(of: Self.run) == nil)
        #expect(Self.log(Self.finding("a", .bad, since: -100)).teller(of: Self.run) == 0)
        #expect(VerdictLog().teller(of: Self.run) == nil)
    }
}

@Suite("Samples of a range of offsets")
struct SampleRangesTests {
    @Test(
        "are the whole of a small range, and else pieces at equal distances",
        arguments: [
            (0..<0, 256, []), (5..<261, 256, [5..<261]),
            (0..<4_096, 1_024, [0..<512, 2_048..<2_560]), (10..<110, 1, [10..<11]),
        ] as [(Range<Int64>, Int64, [Range<Int64>])])
    func pieces(_ range: Range<Int64>, _ limit: Int64, _ pieces: [Range<Int64>]) {
        #expect(SampleRanges.pieces(of: range, limit: limit) == pieces)
    }

    @Test("are bounded for any size, lie in the range, and do not overlap")
    func bounded() {
        for limit in [1, 100, 513, 5_000] as [Int64] {
            for count in [1, 15, 600, 1_000_003] as [Int64] {
                for shift in [0, 0.3, 1] {
                    let range = 7..<7 + count
                    let pieces = SampleRanges.pieces(of: range, limit: limit, shift: shift)
                    #expect(pieces.reduce(0) { $0 + Int64($1.count) } <= limit)
                    #expect(pieces.allSatisfy { !$0.isEmpty && range.contains($0.lowerBound) })
                    #expect(pieces.allSatisfy { $0.upperBound <= range.upperBound })
                    #expect(zip(pieces, pieces.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
                }
            }
        }
    }

    @Test("cover near offsets together, and distant ones alone")
    func covering() {
        #expect(SampleRanges.covering([1_900, 3, 1, 3, 850, 5_000]) == [1..<851, 1_900..<1_901, 5_000..<5_001])
        #expect(SampleRanges.covering([]).isEmpty)
    }
}
