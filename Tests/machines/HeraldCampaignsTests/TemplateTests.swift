import Foundation
import HeraldBytes
import HeraldEvents
import HeraldTime
import TestSupport
import Testing

@testable import HeraldCampaigns

@Suite("Messages with fields")
struct TemplateTests {
    private func rendered(_ text: String, _ fields: [String: String] = [:]) throws -> String {
        let template = try MessageTemplate(text)
        var output: [UInt8] = []
        template.render(into: &output) { number, output in
            output.append(contentsOf: (fields[template.fields.names[number]] ?? "?").utf8)
        }
        return String(decoding: output, as: UTF8.self)
    }

    @Test(
        "Fields are inserted unescaped, in two and three braces, with spaces and an ampersand",
        arguments: [
            ("Hi {{name}}!", "Hi <Ann> & \"co\"!"), ("{{ name }}{{name}}", "<Ann> & \"co\"<Ann> & \"co\""),
            ("{{{name}}}", "<Ann> & \"co\""), ("{{&name}}{{& name }}", "<Ann> & \"co\"<Ann> & \"co\""),
            ("no field", "no field"), ("{ {x} }} {", "{ {x} }} {"), ("", ""), ("{{first name}}", "?"),
            ("{{a.b}}ü{{größe}}", "?ü?"),
        ])
    func renders(text: String, expected: String) throws {
        #expect(try rendered(text, ["name": "<Ann> & \"co\""]) == expected)
    }

    @Test(
        "The text after a bar replaces a field without text",
        arguments: [
            ("Hi {{none|friend}}!", "Hi friend!"), ("{{ none | dear friend }}", "dear friend"),
            ("{{name|friend}}", "Ann"), ("{{{none|a|b}}}{{&none|c}}", "a|bc"), ("<{{none|}}>", "<>"),
            ("{{none|ü}}{{none}}", "ü"),
        ])
    func otherwise(text: String, expected: String) throws {
        #expect(try rendered(text, ["name": "Ann", "none": ""]) == expected)
    }

