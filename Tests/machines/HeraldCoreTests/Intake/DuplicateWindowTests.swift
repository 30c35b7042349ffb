import HeraldBytes
import HeraldEvents
import HeraldTime
import TestSupport
import Testing

@testable import HeraldCore

@Suite("The memory of the last events")
struct DuplicateWindowTests {
    @Test("remembers each outcome in its byte", arguments: Outcome.allCases)
    func byte(outcome: Outcome) {
        // For a duplicate, the first event's outcome is not remembered.
        let fate: FirstFate = outcome == .duplicate ? .dealtWith : .ended(outcome)
        #expect(FirstFate(rawValue: FirstFate.ended(outcome).rawValue) == fate)
    }

    @Test("knows every byte: one means under way, and no unwritten one is read as that")
    func bytes() {
        for byte in UInt8.min...(.max) {
            let fate = FirstFate(rawValue: byte)
            #expect((fate == .underWay) == (byte == FirstFate.underWay.rawValue))
            #expect(fate.rawValue == byte || fate == .retrying(delay: Int(byte) - 7) && byte > 207)
        }
    }

    /// One step and its expected answer; times in milliseconds.
    enum Step: Sendable {
        case new(UInt64, at: Int64)
        case repeated(UInt64, at: Int64)
        case evict(now: Int64)
        case forget
        case count(Int)
    }

    struct Rule: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let size: Int
        let window: Int64
        let steps: [Step]

