import Foundation
import Glibc

/// A tiny blocking HTTP/1.1 client over one socket, so that tests see the bytes on the wire.
public final class PlainHTTP {
    /// One answer with its body read to the end.
    public struct Answer: Sendable {
        /// The status code.
        public var status: Int
        /// The header fields with lower-case names.
        public var headers: [String: String]
        /// The body's bytes.
        public var body: [UInt8]
        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// The other side closed the connection, or nothing came within the time-out.
    public enum Failure: Error, Equatable {
        case cannotConnect(Int32)
        case closed
        case timedOut
        case notHTTP(String)
    }

    private let socket: Int32
    private var received: [UInt8] = []

    /// Connects to this port of 127.0.0.1; every read waits at most `timeoutSeconds`.
    public init(port: UInt16, timeoutSeconds: Int = Patience.seconds) throws {
        socket = try LoopbackSocket.connect(port: port)
        var limit = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(socket) }

    /// Sends one request on a connection of its own and reads the answer.
    public static func request(
        port: UInt16, _ method: String, _ target: String, headers: [String: String] = [:], body: String? = nil
    ) throws -> Answer {
        try PlainHTTP(port: port).request(method, target, headers: headers, body: body)
    }

    /// Sends one request and reads its answer; the connection can be used again.
    public func request(
        _ method: String, _ target: String, headers: [String: String] = [:], body: String? = nil
    ) throws -> Answer {
        try sendRequest(method, target, headers: headers, body: body)
        return try readAnswer()
    }

    /// Sends one request and does not wait for the answer.
    public func sendRequest(
        _ method: String, _ target: String, headers: [String: String] = [:], body: String? = nil
    ) throws {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        try send(text + "\r\n" + (body ?? ""))
    }

    /// Sends text unchanged.
    public func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends bytes unchanged.
    public func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw Failure.closed }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads one answer with a Content-Length, skipping interim answers (1xx).
    public func readAnswer() throws -> Answer {
        let head = try readHead()
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw Failure.notHTTP(head)
        }
        if status < 200 { return try readAnswer() }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw Failure.notHTTP(head) }
            headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while received.count < length { try receive() }
        defer { received.removeFirst(length) }
        return Answer(status: status, headers: headers, body: Array(received[..<length]))
    }

    /// Reads until this text has come; returns everything up to its end.
    public func read(through text: String) throws -> String {
        while true {
            let all = String(decoding: received, as: UTF8.self)
            if let end = all.range(of: text)?.upperBound {
                received.removeFirst(all[..<end].utf8.count)
                return String(all[..<end])
            }
            try receive()
        }
    }

    /// Waits until the other side closes without sending more; throws otherwise.
    public func waitUntilClosed() throws {
        while true {
            do { try receive() } catch Failure.closed { return }
        }
    }

    /// Sends byte after byte until the other side closes the connection; blocks.
    public func dribbleUntilClosed() throws {
        let end = ContinuousClock.now + .seconds(Patience.seconds)
        while ContinuousClock.now < end {
            do { try send("x") } catch Failure.closed { return }
            usleep(20_000)
        }
        throw Failure.timedOut
    }

    private func readHead() throws -> String {
        let end: [UInt8] = [13, 10, 13, 10]
        var searched = 0
        while true {
            while searched + end.count <= received.count {
                if received[searched..<(searched + end.count)].elementsEqual(end) {
                    let head = String(decoding: received[..<searched], as: UTF8.self)
                    received.removeFirst(searched + end.count)
                    return head
                }
                searched += 1
            }
            try receive()
        }
    }

    private func receive() throws {
        var piece = [UInt8](repeating: 0, count: 16_384)
        let count = piece.withUnsafeMutableBytes { TestSupport.receive(from: socket, into: $0) }
        if count < 0, errno == EAGAIN { throw Failure.timedOut }
        guard count > 0 else { throw Failure.closed }
        received += piece[..<count]
    }
}
