import HeraldBytes
import Testing

@Suite("Writing JSON strings")
struct JSONTextTests {
    @Test(
        "What JSON or JavaScript could misread is escaped, the rest stays as it is",
        arguments: [
            ("", #""""#), ("Hello", #""Hello""#), (#"say "hi""#, #""say \"hi\"""#), (#"C:\x"#, #""C:\\x""#),
            ("a\nb\tc\rd", #""a\nb\tc\rd""#), ("\u{8}\u{C}", #""\b\f""#), ("\u{0}\u{1F}", #""\u0000\u001f""#),
            ("\u{2028}x\u{2029}", #""\u2028x\u2029""#), ("€ \u{2027}\u{202A}", "\"€ \u{2027}\u{202A}\""),
            ("ü🎉/", #""ü🎉/""#), ("\u{7F}", "\"\u{7F}\""),
        ])
    func strings(text: String, json: String) {
        var output: [UInt8] = []
        JSONText.appendString(Array(text.utf8).span.bytes, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == json)
    }

    @Test("Bytes that end in the middle of a line separator are copied, not read past the end")
    func truncatedSeparator() {
        var output: [UInt8] = []
        let cut: [UInt8] = [0xE2, 0x80]
        JSONText.appendString(cut.span.bytes, to: &output)
        #expect(output == [0x22, 0xE2, 0x80, 0x22])
    }
}
