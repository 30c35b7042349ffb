import HeraldBytes
import Testing

@Suite("Patterns")
struct GlobTests {
    @Test(
        "A star is any text, a question mark one character, and a backslash escapes the next character",
        arguments: [
            ("*", "", true), ("*", "anything", true), ("a*c", "abc", true), ("a*c", "abd", false), ("a?c", "aéc", true),
            ("a?c", "ac", false), ("test-*", "test-17", true), ("test-*", "a test-17", false), ("*b*b*", "abcb", true),
            (#"\*"#, "*", true), (#"\*"#, "a", false), ("", "", true), ("", "a", false), ("a\\", "a\\", true),
        ])
    func examples(pattern: String, text: String, isMatch: Bool) {
        let matches = Glob(pattern).matches(Array(text.utf8).span.bytes)
        #expect(matches == isMatch)
    }

    @Test("Many stars against a long text without a match end soon")
    func manyStars() {
        let pattern = String(repeating: "*a", count: 50) + "b"
        let matches = Glob(pattern).matches([UInt8](repeating: UInt8(ascii: "a"), count: 20_000).span.bytes)
        #expect(!matches)
    }
}
