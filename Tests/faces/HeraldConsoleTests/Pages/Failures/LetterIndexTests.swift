import Foundation
import HeraldBytes
import HeraldEvents
import HeraldReplay
import HeraldTime
import Testing

@testable import HeraldConsole

@Suite("The index of dead letters")
struct LetterIndexTests {
    private func index(limit: Int = 1_000_000, _ letters: [DeadLetterEntry]) -> LetterIndex {
        var index = LetterIndex(limit: limit)
        for var letter in letters { index.add(&letter) }
        return index
    }

    private func condition(_ text: String) throws -> Condition {
        try WhereParser.parse(text, now: WallTime(milliseconds: LetterSample.moment + 3_600_000))
    }

    private func has(_ index: LetterIndex, _ partition: Int32, _ offset: Int64) -> Bool {
        var isFound = false
        index.partitions[partition]?.visit { if $0.offset == offset { isFound = true } }
        return isFound
    }

    /// Any value that a header may have.
    private static func isNeverOver() -> Bool { false }

    private static func anyLetters(_ count: Int, _ generator: inout some RandomNumberGenerator) -> [DeadLetterEntry] {
        let texts = ["", "spring", "none", "\"none\"", "a\u{202E}b", "'; drop", String(repeating: "x", count: 9_000)]
        let numbers = ["", "503", "429", "-1", "99999999999999999999", "abc", "9223372036854775807"]
        return (0..<count).map { number in
            LetterSample.make(
                Int32(number % 3), Int64(number * 2), user: "user-\(Int.random(in: 0..<5, using: &generator))",
                [
                    "herald-campaign": texts.randomElement(using: &generator) ?? "",
                    "herald-source": texts.randomElement(using: &generator) ?? "",
                    "herald-reason": ["rejected", "expired", "nonsense", ""].randomElement(using: &generator) ?? "",
                    "herald-status": numbers.randomElement(using: &generator) ?? "",
                    "herald-attempts": numbers.randomElement(using: &generator) ?? "",
                    "herald-replays": ["", "0", "2"].randomElement(using: &generator) ?? "",
                    "herald-history": [
                        "", #"[{"at":"2026-11-21T08:40:26.123Z","pns":"apns","error":"timeout","ms":9}]"#,
                        "504 nonsense",
                    ].randomElement(using: &generator) ?? "",
                    "herald-pns": ["", "apns", "apns,gcm", ",", "x,x"].randomElement(using: &generator) ?? "",
                    "herald-origin": ["", "nonsense", "notifications/3/\(number)"].randomElement(using: &generator)
                        ?? "",
                    "herald-dead-lettered-at":
                        ["", "\(LetterSample.moment + Int64(number) * 60_000)"].randomElement(using: &generator) ?? "",
                ])
        }
    }

