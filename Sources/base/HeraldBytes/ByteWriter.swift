/// Writes into memory that an array reserves once, so that each piece is a store and not an append.
///
/// Writing beyond the reserved room traps.
public struct ByteWriter: ~Copyable {
    @usableFromInline var next: UnsafeMutableRawPointer
    @usableFromInline let end: UnsafeMutableRawPointer

    @inlinable
    init(_ room: UnsafeMutableRawBufferPointer) {
        // An array's room has an address even when it is empty.
        next = room.baseAddress.unsafelyUnwrapped
        end = next + room.count
    }

    /// The number of bytes that may still be written.
    @inlinable
    public var room: Int { end - next }

    /// Writes one byte.
    @inlinable
    @inline(__always)
    public mutating func write(_ byte: UInt8) {
        expectRoom(for: 1)
        next.storeBytes(of: byte, as: UInt8.self)
        next += 1
    }

    /// Writes the UTF-8 of a literal.
    @inlinable
    @inline(__always)
    public mutating func write(text: StaticString) {
        expectRoom(for: text.utf8CodeUnitCount)
        next.copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        next += text.utf8CodeUnitCount
    }

    /// Writes a copy of the span's bytes.
    @inlinable
    @inline(__always)
    public mutating func write(copying bytes: RawSpan) {
        expectRoom(for: bytes.byteCount)
        bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            next.copyMemory(from: start, byteCount: source.count)
            next += source.count
        }
    }

    /// The maximum length of a decimal number in bytes.
    public static let longestDecimal = 20

    /// Writes the number in decimal; needs room for the longest one.
    public mutating func write(decimal number: Int64) {
        expectRoom(for: Self.longestDecimal)
        // Most numbers are attempts or partitions, with one digit.
        guard UInt64(bitPattern: number) > 9 else { return write(0x30 &+ UInt8(truncatingIfNeeded: number)) }
        if number < 0 { write(0x2D) }
        var rest = number.magnitude
        var count = 1
        var power: UInt64 = 10
        while count < 19, rest >= power {
            count &+= 1
            power &*= 10
        }
        next += count
        var place = next
        for _ in 0..<count {
            place -= 1
            let (tens, ones) = rest.quotientAndRemainder(dividingBy: 10)
            place.storeBytes(of: UInt8(truncatingIfNeeded: ones) &+ 0x30, as: UInt8.self)
            rest = tens
        }
    }

    /// Writes eight bytes, the lowest first.
    @inlinable
    @inline(__always)
    public mutating func write(word: UInt64) {
        expectRoom(for: 8)
        next.storeBytes(of: word.littleEndian, as: UInt64.self)
        next += 8
    }

    @inlinable
    @inline(__always)
    func expectRoom(for count: Int) {
        precondition(room >= count, "there is no room for what is written")
    }
}

extension [UInt8] {
    /// Appends the written bytes, `room` at most.
    @inlinable
    @inline(__always)
    public mutating func append(room: Int, _ write: (inout ByteWriter) -> Void) {
        // Appending nothing would write a count into the storage that all empty arrays share.
        guard room > 0 else { return }
        append(addingCapacity: room) { (span: inout OutputSpan<UInt8>) in
            span.withUnsafeMutableBufferPointer { buffer, count in
                var writer = ByteWriter(UnsafeMutableRawBufferPointer(buffer))
                let start = writer.next
                write(&writer)
                count = writer.next - start
            }
        }
    }
}
