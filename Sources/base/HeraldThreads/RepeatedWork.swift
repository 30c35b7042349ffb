/// Work that is done again and again on a thread of its own, until it is stopped.
public final class RepeatedWork: Sendable {
    private let over: Wakeup
    private let thread: OwnThread

    /// Does it after each pause, and before the first one.
    ///
    /// - Parameter isDone: whether it was done just now, so that a pause comes first.
    /// - Throws: when descriptors or threads have run out.
    public init(
        name: String, every pause: Duration, isDone: Bool = false, _ work: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let over = try Wakeup()
        self.over = over
        thread = try OwnThread(name: name) {
            if !isDone { work() }
            while !over.wait(for: pause) { work() }
        }
    }

    deinit { end() }

    /// Ends it; what is under way ends by itself.
    public func end() { over.signal() }

    /// Ends it, and waits for what is under way.
    public func stop() {
        end()
        thread.join()
    }
}
