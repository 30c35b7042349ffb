internal import HeraldEvents
internal import HeraldReplay
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTimeline
internal import HeraldTools

/// Carries plans out as jobs of the console.
struct ReplayStarter: Sendable {
    struct Request: Decodable, Sendable {
        var count: Int?
        /// The reason; the note of a viewer who resolves.
        var reason: String?
    }

    private static let reasonLength = 500

    let context: ConsoleContext
    let planner: ReplayPlanner
    let jobs: Jobs
    let questions = LetterQuestions()

    /// The job of this console that plans to replay a dead letter, and the reason why it has not yet.
    func planned(partition: Int32, offset: Int64) throws -> Explanation.PlannedLetter? {
        guard jobs.isBusy(with: Self.subject) else { return nil }
        return try questions.ask(partition: partition, offset: offset)
    }

    /// Starts a plan in the name of a viewer; returns the job's id.
    ///
    /// - Throws: a ``ToolFailure`` when the plan is too old or used, another job is running, or the count is not typed.
    func start(_ id: String, _ request: Request, by name: String) throws -> String {
        let reason = request.reason?.trimmed ?? ""
        guard !reason.isEmpty, reason.count <= Self.reasonLength else {
            throw InvalidArgument("say why, in \(Self.reasonLength) characters at most: it goes into the audit")
        }
        guard !jobs.isBusy(with: Self.subject) else {
            throw ToolFailure("a replay of this console is at work already; wait for its end, or stop it")
        }
        let plan = try planner.cache.take(id, by: name, count: request.count)
        let context = context.signed(by: name)
        let description = JobDescription(
            kind: plan.request.kind == .resolve ? "dlq.resolve" : "dlq.replay", name: plan.selection, owner: name,
            subject: Self.subject, canPause: plan.request.kind != .resolve,
            about: [
                "plan": .string(id), "count": .integer(plan.count), "request": plan.request.object,
                "reason": .string(SafeText.escaped(reason)),
                "command": .array(
                    plan.request.command(configuration: context.configuration).map(JSONValue.string)),
            ])
        let job = try jobs.begin(description) { [context] control in
            let replayer = try context.replayer(isWriting: true)
            guard let state = try replayer.context.state(replayer.layout) else {
                throw ToolFailure("there is no topic \(context.replay.topics.state); make it with: herald topics apply")
            }
            defer { state.close() }
            switch plan.work {
            case .replay(let work, let rules, var options):
                options.reason = reason
                return try replay(work, rules, options, replayer, state, control)
            case .resolve(let work):
                return try resolve(work, selection: plan.selection, note: reason, replayer, state, control)
            }
        }
        planner.cache.note(.used(by: name, job: job), of: id)
        return job
    }

    /// The lease lets one job at a time work on the dead letters.
    private static let subject = "dead-letters"

    private func replay(
        _ plan: ReplayPlan, _ rules: ReplayRules, _ options: ReplayOptions, _ replayer: Replayer, _ state: StateReader,
        _ control: JobControl
    ) throws -> JobEnd {
        let log = Guarded(BatchLog())
        let report = try replayer.replay(
            plan, rules, options, state: state, isStopping: { control.isStopping },
            pause: { control.pause },
            onTurn: { job, now in
                questions.answer(job, now)
                let progress = job.progress
                guard progress.batch > 0 else { return control.report(.object(job.waitsMembers(now))) }
                log.withLock { $0.note(progress) }
                control.report(progress.object(job.waitsMembers(now), log.withLock { $0.object }))
            })
        return report.jobEnd(log.withLock { $0.object }, watchedTopic: replayer.context.watchedTopic)
    }

    private func resolve(
        _ plan: ResolvePlan, selection: String, note: String, _ replayer: Replayer, _ state: StateReader,
        _ control: JobControl
    ) throws -> JobEnd {
        let (job, count, failure) = try replayer.resolve(
            plan, selection: selection, note: note, state: state,
            onTurn: { job, now in
                questions.answer(job, now)
                control.report(.object(job.waitsMembers(now)))
            })
        let report: JSONValue = ["job": .string(job), "resolved": .integer(count)]
        if let failure { return JobEnd(.failed, "\(failure); \(count) resolved", report: report) }
        return JobEnd(.done, "\(count) resolved.", report: report)
    }
}

extension ReplayMachine {
    /// The reason why the job waits; empty while it works.
    fileprivate func waitsMembers(_ now: Moment) -> [JSONValue.Member] {
        wait(now: now).map { [.init("waits", $0.json.safe)] } ?? []
    }
}

extension ReplayProgress {
    fileprivate func object(_ waits: [JSONValue.Member], _ batches: JSONValue) -> JSONValue {
        .object(
            [.init("batch", .integer(batch)), .init("planned", .integer(planned))] + waits
                + counts.map { JSONValue.Member($0.name, .integer($0.count)) } + [.init("batches", batches)])
    }
}

extension ReplayReport {
    fileprivate func jobEnd(_ batches: JSONValue, watchedTopic: String?) -> JobEnd {
        let report = JSONValue.object(
            members + [.init("planned", .integer(progress.planned)), .init("batches", batches)])
        return JobEnd(
            end, sentence(again: "plan what is left to go on with the rest", watchedTopic: watchedTopic), report: report
        )
    }
}

/// The results of each batch of a replay: pure, fed with its progress.
struct BatchLog: Sendable {
    struct Batch: Sendable, Equatable {
        var number: Int
        var replayed = 0
        var delivered = 0
        var failed = 0
    }

    private static let limit = 50
    private(set) var batches: [Batch] = []
    private var before = ReplayProgress()

    mutating func note(_ progress: ReplayProgress) {
        if batches.last?.number != progress.batch {
            // The counts at the beginning of a batch belong to earlier ones.
            update(progress)
            before = progress
            batches.append(Batch(number: progress.batch))
            if batches.count > Self.limit { batches.removeFirst() }
        }
        update(progress)
    }

    private mutating func update(_ progress: ReplayProgress) {
        guard let index = batches.indices.last else { return }
        batches[index].replayed = progress.replayed - before.replayed
        batches[index].delivered = progress.delivered - before.delivered
        batches[index].failed = progress.failed - before.failed
    }

    var object: JSONValue {
        .array(
            batches.map { batch in
                [
                    "batch": .integer(batch.number), "replayed": .integer(batch.replayed),
                    "delivered": .integer(batch.delivered), "failed": .integer(batch.failed),
                ]
            })
    }
}
