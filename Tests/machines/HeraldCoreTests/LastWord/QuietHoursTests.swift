import Foundation
import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("A user's quiet hours")
struct QuietHoursTests {
    private static let berlin: ZoneRules = {
        let bytes = (try? Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Europe/Berlin"))) ?? Data()
        return (try? ZoneFile.rules(Array(bytes).span.bytes)) ?? ZoneRules(offset: 0)
    }()

    private func time(_ text: String) throws -> WallTime {
        let time = RFC3339.parse(Array(text.utf8).span.bytes)
        return try #require(time)
    }

    private func end(
        _ hours: String, _ moment: String, days: Weekdays = .all, spread: Milliseconds = .zero
    ) throws -> String? {
        let minutes = try hours.split(separator: "-").map { try #require(QuietHours.minute(String($0))) }
        let window = QuietWindow(QuietHours(start: minutes[0], end: minutes[1], days: days), QuietRules())
        return window.end(around: try time(moment), in: Self.berlin, spread: spread).map { RFC3339.text($0) }
    }

    @Test(
        "begin at their start and end right before their end, past midnight, and by the clock of the zone",
        arguments: [
            ("22:00-07:00", "2026-11-28T20:59:59.999Z", nil),
            ("22:00-07:00", "2026-11-28T21:00:00Z", "2026-11-29T06:00"),
            ("22:00-07:00", "2026-11-29T05:59:59.999Z", "2026-11-29T06:00"),
            ("22:00-07:00", "2026-11-29T06:00:00Z", nil),
            ("13:00-14:30", "2026-06-01T11:00:00Z", "2026-06-01T12:30"), ("13:00-14:30", "2026-06-01T12:30:00Z", nil),
            ("00:00-24:00", "2026-06-01T21:59:59Z", "2026-06-01T22:00"),
            ("00:00-24:00", "2026-06-01T22:00:00Z", "2026-06-02T22:00"),
            // The night of the change to summer has eight hours, and that to winter ten.
            ("22:00-07:00", "2026-03-28T21:00:00Z", "2026-03-29T05:00"),
            ("22:00-07:00", "2026-10-24T20:00:00Z", "2026-10-25T06:00"),
            // 02:30 is left out, and is then 03:30; it comes twice, and the first one counts.
            ("22:00-02:30", "2026-03-29T01:29:59Z", "2026-03-29T01:30"), ("22:00-02:30", "2026-03-29T01:30:00Z", nil),
            ("22:00-02:30", "2026-10-25T00:29:59Z", "2026-10-25T00:30"), ("22:00-02:30", "2026-10-25T01:29:00Z", nil),
        ] as [(String, String, String?)])
    func window(hours: String, moment: String, expected: String?) throws {
        #expect(try end(hours, moment)?.prefix(16) == expected?.prefix(16))
    }

    @Test("belong to the day on which they begin")
    func days() throws {
        let friday = try #require(Weekdays(named: "fri"))
        // 2026-11-27 is a Friday.
        #expect(try end("22:00-07:00", "2026-11-27T22:00:00Z", days: friday) != nil)
        #expect(try end("22:00-07:00", "2026-11-28T03:00:00Z", days: friday) != nil)
        #expect(try end("22:00-07:00", "2026-11-27T03:00:00Z", days: friday) == nil)
        #expect(try end("22:00-07:00", "2026-11-28T22:00:00Z", days: friday) == nil)
    }

    @Test("have a minute's judge in common with a clock's hands, over two years of nights")
    func hands() throws {
        for (start, end) in [(22 * 60, 7 * 60), (0, 6 * 60), (12 * 60, 13 * 60), (1_439, 1), (9 * 60, 1_440)] {
            let window = QuietWindow(QuietHours(start: start, end: end), QuietRules())
            var moment = try time("2026-01-01T00:00:00Z")
            let last = try time("2028-01-01T00:00:00Z")
            while moment < last {
                defer { moment = moment.advanced(by: .minutes(29)) }
                let local = moment.advanced(by: .seconds(Int64(Self.berlin.offset(at: moment))))
                let minute = Int(local.milliseconds / 60_000 % 1_440)
                // Around the changes the hands are not enough.
                let hasChange =
                    Self.berlin.offset(at: moment.advanced(by: .days(-1)))
                    != Self.berlin.offset(at: moment.advanced(by: .days(1)))
                if hasChange { continue }
                let isQuiet = start < end ? minute >= start && minute < end : minute >= start || minute < end
                #expect((window.end(around: moment, in: Self.berlin, spread: .zero) != nil) == isQuiet)
            }
        }
    }

    // MARK: The engine

    private func word(_ change: (inout QuietRules) -> Void = { _ in }) -> LastWord {
        var rules = QuietRules()
        rules.zones = TimeZones(["Europe/Berlin": Self.berlin, "UTC": ZoneRules(offset: 0)])
        rules.spread = .zero
        change(&rules)
        return LastWord(hashSeed: 7, pushServices: .standard, maxLag: .seconds(5), rules: rules)
    }

    /// An engine at 21:30 in Berlin, half an hour before ann's quiet hours; its bulk topic is promotional.
    private func harness(_ word: LastWord, at moment: String = "2026-11-28T20:30:00Z") throws -> EngineHarness {
        let harness = EngineHarness {
            $0.hashSeed = 7
            $0.lastWord = word
            $0.classes = [.transactional, .promotional]
        }
        try move(harness, word, to: moment)
        return harness
    }

    private func move(_ harness: EngineHarness, _ word: LastWord, to moment: String) throws {
        harness.time = try time(moment).milliseconds
        word.noteCurrent(asOf: harness.now.monotonic)
    }

    private func sleep(
        _ word: LastWord, _ user: String = "ann", zone: String? = "Europe/Berlin",
        _ change: (inout OptOut) -> Void = { _ in }
    ) {
        var optOut = OptOut()
        change(&optOut)
        word.set(optOut, quiet: QuietHours(zone: zone, start: 22 * 60, end: 7 * 60), of: user.utf8.span.bytes)
    }

    @Test("hold promotional events until their end, and nothing else")
    func hold() throws {
        let word = word()
        let harness = try harness(word)
        sleep(word)
        harness.event("ann", on: EngineHarness.bulk)
        harness.answer(200)
        try move(harness, word, to: "2026-11-28T21:00:00Z")
        harness.event("ann", "apns,gcm", on: EngineHarness.bulk)
        harness.event("ann")
        harness.event("bob", on: EngineHarness.bulk)
        #expect(harness.usersInFlight == ["ann", "bob"])
        #expect(harness.headers(at: 1)["herald-not-before"] == "\(try time("2026-11-29T06:00:00Z").milliseconds)")
        #expect(harness.headers(at: 1)["herald-reason"] == "quiet-hours")
        #expect(harness.takeSummaries() == ["result apns delivered", "retry 10s apns,gcm quiet-hours 0"])
    }

    @Test("are asked again when they end, and before each retry of a call")
    func again() throws {
        let word = word()
        let harness = try harness(word, at: "2026-11-28T20:59:59Z")
        sleep(word)
        harness.event("ann", on: EngineHarness.bulk)
        harness.answer(503)
        harness.pass(.seconds(1))
        #expect(harness.calls.isEmpty)
        #expect(harness.takeSummaries() == ["retry 10s apns quiet-hours 1"])
        let end = try time("2026-11-29T06:00:00Z").milliseconds
        func comesBack(at moment: String) throws {
            try move(harness, word, to: moment)
            harness.event(
                "ann", on: EngineHarness.tenSeconds,
                headers: [
                    ("herald-attempts", "1"), ("herald-not-before", "\(end)"), ("herald-reason", "quiet-hours"),
                    ("herald-origin", "notifications.bulk/0/0"),
                ], stamped: harness.time - 10_000)
        }
        try comesBack(at: "2026-11-29T01:00:00Z")
        #expect(harness.headers(at: 0)["herald-not-before"] == "\(end)")
        #expect(harness.takeSummaries() == ["retry 10s apns quiet-hours 1"])
        try comesBack(at: "2026-11-29T06:00:00Z")
        #expect(harness.usersInFlight == ["ann"])
        harness.answer(200)
        #expect(harness.takeSummaries() == ["result apns delivered"])
        // The user sleeps longer today.
        word.set(OptOut(), quiet: QuietHours(zone: "UTC", start: 1_200, end: 600), of: "ann".utf8.span.bytes)
        try comesBack(at: "2026-11-29T06:00:01Z")
        #expect(harness.calls.isEmpty)
        #expect(harness.takeSummaries() == ["retry 10s apns quiet-hours 1"])
    }

    @Test("hold nothing any longer once an event returns and its user has ended them or opted out")
    func changedMind() throws {
        let word = word()
        let harness = try harness(word, at: "2026-11-28T23:00:00Z")
        sleep(word)
        func comesBack() throws {
            harness.event(
                "ann", on: EngineHarness.tenSeconds,
                headers: [
                    ("herald-not-before", "\(try time("2026-11-29T06:00:00Z").milliseconds)"),
                    ("herald-reason", "quiet-hours"), ("herald-origin", "notifications.bulk/0/0"),
                ], stamped: harness.time - 10_000)
        }
        word.set(OptOut(), of: "ann".utf8.span.bytes)
        try comesBack()
        #expect(harness.usersInFlight == ["ann"])
        harness.answer(200)
        #expect(harness.takeSummaries() == ["result apns delivered"])
        var all = OptOut()
        all.isOfPromotional = true
        word.set(all, of: "ann".utf8.span.bytes)
        try comesBack()
        #expect(harness.calls.isEmpty && harness.takeSummaries() == ["result apns suppressed"])
    }

    @Test("end an event at once that would expire before, and never one that expires behind them")
    func expiry() throws {
        let word = word { $0.spread = .minutes(10) }
        let harness = try harness(word, at: "2026-11-28T23:00:00Z")
        sleep(word)
        harness.event("ann", on: EngineHarness.bulk, more: #","expiresAt":"2026-11-29T06:00:00Z""#)
        #expect(
            harness.result(at: 0).contains(
                #""reason":"quiet-expired","detail":"it expires before the end of the user's quiet hours, 2026-11-29T06:00:00.000Z""#
            ))
        #expect(harness.takeSummaries() == ["result apns suppressed"])
        harness.event("ann", on: EngineHarness.bulk, more: #","expiresAt":"2026-11-29T06:00:00.001Z""#)
        #expect(harness.headers(at: 0)["herald-not-before"] == "\(try time("2026-11-29T06:00:00Z").milliseconds)")
        try move(harness, word, to: "2026-11-29T06:00:00Z")
        harness.event("ann", on: EngineHarness.bulk, more: #","expiresAt":"2026-11-29T06:00:00.001Z""#)
        #expect(harness.usersInFlight == ["ann"])
    }

    @Test("let a user's events leave at one moment of the spread, behind which later ones of the user stay")
    func spread() throws {
        let word = word { $0.spread = .minutes(10) }
        let harness = try harness(word, at: "2026-11-29T05:00:00Z")
        let end = try time("2026-11-29T06:00:00Z").milliseconds
        var moments: Set<Int64> = []
        for user in 0..<50 {
            sleep(word, "user-\(user)")
            harness.event("user-\(user)", on: EngineHarness.bulk)
            moments.insert(try #require(Int64(harness.headers(at: user)["herald-not-before"] ?? "")) - end)
        }
        #expect(moments.allSatisfy { (0..<600_000).contains($0) } && moments.count > 45)
        _ = harness.takeSummaries()
        let shift = word.quietShift(of: "user-7".utf8.span.bytes)
        harness.time = end + shift.count - 1
        word.noteCurrent(asOf: harness.now.monotonic)
        harness.event("user-7", on: EngineHarness.bulk)
        #expect(harness.calls.isEmpty && harness.takeSummaries() == ["retry 1s apns quiet-hours 0"])
        harness.time += 1
        harness.event("user-7", on: EngineHarness.bulk)
        #expect(harness.usersInFlight == ["user-7"])
    }

    @Test("leave a gap open that is shorter than the spread")
    func gap() throws {
        let word = word { $0.spread = .hours(6) }
        let harness = try harness(word, at: "2026-11-29T05:00:00Z")
        for user in 0..<20 {
            word.set(
                OptOut(), quiet: QuietHours(zone: "UTC", start: 6 * 60, end: 5 * 60 + 59),
                of: "user-\(user)".utf8.span.bytes)
            harness.event("user-\(user)", on: EngineHarness.bulk)
            #expect(harness.headers(at: user)["herald-not-before"] == "\(harness.time + 59 * 60_000)")
        }
        try move(harness, word, to: "2026-11-29T05:59:30Z")
        harness.event("user-3", on: EngineHarness.bulk)
        #expect(harness.usersInFlight == ["user-3"])
    }

    @Test(
        "hold nothing where nobody knows the user's clock, and the result says so",
        arguments: [
            ("Europe/Berlin", nil, nil, nil), ("Mars/Base", "Europe/Berlin", "Europe/Berlin", "unknown-zone"),
            (nil, "Europe/Berlin", nil, nil), (nil, "Mars/Base", "Europe/Berlin", "unknown-zone"),
            (nil, nil, "Europe/Berlin", nil), (nil, nil, nil, "no-zone"), ("UTC", "Europe/Berlin", nil, nil),
        ] as [(String?, String?, String?, String?)])
    func zones(ofUser: String?, ofEvent: String?, defaultZone: String?, ignored: String?) throws {
        let word = word { rules in rules.defaultZone = defaultZone.flatMap { rules.zones.number(of: $0) } }
        let harness = try harness(word, at: "2026-11-28T22:30:00Z")
        sleep(word, zone: ofUser)
        harness.event("ann", on: EngineHarness.bulk, more: ofEvent.map { #","zone":"\#($0)""# } ?? "")
        #expect(harness.calls.isEmpty == (ignored == nil))
        guard let ignored else { return }
        harness.answer(200)
        #expect(harness.result(at: 0).contains(#""outcome":"delivered","status":200,"quietIgnored":"\#(ignored)""#))
    }

    @Test("stay when a record is broken, and go with a sound word that has none")
    func broken() throws {
        let word = word()
        let harness = try harness(word, at: "2026-11-28T22:00:00Z")
        sleep(word)
        word.refuse(OptOut(), of: "ann".utf8.span.bytes)
        harness.event("ann", on: EngineHarness.bulk)
        #expect(harness.takeSummaries() == ["result apns suppressed"], "quiet hours are no opt-out")
        sleep(word) { $0.pushServices = ["gcm"] }
        word.refuse(OptOut(), of: "ann".utf8.span.bytes)
        harness.event("ann", on: EngineHarness.bulk)
        #expect(harness.takeSummaries() == ["retry 10s apns quiet-hours 0"])
        word.set(OptOut(), of: "ann".utf8.span.bytes)
        harness.event("ann", on: EngineHarness.bulk)
        #expect(harness.usersInFlight == ["ann"])
    }
}
