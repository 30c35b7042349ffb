import HeraldBytes
import Testing

@Suite("Writing JSON strings")
struct JSONTextTests {
    @Test(
        "Characters that JSON or JavaScript could misread are escaped, the rest is unchanged",
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

    /// The reference: written byte by byte.
    private func plainly(_ text: [UInt8]) -> [UInt8] {
        var output: [UInt8] = [0x22]
        var offset = 0
        while offset < text.count {
            let byte = text[offset]
            offset += 1
            switch byte {
            case 0x22: output += "\\\"".utf8
            case 0x5C: output += "\\\\".utf8
            case 0x08: output += "\\b".utf8
            case 0x09: output += "\\t".utf8
            case 0x0A: output += "\\n".utf8
            case 0x0C: output += "\\f".utf8
            case 0x0D: output += "\\r".utf8
            case 0..<0x20:
                output += (byte < 16 ? "\\u000" : "\\u00").utf8
                output += String(byte, radix: 16).utf8
            case 0xE2 where text[offset...].starts(with: [0x80, 0xA8]) || text[offset...].starts(with: [0x80, 0xA9]):
                output += (text[offset + 1] == 0xA8 ? "\\u2028" : "\\u2029").utf8
                offset += 2
            default: output.append(byte)
            }
        }
        return output + [0x22]
    }

    private func written(_ text: [UInt8]) -> [UInt8] {
        var output: [UInt8] = [0x5B]
        JSONText.appendString(text.span.bytes, to: &output)
        return Array(output.dropFirst())
    }

    /// The escaped bytes and their neighbours.
    private static let borders: [UInt8] = [
        0x00, 0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x7F, 0x80, 0xE1, 0xE2,
        0xE3,
        0xFF,
    ]

    @Test("Each byte at each place of each length is written as it is on its own", arguments: 0...70)
    func everyByteEverywhere(count: Int) {
        #expect(written(Array(repeating: 0x61, count: count)) == plainly(Array(repeating: 0x61, count: count)))
        for place in 0..<count {
            var text = [UInt8](repeating: 0x61, count: count)
            for byte in count < 20 ? Array(UInt8.min...UInt8.max) : Self.borders {
                text[place] = byte
                if written(text) != plainly(text) { Issue.record("byte \(byte) at \(place) of \(count)") }
            }
            for last in [UInt8(0xA7), 0xA8, 0xA9, 0xAA] where place + 3 <= count {
                text.replaceSubrange(place..<place + 3, with: [0xE2, 0x80, last])
                if written(text) != plainly(text) { Issue.record("separator \(last) at \(place) of \(count)") }
            }
        }
    }

    @Test(
        "Text that consists of escaped characters is written completely, however long",
        arguments: [1, 6, 7, 63, 64, 1_000, 4_096])
    func allEscapes(count: Int) {
        for byte in [UInt8(0x01), 0x22, 0x5C, 0x0A, 0xE2] {
            let text = [UInt8](repeating: byte, count: count)
            if written(text) != plainly(text) { Issue.record("\(count) times \(byte)") }
        }
        var mixed: [UInt8] = []
        for index in 0..<count { mixed.append(UInt8(truncatingIfNeeded: index &* 37)) }
        #expect(written(mixed) == plainly(mixed))
    }
}