        init(_ description: String, size: Int = 10, window: Int64 = 100, _ steps: Step...) {
            testDescription = description
            self.size = size
            self.window = window
            self.steps = steps
        }
    }

    static let rules = [
        Rule("an event comes again", .new(7, at: 0), .repeated(7, at: 1), .count(2)),
        Rule("the hash is zero", .new(0, at: 0), .repeated(0, at: 0), .new(1, at: 0), .count(3)),
        Rule("the hash is the largest", .new(.max, at: 0), .repeated(.max, at: 0), .new(.max - 1, at: 0)),
        Rule("the last moment of the window", .new(7, at: 0), .repeated(7, at: 100)),
        Rule("past the window", .new(7, at: 0), .new(7, at: 101)),
        Rule("past the window, evicted", .new(7, at: 0), .evict(now: 101), .count(0), .new(7, at: 101)),
        Rule("in the window, not evicted", .new(7, at: 0), .evict(now: 100), .count(1), .repeated(7, at: 100)),
        Rule("a repeat refreshes", .new(7, at: 0), .repeated(7, at: 90), .repeated(7, at: 190), .new(7, at: 291)),
        Rule("the size ends it", size: 2, .new(1, at: 0), .new(2, at: 0), .new(3, at: 0), .new(1, at: 0), .count(2)),
        Rule("the last of the size", size: 2, .new(1, at: 0), .new(2, at: 0), .repeated(1, at: 0), .repeated(2, at: 0)),
        Rule(
            "repeats count for the size", size: 2, .new(1, at: 0), .new(2, at: 0), .repeated(2, at: 0),
            .new(1, at: 0)),
        Rule("a size of one", size: 1, .new(1, at: 0), .repeated(1, at: 0), .new(2, at: 0), .new(1, at: 0), .count(1)),
        Rule("no size", size: 0, .new(1, at: 0), .new(1, at: 0), .evict(now: 0), .count(0)),
        Rule("a negative size", size: -1, .new(1, at: 0), .new(1, at: 0), .count(0)),
        Rule("no window", window: 0, .new(1, at: 0), .new(1, at: 0), .evict(now: 0), .count(0)),
        Rule("a negative window", window: .min, .new(1, at: 0), .new(1, at: 0), .count(0)),
        Rule("an endless window", window: .max, .new(1, at: 0), .repeated(1, at: .max), .count(2)),
        Rule("a window of a millisecond", window: 1, .new(1, at: 5), .repeated(1, at: 6), .new(1, at: 8)),
        Rule("everything is forgotten", .new(1, at: 0), .forget, .count(0), .new(1, at: 0), .repeated(1, at: 0)),
        Rule(
            "an earlier time counts as that of the event before", .new(1, at: 50), .new(2, at: -1_000),
            .repeated(2, at: 150), .new(1, at: 151)),
        Rule(
            "a time far ahead hides what was before, until the clock says otherwise", .new(1, at: 0),
            .new(2, at: 1_000_000), .new(1, at: 1), .evict(now: 2), .repeated(1, at: 3), .repeated(2, at: 3)),
        Rule(
            "a time far ahead is not remembered for longer", .new(1, at: 1_000_000), .evict(now: 0),
            .evict(now: 101), .count(0), .new(1, at: 101)),
        Rule(
            "the clock jumps back", .new(1, at: 1_000_000), .evict(now: 1_000_000), .evict(now: 0),
            .repeated(1, at: 0), .evict(now: 101), .new(1, at: 101)),
        Rule("the clock jumps ahead", .new(1, at: 0), .evict(now: .max), .count(0), .new(1, at: .max)),
        Rule(
            "the ends of time", .new(1, at: .min), .repeated(1, at: .min), .new(1, at: .max), .repeated(1, at: .min),
            .evict(now: .min), .repeated(1, at: .min)),
    ]

    @Test("answers by the rules", arguments: rules)
    func rule(_ rule: Rule) {
        var window = DuplicateWindow(size: rule.size, window: .milliseconds(rule.window))
        for (number, step) in rule.steps.enumerated() {
            switch step {
            case .new(let hash, let at):
                let isDuplicate = window.insert(hash << 8, at: WallTime(milliseconds: at))
                #expect(!isDuplicate, "step \(number)")
            case .repeated(let hash, let at):
                let isDuplicate = window.insert(hash << 8, at: WallTime(milliseconds: at))
                #expect(isDuplicate, "step \(number)")
            case .evict(let now): window.evict(now: WallTime(milliseconds: now))
            case .forget: window.removeAll()
            case .count(let count): #expect(window.count == count, "step \(number)")
            }
        }
    }

    @Test(
        "remembers for the whole window, and at most four thousandths longer",
        arguments: [1, 2, 999, 1_024, 1_025, 10_000, 600_000, 43_200_000, 1 << 40] as [Int64])
    func precision(length: Int64) {
        var random = SplitMix64(seed: UInt64(length))
        for _ in 0..<200 {
            let start = Int64(truncatingIfNeeded: random.next() >> 10)
            var window = DuplicateWindow(size: 8, window: .milliseconds(length))
            _ = window.insert(1 << 8, at: WallTime(milliseconds: start))
            var other = window
            let inTime = window.insert(1 << 8, at: WallTime(milliseconds: start + length))
            #expect(inTime)
            let tooLate = other.insert(1 << 8, at: WallTime(milliseconds: start + length + max(2, length * 4 / 1_000)))
            #expect(!tooLate)
        }
    }

    @Test("agrees with a plain list, for any events at any times", arguments: UInt64(1)...60)
    func model(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let size = [1, 2, 3, 5, 16, 64, 1_000][Int(seed % 7)]
        let length = Int64([1, 4, 60, 900][Int(seed / 7 % 4)])
        // Some seeds give hashes that all have the same home in the table, and some many repeats.
        let spread = UInt64([3, 40, 3_000][Int(seed % 3)])
        let multiplier: UInt64 = seed.isMultiple(of: 5) ? 1 : 0x9E37_79B9_7F4A_7C15
        var window = DuplicateWindow(size: size, window: .milliseconds(length))
        var model = PlainWindow(size: size, window: length)
        var clock: Int64 = 0
        for step in 0..<4_000 {
            switch random.next() % 1_000 {
            case 0..<30:
                window.evict(now: WallTime(milliseconds: clock))
                model.evict(now: clock)
            case 30: clock += Int64(random.next() % 5_000)
            case 31: clock -= Int64(random.next() % 5_000)
            case 32:
                window.removeAll()
                model.entries = []
            default:
                clock += random.next() % 4 == 0 ? 1 : 0
                let strayed = random.next() % 50 == 0 ? Int64(random.next() % 200) - 100 : 0
                let hash = (random.next() % spread) << 8 &* multiplier
                let isDuplicate = window.insert(hash, at: WallTime(milliseconds: clock + strayed))
                try #require(isDuplicate == model.insert(hash, at: clock + strayed), "step \(step)")
            }
            try #require(window.count == model.entries.count, "step \(step)")
        }
    }

    @Test("agrees with a plain list while it grows to its limit and far beyond")
    func growth() throws {
        var random = SplitMix64(seed: 1)
        let size = 5_000
        var window = DuplicateWindow(size: size, window: .seconds(1))
        var lastSeen: [UInt64: Int] = [:]
        for number in 0..<40_000 {
            // Hashes for two thirds of the table only: long clusters, and about as many repeats as new ones.
            let hash = (random.next() % 12_000) << 50
            let isDuplicate = window.insert(hash, at: WallTime(milliseconds: 0))
            let isExpected = lastSeen[hash].map { number - $0 <= size } ?? false
            try #require(isDuplicate == isExpected, "event \(number)")
            lastSeen[hash] = number
        }
        #expect(window.count == size)
    }

    @Test(
        "keeps its promise when all hashes have the same home in the table",
        arguments: [0, 1 << 55, 1 << 56 - 1_000] as [UInt64])
    func clustering(base: UInt64) throws {
        var window = DuplicateWindow(size: 300, window: .seconds(1))
        for round in 0..<2 {
            for hash in 0..<UInt64(1_000) {
                let isDuplicate = window.insert((base + hash) << 8, at: WallTime(milliseconds: 0))
                try #require(!isDuplicate, "round \(round), hash \(hash)")
                if hash >= 299 {
                    let isRepeat = window.insert((base + hash - 148) << 8, at: WallTime(milliseconds: 0))
                    try #require(isRepeat, "round \(round), hash \(hash)")
                }
            }
        }
    }

    @Test("takes 17⅓ bytes an event, including the index and the times")
    func bytesPerEvent() {
        let size = 1_000_000
        var window = DuplicateWindow(size: size, window: .hours(12))
        #expect(window.byteCount < 1_024)
        var random = SplitMix64(seed: 1)
        for number in 0..<size + 100 {
            _ = window.insert(random.next(), at: WallTime(milliseconds: Int64(number) * 40))
            if number == 999 { #expect(window.byteCount < 40_000) }
        }
        #expect(window.count == size)
        #expect(Double(window.byteCount) / Double(size) < 17.4)
    }

    @Test(
        "finds the fate of each event, and the event it may repeat, until that is forgotten",
        arguments: UInt64(1)...10)
    func linksAndFates(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let fates: [FirstFate] = [
            .underWay, .dealtWith, .ended(.delivered), .ended(.expired), .ended(.deadLettered), .retrying(delay: 200),
        ]
        let size = [3, 100, 1_500][Int(seed % 3)]
        var window = DuplicateWindow(size: size, window: .seconds(1))
        var model: [(hash: UInt64, fate: FirstFate, first: Int?)] = []
        for number in 0..<6_000 {
            let hash = (random.next() % 900) << 8
            let (inserted, former) = window.insert(
                hash, origin: UInt32(number), fate: .underWay, at: WallTime(milliseconds: 0))
            try #require(inserted == number)
            let before = model.indices.suffix(size).last { model[$0].hash == hash }
            try #require(former?.number == before)
            try #require(former?.origin == before.map { UInt32($0) })
            try #require(former?.fate == before.map { model[$0].fate })
            // Half of them are retries of their own, without a link.
            let first = random.next() % 2 == 0 ? before : nil
            if let first { window.link(number, to: first) }
            model.append((hash, .underWay, first))
            let changed = max(0, number - Int(random.next() % UInt64(size + 2)))
            let fate = fates[Int(random.next() % UInt64(fates.count))]
            window.note(changed, fate)
            if changed > number - size { model[changed].fate = fate }
            let asked = max(0, number - Int(random.next() % UInt64(size + 2)))
            let isHeld = asked > number - size
            try #require(window.fate(of: asked) == (isHeld ? model[asked].fate : nil))
            let linked = isHeld ? model[asked].first : nil
            try #require(window.linked(from: asked)?.number == linked.flatMap { $0 > number - size ? $0 : nil })
        }
    }

    @Test("does not grow when the window's time ends before its size does")
    func boundedByTime() {
        var window = DuplicateWindow(size: 1_000_000, window: .milliseconds(500))
        for number in 0..<UInt64(50_000) {
            let now = WallTime(milliseconds: Int64(number))
            _ = window.insert(number &* 0x9E37_79B9_7F4A_7C15, at: now)
            window.evict(now: now)
        }
        #expect(window.count == 501)
        #expect(window.byteCount < 44_000)
    }
}

/// The same rules on a plain list, for windows whose ticks are milliseconds.
private struct PlainWindow {
    let size: Int
    let window: Int64
    var entries: [(hash: UInt64, time: Int64)] = []

    mutating func insert(_ hash: UInt64, at time: Int64) -> Bool {
        let time = max(time, entries.last?.time ?? time)
        let isDuplicate = entries.contains { $0.hash == hash && time - $0.time <= window }
        // With two more different times than the window has milliseconds, the first time is given up.
        let times = Set(entries.map(\.time)).union([time])
        if times.count > Int(window) + 1, let first = times.min() { entries.removeAll { $0.time == first } }
        entries.append((hash, time))
        if entries.count > size { entries.removeFirst() }
        return isDuplicate
    }

    mutating func evict(now: Int64) {
        entries = entries.map { ($0.hash, min($0.time, now)) }.filter { now - $0.1 <= window }
    }
}

extension DuplicateWindow {
    /// Remembers a notification, and returns whether it came before.
    fileprivate mutating func insert(_ hash: UInt64, at time: WallTime) -> Bool {
        insert(hash, origin: 0, fate: .underWay, at: time).former != nil
    }
}
