import HeraldBytes
import Testing

@Suite("Bytes without strings")
struct ByteHelperTests {
    @Test("Numbers are written in decimal", arguments: [0, 7, -1, 10, 1_234_567, Int64.max, .min])
    func decimals(number: Int64) {
        var output: [UInt8] = []
        output.append(decimal: number)
        #expect(String(decoding: output, as: UTF8.self) == String(number))
    }

    @Test(
        "Spans compare by their bytes",
        arguments: [("herald-id", true), ("herald-ic", false), ("herald-i", false), ("herald-id2", false), ("", false)])
    func comparison(text: String, isSame: Bool) {
        let bytes = Array(text.utf8)
        let asLiteral = bytes.span.bytes.hasSameBytes(as: "herald-id")
        let asSpan = bytes.span.bytes.hasSameBytes(as: Array("herald-id".utf8).span.bytes)
        #expect(asLiteral == isSame)
        #expect(asSpan == isSame)
    }
}
