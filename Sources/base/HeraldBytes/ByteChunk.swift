/// Sixteen bytes that are compared at once.
///
/// Compare it with values of exactly this type: other comparisons run lane by lane.
@usableFromInline
package typealias ByteChunk = SIMD16<UInt8>

extension SIMD16<UInt8> {
    /// The result of comparing two chunks.
    @usableFromInline
    package typealias Mask = SIMDMask<SIMD16<Int8>>
}

extension SIMDMask<SIMD16<Int8>> {
    /// The index of the first true lane; 16 if none is true.
    @inlinable
    @inline(__always)
    package var firstIndex: Int {
        let words = unsafeBitCast(self, to: SIMD2<UInt64>.self)
        // A lane is eight bits, all of them the same.
        if words[0] != 0 { return UInt64(littleEndian: words[0]).trailingZeroBitCount &>> 3 }
        return 8 &+ UInt64(littleEndian: words[1]).trailingZeroBitCount &>> 3
    }
}

extension RawSpan {
    /// Whether no byte is of a kind, of which sixteen are asked at a time.
    ///
    /// - Parameter isOfKind: finds them; a letter is none of them.
    @inlinable
    @inline(__always)
    package func holdsNone(_ isOfKind: (ByteChunk) -> ByteChunk.Mask) -> Bool {
        var offset = 0
        while offset &+ 16 <= byteCount {
            guard isOfKind(unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: ByteChunk.self)).firstIndex == 16
            else { return false }
            offset &+= 16
        }
        return offset == byteCount || isOfKind(lastChunk).firstIndex == 16
    }

    /// The last sixteen bytes; of fewer, some of them twice, or letters beside them.
    @inlinable
    @inline(__always)
    var lastChunk: ByteChunk {
        if byteCount >= 16 {
            return unsafeLoadUnaligned(fromUncheckedByteOffset: byteCount &- 16, as: ByteChunk.self)
        }
        if byteCount >= 8 { return lastChunk(UInt64.self) }
        if byteCount >= 4 { return lastChunk(UInt32.self) }
        var chunk = ByteChunk(repeating: UInt8(ascii: "a"))
        for offset in 0..<byteCount { chunk[offset] = self[byteAt: offset] }
        return chunk
    }

    /// One to two words' worth of bytes, as two words that may overlap.
    @inlinable
    @inline(__always)
    func lastChunk<Word: FixedWidthInteger & BitwiseCopyable>(_: Word.Type) -> ByteChunk {
        let first = UInt64(unsafeLoadUnaligned(fromUncheckedByteOffset: 0, as: Word.self))
        let last = UInt64(
            unsafeLoadUnaligned(fromUncheckedByteOffset: byteCount &- Word.bitWidth / 8, as: Word.self))
        let words = Word.bitWidth == 64 ? SIMD2(first, last) : SIMD2(repeating: first | last &<< 32)
        return unsafeBitCast(words, to: ByteChunk.self)
    }
}
