import Glibc
package import HeraldCommandLine
import HeraldEvents
import HeraldSandbox
import HeraldThreads
import HeraldTime
package import HeraldWorker

/// One run of the demo: a worker, the stream of events, the live table of their progress, and the final check.
package final class DemoRun {
    /// The interval between frames of the live table, whose times advance.
    private static let frameInterval: Milliseconds = .milliseconds(100)
    /// The time allowed for reading the topics to their ends after the worker has stopped.
    private static let readingTime: Milliseconds = .seconds(3)

    private let context: DemoContext
    private let console: Console
    private let format: OutputFormat
    private let log: LogPipe
    private let wakeup: Wakeup
    private let stopped: Guarded<Bool>
    private let watcher: TopicWatcher
    private let publisher: DemoPublisher
    private let start = SystemClock.monotonic()
    private var tracker = DemoTracker()
    private var screen: LiveScreen?
    private var schedule: DemoSchedule

    package enum End: Sendable {
        /// Every expected outcome arrived and was right; a watched run may be ended at any time.
        case good
        /// The run was interrupted before every outcome arrived.
        case interrupted
        /// Something differs from the expected outcomes.
        case bad
    }

    /// Prepares a run; it is live when a person watches and did not ask for a single round.
    ///
    /// - Parameter log: receives the worker's lines.
    package init(_ context: DemoContext, log: LogPipe, console: Console, format: OutputFormat, isLive: Bool) throws {
        self.context = context
        self.console = console
        self.format = format
        self.log = log
        wakeup = try Wakeup()
        stopped = Guarded(false)
        watcher = try TopicWatcher(
            bootstrapServers: context.bootstrapServers, topics: context.topics, list: context.topicList, wakeup: wakeup)
        publisher = try DemoPublisher(
            bootstrapServers: context.bootstrapServers, topics: context.topics, wakeup: wakeup)
        screen = isLive ? LiveScreen(console.error) : nil
        for scene in DemoScript.scenes where !scene.optOut.isEmpty || scene.isAsleep {
            try publisher.publish(scene.optOut, isAsleep: scene.isAsleep, of: scene.user)
        }
        schedule = DemoSchedule(isLive ? .live : .once, sceneCount: DemoScript.scenes.count)
    }

    /// Ends the run from another thread: publishing stops, and the worker drains.
    package var stopping: @Sendable () -> Void {
        { [stopped, wakeup] in
            stopped.withLock { $0 = true }
            wakeup.signal()
        }
    }

    /// The text that restores the terminal when the process ends at once.
    package static let restoringTerminal = LiveScreen.restoring

    /// Runs the worker and the stream, and writes the report.
    ///
    /// Blocks; call it once.
    package func run(_ worker: Worker) throws -> End {
        let isLive = screen != nil
        let end = Guarded<WorkerEnd?>(nil)
        let thread = try OwnThread(name: "worker") { [wakeup] in
            let result = worker.run()
            end.withLock { $0 = result }
            wakeup.signal()
        }
        let hasEnded = { end.withLock { $0 != nil } }
        let outcome = Result { try play(until: hasEnded) }
        worker.stop()
        let drained = Result { try serve(until: hasEnded) }
        thread.join()
        let read = Result { try readToTheEnd() }
        if screen != nil {
            try? screen?.end()
            console.complain("")
        }
        screen = nil
        for line in log.drainLines() { console.complain(line) }
        if case .failed(let sentence) = end.withLock({ $0 }) { throw CommandFailure(sentence) }
        try outcome.get()
        try drained.get()
        try read.get()
        return try report(isLive: isLive)
    }

    // MARK: The stream

    private func play(until isOver: () -> Bool) throws {
        while !isOver() {
            if stopped.withLock({ $0 }) { schedule.stop() }
            switch schedule.next(isSettled: tracker.isSettled, now: elapsed) {
            case .publish(let count): for _ in 0..<count { try publishNext() }
            case .wait(let moment):
                try serveOnce(until: moment)
            case .end: return
            }
        }
    }

    private func publishNext() throws {
        let number = tracker.entries.count
        let scenes = context.backend.isHub ? DemoScript.hubScenes : DemoScript.scenes
        let event = DemoEvent(
            scenes[number % scenes.count], number: number, now: SystemClock.wall(),
            isNumbered: context.backend.isHub)
        tracker.published(event)
        try publisher.publish(event)
    }

    private func serve(until isOver: () -> Bool) throws {
        while !isOver() { try serveOnce(until: elapsed + Self.frameInterval) }
    }

    /// Reads new records, shows them, and waits for more, until that moment at the latest.
    private func serveOnce(until moment: Milliseconds) throws {
        wakeup.drain()
        try publisher.serve()
        // Calls first: an outcome before its call would look like an outcome without one.
        tracker.add(context.backend.calls())
        let hasRead = try watcher.read(into: &tracker)
        try show()
        guard !hasRead else { return }
        let limit = screen == nil ? moment : min(moment, elapsed + Self.frameInterval)
        waitForNews(for: max(.zero, limit - elapsed))
    }

    private func waitForNews(for span: Milliseconds) {
        var waiting = [
            pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: log.readingEnd, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&waiting, nfds_t(waiting.count), Int32(clamping: span))
    }

    /// Reads the worker's last records after it has stopped.
    private func readToTheEnd() throws {
        let end = elapsed + Self.readingTime
        while try !watcher.hasReadAll(), elapsed < end { try serveOnce(until: elapsed + Self.frameInterval) }
        tracker.add(context.backend.calls())
        try show()
    }

    private var elapsed: Milliseconds { SystemClock.monotonic().time(since: start) }

    // MARK: Display

    private func show() throws {
        let lines = log.drainLines()
        guard screen != nil else {
            for line in lines { console.complain(line) }
            return
        }
        let size = TerminalSize.of(STDERR_FILENO) ?? TerminalSize(columns: console.error.width, rows: 24)
        let table = LiveTable(size: size) { [console] in console.styled($0, $1, on: console.error) }
        let title =
            "herald demo, \(elapsed.wholeSeconds) s · broker \(context.bootstrapServers) · backend \(context.backend.url)"
        try screen?.draw(
            table.lines(tracker, title: title, hint: hint, now: SystemClock.wall()), above: lines, size: size)
    }

    private var hint: String {
        if stopped.withLock({ $0 }) { return "draining" }
        if tracker.results.isEmpty { return "the worker joins its group: about 3 s" }
        return schedule.isPublishing ? "Ctrl-C ends" : "waiting for the rest"
    }

    private func report(isLive: Bool) throws -> End {
        let report = DemoReport(console: console, format: format)
        let wasStopped = stopped.withLock { $0 }
        try report.write(OutcomeCounts(tracker))
        try report.write(DemoDevice.all.prefix(DemoDevice.shownCount), context.backend)
        var differences = DemoCheck(tracker, isWhole: !wasStopped).differences
        if tracker.isSettled { differences += DemoDevice.differences(tracker, context.backend) }
        for difference in differences { console.complain("demo: \(difference)") }
        let lacksScenes = !isLive && tracker.entries.count < DemoScript.scenes.count
        let isIncomplete = wasStopped && (tracker.openCount > 0 || lacksScenes)
        if isIncomplete {
            console.remark(
                "Ended before every outcome was there; missing: \(tracker.openCount). On a broker that keeps its records the "
                    + "next worker would go on.")
        }
        if differences.isEmpty, !tracker.results.isEmpty {
            console.remark(
                "\(isIncomplete ? "The" : "All") \(tracker.results.count) outcomes \(isIncomplete ? "that came " : "")are what the stream must give: in the results topic, in the dead "
                    + "letters, in the backend's calls.")
        }
        guard differences.isEmpty else { return .bad }
        return isIncomplete && !isLive ? .interrupted : .good
    }
}
