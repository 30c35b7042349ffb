internal import HeraldThreads

/// Work that lasts while a page asks for its progress: each task on its own thread, and only a few at a time.
///
/// | a task | until |
/// |---|---|
/// | works | its body returns, which it has to soon after no page has asked for `patience` |
/// | has ended, and is kept with what came of it | no page has asked for `keeping`, or others need the room |
final class AskedTasks<Value: Sendable>: Sendable {
    struct Snapshot: Sendable {
        /// The last value its body published.
        var value: Value?
        var failure: (any Error)?
        var isEnded = false
    }

    /// A task for its body.
    final class Work: Sendable {
        private struct State {
            var snapshot = Snapshot()
            var lastAsked: ContinuousClock.Instant
            var isStopping = false
        }

        private let state: Guarded<State>
        private let patience: Duration
        private let now: @Sendable () -> ContinuousClock.Instant

        fileprivate init(patience: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant) {
            self.patience = patience
            self.now = now
            state = Guarded(State(lastAsked: now()))
        }

        /// Whether to go on; otherwise the body returns.
        var isWanted: Bool { state.withLock { !$0.isStopping && now() - $0.lastAsked < patience } }

        /// Sets the answer from now on.
        func publish(_ value: Value) { state.withLock { $0.snapshot.value = value } }

        fileprivate func ask() -> Snapshot {
            state.withLock { state in
                state.lastAsked = now()
                return state.snapshot
            }
        }

        fileprivate func stop() { state.withLock { $0.isStopping = true } }

        fileprivate func end(_ failure: (any Error)?) {
            state.withLock { state in
                state.snapshot.failure = failure
                state.snapshot.isEnded = true
            }
        }

        fileprivate var hasFailed: Bool { state.withLock { $0.snapshot.failure != nil } }

        fileprivate var standing: (isEnded: Bool, lastAsked: ContinuousClock.Instant) {
            state.withLock { ($0.snapshot.isEnded, $0.lastAsked) }
        }
    }

    private struct State {
        var works: [String: Work] = [:]
        /// The tasks whose threads have not ended, known or forgotten.
        var workingCount = 0
    }

    private let name: String
    private let most: Int
    private let patience: Duration
    private let keeping: Duration
    private let busy: String
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Guarded(State())
    private let ended: Wakeup

    /// - Parameters:
    ///   - name: the threads' name.
    ///   - most: the maximum number of running tasks; the same number of ended ones is kept.
    ///   - busy: the sentence when there are too many.
    init(
        name: String, most: Int, patience: Duration = .seconds(10), keeping: Duration = .seconds(120), busy: String,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) throws {
        self.name = name
        self.most = most
        self.patience = patience
        self.keeping = keeping
        self.busy = busy
        self.now = now
        ended = try Wakeup()
    }

    /// Begins a task with this key unless one is running; returns its state.
    ///
    /// A failed task is returned once before a new one begins.
    ///
    /// - Parameters:
    ///   - first: the task's value until its body publishes one.
    ///   - body: may block; publishes from time to time, and returns when it is no longer wanted.
    /// - Throws: a ``Refused`` when too many are running.
    @discardableResult
    func begin(
        _ key: String, showing first: Value? = nil, _ body: @escaping @Sendable (Work) throws -> Void
    ) throws -> Snapshot {
        let work = Work(patience: patience, now: now)
        if let first { work.publish(first) }
        let known = try state.withLock { state throws -> Work? in
            forget(&state)
            if let known = state.works[key] {
                if known.hasFailed { state.works[key] = nil }
                if known.hasFailed || !known.standing.isEnded { return known }
            }
            guard state.workingCount < most else { throw Refused(busy, status: 429) }
            state.works[key] = work
            state.workingCount += 1
            makeRoom(&state)
            return nil
        }
        if let known { return known.ask() }
        do {
            _ = try OwnThread(name: name) { [self] in run(work, body) }
        } catch {
            state.withLock { state in
                state.works[key] = nil
                state.workingCount -= 1
            }
            throw error
        }
        return work.ask()
    }

    private func run(_ work: Work, _ body: (Work) throws -> Void) {
        do {
            try body(work)
            work.end(nil)
        } catch {
            work.end(error)
        }
        state.withLock { $0.workingCount -= 1 }
        ended.signal()
    }

    func ask(_ key: String) -> Snapshot? { state.withLock { $0.works[key] }?.ask() }

    /// Forgets a task, and ends it if it is running.
    func drop(_ key: String) { state.withLock { $0.works.removeValue(forKey: key) }?.stop() }

    /// Forgets ended tasks that no page has asked for in a while.
    func sweep() { state.withLock { forget(&$0) } }

    /// Ends all tasks, and waits briefly for their threads.
    func stop(within limit: Duration = .seconds(3)) {
        let end = ContinuousClock.now + limit
        for work in state.withLock({ Array($0.works.values) }) { work.stop() }
        while state.withLock({ $0.workingCount > 0 }), ContinuousClock.now < end {
            if ended.wait(for: end - .now) { ended.drain() }
        }
    }

    var count: Int { state.withLock { $0.works.count } }

    private func forget(_ state: inout State) {
        let moment = now()
        state.works = state.works.filter { _, work in
            let standing = work.standing
            return !standing.isEnded || moment - standing.lastAsked < keeping
        }
    }

    private func makeRoom(_ state: inout State) {
        while state.works.count > 2 * most {
            let oldest = state.works.filter { $0.value.standing.isEnded }
                .min { $0.value.standing.lastAsked < $1.value.standing.lastAsked }
            guard let oldest else { return }
            state.works[oldest.key] = nil
        }
    }
}
