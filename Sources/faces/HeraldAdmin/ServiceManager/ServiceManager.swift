internal import Glibc
public import HeraldThreads
import HeraldTime
public import HeraldWorker

/// Tells the manager that started the process (systemd, `Type=notify`) how the worker is; ``ServiceNews`` has the rules.
///
/// It reads the lanes' reports on a thread of its own: a slow or missing manager holds up no lane.
public final class ServiceManager: Sendable {
    private let worker: Worker
    private let socket: NotifySocket
    private let news: Guarded<ServiceNews>
    private let telling = Guarded<RepeatedWork?>(nil)

    /// Begins to tell; `nil` when no manager wants to be told (`NOTIFY_SOCKET` is not set).
    ///
    /// - Throws: when the socket cannot be used.
    public init?(environment: [String: String], worker: Worker) throws(SystemError) {
        guard let name = environment["NOTIFY_SOCKET"], !name.isEmpty else { return nil }
        self.worker = worker
        socket = try NotifySocket(name)
        let news = ServiceNews(watchdog: Self.watchdog(environment, process: getpid()))
        self.news = Guarded(news)
        let work = try RepeatedWork(name: "service-manager", every: news.pause) { [self] in tell(worker.report) }
        telling.withLock { $0 = work }
    }

    /// Reads settings again, and tells when that begins and ends.
    public func reloading(_ body: () -> Void) {
        say { $0.linesBeforeReload(now: SystemClock.monotonic()) }
        body()
        say { $0.linesAfterReload }
    }

    private func say(_ lines: (ServiceNews) -> [String]) {
        news.withLock { news in
            let lines = lines(news)
            if !lines.isEmpty { _ = socket.send(lines) }
        }
    }

    /// Tells that the worker is over, and nothing after that.
    public func stop() {
        telling.withLock { $0 }?.stop()
        var report = worker.report
        report.isStopping = true
        tell(report)
    }

    /// What the manager did not accept is told again.
    private func tell(_ report: WorkerReport) {
        news.withLock { news in
            var next = news
            let lines = next.lines(for: report, now: SystemClock.monotonic())
            if lines.isEmpty || socket.send(lines) { news = next }
        }
    }

    /// How long the manager waits for a sign of life of this process; `nil` when for none, or of another.
    static func watchdog(_ environment: [String: String], process: Int32) -> Duration? {
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init), microseconds > 0 else { return nil }
        guard environment["WATCHDOG_PID"].flatMap(Int32.init) ?? process == process else { return nil }
        return .microseconds(microseconds)
    }
}
