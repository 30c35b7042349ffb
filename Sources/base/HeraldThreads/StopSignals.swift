import Glibc
import Synchronization

/// Turns SIGTERM and SIGINT, and SIGHUP for a worker, into events to wait for instead of the end of the process.
public enum StopSignals {
    /// The handler's end of the socket; a signal handler may do little more than write to it.
    private static let raisingEnd = Atomic<Int32>(-1)
    private static let waitingEnd = Atomic<Int32>(-1)

    /// Catches both signals and the given others for ``wait()``; a second call changes nothing.
    public static func catchAll(and others: [Int32] = []) throws(SystemError) {
        guard waitingEnd.load(ordering: .acquiring) < 0 else { return }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw SystemError(call: "socketpair", number: errno)
        }
        raisingEnd.store(ends[1], ordering: .releasing)
        waitingEnd.store(ends[0], ordering: .releasing)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            let former = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = send(StopSignals.raisingEnd.load(ordering: .acquiring), &byte, 1, Int32(MSG_DONTWAIT))
            errno = former
        }
        action.sa_flags = SA_RESTART
        for number in [SIGTERM, SIGINT] + others { sigaction(number, &action, nil) }
    }

    /// Blocks the calling thread until the next signal and returns its number; each signal is returned once.
    public static func wait() -> Int32 {
        var byte: UInt8 = 0
        while read(waitingEnd.load(ordering: .acquiring), &byte, 1) != 1 {
            precondition(errno == EINTR, "StopSignals.catchAll() comes first")
        }
        return Int32(byte)
    }
}
