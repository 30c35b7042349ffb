import HeraldText
import Testing

@Suite("Safe text, written JSON and suggested names")
struct SafeTextTests {
    @Test(
        "Control and bidirectional characters become escapes, all others are unchanged",
        arguments: [
            ("plain ü 😀", "plain ü 😀"), ("a\nb\tc\r", "a\\nb\\tc\\r"), ("\u{1B}[31m", "\\u{1B}[31m"),
            ("a\u{202E}b", "a\\u{202E}b"), ("\u{2066}\u{2028}\u{85}", "\\u{2066}\\u{2028}\\u{85}"), ("\0", "\\u{0}"),
        ])
    func escapes(text: String, shown: String) {
        #expect(SafeText.escaped(text) == shown)
    }

    @Test("A quoted text is cut at its limit")
    func quotes() {
        #expect(SafeText.quoted("abc\n") == "\"abc\\n\"")
        #expect(SafeText.quoted("abcdef", limit: 3) == "\"abc…\"")
    }

    @Test("JSON keeps the order of members and escapes characters that are unsafe for a terminal")
    func json() {
        let value: JSONValue = ["b": 1, "a": ["x\"\\\n\u{1}\u{202E}", true, []], "n": .null, "d": .number(1.5)]
        #expect(value.compact == #"{"b":1,"a":["x\"\\\n\u0001\u202e",true,[]],"n":null,"d":1.5}"#)
        #expect(JSONValue.number(.nan).compact == "null")
        #expect(
            (["a": [1, ["b": 2]]] as JSONValue).pretty == "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ]\n}")
    }

    @Test(
        "The nearest name is suggested if it is near enough",
        arguments: [
            ("tiemout", "timeout"), ("Timeout", "timeout"), ("timeot", "timeout"), ("ulr", "url"),
            ("pasword", "password"),
            ("xyz", nil), ("", nil), (String(repeating: "timeout", count: 100), nil),
        ] as [(String, String?)])
    func suggests(name: String, meant: String?) {
        #expect(Suggestion.nearest(to: name, in: ["url", "password", "timeout"]) == meant)
    }
}
