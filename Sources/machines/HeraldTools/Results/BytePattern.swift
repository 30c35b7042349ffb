internal import HeraldBytes

/// Finds a few bytes in many, for a cheap look before a record is decoded.
package struct BytePattern: Sendable {
    private let bytes: [UInt8]
    /// Its first bytes, at most eight, as they lie in memory.
    private let head: UInt64
    private let mask: UInt64

    package init(_ text: String) {
        bytes = Array(text.utf8)
        precondition(!bytes.isEmpty, "nothing is everywhere")
        var head: UInt64 = 0
        for (index, byte) in bytes.prefix(8).enumerated() { head |= UInt64(byte) << (8 * UInt64(index)) }
        self.head = head
        mask = bytes.count >= 8 ? .max : 1 << (8 * UInt64(bytes.count)) - 1
    }

    /// Whether the bytes are somewhere in there.
    package func occurs(in value: RawSpan) -> Bool {
        guard value.byteCount >= bytes.count else { return false }
        let last = value.byteCount - bytes.count
        var offset = 0
        // A word at each offset, as long as whole words are left.
        while offset <= last, offset + 8 <= value.byteCount {
            let word = UInt64(littleEndian: value.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            if word & mask == head, isHere(offset, value) { return true }
            offset += 1
        }
        while offset <= last {
            if isHere(offset, value) { return true }
            offset += 1
        }
        return false
    }

    private func isHere(_ offset: Int, _ value: RawSpan) -> Bool {
        value.extracting(offset..<offset + bytes.count).hasSameBytes(as: bytes.span.bytes)
    }
}
