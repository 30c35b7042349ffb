import Dispatch
import Foundation
import Synchronization

/// The one thread that starts this process's children; it never ends.
///
/// A child that asks the kernel to be killed with its parent (`PR_SET_PDEATHSIG`) is killed when the *thread* that
/// started it ends, so a pool's thread must not start one.
final class SpawnThread: Sendable {
    static let shared = SpawnThread()

    /// One call, and its answer once it has returned.
    private final class Job: Sendable {
        let body: @Sendable () -> Int32
        let answer = Atomic<Int32>(0)
        let done = DispatchSemaphore(value: 0)

        init(_ body: @escaping @Sendable () -> Int32) {
            self.body = body
        }
    }

    private let jobs = Mutex<[Job]>([])
    private let waiting = DispatchSemaphore(value: 0)

    private init() {
        Thread.detachNewThread { [self] in
            while true {
                waiting.wait()
                guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { continue }
                job.answer.store(job.body(), ordering: .releasing)
                job.done.signal()
            }
        }
    }

    /// Runs `body` on the thread and waits for its answer.
    func run(_ body: @escaping @Sendable () -> Int32) -> Int32 {
        let job = Job(body)
        jobs.withLock { $0.append(job) }
        waiting.signal()
        job.done.wait()
        return job.answer.load(ordering: .acquiring)
    }
}
