import HeraldThreads
import HeraldWorker

/// The worker on a thread of its own.
final class WorkerThread {
    private let worker: Worker
    private let thread: OwnThread
    private let outcome: Guarded<WorkerEnd?>

    /// Starts it; `wakeup` is signalled when it has ended.
    init(_ worker: Worker, wakeup: Wakeup) throws {
        let outcome = Guarded<WorkerEnd?>(nil)
        thread = try OwnThread(name: "worker") {
            let end = worker.run()
            outcome.withLock { $0 = end }
            wakeup.signal()
        }
        self.outcome = outcome
        self.worker = worker
    }

    /// How it ended; nil while it works.
    var end: WorkerEnd? { outcome.withLock { $0 } }

    func stop() { worker.stop() }

    func join() { thread.join() }
}
