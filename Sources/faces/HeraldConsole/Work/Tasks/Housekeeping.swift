internal import HeraldThreads

/// Does periodic work without a request, on its own thread.
final class Housekeeping: Sendable {
    private let pause: Duration
    private let work: @Sendable () -> Void
    private let stopping: Wakeup
    private let thread = Guarded<OwnThread?>(nil)

    /// - Parameter work: called once per pause.
    init(every pause: Duration = .seconds(30), _ work: @escaping @Sendable () -> Void) throws {
        self.pause = pause
        self.work = work
        stopping = try Wakeup()
    }

    func start() throws {
        let thread = try OwnThread(name: "housekeeping") { [stopping, pause, work] in
            while !stopping.wait(for: pause) { work() }
        }
        self.thread.withLock { $0 = thread }
    }

    func stop() {
        stopping.signal()
        self.thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }
}
