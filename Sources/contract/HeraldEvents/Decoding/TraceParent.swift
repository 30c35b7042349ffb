import HeraldBytes

/// The `traceparent` of W3C's Trace Context, the one header of an event that reaches the backend.
enum TraceParent {
    private static let lowerHexadecimal = ASCIISet("0123456789abcdef")

    /// Whether the bytes are a version, a trace id, a parent id and flags in lower-case hexadecimal.
    ///
    /// Neither id is all zeros, the version is not ff, and nothing may follow, also in later versions, because it
    /// would reach the backend unread.
    static func isWellFormed(_ text: RawSpan) -> Bool {
        guard text.byteCount == 55, isHexadecimal(text.extracting(0..<2)), text[byteAt: 2] == 0x2D,
            isHexadecimal(text.extracting(3..<35)), text[byteAt: 35] == 0x2D,
            isHexadecimal(text.extracting(36..<52)), text[byteAt: 52] == 0x2D,
            isHexadecimal(text.extracting(53..<55))
        else { return false }
        return !text.extracting(0..<2).hasSameBytes(as: "ff") && !isZero(text.extracting(3..<35))
            && !isZero(text.extracting(36..<52))
    }

    private static func isHexadecimal(_ text: RawSpan) -> Bool {
        for offset in 0..<text.byteCount where !lowerHexadecimal.contains(text[byteAt: offset]) { return false }
        return true
    }

    private static func isZero(_ text: RawSpan) -> Bool {
        for offset in 0..<text.byteCount where text[byteAt: offset] != 0x30 { return false }
        return true
    }
}
