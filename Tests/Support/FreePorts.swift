import Foundation
import Glibc
import Synchronization

/// Ports on loopback that nobody listens on.
///
/// Somebody else may take one before the caller does: only for programs that cannot be told to take a free port themselves.
public enum FreePorts {
    /// What was given away by this process, which may not listen there yet.
    private static let given = Mutex<Set<Int>>([])

    /// This many different ones, fewer when there are no more.
    ///
    /// They lie below those that the system gives to outgoing connections and to whoever asks for any port: a broker
    /// that is killed and started again would else now and then find a client's connection where it listened before.
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

    /// Where the range of `net.ipv4.ip_local_port_range` (ip(7)) begins.
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
