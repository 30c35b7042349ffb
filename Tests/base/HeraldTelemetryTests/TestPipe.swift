import Glibc

/// A pipe whose reader decides when to read.
final class TestPipe {
    let reader: Int32
    let writer: Int32
    private var received: [UInt8] = []

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(code: errno) }
        reader = ends[0]
        writer = ends[1]
    }

    struct Failure: Error { var code: Int32 }

    deinit {
        close(reader)
        close(writer)
    }

    /// Waits for the next line and returns it without its end.
    func readLine() throws -> String {
        while true {
            if let end = received.firstIndex(of: 10) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            var piece = [UInt8](repeating: 0, count: 65_536)
            var waiting = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 20_000) == 1 else { throw Failure(code: ETIMEDOUT) }
            let count = read(reader, &piece, piece.count)
            guard count > 0 else { throw Failure(code: errno) }
            received += piece[..<count]
        }
    }

    /// The number of unread bytes in the pipe.
    var waitingByteCount: Int {
        var count: Int32 = 0
        _ = ioctl(reader, UInt(FIONREAD), &count)
        return Int(count)
    }
}
