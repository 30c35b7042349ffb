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

extension RawSpan {
    /// The number that the span writes in decimal digits, or nothing when it holds anything else or too many.
    public var decimal: Int64? {
        guard byteCount > 0 else { return nil }
        var number: Int64 = 0
        for offset in 0..<byteCount {
            let byte = self[byteAt: offset]
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeNow) = product.addingReportingOverflow(Int64(byte - 0x30))
            guard !isTooLarge, !isTooLargeNow else { return nil }
            number = sum
        }
        return number
    }

    /// The span's bytes as text; what is not UTF-8 is replaced by U+FFFD.
    public var text: String {
        withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
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

    /// Appends all digits of the number, leading zeros included, in lower-case hexadecimal.
    @inlinable
    public mutating func append<Number: FixedWidthInteger & UnsignedInteger>(hexadecimal number: Number) {
        for shift in stride(from: Number.bitWidth - 4, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: number >> shift & 0xF)
            append(digit < 10 ? 0x30 + digit : 0x57 + digit)
        }
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
