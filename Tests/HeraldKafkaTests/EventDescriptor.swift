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

    /// Whether it was woken within this time; takes all wake-ups away.
    func wait(milliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, milliseconds) == 1 else { return false }
        var payload: UInt64 = 0
        var woken = false
        while read(reading, &payload, 8) == 8 { woken = woken || payload == 1 }
        return woken
    }
}

extension EventDescriptor {
    /// Wakes the descriptor of this number, from any thread.
    static func wake(_ number: Int32) {
        var one: UInt64 = 1
        _ = write(number, &one, 8)
    }
}
