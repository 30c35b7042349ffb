import HeraldTools
import Testing

@Suite("Finding bytes")
struct BytePatternTests {
    private func occurs(_ pattern: BytePattern, _ value: [UInt8]) -> Bool { pattern.occurs(in: value.span.bytes) }

    @Test("Bytes are found at any position")
    func pattern() {
        for text in ["\"a\"", "\"spring\"", "\"a-campaign-with-a-long-name\""] {
            let pattern = BytePattern(text)
            for (before, after) in [("", ""), ("x", ""), ("", "y"), ("{\"campaign\":", "}"), ("\"\"\"\"", "\"\"")] {
                let value = Array((before + text + after).utf8)
                #expect(occurs(pattern, value), "\(before)\(text)\(after)")
                let broken = value.map { $0 == UInt8(ascii: "a") || $0 == UInt8(ascii: "g") ? 0 : $0 }
                #expect(!occurs(pattern, broken))
            }
            #expect(!occurs(pattern, Array(text.utf8.dropLast())))
        }
        #expect(!occurs(BytePattern("a"), []))
    }
}
