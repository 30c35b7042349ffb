import HeraldBytes
import HeraldEvents
import Testing

@Suite("The parts of a notification beside its message")
struct EventContentTests {
    private static let all: [String: String?] = [
        "title": #""Your \"parcel\" 🎉""#, "link": #""shop://orders/17?a=1&b=2""#,
        "image": #""https://cdn.example/p.png""#, "data": #"{"order":"17","a.b-c_d":"\u00e9\n"}"#, "badge": "3",
        "sound": #""ding dong.caf""#, "category": #""ORDER_SHIPPED""#,
    ]

    private func text(_ field: ContentField, _ decoding: Decoding) -> String {
        decoding.event.content(in: decoding.value.span.bytes).text(of: field)
    }

    @Test("All of them are read, with their escapes resolved")
    func read() {
        let decoding = Decoding(eventJSON(Self.all))
        #expect(decoding.failure == nil)
        #expect(decoding.event.content == .all)
        #expect(text(.title, decoding) == #"Your "parcel" 🎉"#)
        #expect(text(.link, decoding) == "shop://orders/17?a=1&b=2")
        #expect(text(.image, decoding) == "https://cdn.example/p.png")
        #expect(text(.data, decoding) == #"{"order":"17","a.b-c_d":"é\n"}"#)
        #expect(text(.badge, decoding) == "3")
        #expect(text(.sound, decoding) == "ding dong.caf")
        #expect(text(.category, decoding) == "ORDER_SHIPPED")
    }

    @Test("They are in a CloudEvent's data, structured and binary, and not beside it")
    func cloudEvents() {
        let data = eventJSON(Self.all.merging(["id": nil]) { $1 })
        let structured = Decoding(
            #"{"specversion":"1.0","id":"i","source":"s","type":"t","title":"no","badge":"no","data":\#(data)}"#,
            headers: [("content-type", "application/cloudevents+json")])
        #expect(structured.failure == nil && structured.event.content == .all)
        #expect(text(.data, structured).hasPrefix(#"{"order":"17""#) && text(.badge, structured) == "3")
        let binary = Decoding(
            data, headers: [("ce_specversion", "1.0"), ("ce_id", "i"), ("ce_source", "s"), ("ce_type", "t")])
        #expect(binary.failure == nil && binary.event.content == .all)
    }

    @Test(
        "An event without them has none; null and an empty data count as none",
        arguments: [
            [:],
            [
                "title": "null", "link": "null", "image": "null", "data": "null", "badge": "null", "sound": "null",
                "category": "null",
            ],
            ["data": "{}"],
        ] as [[String: String?]])
    func absent(members: [String: String?]) {
        let decoding = Decoding(eventJSON(members))
        #expect(decoding.failure == nil && decoding.event.content.isEmpty)
        #expect(decoding.event.content(in: decoding.value.span.bytes).fields.isEmpty)
    }

