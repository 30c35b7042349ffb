import Glibc

/// A flag that wakes a thread out of `poll`: raised by any thread, seen as readable ``descriptor``.
public final class ThreadSignal: Sendable {
    /// What the waiting thread polls for `POLLIN`; owned by the signal.
    public let descriptor: Int32
    private let raisingEnd: Int32

    /// The signal needs two descriptors and there are none left; `code` is the `errno` value.
    public struct CreationError: Error, Equatable, CustomStringConvertible {
        /// The `errno` value.
        public var code: Int32
        /// What happened, in one line.
        public var description: String { "cannot make a wake-up signal: \(String(cString: strerror(code)))" }
    }

    /// Makes a signal that is not raised.
    public init() throws(CreationError) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw CreationError(code: errno) }
        descriptor = ends[0]
        raisingEnd = ends[1]
    }

    deinit {
        close(descriptor)
        close(raisingEnd)
    }

    /// Raises the signal; does not block.
    public func raise() {
        var byte: UInt8 = 1
        // A full socket has been raised already.
        _ = send(raisingEnd, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// Lowers the signal; what was raised since is seen by the next poll.
    public func clear() {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { bytes in
            while read(descriptor, bytes.baseAddress, bytes.count) == bytes.count {}
        }
    }
}
