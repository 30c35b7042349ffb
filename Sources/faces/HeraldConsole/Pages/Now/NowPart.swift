import HeraldEvents
import HeraldText
import HeraldThreads
import HeraldTime
import HeraldTools

/// The pages Verdict and Now: watches the workers and their group.
final class NowPart: ConsolePart {
    private let plan: NowPlan
    private let news: ConsoleNews
    private let workers = WorkerWatch()
    private let group: GroupWatch
    private let evidence: EvidenceWatch
    private let campaigns: CampaignTroubleWatch
    private let past: PastWatch
    /// Knows the dead letters.
    private let failures: FailuresPart
    private let begin = SystemClock.wall()
    private let model = Guarded(NowModel())
    private let looking = Guarded<RepeatedWork?>(nil)

    init(_ plan: NowPlan, news: ConsoleNews, failures: FailuresPart) throws(SystemError) {
        self.plan = plan
        self.news = news
        self.failures = failures
        group = try GroupWatch(plan)
        evidence = try EvidenceWatch(plan)
        campaigns = try CampaignTroubleWatch(plan)
        past = try PastWatch(plan)
    }

    var routes: [ConsoleRoute] {
        [
            .get("/api/verdict") { [self] _ in .json(verdictJSON) },
            .get("/api/verdict/day") { [self] _ in .json(dayJSON) },
            .get("/api/now") { [self] _ in .json(model.withLock { $0.json }) },
        ]
    }

    func start() throws {
        look()
        for watch in watches { try watch.start() }
        let work = try RepeatedWork(name: "console-now", every: NowHistory.step, isDone: true) { [self] in look() }
        looking.withLock { $0 = work }
    }

    func stop() {
        looking.withLock { $0 }?.stop()
        workers.stop()
        for watch in watches { watch.stop() }
    }

    private var watches: [any ClusterWatch] { [group, evidence, campaigns, past] }

    private func look() {
        let knowledge = group.knowledge
        workers.follow(NowModel.addresses(plan, knowledge))
        let now = SystemClock.wall()
        let snapshot = NowModel.Snapshot(
            now: now, workers: NowModel.known(workers.observations, plan, knowledge), group: knowledge,
            letters: failures.openLetters(since: now.advanced(by: .hours(-1))),
            lettersProblem: failures.problem, evidence: evidence.evidence, campaigns: campaigns.troubles(now: now),
            runningCampaigns: campaigns.running(now: now))
        let (newest, dead) = model.withLock { model in
            model.look(snapshot)
            return (model.newsJSON, model.deadServices)
        }
        failures.board.note(snapshot.evidence, dead: dead)
        news.publish("verdict", verdictJSON)
        news.publish("now", newest)
    }

    /// What was wrong within the last day: what this console saw, what the dead letters tell, and what came late.
    private var dayJSON: JSONValue {
        let now = SystemClock.wall()
        let (log, evidence) = model.withLock { ($0.log, $0.snapshot?.evidence ?? Evidence()) }
        let delivered = evidence.delivered(now: now)
        let runs = failures.letterRuns(since: now.advanced(by: .days(-1)))
        let late = past.report
        var own: [LateRun] = []
        var told: [Int: Lateness] = [:]
        for run in late.runs {
            guard let teller = log.teller(of: run) else {
                own.append(run)
                continue
            }
            told[teller] = told[teller].map { $0 + run.lateness } ?? run.lateness
        }
        let audit = past.audit
        let orders = audit.campaigns.map { $0.span.json(nil) }
        let seen = log.told(besides: audit.skips).enumerated().map { $0.element.json(told[$0.offset]) }
        let failed = runs.map { $0.json(FailurePattern(failed: $0.tally, delivered: delivered)) }
        return [
            "watchedSince": .string(begin.text), "spans": .array(seen + failed + own.map(\.json) + orders),
            "lateness": late.json,
        ]
    }

    private var verdictJSON: JSONValue {
        model.withLock { model in
            guard let verdict = model.verdict, let snapshot = model.snapshot else { return .null }
            return verdict.json(now: snapshot.now, configuration: plan.configuration)
        }
    }
}
