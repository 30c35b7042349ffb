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

    @Test("Numbers of every length are written in decimal, after the present bytes")
    func decimalLengths() {
        var numbers: [Int64] = []
        var power: Int64 = 1
        for _ in 0..<18 {
            numbers += [power - 1, power, power + 1, -power]
            power *= 10
        }
        for number in numbers + [power - 1, power, -power] {
            var output = Array("x".utf8)
            output.append(decimal: number)
            if String(decoding: output, as: UTF8.self) != "x\(number)" { Issue.record("\(number)") }
        }
    }

    @Test("Chunks are written one after the other, as far as there is room")
    func pieces() {
        let word = Array("bytes".utf8)
        var output = Array("<".utf8)
        output.append(room: 18) { writer in
            writer.write(UInt8(ascii: "a"))
            writer.write(text: "text")
            writer.write(copying: word.span.bytes)
            writer.write(copying: word.span.bytes.extracting(0..<0))
            writer.write(word: 0x3837_3635_3433_3231)
            #expect(writer.room == 0)
        }
        output.append(room: 5) { _ in }
        #expect(String(decoding: output, as: UTF8.self) == "<atextbytes12345678")
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
