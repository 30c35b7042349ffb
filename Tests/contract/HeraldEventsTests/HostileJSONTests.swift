import HeraldEvents
import Testing

@Suite("Hostile JSON")
struct HostileJSONTests {
    @Test(
        "Invalid JSON anywhere in the value is malformed, even in unknown fields",
        arguments: [
            // structure
            "[1 true]", "[a]", "[\"\": 1]", "[\"\"],", "[,1]", "[1,,2]", "[\"x\"", "[x", "[3[4]]", "[1,]", "[", "]",
            "[1}", "{]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\" 1}", "{\"a\"::1}", "{a:1}", "{1:1}",
            "{'a':1}", "{\"a\":1 \"b\":2}", "{\"a\":1,,\"b\":2}", "{\"a\":1", "{\"a\"", "{\"a", "{", "{null:1}",
            "[1]x", "[]]", "/**/[]", "[1/*x*/]", "[1] # x", "<a>", "*", "",
            // numbers
            "-", "+1", "01", "-01", "1.", ".1", "-.1", "1e", "1e+", "1E-", "0x1", "0e", "1.e1", "1.2.3", "1eE2", "--1",
            "1+2", "NaN", "-NaN", "Infinity", "-Infinity", "Inf", "1_000", "１", "0.3e", "2.e+3", "-2.", "9.e+", "1a",
            // literals
            "nul", "tru", "fals", "True", "NULL", "truee", "undefined",
            // strings
            "\"", "\"a", "a\"", "'a'", "\"\\\"", "\"\\x00\"", "\"\\a\"", "\"\\u\"", "\"\\u1\"", "\"\\u12\"",
            "\"\\u123\"", "\"\\u123g\"", "\"\\U0041\"", "\"\\ \"", "\"\\é\"", "\"\\\u{0}\"", "\"\\\"", "\"a\nb\"",
            "\"a\tb\"", "\"\u{0}\"", "\"\u{1F}\"", "\\u0020\"a\"", "“a”",
            // surrogates
            "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\ud800\"", "\"\\udc00\\ud800\"", "\"\\ud83d\\u0041\"",
            "\"\\ud83dx\"", "\"\\ud83d\\\"", "\"\\ud83d\\u\"", "\"\\uD800\\n\"",
            // white space outside of JSON's set
            "\u{C}1", "\u{A0}1", "\u{2060}1", "\u{B}1", "\u{85}1", "\u{FEFF}1",
        ])
    func noJSON(value: String) {
        #expect(Decoding(eventJSON(["unknown": value])).failure?.reason == .malformed)
    }

    @Test(
        "Any JSON value is allowed in an unknown field",
        arguments: [
            "[]", "[[]]", "[[],[],{}]", "{}", "{\"\":0}", "{\"a\":{\"b\":[{}]}}", "{\"a\":1,\"a\":2}", "[ 1 , 2 ]",
            "\t\r\n [ ] ", "0", "-0", "0.0", "-0.0e+0", "1E400", "123123e100000", "-1.5e-7", "1e5", "20e1",
            "123456789012345678901234567890", "true", "false", "null", "\"\"", "\"\\u0000\"",
            "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
            "\"\\uD834\\uDD1E\"", "\"\\ud83d\\ude00\"", "\"\u{7F}\"", "\"\u{2028}\u{2029}\"", "\"\u{FFFF}\"",
            "\"\u{10FFFF}\"",
            "\"\u{FEFF}\"", "\"\\uFDD0\"", "\"é€😀\"", "\"[\"", "\"{\\\"a\\\":1}\"", "\"a/*b*/c\"", "[null,1,\"1\",{}]",
        ])
    func anyJSON(value: String) {
        let decoding = Decoding(eventJSON(["unknown": value]))
        #expect(decoding.failure == nil)
        #expect(decoding.user == "ann")
    }

    @Test(
        "A document that is not a single object is malformed",
        arguments: [
            "", " ", "null", "1", "\"a\"", "[]", "[{}]", "true", "{}{}", "{} x", "{},", "\u{FEFF}{}", "{}\u{0}", "}{",
            "{",
            "{}]", "nu",
        ])
    func noObject(value: String) {
        #expect(Decoding(value).failure?.reason == .malformed)
    }

