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

    /// The address that a text writes, with or without a port behind it: `192.0.2.7`, `192.0.2.7:80`, `2001:db8::1`,
    /// `[2001:db8::1]:80`; `nil` when it writes none.
    public init?(_ text: String) {
        var name = text
        if name.hasPrefix("["), let end = name.firstIndex(of: "]") {
            name = String(name[name.index(after: name.startIndex)..<end])
        } else if let colon = name.firstIndex(of: ":"), name.lastIndex(of: ":") == colon {
            name = String(name[..<colon])
        }
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if inet_pton(AF_INET, name, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            self.init(reading: &four)
        } else if inet_pton(AF_INET6, name, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            self.init(reading: &six)
        } else {
            return nil
        }
    }

    private init<Address>(reading address: inout Address) {
        self = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { HTTPPeer($0) }
        }
    }

    /// The network that one client has at its disposal: an IPv4 address, or the first 64 bits of an IPv6 address.
    public var network: HTTPPeer { HTTPPeer(high: high, low: isIPv4 || isLoopback ? low : 0) }

    var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    fileprivate func hasPrefix(of other: HTTPPeer, bits: Int) -> Bool {
        let (highMask, lowMask) = (~UInt64(0) << UInt64(max(0, 64 - bits)), ~UInt64(0) << UInt64(max(0, 128 - bits)))
        return (high ^ other.high) & (bits == 0 ? 0 : highMask) == 0
            && (low ^ other.low) & (bits <= 64 ? 0 : lowMask) == 0
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Whether it belongs to this machine's loopback network.
    public var isLoopback: Bool {
        high == 0 && (low == 1 || low >> 32 == 0xFFFF && (low >> 24) & 0xFF == 127)
    }
}

/// Addresses that begin alike: `10.0.0.0/8`, `2001:db8::/32`, or one address.
public struct HTTPNetwork: Sendable, Hashable {
    private let first: HTTPPeer
    private let bits: Int

    /// The network that a text writes; `nil` when it writes none.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let peer = HTTPPeer(String(parts[0])) else { return nil }
        let most = peer.isIPv4 ? 32 : 128
        let prefix = parts.count == 2 ? Int(parts[1]) : most
        guard let prefix, (0...most).contains(prefix) else { return nil }
        first = peer
        bits = 128 - most + prefix
    }

    /// Whether the address belongs to it.
    public func contains(_ peer: HTTPPeer) -> Bool { peer.hasPrefix(of: first, bits: bits) }
}
