import CSSL
import Dispatch
import Foundation
import HeraldThreads

/// A loopback server that does exactly what a test's script says, byte for byte, valid or not.
///
/// Every connection runs the script on a thread of its own. ``stop()`` ends all of them and waits.
public final class ScriptedServer: Sendable {
    /// The course of one connection; when it returns or throws, the connection is closed.
    public typealias Script = @Sendable (ScriptedPeer) throws -> Void

    private struct State {
        var open: [Int32] = []
        var accepted = 0
        var isStopped = false
    }

    /// The server's port.
    public let port: UInt16
    private let listener: Int32
    private let context: TLSContext?
    private let script: Script
    private let state = Guarded(State())
    private let running = DispatchGroup()

    /// Listens with TLS when there is an identity.
    ///
    /// - Parameters:
    ///   - host: The last number of an address 127.0.0.x; all of them are this machine.
    ///   - port: 0 takes a free one.
    public init(tls: ServerIdentity? = nil, host: UInt8 = 1, port: UInt16 = 0, script: @escaping Script) throws {
        signal(SIGPIPE, SIG_IGN)
        context = try tls.map { try TLSContext($0) }
        self.script = script
        (listener, self.port) = try LoopbackSocket.listen(host: host, port: port)
        running.enter()
        Thread.detachNewThread { self.accept() }
    }

    /// Scheme, address and port.
    public var origin: String { "\(context == nil ? "http" : "https")://127.0.0.1:\(port)" }

    /// The number of connections so far.
    public var acceptedCount: Int { state.withLock { $0.accepted } }

    /// The number of open connections.
    public var openCount: Int { state.withLock { $0.open.count } }

    /// Closes everything and waits until no script runs any more.
    public func stop() {
        state.withLock { state in
            // On a second call, the listener's number may belong to another file.
            if !state.isStopped { shutdown(listener, Int32(SHUT_RDWR)) }
            state.isStopped = true
            for socket in state.open { shutdown(socket, Int32(SHUT_RDWR)) }
        }
        running.wait()
    }

    private func accept() {
        while true {
            let socket = Foundation.accept(listener, nil, nil)
            if socket < 0 { break }
            let isWanted = state.withLock { state in
                if !state.isStopped {
                    state.open.append(socket)
                    state.accepted += 1
                }
                return !state.isStopped
            }
            guard isWanted else {
                close(socket)
                break
            }
            running.enter()
            Thread.detachNewThread { self.serve(socket) }
        }
        close(listener)
        running.leave()
    }

    private func serve(_ socket: Int32) {
        if let peer = ScriptedPeer(socket: socket, context: context) {
            try? script(peer)
            peer.end()
        } else {
            // Closing with unread bytes would reset it and lose the alert that explains the failed handshake.
            shutdown(socket, Int32(SHUT_WR))
            var rest = [UInt8](repeating: 0, count: 4_096)
            while recv(socket, &rest, rest.count, 0) > 0 {}
        }
        // Removed before it is closed: its number may belong to another file a moment later.
        state.withLock { $0.open.removeAll { $0 == socket } }
        close(socket)
        running.leave()
    }
}

/// Sockets on 127.0.0.1 with ports that the system chooses.
public enum LoopbackSocket {
    /// A listening socket and its port, on 127.0.0.`host`.
    public static func listen(host: UInt8 = 1, port: UInt16 = 0) throws -> (socket: Int32, port: UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0 else { throw POSIXError(.EMFILE) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (0x7F00_0000 + UInt32(host)).bigEndian
        address.sin_port = port.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(listener, generic, length) == 0 && Foundation.listen(listener, 512) == 0
                    && getsockname(listener, generic, &length) == 0
            }
        }
        guard isListening else {
            close(listener)
            throw POSIXError(.EADDRINUSE)
        }
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    /// A socket connected to this port.
    static func connect(port: UInt16) throws -> Int32 {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else {
            let error = errno
            close(socket)
            throw PlainHTTP.Failure.cannotConnect(error)
        }
        return socket
    }

    /// An unused port: it was free a moment ago.
    public static func unusedPort() throws -> UInt16 {
        let (socket, port) = try listen()
        close(socket)
        return port
    }
}
