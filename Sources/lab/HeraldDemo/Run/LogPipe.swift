import Glibc
package import HeraldThreads

/// Receives the worker's log lines, so that they do not tear the live table apart.
package final class LogPipe: Sendable {
    private static let pieceBytes = 4_096

    package let writingEnd: Int32
    let readingEnd: Int32
    private let rest = Guarded<[UInt8]>([])

    /// Creates a pipe; throws when the process has no descriptor left.
    package init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        guard socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else {
            throw SystemError(call: "socketpair", number: errno)
        }
        (readingEnd, writingEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readingEnd)
        close(writingEnd)
    }

    func drainLines() -> [String] {
        rest.withLock { rest in
            var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
            while true {
                let count = read(readingEnd, &piece, piece.count)
                guard count > 0 else { break }
                rest += piece[..<count]
            }
            guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
            let lines = rest[..<end].split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
            rest.removeSubrange(...end)
            return lines
        }
    }
}
