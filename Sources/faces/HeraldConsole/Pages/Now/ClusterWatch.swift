import HeraldThreads

/// Looks at the cluster again and again, on a thread of its own, for as long as the console runs.
protocol ClusterWatch: AnyObject, Sendable {
    static var threadName: String { get }
    /// Ends the pauses, and with them the looking.
    var wakeup: Wakeup { get }

    func run()
}

extension ClusterWatch {
    func start() throws(SystemError) {
        _ = try OwnThread(name: Self.threadName) { [self] in run() }
    }

    /// Looks again after a while when it fails: topics may be missing or forbidden, and brokers away.
    func repeated(_ follow: () throws -> Void) {
        repeat { try? follow() } while !wakeup.wait(for: .seconds(5))
    }

    /// Looks no more; what is under way ends by itself.
    func stop() { wakeup.signal() }
}
