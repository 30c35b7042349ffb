import Glibc
import HeraldThreads
import HeraldTime

/// The bounded queue between the threads that log and the thread that writes.
///
/// The lock is held only to copy a line in or to take the whole queue out, never while writing.
final class LogQueue: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var droppedSinceNotice = 0
        var droppedInAll = 0
        var isIdle = false
        /// No more lines are accepted; the thread gives up at this moment.
        var deadline: MonotonicTime?
        var hasEnded = false
        var isAllWritten = false
    }

    private let descriptor: Int32
    private let capacityBytes: Int
    private let noticeOfDropped: @Sendable (Int) -> [UInt8]
    private let state = Guarded(State())
    private let wakeUp: Wakeup
    private let ended: Wakeup

    init(
        descriptor: Int32, capacityBytes: Int, noticeOfDropped: @escaping @Sendable (Int) -> [UInt8]
    ) throws(SystemError) {
        self.descriptor = descriptor
        self.capacityBytes = capacityBytes
        self.noticeOfDropped = noticeOfDropped
        wakeUp = try Wakeup()
        ended = try Wakeup()
    }

    var droppedLineCount: Int { state.withLock { $0.droppedInAll } }

    /// Adds a line or drops it; never waits for the reader.
    func append(_ line: [UInt8]) {
        let mustWake = state.withLock { state in
            guard state.deadline == nil, !state.hasEnded, state.pending.count + line.count <= capacityBytes else {
                state.droppedSinceNotice += 1
                state.droppedInAll += 1
                return false
            }
            state.pending += line
            defer { state.isIdle = false }
            return state.isIdle
        }
        if mustWake { wakeUp.signal() }
    }

    /// Ends the thread when everything is written, or at the limit; returns whether everything was.
    func close(within limit: Duration) -> Bool {
        let span = Milliseconds(max(limit, .zero))
        let deadline = SystemClock.monotonic().advanced(by: span)
        let hasEnded = state.withLock { state in
            if state.deadline == nil { state.deadline = deadline }
            return state.hasEnded
        }
        if !hasEnded {
            wakeUp.signal()
            // A little longer than the thread's own limit, so that the thread decides the answer.
            _ = ended.wait(for: (span + .milliseconds(100)).duration)
        }
        return state.withLock { $0.isAllWritten }
    }

    func run() {
        var isGood = true
        while isGood, let batch = next() { isGood = write(batch) }
        state.withLock { state in
            state.hasEnded = true
            state.isAllWritten = isGood
        }
        ended.signal()
    }

    /// Waits for lines; `nil` when the queue is closed and empty.
    private func next() -> [UInt8]? {
        while true {
            let (batch, dropped, isClosed) = state.withLock { state in
                let taken = (state.pending, state.droppedSinceNotice, state.deadline != nil)
                state.pending = []
                state.droppedSinceNotice = 0
                state.isIdle = taken.0.isEmpty && taken.1 == 0
                return taken
            }
            if dropped > 0 { return batch + noticeOfDropped(dropped) }
            if !batch.isEmpty { return batch }
            if isClosed { return nil }
            waitForSignal()
        }
    }

    private func waitForSignal() {
        var signal = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&signal, 1, -1)
        wakeUp.drain()
    }

    /// Writes the lines as the reader takes them; false when it is gone or the deadline has passed.
    ///
    /// Pieces of at most PIPE_BUF bytes do not block once poll reports room in a pipe. O_NONBLOCK would work too, but
    /// it belongs to the open file, and other processes may share standard error.
    private func write(_ batch: [UInt8]) -> Bool {
        var rest = batch[...]
        while !rest.isEmpty {
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard let timeout = millisecondsLeft() else { return false }
            _ = poll(&waiting, nfds_t(waiting.count), timeout)
            if waiting[1].revents != 0 { wakeUp.drain() }
            guard waiting[0].revents != 0 else { continue }
            let piece = Self.piece(of: rest)
            let count = piece.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EAGAIN, errno != EINTR {
                return false
            }
        }
        return true
    }

    /// The time until the deadline; -1 without one, `nil` when it has passed.
    private func millisecondsLeft() -> Int32? {
        guard let deadline = state.withLock({ $0.deadline }) else { return -1 }
        let left = deadline.time(since: SystemClock.monotonic())
        return left > .zero ? Int32(clamping: left) : nil
    }

    /// The whole lines that fit into one write, or a part of a line that is longer.
    private static func piece(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let piece = bytes.prefix(4_096)
        guard piece.count < bytes.count, let end = piece.lastIndex(of: UInt8(ascii: "\n")) else { return piece }
        return piece[...end]
    }
}
