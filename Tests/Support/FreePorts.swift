import Glibc

/// Ports on loopback that nobody listens on.
public enum FreePorts {
    /// This many different ones.
    ///
    /// Somebody else may take one before the caller does: only for programs that cannot be told
    /// to take a free port themselves.
    public static func take(_ count: Int) -> [Int] {
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        return (0..<count).compactMap { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { return nil }
            sockets.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let bound = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                    bind(descriptor, raw, size) == 0 && getsockname(descriptor, raw, &size) == 0
                }
            }
            return bound ? Int(UInt16(bigEndian: address.sin_port)) : nil
        }
    }
}