    @Test(
        "Another tool's filter after the bar is refused, with the correct form",
        arguments: [
            (#" first_name | default: "friend" "#, "{{first_name|friend}}"),
            ("name|default('dear friend')", "{{name|dear friend}}"),
            ("name|default you", "{{name|friend}}"),
            ("name|upper", "{{name|friend}}"), ("name | trim | title", "{{name|friend}}"),
            ("name|e", "{{name|friend}}"),
            (#"name || "x""#, "{{name|x}}"), ("name|'x'", "{{name|x}}"), ("name|truncate: 10", "{{name|friend}}"),
        ])
    func filters(tag: String, advice: String) {
        let words = failure { try MessageTemplate(written: "Hi {{\(tag)}}!") }
        #expect(words.contains("looks like a filter") && words.contains(advice), "\(words)")
        #expect(throws: Never.self, "one that was accepted before stays readable") { try MessageTemplate("{{\(tag)}}") }
    }

    @Test(
        "Fallback texts are not taken for filters",
        arguments: ["friend", "", "Upper", "first class", "a|b", "defaulter", "e.g. you", "it's you", "d'accord", "\""])
    func noFilters(text: String) throws {
        #expect(try MessageTemplate(written: "{{name|\(text)}}").fields.names == ["name"])
    }

    @Test("A byte order mark does not belong to the message, and its lines end with LF")
    func written() throws {
        #expect(try MessageTemplate(written: "\u{FEFF}Hi\r\nthere\ryou\n").text == "Hi\nthere\nyou\n")
    }

    @Test("A field may be missing when each of its uses has a fallback")
    func optional() throws {
        let template = try MessageTemplate("{{a|x}}{{b}}{{c|y}}{{c}}{{a|}}")
        #expect(template.fields.names == ["a", "b", "c"] && template.fields.isOptional == [true, false, false])
        var empty: [Int] = []
        var output: [UInt8] = []
        template.render(into: &output, onEmpty: { empty.append($0) }, append: { _, _ in })
        #expect(empty == [1, 2] && String(decoding: output, as: UTF8.self) == "xy")
    }

    @Test(
        "Other tools' placeholders are found in the text, and texts that only resemble them are not",
        arguments: [
            ("Hi {first_name} *|FNAME|* %name% %%last%% {{x}}", ["{first_name}", "*|FNAME|*", "%name%", "%%last%%"]),
            ("${a.b}", ["{a.b}"]), ("{x} {x}", ["{x}"]),
            (
                "[first_name] [[x]] <first_name> <<FNAME>> $first_name. [% first_name %] {$a} {contactfield=b}",
                [
                    "[first_name]", "[[x]]", "<first_name>", "<<FNAME>>", "$first_name", "[% first_name %]", "{$a}",
                    "{contactfield=b}",
                ]
            ),
            (
                "[%first_name|Valued Customer%] {contactfield=x|Friend} {first_name|there} {Hi|Hello} [%a|b",
                ["[%first_name|Valued Customer%]", "{contactfield=x|Friend}", "{first_name|there}"]
            ),
            ("[sic] <b>bold</b> <3 $USD $5 [1] US$ [ ] << x", []),
            (
                "[firstname] <First-Name> $frist_name {x} %x%",
                ["[firstname]", "<First-Name>", "$frist_name", "{x}", "%x%"]
            ),
            ("50% off, 20%more% {} {not this} *|a b|* 5%-9% {{a|b}} *||* %", ["%more%"]), ("100%, 5% {1}", []),
        ])
    func foreignMarks(text: String, marks: [String]) throws {
        #expect(Set(try MessageTemplate(text).foreignMarks(["user", "first_name"]).map(\.mark)) == Set(marks))
    }

    @Test(
        "The advice for a placeholder is the column that it means",
        arguments: [
            ("%recipient.first_name%", "first_name"), ("{FirstName}", "first_name"), ("{last_name}", "last_name"),
            ("*|MAIL|*", "MAIL"),
            ("{a.b}", "a.b"),
        ])
    func advice(mark: String, name: String) throws {
        #expect(try MessageTemplate(mark).foreignMarks(["user", "first_name"]).map(\.name) == [name])
    }

    @Test("A field's value is never read as a tag")
    func notRecursive() throws {
        #expect(try rendered("{{a}}", ["a": "{{b}}", "b": "x"]) == "{{b}}")
    }

    @Test(
        "All other Mustache tags are refused with their places",
        arguments: [
            ("a {{#x}}b{{/x}}", "column 5: a section cannot"), ("{{^x}}", "column 3: an inverted section"),
            ("{{> x}}", "column 3: a partial"), ("{{! note}}", "column 3: a comment"),
            ("{{=<% %>=}}", "column 3: another delimiter"), ("ü{{name", "column 2: the tag is not closed with }}"),
            ("{{{name}}", "column 1: the tag is not closed with }}}"), ("{{ }}", "column 1: the tag is empty"),
            ("{{|x}}", "column 1: the tag names no field"),
            ("a\nb {{/x}}", "line 2, column 5: a section's end"), ("{{a{b}}", "column 4: a field's name cannot hold"),
            ("{{& }}", "column 1: the tag is empty"), ("{{$x}}", "column 3: a block"), ("{{<x}}", "column 3: a parent"),
        ])
    func refuses(text: String, expected: String) {
        #expect(failure { try MessageTemplate(text) }.hasPrefix(expected), "\(failure { try MessageTemplate(text) })")
    }

    @Test("No template traps, whatever its text")
    func garbage() {
        var generator = SplitMix64(seed: 7)
        let pieces = ["{", "}", "{{", "}}", "a", " ", "#", "&", "|", "%", "ü", "\n"]
        for _ in 0..<5_000 {
            let text = (0..<Int.random(in: 0...10, using: &generator))
                .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &generator)] }.joined()
            _ = try? rendered(text)
        }
    }
}

@Suite("Events of campaigns")
struct EventFormTests {
    @Test("An event equals the contract encoder's output, for any message; its id can be read back")
    func sameAsContract() throws {
        for message in ["Hi", "\"quoted\" \\ \u{1}\n\u{2028}", "<b>&", "🎉 grüß", "\u{202E}x", "=1+1"] {
            for expiresAt in [nil, WallTime(milliseconds: 1_800_000_000_123)] {
                let ids = RecipientIDs(campaign: "spring")
                let id = ids.id(of: "ann@home".utf8.span.bytes)
                let form = EventForm(
                    campaign: "spring", pushServices: ["apns", "gcm"], expiresAt: expiresAt?.milliseconds)
                var output: [UInt8] = []
                form.append(id, user: "ann@home".utf8.span.bytes, message: message.utf8.span.bytes, to: &output)
                let event = NotificationEvent(
                    id: id.text, user: "ann@home", message: message, pushServices: ["apns", "gcm"],
                    source: "herald-campaign", campaign: "spring", expiresAt: expiresAt)
                #expect(output == (try event.encoded()))
                #expect(EventForm.id(inEvent: output.span.bytes) == id)
            }
        }
    }

