import CSSL
import Foundation

/// One connection of a ``ScriptedServer``, used by its script alone.
public final class ScriptedPeer {
    /// A read ended early.
    public struct Ended: Error {
        /// Thrown by a script to end its connection.
        public init() {}
    }

    private let socket: Int32
    private let tls: OpaquePointer?
    private var unread: [UInt8] = []

    /// `nil` when the TLS handshake failed.
    init?(socket: Int32, context: TLSContext?) {
        self.socket = socket
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        tls = context.flatMap { $0.accept(socket) }
        if context != nil, tls == nil { return nil }
    }

    deinit {
        if let tls { SSL_free(tls) }
    }

    /// The next request, head and body (by Content-Length), as received.
    public func readRequest() throws -> String {
        while true {
            if let end = headEnd() {
                let head = String(decoding: unread[..<end], as: UTF8.self)
                let total = end + bodyLength(head)
                if unread.count >= total {
                    defer { unread.removeFirst(total) }
                    return String(decoding: unread[..<total], as: UTF8.self)
                }
            }
            guard let more = read() else { throw Ended() }
            unread += more
        }
    }

    /// The next `count` bytes.
    public func read(exactly count: Int) throws -> [UInt8] {
        while unread.count < count {
            guard let more = read() else { throw Ended() }
            unread += more
        }
        defer { unread.removeFirst(count) }
        return Array(unread[..<count])
    }

    /// Waits until the other side closes, and returns the bytes that it still sent.
    @discardableResult
    public func readToEnd() -> [UInt8] {
        var all = unread
        while let more = read() { all += more }
        return all
    }

    /// Writes text in one go.
    public func write(_ text: String) throws {
        try write(Array(text.utf8))
    }

    /// Writes bytes in one go.
    public func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                if let tls { return Int(SSL_write(tls, buffer.baseAddress, Int32(buffer.count))) }
                return send(socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Ended() }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes text with one packet (or TLS record) per byte.
    public func writeByteByByte(_ text: String) throws {
        for byte in text.utf8 { try write([byte]) }
    }

    /// Ends the connection at once, with a reset instead of an orderly close.
    public func reset() {
        // Connecting a connected socket to nowhere (AF_UNSPEC) makes Linux reset it without freeing its number.
        var nowhere = sockaddr()
        nowhere.sa_family = sa_family_t(AF_UNSPEC)
        connect(socket, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// Ends the connection without TLS's own goodbye.
    public func cut() {
        shutdown(socket, Int32(SHUT_RDWR))
    }

    func end() {
        if let tls { SSL_shutdown(tls) }
    }

    private func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = buffer.withUnsafeMutableBytes { bytes in
            if let tls { return Int(SSL_read(tls, bytes.baseAddress, Int32(bytes.count))) }
            return receive(from: socket, into: bytes)
        }
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private func headEnd() -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard unread.count >= mark.count else { return nil }
        for start in 0...unread.count - mark.count where Array(unread[start..<start + mark.count]) == mark {
            return start + mark.count
        }
        return nil
    }

    private func bodyLength(_ head: String) -> Int {
        for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
            return Int(line.dropFirst(15).trimmingCharacters(in: .whitespaces)) ?? 0
        }
        return 0
    }
}
