import HeraldCommandLine
import Testing

@Suite("Text in columns of a terminal")
struct DisplayWidthTests {
    @Test(
        "A text is cut or filled to exactly its columns, with wide characters counted as two",
        arguments: [
            ("abc", 5, "abc  "), ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abc", 1, "…"), ("abc", 0, ""),
            ("日本", 4, "日本"), ("日本語", 4, "日… "), ("日本語", 5, "日本…"), ("", 2, "  "), ("e\u{301}e", 2, "e\u{301}e"),
        ])
    func fitted(_ text: String, _ columns: Int, _ expected: String) {
        #expect(text.fitted(toColumns: columns) == expected)
        #expect(expected.displayWidth == columns)
    }
}
