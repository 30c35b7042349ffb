import HeraldReplay
import HeraldText
import HeraldTime
import HeraldTools
import Testing

@Suite("Conditions")
struct WhereTests {
    /// One hour after the moment of the dead letter.
    private static let now = SampleEntry.moment.advanced(by: .hours(1))

    private func holds(_ text: String, _ entry: DeadLetterEntry) throws -> Bool {
        var entry = entry
        return try WhereParser.parse(text, now: Self.now).holds(for: &entry)
    }

    @Test(
        "A condition holds for a dead letter or not",
        arguments: [
            ("status = 503", true), ("status == 503", true), ("status != 503", false), ("status in (500, 503)", true),
            ("status not in (500, 503)", false), ("status >= 500 and status < 600", true), ("status < 503", false),
            ("status <= 503", true), ("status > 502", true), ("herald-status = 503", true), ("STATUS = 503", true),
            ("age < 2h", true), ("age < 30m", false), ("age > 30m", true), ("age <= 1h", true), ("age >= 1h", true),
            ("age < 1h", false),
            ("pns = apns", true), ("pns = wns", false), ("pns in (wns, gcm)", true), ("pns != wns", true),
            ("pns ~ 'a*'", true), ("pns = APNS", true),
            ("user = ann", true), ("user ~ 'a*'", true), ("user ~ 'test-*'", false), ("user !~ 'test-*'", true),
            ("reason = attempts-exhausted", true), ("reason ~ '*-exhausted'", true), ("reason = rejected", false),
            ("campaign = none", true), ("campaign != none", false), ("campaign = 'none'", false),
            ("campaign = spring", false), ("campaign != spring", true), ("source = \"shop\"", true),
            ("detail ~ '*away'", true), ("topic = notifications", true), ("origin = notifications/3/99", true),
            ("replays = 0", true), ("partition = 2 and offset = 17", true), ("offset in (16, 18)", false),
            ("hour = 8", true), ("hour = 9", false), ("hour = 2026-11-21T08", true), ("hour in (7, 8)", true),
            ("hour >= 2026-11-21T08 and hour < '2026-11-21T09'", true), ("hour in (2026-11-21T07, 8)", true),
            ("dead-lettered-at >= 2026-11-21T08:40:26Z", true), ("dead-lettered-at < 2026-11-21T08:40:26Z", false),
            ("first-attempt-at = none", false), ("origin-timestamp = none", true),
            ("origin-timestamp < 2026-11-21T08:40:26Z", false),
            ("not status = 503", false), ("not (status = 503 and user = bob)", true),
            ("status = 400 or user = ann and pns = apns", true), ("(status = 400 or user = ann) and pns = wns", false),
            ("not not user = ann", true), ("id = e1 AND NOT id = e2", true), ("user='ann'", true),
        ])
    func holds(condition: String, isMeant: Bool) throws {
        #expect(try holds(condition, SampleEntry.make()) == isMeant)
    }

