/// A set of ASCII characters, two machine words, for rules about which bytes are allowed.
public struct ASCIISet: Sendable {
    /// What a tag of Azure's notification hubs may hold.
    public static let tag = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@#.:-")

    @usableFromInline var low: UInt64 = 0
    @usableFromInline var high: UInt64 = 0

    /// The set of the literal's characters; non-ASCII characters are left out.
    public init(_ characters: StaticString) {
        characters.withUTF8Buffer { bytes in
            for byte in bytes { insert(byte) }
        }
    }

    /// Whether the set contains the byte; never true above 127.
    @inlinable
    public func contains(_ byte: UInt8) -> Bool {
        if byte < 64 { return low & (1 << UInt64(byte)) != 0 }
        if byte < 128 { return high & (1 << UInt64(byte - 64)) != 0 }
        return false
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 {
            low |= 1 << UInt64(byte)
        } else if byte < 128 {
            high |= 1 << UInt64(byte - 64)
        }
    }
}