    @Test(
        "Groups match herald dlq list for any headers",
        arguments: GroupField.allCases.filter { $0 != .detail })
    func sameGroups(field: GroupField) throws {
        var generator = SplitMix64(seed: 1)
        let letters = Self.anyLetters(3_000, &generator)
        let mark = #"{"state":"replayed","job":"j","at":1,"partitions":{"0":"0-1000","1":"2-900"}}"#
        let part = #"{"state":"replayed","job":"j","at":1,"pns":["apns"],"partitions":{"2":"4-2000"}}"#
        let resolved = #"{"state":"resolved","job":"j","at":1,"partitions":{"0":"1200-1400"}}"#
        var marks = MarkIndex()
        for text in [mark, part, resolved] {
            marks.add(try #require(MarkRecord(decoding: Array(text.utf8))))
        }
        var outcomes = ReplayOutcomes()
        for number in 0..<500 {
            let text =
                #"{"outcome":"\#(number % 2 == 0 ? "delivered" : "failed")","completedAt":"2026-11-21T08:40:26.123Z","#
                + #""replays":\#(number % 3 + 1),"pns":"apns","origin":{"topic":"notifications","partition":3,"#
                + #""offset":\#(number)}}"#
            if let result = try? NotificationResult(decoding: Array(text.utf8)) { outcomes.add(result) }
        }
        // Values that are not kept are counted without a name, and elsewhere.
        let kept = letters.filter { ($0.campaign ?? "").count < 8_000 && ($0.source ?? "").count < 8_000 }
        var table = GroupTable(field)
        for letter in kept { table.add(letter, marks, outcomes) }
        let answer = index(kept).groups(by: field, .always, marks, outcomes, isOver: { false })
        #expect(answer.isCertain && answer.matched == kept.count)
        #expect(
            answer.value.map { [$0.count, $0.replayed, $0.delivered, $0.failedAgain, $0.resolved] }
                == table.sorted.map { [$0.count, $0.replayed, $0.delivered, $0.failedAgain, $0.resolved] })
        #expect(
            answer.value.map { [$0.notifications, $0.mayHaveArrived] }
                == table.sorted.map { [$0.notifications, $0.mayHaveArrived] })
        #expect(table.sorted.contains { $0.mayHaveArrived > 0 })
        #expect(answer.value.map(\.name) == table.sorted.map(\.name))
        #expect(answer.value.map(\.first) == table.sorted.map(\.first))
        #expect(answer.value.map(\.last) == table.sorted.map(\.last))
        #expect(answer.value.map(\.suggestion) == table.sorted.map(\.suggestion) || field == .hour)
    }

    @Test(
        "A condition gives the same answer in the index as in the topic, or the index declines",
        arguments: [
            "status = 503", "status = none", "status != 503 and attempts > 1", "campaign = spring",
            "campaign ~ 's*' or source = none", "not (reason = rejected)", "reason in (rejected, expired)",
            "user = user-1", "user in (user-1, user-2) and status = 503", "id = e12", "pns = apns", "pns = none",
            "not (pns = gcm)", "replays = 2", "replays > 0 or status = 429", "partition = 1 and offset < 600",
            "age < 50m", "age > 55m", "hour = 8", "hour >= 2026-11-21T09", "topic = notifications",
            "dead-lettered-at > 2026-11-21T09:00:00Z", "campaign = '\"none\"'", "attempts < 0",
        ])
    func sameConditions(text: String) throws {
        var generator = SplitMix64(seed: 1)
        let letters = Self.anyLetters(1_000, &generator)
        let condition = try condition(text)
        let index = index(letters)
        var visited: Set<String> = []
        let isCertain = index.visit(condition, isOver: Self.isNeverOver) { partition, row in
            visited.insert("\(partition):\(row.offset)")
        }
        var expected: Set<String> = []
        for var letter in letters where condition.holds(for: &letter) { expected.insert(letter.place) }
        let isRight = isCertain ? visited == expected : visited.isSubset(of: expected)
        #expect(isRight)
    }

    @Test(
        "The index declines where it lacks data, unless another condition decides",
        arguments: [
            ("detail ~ '*away*'", false), ("user ~ 'a*'", false), ("key = x", false),
            ("status = 404 and user ~ 'a*'", true), ("status = 503 or user ~ 'a*'", true),
            ("not (status = 503 and detail = x)", false), ("first-attempt-at > 2026-01-01T00:00:00Z", false),
        ])
    func uncertain(text: String, isCertain: Bool) throws {
        let index = index([LetterSample.make(0, 1)])
        #expect(index.visit(try condition(text), isOver: Self.isNeverOver) { _, _ in } == isCertain)
        let groups = index.groups(by: .detail, .always, MarkIndex(), ReplayOutcomes(), isOver: { false })
        #expect(!groups.isCertain, "details are read from the topic")
    }

    @Test("Pages go through all letters, newest first, each once, while more arrive")
    func pages() {
        var index = index((0..<500).map { LetterSample.make(Int32($0 % 4), Int64($0)) })
        var seen: [LetterOrder] = []
        var cursor: LetterOrder?
        for number in 0... {
            let page = index.newest(.always, atMost: 60, behind: cursor, isOver: { false })
            seen += page.value
            var new = LetterSample.make(1, Int64(1_000 + number))
            index.add(&new)
            guard page.value.count == 60, let last = page.value.last else { break }
            cursor = LetterOrder(cursor: last.cursor)
        }
        #expect(seen.count == 500 && Set(seen).count == 500 && seen == seen.sorted())
        #expect(seen.first?.offset == 499)
        #expect(LetterOrder(cursor: "1:2") == nil && LetterOrder(cursor: "x:0:1") == nil)
    }

    @Test("Beyond its limit it remembers the newest, and counts the others")
    func limit() {
        var index = LetterIndex(limit: 1_000)
        for partition in 0..<2 { index.noteStart(0, of: Int32(partition)) }
        for number in 0..<20_000 {
            var letter = LetterSample.make(Int32(number % 2), Int64(number / 2))
            index.add(&letter)
        }
        #expect(index.count <= 1_000 && index.count > 700)
        #expect(index.forgotten == 20_000 - Int64(index.count))
        #expect(has(index, 0, 9_999) && has(index, 1, 9_999) && !has(index, 0, 0))
        #expect(index.newest(.always, atMost: 1, behind: nil, isOver: { false }).value.first?.offset == 9_999)
    }

    @Test("A condition that takes too long is declined")
    func late() {
        let index = index((0..<40_000).map { LetterSample.make(0, Int64($0)) })
        var looks = 0
        let answer = index.newest(.always, atMost: 1, behind: nil) {
            looks += 1
            return looks > 1
        }
        #expect(!answer.isCertain && answer.matched == 4_096 && looks == 2)
    }

    @Test("Letters deleted from the topic leave the index")
    func retention() {
        var index = index((0..<40_000).map { LetterSample.make(0, Int64($0)) })
        index.noteStart(33_333, of: 0)
        #expect(index.count == 6_667 && !has(index, 0, 33_332) && has(index, 0, 33_333))
        #expect(index.forgotten == 0)
        index.noteStart(50_000, of: 0)
        #expect(index.isEmpty && !has(index, 0, 33_333))
        var late = LetterSample.make(0, 60_000)
        index.add(&late)
        #expect(index.count == 1 && has(index, 0, 60_000))
    }

    @Test("A record that is read twice is counted once")
    func twice() {
        let index = index([LetterSample.make(0, 5), LetterSample.make(0, 5), LetterSample.make(0, 4)])
        #expect(index.count == 1)
    }

    @Test("A hundred thousand campaigns of ten thousand bytes are counted, within bounded memory")
    func hostileTraits() {
        var index = LetterIndex(limit: 1_000_000)
        let long = String(repeating: "x", count: 6_000)
        for number in 0..<20_000 {
            var letter = LetterSample.make(0, Int64(number), ["herald-campaign": "\(number)\(long)"])
            index.add(&letter)
        }
        #expect(index.tables.campaigns.byteCount <= index.tables.campaigns.byteLimit)
        let answer = index.groups(by: .campaign, .always, MarkIndex(), ReplayOutcomes(), isOver: { false })
        #expect(answer.matched == 20_000 && answer.value.reduce(0) { $0 + $1.count } == 20_000)
        #expect(answer.value.last?.name == nil)
    }

    @Test("Dead letters in close succession are one run, whether handled or not")
    func runs() throws {
        let moment = LetterSample.moment
        func letter(_ offset: Int64, _ minute: Int64, _ user: String) -> DeadLetterEntry {
            LetterSample.make(
                Int32(offset % 2), offset, user: user,
                ["herald-dead-lettered-at": "\(moment + minute * 60_000)", "herald-campaign": "spring"])
        }
        let index = index([
            letter(0, 0, "old"), letter(1, 100, "ann"), letter(2, 109, "bob"), letter(3, 110, "ann"),
            letter(4, 200, "cid"),
        ])
        var marks = MarkIndex()
        let mark = #"{"state":"resolved","job":"j","at":1,"partitions":{"1":"1-3"}}"#
        marks.add(try #require(MarkRecord(decoding: Array(mark.utf8))))
        let since = WallTime(milliseconds: moment + 60_000)
        let runs = index.runs(since: since, marks, ReplayOutcomes())
        #expect(runs.map(\.tally.total) == [3, 1] && runs.map(\.open) == [1, 1])
        #expect(runs.map { ($0.to.milliseconds - $0.from.milliseconds) / 60_000 } == [10, 0])
        #expect(runs.first?.tally.userCount == 2)
        #expect(runs.first?.tally.mostCommon(.detail)?.value == "the backend is away")

        let open = index.open(since: since, marks, ReplayOutcomes(), delivered: TraitTally()).whole
        #expect(open.total == 2 && open.userCount == 2)
        let all = index.open(try condition("campaign = spring"), marks, ReplayOutcomes(), isOver: Self.isNeverOver)
        #expect(all.isCertain && all.value.total == 3 && all.value.mostCommon(.campaign)?.share == 1)
    }

    @Test(
        "Dead letters of two causes are separated, even if one is old and large; a few are no cause",
        arguments: [(390, 22, [390, 22]), (60, 500, [500, 60]), (390, 3, [393]), (390, 0, [390])])
    func causes(older: Int, newer: Int, expected: [Int]) {
        func letter(_ number: Int, _ headers: [String: String]) -> DeadLetterEntry {
            LetterSample.make(0, Int64(number), user: "user-\(number)", headers)
        }
        let index = index(
            (0..<older).map { letter($0, ["herald-source": "billing", "herald-status": "422"]) }
                + (0..<newer).map { letter(older + $0, ["herald-source": "chat", "herald-status": "400"]) })
        var (delivered, usual) = (TraitTally(), NotificationTraits())
        (usual.services, usual.source) = (["apns", "gcm"], "shop")
        delivered.add(usual, times: 100)
        let open = index.open(
            since: WallTime(milliseconds: 0), MarkIndex(), ReplayOutcomes(), delivered: delivered)
        #expect(open.whole.total == older + newer)
        #expect(open.causes.map(\.total) == expected)
        let words = open.causes.map { FailurePattern(failed: $0, delivered: delivered)?.words() ?? "" }
        if newer == 3 {
            #expect(words.allSatisfy { !$0.contains("all from source") && !$0.contains("all with status") }, "\(words)")
        } else {
            #expect(words.allSatisfy { $0.contains("all from source") && $0.contains("all with status") }, "\(words)")
        }
    }

    @Test("Letters whose push service is not known are counted in the share of those whose is")
    func unknownServices() throws {
        let known = (0..<2).map { LetterSample.make(0, $0, ["herald-pns": "gcm", "herald-status": "404"]) }
        let reasons = Array(repeating: "invalid", count: 5) + Array(repeating: "malformed", count: 4)
        let unknown = zip((2 as Int64)..., reasons).map { number, reason in
            LetterSample.make(0, number, ["herald-pns": "", "herald-status": "", "herald-reason": reason])
        }
        let whole = index(known + unknown).open(
            since: WallTime(milliseconds: 0), MarkIndex(), ReplayOutcomes(), delivered: TraitTally()
        ).whole
        #expect(whole.total == 11 && whole.share(of: "gcm", .service) == 2.0 / 11)
        let pattern = try #require(FailurePattern(failed: whole, delivered: TraitTally()))
        #expect(pattern.words()?.contains("gcm") != true && pattern.condition?.contains("pns") != true)
    }

    @Test("A row has 72 bytes")
    func size() { #expect(MemoryLayout<LetterRow>.stride == 72) }
}
