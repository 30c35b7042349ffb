import HeraldBytes
import Testing

@Suite("Percent-encoding")
struct PercentEncodingTests {
    @Test(
        "A query value keeps only RFC 3986's unreserved characters",
        arguments: [
            ("", ""), ("azAZ09-._~", "azAZ09-._~"), ("ü", "%C3%BC"), ("+", "%2B"), ("&", "%26"), ("#", "%23"),
            ("%", "%25"), (" ", "%20"), ("🎉", "%F0%9F%8E%89"), ("/", "%2F"), (":", "%3A"), ("@", "%40"),
            ("a=b?c", "a%3Db%3Fc"), ("\r\n", "%0D%0A"), ("\u{0}\u{7F}", "%00%7F"),
        ])
    func queryValue(text: String, encoded: String) {
        var output: [UInt8] = []
        PercentEncoding.append(Array(text.utf8).span.bytes, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == encoded)
    }

    @Test(
        "A path also keeps slashes",
        arguments: [
            ("notifications/3/42:x", "notifications/3/42%3Ax"), ("id\r\nX-Evil: 1", "id%0D%0AX-Evil%3A%201"),
            ("é\"\\", "%C3%A9%22%5C"), ("+&#%", "%2B%26%23%25"),
        ])
    func path(text: String, encoded: String) {
        var output: [UInt8] = []
        PercentEncoding.appendPath(Array(text.utf8).span.bytes, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == encoded)
    }

    @Test("Every one of the 256 bytes is either kept or written as three characters")
    func everyByte() {
        let kept = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        for byte in UInt8.min...UInt8.max {
            var output: [UInt8] = []
            PercentEncoding.append([byte].span.bytes, to: &output)
            if kept.contains(byte) {
                #expect(output == [byte])
            } else {
                #expect(output.first == UInt8(ascii: "%"))
                #expect(UInt8(String(decoding: output.dropFirst(), as: UTF8.self), radix: 16) == byte)
            }
        }
    }
}
