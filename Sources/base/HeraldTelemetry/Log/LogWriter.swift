public import HeraldThreads
public import HeraldTime

/// Carries log lines to a file descriptor: a bounded queue and one background thread that writes it.
///
/// A thread that logs never waits for the reader. When the queue is full, lines are dropped and counted, and the count
/// becomes a line of its own once the reader continues. Of many warnings of one kind some are written, the others counted
/// (``LineLimit``). The descriptor is not closed.
public final class LogWriter: Sendable {
    private let queue: LogQueue
    private let format: LogFormat
    private let now: @Sendable () -> WallTime
    private let limit = Guarded(LineLimit())

    /// Starts the thread; by default it writes to standard error.
    ///
    /// `capacityBytes` bounds the queue. Throws when descriptors or threads have run out.
    public init(
        descriptor: Int32 = 2, format: LogFormat, capacityBytes: Int = 1 << 20,
        now: @escaping @Sendable () -> WallTime = { SystemClock.wall() }
    ) throws(SystemError) {
        let notice: @Sendable (Int) -> [UInt8] = { count in
            var line: [UInt8] = []
            format.append(
                "log lines were dropped: they came faster than they were read", level: .warning, at: now(),
                ["dropped": .int(count)], to: &line)
            return line
        }
        do throws(SystemError) {
            let queue = try LogQueue(descriptor: descriptor, capacityBytes: capacityBytes, noticeOfDropped: notice)
            // The thread is not joined: it ends with the queue, or remains in a write that blocks.
            _ = try OwnThread(name: "log-writer") { queue.run() }
            self.queue = queue
        } catch {
            throw SystemError(call: "cannot start logging: \(error.call)", number: error.number)
        }
        self.format = format
        self.now = now
    }

    deinit { close(within: .seconds(1)) }

    /// The number of lines dropped so far.
    public var droppedLineCount: Int { queue.droppedLineCount }

    /// Writes the queued lines, but for no longer than the limit; afterwards lines are dropped.
    ///
    /// Returns false when some were left.
    @discardableResult
    public func close(within limit: Duration) -> Bool {
        let now = now()
        for (message, level) in self.limit.withLock({ $0.takeCounts(now: now, ofAll: true) }) {
            append(message, level: level, at: now, [:])
        }
        return queue.close(within: limit)
    }

    func write(_ message: String, level: LogLevel, _ fields: LogFields) {
        let now = now()
        let (counts, isWritten) = limit.withLock { limit in
            (limit.takeCounts(now: now), limit.admit(message, level: level, now: now))
        }
        for (message, level) in counts { append(message, level: level, at: now, [:]) }
        if isWritten { append(message, level: level, at: now, fields) }
    }

    private func append(_ message: String, level: LogLevel, at time: WallTime, _ fields: LogFields) {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        format.append(message, level: level, at: time, fields, to: &line)
        queue.append(line)
    }
}
