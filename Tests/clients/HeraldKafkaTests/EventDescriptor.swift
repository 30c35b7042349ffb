import Foundation
import Glibc

/// A pipe for the clients to wake (as they wake an eventfd: 8 bytes), and `poll` to wait for it.
final class EventDescriptor {
    /// Where a client writes.
    let number: Int32
    private let reading: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        reading = ends[0]
        number = ends[1]
    }

    deinit {
        close(reading)
        close(number)
    }

    /// Blocks, and says whether it was woken within this time; takes all wake-ups away.
    func wait(milliseconds: Int32) -> Bool { Self.wait(reading, milliseconds) }

    /// As ``wait(milliseconds:)``, without keeping one of the few threads that async tests share.
    func waiting(milliseconds: Int32) async -> Bool {
        let reading = reading
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Self.wait(reading, milliseconds)) }
        }
    }

    private static func wait(_ reading: Int32, _ milliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, milliseconds) == 1 else { return false }
        var payload: UInt64 = 0
        var woken = false
        while read(reading, &payload, 8) == 8 { woken = woken || payload == 1 }
        return woken
    }
}
