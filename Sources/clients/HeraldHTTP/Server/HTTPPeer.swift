import Glibc

/// The address that a connection comes from, without its port; an IPv4 address that is mapped into IPv6 is that address.
public struct HTTPPeer: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    /// The address of a socket; one of an unknown family is all zeros.
    init(_ address: UnsafePointer<sockaddr>?) {
        var bytes = SIMD16<UInt8>(repeating: 0)
        if let address {
            let raw = UnsafeRawPointer(address)
            switch Int32(raw.load(as: sa_family_t.self)) {
            case AF_INET:
                (bytes[10], bytes[11]) = (0xFF, 0xFF)
                for index in 0..<4 { bytes[12 + index] = raw.load(fromByteOffset: 4 + index, as: UInt8.self) }
            case AF_INET6: for index in 0..<16 { bytes[index] = raw.load(fromByteOffset: 8 + index, as: UInt8.self) }
            default: break
            }
        }
        let halves = unsafeBitCast(bytes, to: SIMD2<UInt64>.self)
        (high, low) = (UInt64(bigEndian: halves[0]), UInt64(bigEndian: halves[1]))
    }

    /// Whether it belongs to this machine's loopback network.
    public var isLoopback: Bool {
        high == 0 && (low == 1 || low >> 32 == 0xFFFF && (low >> 24) & 0xFF == 127)
    }
}
