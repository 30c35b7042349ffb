public import HeraldThreads
package import HeraldTime

/// The bounded queue between the threads that make spans and the thread that exports them.
///
/// The lock is held only to move spans in or out, never while sending; a lane does not even wait for that.
public final class SpanQueue: Sendable {
    /// The fates of spans so far.
    public struct Counts: Sendable, Equatable {
        /// Spans that the collector accepted.
        public var exported = 0
        /// Spans lost because they came too fast, or the collector was absent or refused them.
        public var dropped = 0

        /// None yet.
        public init() {}
    }

    /// The maximum number of waiting spans: four times that of OpenTelemetry's own batch processor, because a commit
    /// ends hundreds of events at once.
    public static let capacity = 8_192
    /// The maximum number of spans in one request.
    public static let batchLimit = 512

    struct State {
        var waiting: [TraceSpan] = []
        var counts = Counts()
        var deadline: MonotonicTime?
    }

    let state = Guarded(State())
    private let wakeup: Wakeup

    /// An empty queue; throws when the process has no descriptor left.
    public init() throws(SystemError) {
        wakeup = try Wakeup()
    }

    /// The fates of spans so far; from any thread.
    public var counts: Counts { state.withLock { $0.counts } }

    /// Takes spans, and drops and counts those that do not fit; if another thread holds the queue, it takes nothing and
    /// returns at once.
    public func offer(_ spans: inout [TraceSpan], alreadyDropped: inout Int) {
        let (offered, lost) = (spans, alreadyDropped)
        guard let isFull = state.withLockIfFree({ Self.take(offered, lost, &$0) }) else { return }
        spans.removeAll(keepingCapacity: true)
        alreadyDropped = 0
        if isFull { wakeup.signal() }
    }

    /// The same for callers that may wait a moment and do not offer their spans again.
    public func add(_ spans: [TraceSpan], alreadyDropped: Int = 0) {
        if state.withLock({ Self.take(spans, alreadyDropped, &$0) }) { wakeup.signal() }
    }

    /// Returns whether there are enough for a request.
    private static func take(_ spans: [TraceSpan], _ lost: Int, _ state: inout State) -> Bool {
        let room = state.deadline == nil ? max(0, capacity - state.waiting.count) : 0
        state.waiting += spans.prefix(room)
        state.counts.dropped += lost + max(0, spans.count - room)
        return state.waiting.count >= batchLimit
    }

    /// The next spans to export, once there are enough for a request or the interval is over; none if the interval
    /// passed without spans, `nil` if the queue is closed and empty.
    package func next(within interval: Duration) -> [TraceSpan]? {
        var isOver = false
        while true {
            let (batch, isClosed) = state.withLock { state -> ([TraceSpan], Bool) in
                let isClosed = state.deadline != nil
                guard isOver || isClosed || state.waiting.count >= Self.batchLimit else { return ([], false) }
                let batch = Array(state.waiting.prefix(Self.batchLimit))
                state.waiting.removeFirst(batch.count)
                return (batch, isClosed)
            }
            if !batch.isEmpty { return batch }
            if isClosed { return nil }
            if isOver { return [] }
            isOver = !wakeup.wait(for: interval)
            wakeup.drain()
        }
    }

    package func note(exported: Int = 0, dropped: Int = 0) {
        state.withLock { state in
            state.counts.exported += exported
            state.counts.dropped += dropped
        }
    }

    /// Accepts no more spans; waiting ones may be exported until the deadline.
    package func close(deadline: MonotonicTime) {
        state.withLock { $0.deadline = $0.deadline ?? deadline }
        wakeup.signal()
    }

    package func dropAll() {
        state.withLock { state in
            state.counts.dropped += state.waiting.count
            state.waiting = []
        }
    }

    /// The end of the time to export; `nil` before the queue is closed.
    package var deadline: MonotonicTime? { state.withLock { $0.deadline } }
}
