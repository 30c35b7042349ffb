internal import Dispatch

/// A few threads that run blocking work in order of submission.
public final class WorkerThreads: Sendable {
    private struct State {
        var queue: [@Sendable () -> Void] = []
        var isStopping = false
    }

    private static let queueLimit = 1_000

    private let state = Guarded(State())
    private let ready = DispatchSemaphore(value: 0)
    private let threads = Guarded<[OwnThread]>([])
    private let count: Int

    /// Starts the threads; their name shows in process listings.
    public init(name: String, count: Int) throws(SystemError) {
        self.count = count
        for _ in 0..<count {
            let thread = try OwnThread(name: name) { [state, ready] in
                while let work = Self.next(state, ready) { work() }
            }
            threads.withLock { $0.append(thread) }
        }
    }

    deinit { stop() }

    /// Submits work; false when the queue is full or the threads are stopping.
    public func run(_ work: @escaping @Sendable () -> Void) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isStopping, state.queue.count < Self.queueLimit else { return false }
            state.queue.append(work)
            return true
        }
        if isTaken { ready.signal() }
        return isTaken
    }

    /// Waits for work in progress and discards the rest; a second call does nothing.
    public func stop() {
        state.withLock { state in
            state.isStopping = true
            state.queue = []
        }
        for _ in 0..<count { ready.signal() }
        for thread in threads.withLock({ $0 }) { thread.join() }
    }

    private static func next(_ state: Guarded<State>, _ ready: DispatchSemaphore) -> (@Sendable () -> Void)? {
        while true {
            ready.wait()
            let (work, isStopping) = state.withLock { state in
                (state.queue.isEmpty ? nil : state.queue.removeFirst(), state.isStopping)
            }
            if let work { return work }
            if isStopping { return nil }
        }
    }
}
