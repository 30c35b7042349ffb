internal import Glibc
import HeraldThreads

/// Where a service manager listens: sd_notify(3), a datagram for each message, without libsystemd.
final class NotifySocket: Sendable {
    private let descriptor: Int32
    private let address: sockaddr_un
    private let addressLength: socklen_t

    /// Speaks to the socket of this name, as `NOTIFY_SOCKET` has it: a path, or `@` and an abstract name.
    ///
    /// - Throws: EINVAL for any other name, or one that is too long.
    init(_ name: String) throws(SystemError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        guard name.hasPrefix("/") || name.hasPrefix("@"), bytes.count < MemoryLayout.size(ofValue: address.sun_path)
        else { throw SystemError(call: "NOTIFY_SOCKET", number: EINVAL) }
        if name.hasPrefix("@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        self.address = address
        // An abstract name is as long as the address says; a path ends with the zero that follows it.
        addressLength = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError(call: "socket", number: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Sends one message, an assignment in each line; whether it was accepted.
    ///
    /// Never waits.
    func send(_ lines: [String]) -> Bool {
        let message = Array(lines.joined(separator: "\n").utf8)
        return withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(
                    descriptor, message, message.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL), address, addressLength)
                    == message.count
            }
        }
    }
}