    @Test(
        "Bytes that are not UTF-8 are malformed, inside of strings and outside",
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF8],
            [0xFE], [0xFF], [0xFF, 0xFE], [0xEF, 0xBB],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        let head = Array(eventJSON().utf8.dropLast())
        for (before, after) in [(",\"x\":\"", "\"}"), (",\"x\":\"abcdefgh", "\"}"), (",\"", "\":1}"), (",\"x\":", "}")]
        {
            let decoding = Decoding(head + Array(before.utf8) + bytes + Array(after.utf8))
            #expect(decoding.failure?.reason == .malformed)
        }
    }

    @Test("Control characters are found at any position of a long string")
    func controlCharacters() {
        for position in 0..<24 {
            for byte in [0x00, 0x0A, 0x1F] as [UInt8] {
                var text = Array(repeating: UInt8(ascii: "x"), count: 24)
                text[position] = byte
                let decoding = Decoding(Array("{\"x\":\"".utf8) + text + Array("\"}".utf8))
                #expect(decoding.failure?.detail.contains("byte \(6 + position)") == true)
            }
        }
    }

    @Test("Quotes and backslashes end or change a string at any position")
    func quotesEverywhere() {
        for position in 0..<24 {
            let before = String(repeating: "x", count: position)
            let decoding = Decoding(eventJSON(["message": "\"\(before)\\\"é\\\\\(before)\""]))
            #expect(decoding.message == "\(before)\"é\\\(before)")
        }
    }

    @Test("64 levels are read, 65 are malformed, and a hundred thousand do no harm")
    func depth() {
        func nested(_ levels: Int, _ open: String, _ close: String) -> String {
            eventJSON(["x": String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)])
        }
        let decoder = RecordDecoder(maxEventBytes: .max)
        #expect(Decoding(nested(63, "[", "]"), decoder: decoder).failure == nil)
        #expect(Decoding(nested(64, "[", "]"), decoder: decoder).failure?.reason == .malformed)
        #expect(Decoding(nested(63, "{\"a\":", "}"), decoder: decoder).failure == nil)
        #expect(Decoding(nested(64, "{\"a\":", "}"), decoder: decoder).failure?.reason == .malformed)
        #expect(Decoding(nested(100_000, "[", "]"), decoder: decoder).failure?.reason == .malformed)
        let unclosed = String(repeating: "{\"a\":[", count: 50_000)
        #expect(Decoding(unclosed, decoder: decoder).failure?.reason == .malformed)
    }

    @Test("Levels of arrays and objects are not confused")
    func mixedLevels() {
        #expect(Decoding(eventJSON(["x": "[{\"a\":[{}]}]"])).failure == nil)
        #expect(Decoding(eventJSON(["x": "[{\"a\":[{]}]}"])).failure?.reason == .malformed)
        #expect(Decoding(eventJSON(["x": "{\"a\":[}]"])).failure?.reason == .malformed)
    }

    @Test(
        "A repeated known key is malformed, however it is spelled",
        arguments: [
            ("id", "id"), ("user", "user"), ("user", "\\u0075ser"), ("pns", "pn\\u0073"), ("expiresAt", "expiresAt"),
        ])
    func repeatedKeys(first: String, second: String) {
        let decoding = Decoding("{\"\(first)\":null,\"\(second)\":null}")
        #expect(decoding.failure?.reason == .malformed)
        #expect(decoding.failure?.detail.contains("the key \(first) twice") == true)
    }

    @Test("A key written with escapes is the same key")
    func escapedKey() {
        let decoding = Decoding(#"{"\u0075ser":"ann","message":"Hi","pns":"apns"}"#)
        #expect(decoding.failure == nil)
        #expect(decoding.user == "ann")
    }

    @Test("A key in another case is another key")
    func keyCase() {
        #expect(Decoding(#"{"User":"ann","message":"Hi","pns":"apns"}"#).failure?.reason == .invalid)
    }

    @Test("An event that is cut off at any position is malformed")
    func truncation() {
        let whole = Array(eventJSON(["message": #""a\ud83d\ude00é""#, "x": "[1.5e3,true,null,{}]"]).utf8)
        for count in 0..<whole.count {
            #expect(Decoding(Array(whole.prefix(count))).failure?.reason == .malformed, "\(count)")
        }
        #expect(Decoding(whole).failure == nil)
    }

    @Test(
        "Escapes are resolved",
        arguments: [
            (#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{C}\n\r\t"), (#"\u0041\u00e9\u20AC"#, "Aé€"),
            (#"\ud83d\ude00"#, "😀"), (#"\uDBFF\uDFFF"#, "\u{10FFFF}"),
            (#"\u07ff\u0800\uffff"#, "\u{7FF}\u{800}\u{FFFF}"),
            (#"x\u0000y"#, "x\u{0}y"), (#"é\né"#, "é\né"), (#"\\u0041"#, #"\u0041"#), (#"\\\u0041"#, #"\A"#),
        ])
    func escapes(json: String, text: String) {
        #expect(Decoding(eventJSON(["message": "\"\(json)\""])).message == text)
    }
}