    @Test(
        "A mistake is reported with its column",
        arguments: [
            ("statu = 503", 1, "there is no field"), ("status = abc", 10, "whole number"), ("status", 7, "the end"),
            ("status = 503 user = ann", 14, "and or or"), ("age < 2 hours", 7, "duration"),
            ("age < 2h hours", 10, "and or or"),
            ("age < soon", 7, "duration"), ("user < ann", 6, "is a text"), ("status ~ '5*'", 8, "is no text"),
            ("status = 503 and", 17, "a field"), ("(status = 503", 14, "\")\""), ("status in 503", 11, "parentheses"),
            ("status in (503", 15, "\",\""), ("reason = lost", 10, "no reason"), ("hour = 24", 8, "0 to 23"),
            ("user = 'ann", 8, "not closed"), ("status ! 503", 8, "stands alone"), ("status not 503", 12, "in has to"),
            ("status < none", 10, "neither"), ("", 1, "a field"), ("status = ", 10, "a value"),
            ("é = 1 and statu = 1", 1, "no field"), ("user = 'é' and statu = 1", 16, "no field"),
            ("dead-lettered-at > yesterday", 20, "moment"), ("status = -1", 10, "whole number"),
        ])
    func mistakes(condition: String, column: Int, part: String) {
        #expect {
            try WhereParser.parse(condition, now: Self.now)
        } throws: { error in
            guard let error = error as? InputError else { return false }
            return error.column == column && error.message.contains(part)
        }
    }

    @Test("A condition that nests a thousand deep, or is very long, is refused")
    func hostile() {
        let deep = String(repeating: "(", count: 1_000) + "status = 1" + String(repeating: ")", count: 1_000)
        #expect(throws: InputError.self) { try WhereParser.parse(deep, now: Self.now) }
        let nots = String(repeating: "not ", count: 1_000) + "status = 1"
        #expect(throws: InputError.self) { try WhereParser.parse(nots, now: Self.now) }
        let long = "user = '" + String(repeating: "a", count: 20_000) + "'"
        #expect(throws: InputError.self) { try WhereParser.parse(long, now: Self.now) }
    }

    @Test("Missing and damaged headers count as absent")
    func damaged() throws {
        let entry = SampleEntry.make(
            value: "no json",
            ["herald-status": "many", "herald-reason": "", "herald-pns": "", "herald-dead-lettered-at": "x"])
        #expect(try holds("status = none and reason = none and pns = none and age < 2h", entry))
        #expect(try holds("user = ann", entry), "the key stands in for the user")
        #expect(try !holds("status < 600", entry))
    }

    @Test("Only partitions, offsets and times that can match are read")
    func bounds() throws {
        func bounds(_ text: String) throws -> ReadBounds { try WhereParser.parse(text, now: Self.now).bounds }
        #expect(try bounds("partition in (1, 2) and partition != 7").partitions == [1, 2])
        #expect(try bounds("partition = 1 or partition = 4").partitions == [1, 4])
        #expect(try bounds("partition = 1 or status = 4") == .everything)
        #expect(try bounds("not partition = 1") == .everything)
        #expect(try bounds("partition = 1 and partition = 2").partitions == [])
        #expect(try bounds("age < 1h and status = 503").earliest == SampleEntry.moment)
        #expect(try bounds("age < 1h").latest == nil)
        #expect(try bounds("age > 1h").latest == SampleEntry.moment)
        #expect(
            try bounds("(age < 1h and partition = 1) or (age < 2h and partition = 2)").earliest
                == SampleEntry.moment.advanced(by: .hours(-1)))
        let hour = try bounds("hour = 2026-11-21T08")
        #expect(hour.earliest == WallTime(milliseconds: 1_795_248_000_000))
        #expect(hour.latest == WallTime(milliseconds: 1_795_251_599_999))
        #expect(try bounds("offset >= 10 and offset < 20").offsets == 10...20)
        #expect(try bounds("hour = 8") == .everything)
    }

    @Test(
        "A group of the list means exactly the letters that the list counted in it",
        arguments: [
            ("reason=attempts-exhausted", true), ("status=503", true), ("status=none", false), ("pns=gcm", true),
            ("campaign=none", true), ("campaign=\"none\"", false), ("source=shop", true), ("hour=2026-11-21T08", true),
            ("hour=2026-11-21T09", false),
        ])
    func groups(name: String, isMeant: Bool) throws {
        var request = Selection.Request()
        request.groups = [name]
        var entry = SampleEntry.make()
        #expect(try Selection(request, now: Self.now).condition.holds(for: &entry) == isMeant)
    }

    @Test(
        "An invalid group is refused", arguments: ["status", "status=many", "reason=lost", "color=red", "hour=8"])
    func wrongGroups(name: String) {
        var request = Selection.Request()
        request.groups = [name]
        #expect(throws: ToolFailure.self) { try Selection(request, now: Self.now) }
    }

    @Test("Places and ids select one dead letter or an event's letters, together with the rest of the selection")
    func ids() throws {
        func holds(_ ids: [String], since: WallTime? = nil) throws -> Bool {
            var request = Selection.Request()
            request.ids = ids
            request.since = since
            var entry = SampleEntry.make()
            return try Selection(request, now: Self.now).condition.holds(for: &entry)
        }
        #expect(try holds(["2:17"]))
        #expect(try !holds(["2:18"]))
        #expect(try holds(["0:1", "e1"]))
        #expect(try holds(["e1"], since: SampleEntry.moment))
        #expect(try !holds(["e1"], since: Self.now))
        #expect(try !holds(["2:17:3"]))
    }
}
