import HeraldEvents
import HeraldText
import Testing

@Suite("The rule for users")
struct UserRuleTests {
    private static let legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@#.:-"

    @Test("Every legal character is a user on its own, and no other ASCII character is")
    func everyASCII() {
        for byte in UInt8(0)..<128 {
            let scalar = Unicode.Scalar(byte)
            let json = "\"\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16) + "\""
            let decoding = Decoding(eventJSON(["user": json]))
            #expect((decoding.failure == nil) == Self.legal.unicodeScalars.contains(scalar), "U+\(byte)")
        }
        #expect(Decoding(eventJSON(["user": "\"\(Self.legal)\""])).user == Self.legal)
    }

    @Test(
        "A user that does not fit into a tag is invalid, with the reason",
        arguments: [
            ("", "empty"), ("josé", "'é' (U+00E9)"), ("ann || bob", "tag expression"), ("!ann", "tag expression"),
            ("(ann)", "tag expression"), ("ann&&bob", "tag expression"), ("a b", "tag expression"),
            ("ann&pns=wns", "'&' (U+0026)"), ("ann\\r\\nX: 1", "U+000D"), ("🎉", "U+1F389"), ("a\\u202eb", "U+202E"),
            ("a,b", "','"), ("a/b", "'/'"), ("a%20b", "'%'"), ("a+b", "'+'"), ("аnn", "U+0430"),
            (String(repeating: "x", count: 112), "112 characters"),
        ])
    func illegal(user: String, why: String) {
        let decoding = Decoding(eventJSON(["user": "\"\(user)\""]))
        #expect(decoding.failure?.reason == .invalid)
        #expect(decoding.failure?.detail.contains(why) == true, "\(decoding.failure?.detail ?? "")")
    }

    @Test("The longest user has 111 characters")
    func longest() {
        let user = String(repeating: "x", count: 111)
        #expect(Decoding(eventJSON(["user": "\"\(user)\""])).user == user)
    }

    private static let texts = RecordDecoder(users: .text)

    private func text(_ user: String) -> Decoding {
        Decoding(eventJSON(["user": "\"\(user)\""]), decoder: Self.texts)
    }

    @Test(
        "Where users are texts, any text is one, and is read unchanged",
        arguments: [
            ("user+tag@example.org", "user+tag@example.org"), ("o'neil", "o'neil"), ("müller", "müller"),
            ("ann || !ann", "ann || !ann"), ("a\\\"b\\\\c/d%20?&=#", "a\"b\\c/d%20?&=#"), (" ann ", " ann "),
            ("山田\\u00a0太郎🎉", "山田\u{A0}太郎🎉"), ("\u{2028}\u{202E}", "\u{2028}\u{202E}"),
        ])
    func anyText(json: String, user: String) {
        let decoding = text(json)
        #expect(decoding.failure == nil && decoding.user == user, "\(decoding.failure?.detail ?? "")")
    }

    @Test("A text has 1 to 256 bytes of UTF-8")
    func textLengths() {
        #expect(text("").failure?.detail.contains("empty") == true)
        let longest = String(repeating: "ü", count: 128)
        #expect(text(longest).user == longest && text(longest).failure == nil)
        #expect(text(longest + "x").failure?.detail.contains("257 bytes of UTF-8; at most 256") == true)
    }

    @Test("A text contains no control characters: neither ASCII's nor those of Latin-1")
    func controls() {
        for scalar in (0..<0x180).compactMap({ Unicode.Scalar($0) }) {
            let code = String(scalar.value, radix: 16)
            let decoding = text("é\\u" + String(repeating: "0", count: 4 - code.count) + code + "x")
            let isControl = scalar.properties.generalCategory == .control
            #expect((decoding.failure != nil) == isControl, "U+\(code)")
            guard isControl else { continue }
            #expect(decoding.failure?.detail.contains("as character 2, a control character") == true)
        }
    }

    @Test("A user far beyond the limit is not kept for the result")
    func farTooLong() {
        let decoding = Decoding(eventJSON(["user": "\"\(String(repeating: "x", count: 5_000))\""]))
        #expect(decoding.failure?.reason == .invalid)
        #expect(decoding.user == nil)
    }
}
