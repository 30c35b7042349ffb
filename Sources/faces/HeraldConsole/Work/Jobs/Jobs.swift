internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

/// The long-running work of the console: each job on its own thread in this process, even when its tab is closed.
///
/// Any thread.
final class Jobs: Sendable {
    private static let runningLimit = 16
    private static let endedLimit = 50
    /// The shortest interval between progress news; beginnings and ends are always published.
    private static let interval = Duration.milliseconds(250)

    private struct State {
        var jobs: [JobRecord] = []
        var threads: [String: OwnThread] = [:]
        var lastNews: ContinuousClock.Instant?
        var isClosed = false
    }

    private let state = Guarded(State())
    private let onNews: @Sendable (JSONValue) -> Void

    /// Creates an empty list of jobs.
    ///
    /// - Parameter onNews: called with all jobs, newest first, after each change.
    init(onNews: @escaping @Sendable (JSONValue) -> Void) {
        self.onNews = onNews
    }

    /// Begins a job on its own thread.
    ///
    /// - Parameter work: ends soon after ``JobControl/isStopping`` is true; its error is the failed job's sentence.
    /// - Returns: the job's id.
    /// - Throws: a ``ToolFailure`` when another job works on the same subject, or too many run.
    @discardableResult
    func begin(
        _ description: JobDescription, _ work: @escaping @Sendable (JobControl) throws -> JobEnd
    ) throws -> String {
        let id = String(UInt64.random(in: .min ... .max), radix: 36)
        let control = JobControl(id: id) { [weak self] in self?.publishNow(isProgress: true) }
        let record = JobRecord(id: id, description: description, control: control, beganAt: SystemClock.wall())
        try state.withLock { state in try Self.add(record, to: &state) }
        do {
            let thread = try OwnThread(name: "job") { [self] in
                run(id, control, work)
            }
            state.withLock { state in
                // It may have ended already.
                if state.jobs.contains(where: { $0.id == id && $0.end == nil }) { state.threads[id] = thread }
            }
        } catch {
            end(id, JobEnd(.failed, "\(error)"))
            throw ToolFailure("no thread for a job: \(error)")
        }
        publishNow()
        return id
    }

    private static func add(_ record: JobRecord, to state: inout State) throws {
        guard !state.isClosed else { throw ToolFailure("the console is about to end") }
        let running = state.jobs.filter { $0.end == nil }
        if let subject = record.description.subject, !record.description.takesOver,
            let other = running.first(where: { $0.description.subject == subject })
        {
            throw ToolFailure(
                "\(other.description.owner) is at work on it already (\(other.description.name)); "
                    + "wait for its end, or stop it")
        }
        guard running.count < runningLimit else { throw ToolFailure("\(runningLimit) jobs run already") }
        state.jobs.append(record)
        var surplus = state.jobs.count - running.count - 1 - endedLimit
        state.jobs.removeAll { job in
            guard surplus > 0, job.end != nil else { return false }
            surplus -= 1
            return true
        }
    }

    private func run(_ id: String, _ control: JobControl, _ work: (JobControl) throws -> JobEnd) {
        do {
            end(id, try work(control))
        } catch {
            end(id, JobEnd(.failed, "\(error)"))
        }
    }

    private func end(_ id: String, _ end: JobEnd) {
        state.withLock { state in
            state.threads[id] = nil
            guard let index = state.jobs.firstIndex(where: { $0.id == id }) else { return }
            state.jobs[index].end = end
            state.jobs[index].endedAt = SystemClock.wall()
        }
        publishNow()
    }

    /// Sends a request to a running job.
    ///
    /// - Throws: a ``ToolFailure`` when there is no such job, it has ended, or it cannot be paused.
    func ask(_ request: JobRequest, of id: String, by name: String) throws {
        let job = state.withLock { state in state.jobs.first { $0.id == id } }
        guard let job else { throw ToolFailure("there is no job \(SafeText.quoted(id)) in this console") }
        guard job.end == nil else { throw ToolFailure("the job has ended already") }
        guard request == .stop || job.description.canPause else { throw ToolFailure("this job cannot be paused") }
        job.control.ask(request, by: name)
        publishNow()
    }

    var list: JSONValue { .array(state.withLock { $0.jobs }.reversed().map(\.object)) }

    func object(_ id: String) -> JSONValue? {
        state.withLock { state in state.jobs.first { $0.id == id } }?.object
    }

    func isBusy(with subject: String) -> Bool {
        state.withLock { state in state.jobs.contains { $0.end == nil && $0.description.subject == subject } }
    }

    /// Asks all jobs to stop, refuses new ones, and waits for their ends.
    func stop() {
        let (controls, threads) = state.withLock { state in
            state.isClosed = true
            return (state.jobs.filter { $0.end == nil }.map(\.control), Array(state.threads.values))
        }
        for control in controls { control.endWithConsole() }
        for thread in threads { thread.join() }
    }

    private func publishNow(isProgress: Bool = false) {
        let isDue = state.withLock { state -> Bool in
            let now = ContinuousClock.now
            if isProgress, let last = state.lastNews, now - last < Self.interval { return false }
            state.lastNews = now
            return true
        }
        if isDue { onNews(list) }
    }
}

/// The jobs of this console, for all pages: `/api/jobs`, and the news `jobs`.
final class JobsPart: ConsolePart {
    let jobs: Jobs

    init(news: ConsoleNews) {
        jobs = Jobs { news.publish("jobs", $0) }
    }

    var routes: [ConsoleRoute] {
        [
            .get("/api/jobs") { [jobs] _ in .json(["jobs": jobs.list]) },
            .get("/api/jobs/*") { [jobs] request in
                guard let job = jobs.object(request.parameters[0]) else {
                    throw Refused("there is no such job in this console", status: 404)
                }
                return .json(job)
            },
            .change("/api/jobs/*/*") { [jobs] request in
                guard let asked = JobRequest(rawValue: request.parameters[1]) else {
                    throw Refused("a job can be asked to stop, pause or resume", status: 404)
                }
                try jobs.ask(asked, of: request.parameters[0], by: request.viewer.name)
                return .json(jobs.object(request.parameters[0]) ?? .null)
            },
        ]
    }

    func stop() { jobs.stop() }
}
