internal import CEpoll
internal import Glibc
internal import HeraldThreads
import HeraldTime

/// An address that a socket can connect to.
struct SocketAddress: Sendable, Equatable {
    private let bytes: [UInt8]
    private let family: Int32

    enum LookUp: Sendable, Equatable {
        case addresses([SocketAddress])
        case failed(String)
    }

    /// Asks the system's resolver; blocks, for as long as that likes.
    static func lookUp(_ endpoint: Endpoint) -> LookUp {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(endpoint.host, String(endpoint.port), &hints, &list)
        guard code == 0 else {
            return .failed(code == EAI_SYSTEM ? SystemError.text(of: errno) : String(cString: gai_strerror(code)))
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            let address = SocketAddress(entry.pointee)
            if !addresses.contains(address) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        return addresses.isEmpty ? .failed("no address") : .addresses(addresses)
    }

    private init(_ info: addrinfo) {
        bytes = Array(UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen)))
        family = info.ai_family
    }

    /// The address in numbers, without the port.
    var text: String {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = withSockaddr {
            getnameinfo($0, socklen_t(bytes.count), &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
        }
        return code == 0 ? buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" } : "?"
    }

    /// A socket that is connected to it, in blocking mode with time-outs, or why there is none.
    func connect(within limit: Milliseconds) -> Result<Int32, SystemError> {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { return .failure(SystemError(call: "socket", number: errno)) }
        if let number = connectFailure(descriptor, limit) {
            close(descriptor)
            return .failure(SystemError(call: "connect", number: number))
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        _ = herald_set_socket_limit(descriptor, Int(limit.count))
        return .success(descriptor)
    }

    private func connectFailure(_ descriptor: Int32, _ limit: Milliseconds) -> Int32? {
        let code = withSockaddr { Glibc.connect(descriptor, $0, socklen_t(bytes.count)) }
        if code == 0 { return nil }
        guard errno == EINPROGRESS else { return errno }
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let ready = poll(&wait, 1, Int32(clamping: limit))
        guard ready > 0 else { return ready == 0 ? ETIMEDOUT : errno }
        var number: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size)
        return number == 0 ? nil : number
    }

    private func withSockaddr<R>(_ body: (UnsafePointer<sockaddr>?) -> R) -> R {
        bytes.withUnsafeBytes { body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self)) }
    }
}

struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// Without the brackets of an IPv6 address.
    var host: String
    var port: Int

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension Endpoint {
    /// Reads `host`, `host:port`, `[address]:port`, with a scheme before it or a path behind it.
    init(_ text: String, standardPort: Int) {
        var rest = text[...]
        if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
        rest = rest.prefix { $0 != "/" }
        if rest.first == "[", let end = rest.firstIndex(of: "]") {
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
        } else {
            host = String(rest.prefix { $0 != ":" })
            rest = rest.dropFirst(host.count)
        }
        port = Int(rest.dropFirst()) ?? standardPort
    }
}
