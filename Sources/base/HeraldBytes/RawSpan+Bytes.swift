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
        return other.withUnsafeBytes { hasSameBytes(as: $0) }
    }

    /// Whether the span holds exactly the UTF-8 of this text.
    @inlinable
    @inline(__always)
    public func hasSameBytes(as text: StaticString) -> Bool {
        guard byteCount == text.utf8CodeUnitCount else { return false }
        return hasSameBytes(as: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Compares equally many bytes word by word; for a literal that takes a comparison or two.
    @inlinable
    @inline(__always)
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset &+ 8 <= other.count {
            guard hasSameWord(as: other, at: offset, UInt64.self) else { return false }
            offset &+= 8
        }
        if other.count & 4 != 0 {
            guard hasSameWord(as: other, at: offset, UInt32.self) else { return false }
            offset &+= 4
        }
        if other.count & 2 != 0 {
            guard hasSameWord(as: other, at: offset, UInt16.self) else { return false }
            offset &+= 2
        }
        return other.count & 1 == 0 || hasSameWord(as: other, at: offset, UInt8.self)
    }

    @inlinable
    @inline(__always)
    func hasSameWord<Word: FixedWidthInteger & BitwiseCopyable>(
        as other: UnsafeRawBufferPointer, at offset: Int, _: Word.Type
    ) -> Bool {
        unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Word.self)
            == other.loadUnaligned(fromByteOffset: offset, as: Word.self)
    }
}

extension RawSpan {
    /// The number written in decimal digits; nil for any other text, or when it is too large.
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

    /// The span's bytes as text; invalid UTF-8 is replaced by U+FFFD.
    public var text: String {
        withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

extension [UInt8] {
    /// Appends a copy of the span's bytes.
    @inlinable
    public mutating func append(copying bytes: RawSpan) {
        append(room: bytes.byteCount) { $0.write(copying: bytes) }
    }

    /// Appends the UTF-8 of a literal.
    @inlinable
    public mutating func append(text: StaticString) {
        append(room: text.utf8CodeUnitCount) { $0.write(text: text) }
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
        append(room: ByteWriter.longestDecimal) { $0.write(decimal: number) }
    }
}