    @Test("Escaped names are names, and an event is none the worse for a schema registry's frame")
    func forms() {
        let decoding = Decoding(
            [0, 0, 0, 0, 7]
                + Array(#"{"user":"u","message":"m","pns":"apns","t\u0069tle":"T","d\u0061ta":{"k":"v"}}"#.utf8))
        #expect(decoding.failure == nil)
        #expect(text(.title, decoding) == "T" && text(.data, decoding) == #"{"k":"v"}"#)
    }

    @Test(
        "What is allowed at the edge",
        arguments: [
            ("title", "\"\(String(repeating: "é", count: 128))\""),
            ("title", "\"\(String(repeating: "\\u00e9", count: 128))\""),
            ("link", "\"https://a/\(String(repeating: "x", count: 2_038))\""), ("link", #""mailto:a@b.example""#),
            ("link", #""x-my+app.1:open""#), ("link", #""HTTPS://shop.example""#),
            ("image", "\"https://a/\(String(repeating: "x", count: 2_038))\""),
            ("data", "{\"\(String(repeating: "k", count: 64))\":\"\(String(repeating: "v", count: 1_024))\"}"),
            (
                "data",
                "{\"a1\":\"\(String(repeating: "v", count: 1_022))\",\"b1\":\"\(String(repeating: "v", count: 1_022))\"}"
            ),
            ("data", #"{"gcm":"1","google":"2","Title":"3","k":""}"#),
            ("badge", "0"), ("badge", "99999"), ("sound", #""default""#), ("sound", #""none""#),
            ("sound", "\"\(String(repeating: "s", count: 64))\""),
            ("category", "\"\(String(repeating: "c", count: 64))\""),
        ])
    func allowed(field: String, value: String) {
        #expect(Decoding(eventJSON([field: value])).failure == nil)
    }

    @Test(
        "What is not, with the field and its rule",
        arguments: [
            ("title", "7", "title is a number; it has to be a string"), ("title", #""""#, "title is empty"),
            ("link", #""/orders/17""#, "link is no URL such as"), ("link", #""shop:""#, "link is no URL"),
            ("link", #""7up://x""#, "link is no URL"),
            ("link", #""https://a b""#, "link holds a character that no URL has, at its byte 9"),
            ("link", #""https://ü.example""#, "link holds a character that no URL has, at its byte 8"),
            (
                "link", #""http://shop.example""#,
                "link begins with http:; it has to begin with https: or the app's own scheme"
            ),
            ("link", #""JavaScript:alert(1)""#, "link begins with javascript:"),
            ("link", #""https:orders""#, "link begins with https: and names no host"),
            ("image", #""http://cdn.example/p.png""#, "image has to begin with https:// and a host"),
            ("image", #""https:///p.png""#, "image has to begin with https:// and a host"),
            ("data", "[]", "data is an array; it has to be an object of strings"),
            ("data", #"{"price":12}"#, "data.price is a number; it has to be a string"),
            ("data", #"{"a":{"b":"c"}}"#, "data.a is an object; it has to be a string"),
            ("data", #"{"a b":"c"}"#, #"data holds the name "a b"; a name has 1 to 64 of A-Z a-z 0-9 _ . -"#),
            ("data", #"{"":"c"}"#, "data holds the name \"\""),
            ("data", "{\"\(String(repeating: "k", count: 65))\":\"v\"}", "data holds the name"),
            ("data", #"{"aps":"x"}"#, "data.aps is a name that push services reserve; choose another one"),
            ("data", #"{"from":"x"}"#, "data.from is a name that push services reserve"),
            ("data", #"{"gcm.x":"x"}"#, "data.gcm.x is a name that"),
            ("data", #"{"google.x":"x"}"#, "data.google.x is a name that"),
            ("data", #"{"message_type":"x"}"#, "data.message_type is a name"),
            ("data", #"{"collapse_key":"x"}"#, "data.collapse_key is a name"),
            ("data", #"{"title":"x"}"#, "data.title is a field of the event itself: put it beside data"),
            ("badge", "-1", "badge is out of range; it has to be a whole number from 0 to 99999"),
            ("badge", "100000", "badge is out of range"),
            ("badge", "1.0", "badge is out of range"), ("badge", "1e2", "badge is out of range"),
            ("badge", #""3""#, "badge is a string; it has to be a whole number"),
            ("sound", #""sounds/ding.caf""#, "sound has to be default, none, or the name of a file in the app"),
            ("sound", #""a\nb""#, "sound has to be"),
            ("category", #""order shipped""#, "category has to be 1 to 64 of A-Z a-z 0-9 _ . -"),
        ])
    func invalid(field: String, value: String, detail: String) {
        let failure = Decoding(eventJSON([field: value])).failure
        #expect(failure?.reason == .invalid)
        #expect(failure?.detail.hasPrefix(detail) == true, "\(failure?.detail ?? "")")
    }

    @Test("A byte that is not allowed is found wherever it stands")
    func places() {
        for length in 1...40 {
            for place in 0..<length {
                let rest = String(repeating: "q", count: length - place - 1)
                var text = "\(String(repeating: "q", count: place)) \(rest)"
                #expect(Decoding(eventJSON(["category": "\"\(text)\""])).failure?.reason == .invalid)
                let link = Decoding(eventJSON(["link": "\"x://\(text)\""])).failure
                #expect(link?.detail.contains("at its byte \(place + 4):") == true)
                text.replace(" ", with: "/")
                #expect(Decoding(eventJSON(["sound": "\"\(text)\""])).failure?.reason == .invalid)
                text.replace("/", with: ".")
                #expect(Decoding(eventJSON(["category": "\"\(text)\"", "sound": "\"\(text)\""])).failure == nil)
            }
        }
    }

    @Test(
        "What is too long, with its size and what is allowed",
        arguments: [
            (
                "title", "\"\(String(repeating: "é", count: 128))x\"",
                "title has 257 bytes of UTF-8; at most 256 are allowed"
            ),
            (
                "link", "\"https://a/\(String(repeating: "x", count: 2_039))\"",
                "link has 2049 bytes of UTF-8; at most 2048 are allowed"
            ),
            ("image", "\"https://a/\(String(repeating: "x", count: 2_039))\"", "image has 2049 bytes"),
            (
                "data", "{\"k\":\"\(String(repeating: "\\u00e9", count: 513))\"}",
                "data.k has 1026 bytes of UTF-8; at most 1024 are allowed"
            ),
            (
                "data",
                "{\"a1\":\"\(String(repeating: "v", count: 1_023))\",\"b1\":\"\(String(repeating: "v", count: 1_022))\"}",
                "data has 2049 bytes of names and texts; at most 2048 are allowed"
            ),
            ("data", "{\((0..<65).map { "\"k\($0)\":\"\"" }.joined(separator: ","))}", "data has more than 64 members"),
            ("sound", "\"\(String(repeating: "s", count: 65))\"", "sound has 65 bytes"),
            ("category", "\"\(String(repeating: "c", count: 65))\"", "category has 65 bytes"),
        ])
    func oversized(field: String, value: String, detail: String) {
        let failure = Decoding(eventJSON([field: value])).failure
        #expect(failure?.reason == .oversized)
        #expect(failure?.detail.hasPrefix(detail) == true, "\(failure?.detail ?? "")")
    }

    @Test(
        "A part or a name that comes twice is malformed",
        arguments: [
            #""title":"a","title":"b""#, #""data":{},"data":{}"#, #""data":{"k":"a","k":"b"}"#,
        ])
    func twice(members: String) {
        let failure = Decoding(#"{"user":"u","message":"m","pns":"apns",\#(members)}"#).failure
        #expect(failure?.reason == .malformed && failure?.detail.contains("twice") == true)
    }

    @Test("What Herald writes of an event it reads again")
    func encoded() throws {
        var event = NotificationEvent(user: "ann", message: "Hi", pushServices: ["apns"])
        event.title = "a\"b\n"
        event.link = "shop://1"
        event.image = "https://a/b"
        event.data = ["b": "2\u{2028}", "a": "1"]
        event.badge = 0
        event.sound = "none"
        event.category = "C"
        let decoding = Decoding(try event.encoded())
        #expect(decoding.event.content == .all)
        #expect(text(.title, decoding) == "a\"b\n" && text(.data, decoding) == #"{"a":"1","b":"2\u2028"}"#)
        event.badge = -1
        #expect(throws: DecodingFailure.self) { try event.validate() }
    }
}
