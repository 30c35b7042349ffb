import Foundation
import Glibc
import Synchronization

/// Loopback ports that are not in use.
///
/// Another program may take one before the caller does, so they are only for programs that cannot choose a free port.
public enum FreePorts {
    /// The ports given away by this process, which may not be in use yet.
    private static let given = Mutex<Set<Int>>([])

    /// This many different ports, or fewer when there are no more.
    ///
    /// They lie below the range for outgoing connections and automatic ports: otherwise a broker that is killed and
    /// restarted would sometimes find a client's connection on its former port.
    public static func take(_ count: Int) -> [Int] {
        given.withLock { given in
            var ports: [Int] = []
            for port in (lowest..<lowestOfConnections).shuffled() where ports.count < count {
                guard !given.contains(port), isFree(port) else { continue }
                given.insert(port)
                ports.append(port)
            }
            return ports
        }
    }

    private static let lowest = 10_000

    /// The start of the range `net.ipv4.ip_local_port_range` (ip(7)).
    static let lowestOfConnections: Int = {
        let text = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let first = text?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
        return max(first ?? 32_768, lowest + 1_000)
    }()

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
