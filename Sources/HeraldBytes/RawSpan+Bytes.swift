extension RawSpan {
    /// The byte at this offset; an offset outside of the span traps.
    @inlinable
    public subscript(byteAt offset: Int) -> UInt8 {
        unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// Whether both spans hold the same bytes.
    @inlinable
    public func hasSameBytes(as other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        for offset in 0..<byteCount where self[byteAt: offset] != other[byteAt: offset] { return false }
        return true
    }

    /// Whether the span holds exactly the UTF-8 of this text.
    @inlinable
    public func hasSameBytes(as text: StaticString) -> Bool {
        guard byteCount == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { hasSameBytes(as: $0.span.bytes) }
    }
}

extension [UInt8] {
    /// Appends a copy of the span's bytes.
    @inlinable
    public mutating func append(copying bytes: RawSpan) {
        bytes.withUnsafeBytes { append(contentsOf: $0) }
    }

    /// Appends the UTF-8 of a literal.
    @inlinable
    public mutating func append(text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }

    /// Appends the number in decimal, without making a string.
    public mutating func append(decimal number: Int64) {
        if number < 0 { append(0x2D) }
        var rest = number.magnitude
        let first = count
        repeat {
            append(UInt8(truncatingIfNeeded: rest % 10) + 0x30)
            rest /= 10
        } while rest > 0
        var low = first
        var high = count - 1
        while low < high {
            swapAt(low, high)
            low += 1
            high -= 1
        }
    }
}
