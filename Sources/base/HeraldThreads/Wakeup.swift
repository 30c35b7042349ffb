internal import CEpoll
internal import Glibc

/// Ends another thread's wait (eventfd): the way into a loop, or out of a `poll`, from another thread.
///
/// ``signal()`` may be called on any thread, the rest on the loop's only. Signals before a ``drain()`` are one event.
public final class Wakeup: Sendable {
    /// The descriptor, watched for reading, and for C libraries that write eight bytes to it.
    public let descriptor: Int32

    /// A wake-up without a signal; throws when the process has no descriptor left.
    public init() throws(SystemError) {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError(call: "eventfd", number: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Makes the descriptor readable.
    ///
    /// It never blocks: a full counter is readable already.
    public func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits up to this long for a signal; returns whether one came.
    ///
    /// The signal stays, for ``drain()``.
    public func wait(for limit: Duration) -> Bool {
        let end = ContinuousClock.now + limit
        while true {
            let left = max(.zero, end - .now) / .milliseconds(1)
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&waiting, 1, Int32(clamping: Int64(left.rounded(.up))))
            if count >= 0 || errno != EINTR { return count > 0 }
        }
    }

    /// Resets the descriptor for the next signal; call it before looking for the signal's cause.
    public func drain() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
