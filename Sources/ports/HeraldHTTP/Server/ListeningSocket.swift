internal import CEpoll
import Glibc
package import HeraldThreads

/// A listening TCP socket; made here and not by libmicrohttpd, so that a failure says which step failed and why.
package struct ListeningSocket {
    package let descriptor: Int32
    package let port: UInt16

    /// Listens on the first address of `host`, which is a name or an IPv4 or IPv6 address; port 0 takes a free one.
    package init(host: String, port: UInt16) throws(SystemError) {
        func failure(_ step: String, _ code: Int32) -> SystemError {
            SystemError(call: "cannot listen on \(host):\(port): \(step)", number: code)
        }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &found)
        guard code == 0, let address = found else {
            throw failure(String(cString: gai_strerror(code)), 0)
        }
        defer { freeaddrinfo(address) }
        let descriptor = herald_stream_socket(address.pointee.ai_family)
        guard descriptor >= 0 else { throw failure("socket", errno) }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else {
            let code = errno
            close(descriptor)
            throw failure("bind", code)
        }
        guard listen(descriptor, SOMAXCONN) == 0, let taken = Self.port(of: descriptor) else {
            let code = errno
            close(descriptor)
            throw failure("listen", code)
        }
        self.descriptor = descriptor
        self.port = taken
    }

    private static func port(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard code == 0 else { return nil }
        // The port lies at the same place in the addresses of both families.
        return withUnsafeBytes(of: &storage) {
            UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }
}
