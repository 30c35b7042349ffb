import HeraldEvents
import HeraldTime
import HeraldWorker

/// What a service manager has not been told yet.
///
/// | line | when |
/// |---|---|
/// | `READY=1` | once: the lanes consume, or wait for brokers that do not answer, as they would later on |
/// | `STATUS=…` | each time the sentence changes: "Delivering", or what is in the way and what to do |
/// | `WATCHDOG=1` | twice in each interval of the watchdog, as long as every lane's loop turns |
/// | `RELOADING=1`, `MONOTONIC_USEC=…` | settings are read again; `READY=1` follows |
/// | `STOPPING=1` | once: the worker drains |
struct ServiceNews {
    private let watchdog: Duration?
    private var isReady = false
    private var isStopping = false
    private var status = ""
    private var nextSignOfLife: MonotonicTime?

    /// - Parameter watchdog: how long the manager waits for a sign of life; `nil` when it waits for none.
    init(watchdog: Duration?) {
        self.watchdog = watchdog
    }

    /// How long to wait before the next look.
    var pause: Duration { min(.seconds(1), (watchdog ?? .seconds(4)) / 4) }

    /// What is to be told when settings are about to be read again, at this moment.
    ///
    /// Nothing while the worker is about to be ready, or stops: the manager would take the end of the reload for more.
    func linesBeforeReload(now: MonotonicTime) -> [String] {
        isReady && !isStopping ? ["RELOADING=1", "MONOTONIC_USEC=\(now.nanoseconds / 1_000)"] : []
    }

    /// What is to be told when they have been, and were taken or not.
    var linesAfterReload: [String] { isReady && !isStopping ? ["READY=1"] : [] }

    /// What is to be told now; what it answers counts as told.
    mutating func lines(for report: WorkerReport, now: MonotonicTime) -> [String] {
        var lines: [String] = []
        let readiness = Readiness(report, now: now)
        if !isReady, !report.isStopping, !readiness.isStarting {
            isReady = true
            lines.append("READY=1")
        }
        if report.isStopping, !isStopping {
            isStopping = true
            lines.append("STOPPING=1")
        }
        let sentence = readiness.reasons.first?.sentence ?? "Delivering"
        if sentence != status {
            status = sentence
            // A line is an assignment.
            lines.append("STATUS=" + String(sentence.map { $0.isNewline ? " " : $0 }))
        }
        if let watchdog, now >= nextSignOfLife ?? now, readiness.stuckTime == nil {
            nextSignOfLife = now.advanced(by: Milliseconds(watchdog / 2))
            lines.append("WATCHDOG=1")
        }
        return lines
    }
}
