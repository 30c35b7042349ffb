/// Sixteen bytes that are compared at once.
///
/// Compare it with values of this very type: then the vector is compared as a whole, and not lane by lane.
package typealias ByteChunk = SIMD16<UInt8>

extension SIMD16<UInt8> {
    /// What comparing two of them gives.
    package typealias Mask = SIMDMask<SIMD16<Int8>>
}

extension SIMDMask<SIMD16<Int8>> {
    /// The index of the first lane that is true; 16 when none is.
    @inlinable
    @inline(__always)
    package var firstIndex: Int {
        let words = unsafeBitCast(self, to: SIMD2<UInt64>.self)
        // A lane is eight bits, all of them the same.
        if words[0] != 0 { return UInt64(littleEndian: words[0]).trailingZeroBitCount &>> 3 }
        return 8 &+ UInt64(littleEndian: words[1]).trailingZeroBitCount &>> 3
    }
}
