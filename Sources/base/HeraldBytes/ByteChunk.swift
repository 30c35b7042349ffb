/// Sixteen bytes that are compared at once.
///
/// Compare it with values of exactly this type: other comparisons run lane by lane.
package typealias ByteChunk = SIMD16<UInt8>

extension SIMD16<UInt8> {
    /// The result of comparing two chunks.
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