    @Test("With a title, a link, data and the rest it equals the contract encoder's output, too")
    func contentSameAsContract() throws {
        var event = NotificationEvent(user: "ann", message: "Hi", pushServices: ["apns"])
        (event.source, event.campaign) = ("herald-campaign", "spring")
        (event.title, event.link, event.image) = ("\"T\"\n", "shop://orders/17", "https://shop.example/a.png")
        (event.data, event.badge) = (["order": "17", "a.b": ""], 3)
        (event.sound, event.category) = ("default", "news")
        let content = CampaignContentTests.content(of: event)
        let template = try ContentTemplate(event.message, content)
        let form = EventForm(campaign: "spring", pushServices: ["apns"], content: template, expiresAt: nil)
        let id = RecipientIDs(campaign: "spring").id(of: "ann".utf8.span.bytes)
        event.id = id.text
        var output: [UInt8] = []
        let texts = template.parts.dropFirst().map { Array($0.template.text.utf8) }
        form.append(id, user: "ann".utf8.span.bytes, message: "Hi".utf8.span.bytes, texts: texts[...], to: &output)
        func members(_ json: [UInt8]) throws -> NSDictionary {
            try #require(try JSONSerialization.jsonObject(with: Data(json)) as? NSDictionary)
        }
        #expect(try members(output) == members(try event.encoded()))
    }

    @Test("An id is the first half of SHA-256 of the campaign and the user")
    func id() {
        // printf 'herald-campaign\0spring\0ann' | sha256sum
        #expect(
            RecipientIDs(campaign: "spring").id(of: "ann".utf8.span.bytes).text == "3e54b41aa1dfd46e226a355fe2be2eb8")
        let ids = RecipientIDs(campaign: "a")
        let first = ids.id(of: "b".utf8.span.bytes)
        _ = ids.id(of: "a longer user than that".utf8.span.bytes)
        #expect(ids.id(of: "b".utf8.span.bytes) == first)
        #expect(RecipientIDs(campaign: "b").id(of: "a".utf8.span.bytes) != first)
    }

    @Test(
        "Other values contain no id of a campaign",
        arguments: ["", "{", "{\"id\":\"x\"}", "{\"id\":\"0123456789ABCDEF0123456789abcdef\",", "{\"user\":\"u\"}"])
    func otherEvents(value: String) {
        #expect(EventForm.id(inEvent: value.utf8.span.bytes) == nil)
    }
}

@Suite("Sets of recipients")
struct RecipientSetTests {
    @Test("A set remembers the users that it has seen with their outcomes, and no others")
    func remembers() {
        var generator = SplitMix64(seed: 3)
        var set = RecipientSet()
        var reference: [RecipientID: RecipientSet.Marks] = [:]
        let ids = (0..<60_000).map { _ in RecipientID(high: generator.next(), low: generator.next()) }
        for _ in 0..<120_000 {
            let id = ids[Int.random(in: 0..<ids.count, using: &generator)]
            let marks: RecipientSet.Marks = Bool.random(using: &generator) ? .seen : .published
            #expect(set.insert(id, marks) == reference[id] ?? [])
            reference[id] = (reference[id] ?? []).union(marks)
        }
        #expect(set.count == reference.count)
        for id in ids { #expect(set.insert(id, []) == reference[id] ?? []) }
    }

    @Test("76 bits of an id distinguish recipients")
    func bits() {
        var set = RecipientSet()
        let id = RecipientID(high: 0x1234_5678_9ABC_DEF0, low: 0x0FED_CBA9_8765_4321)
        set.insert(id, .seen)
        for bit in 0..<64 {
            var other = set
            #expect(other.insert(RecipientID(high: id.high ^ 1 << UInt64(bit), low: id.low), []).isEmpty)
            let isKept = bit >= 52
            #expect(other.insert(RecipientID(high: id.high, low: id.low ^ 1 << UInt64(bit)), []).isEmpty == isKept)
        }
    }

    @Test("All ids of one table find their slots")
    func crowded() {
        var set = RecipientSet()
        for number in 0..<3_000 as Range<UInt64> {
            #expect(set.insert(RecipientID(high: number, low: number << 40), .seen).isEmpty)
        }
        #expect(set.count == 3_000)
        for number in 0..<3_000 as Range<UInt64> {
            #expect(set.insert(RecipientID(high: number, low: number << 40), []) == .seen)
        }
    }
}
