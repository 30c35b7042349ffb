/// Percent-encoding (RFC 3986) of bytes, with upper-case hexadecimal digits.
public enum PercentEncoding {
    private static let unreserved = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    private static let path = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")

    private static let url = ASCIISet(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!#$%&'()*+,/:;=?@[\\]^`{|}")

    /// Encodes what no URL has in the bytes from `start` on.
    ///
    /// That is spaces, control characters, quotes, angle brackets, and all beyond ASCII. What has a meaning in a URL stays.
    public static func mendURL(_ text: inout [UInt8], from start: Int) {
        guard !text[start...].allSatisfy(url.contains) else { return }
        let rest = Array(text[start...])
        text.removeLast(rest.count)
        append(rest.span.bytes, keeping: url, to: &text)
    }

    /// Appends the bytes and encodes all but unreserved characters, for a query value or a path segment.
    public static func append(_ bytes: RawSpan, to output: inout [UInt8]) {
        append(bytes, keeping: unreserved, to: &output)
    }

    /// Appends the bytes and encodes all but unreserved characters and `/`.
    public static func appendPath(_ bytes: RawSpan, to output: inout [UInt8]) {
        append(bytes, keeping: path, to: &output)
    }

    /// The text with all but unreserved characters, and slashes if they are kept, encoded.
    public static func encoded(_ text: String, keepingSlashes: Bool = false) -> String {
        var output: [UInt8] = []
        append(text.utf8.span.bytes, keeping: keepingSlashes ? path : unreserved, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private static func append(_ bytes: RawSpan, keeping kept: ASCIISet, to output: inout [UInt8]) {
        var runStart = 0
        for offset in 0..<bytes.byteCount {
            let byte = bytes[byteAt: offset]
            if kept.contains(byte) { continue }
            output.append(copying: bytes.extracting(runStart..<offset))
            output.append(0x25)
            output.append(hexDigit(byte >> 4))
            output.append(hexDigit(byte & 0xF))
            runStart = offset + 1
        }
        output.append(copying: bytes.extracting(runStart..<bytes.byteCount))
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
