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
    private let deadLetters: DeadLetterWatch
    private let model = Guarded(NowModel())
    private let wakeup: Wakeup
    private let looking = Guarded<OwnThread?>(nil)

    init(_ plan: NowPlan, news: ConsoleNews) throws(SystemError) {
        self.plan = plan
        self.news = news
        group = try GroupWatch(plan)
        deadLetters = try DeadLetterWatch(plan)
        wakeup = try Wakeup()
    }

    var routes: [ConsoleRoute] {
        [
            .get("/api/verdict") { [self] _ in .json(verdictJSON) },
            .get("/api/now") { [self] _ in .json(model.withLock { $0.json }) },
        ]
    }

    func start() throws {
        look()
        try group.start()
        try deadLetters.start()
        let thread = try OwnThread(name: "console-now") { [self] in
            while !wakeup.wait(for: NowHistory.step) { look() }
        }
        looking.withLock { $0 = thread }
    }

    func stop() {
        wakeup.signal()
        looking.withLock { $0 }?.join()
        workers.stop()
        group.stop()
        deadLetters.stop()
    }

    private func look() {
        let knowledge = group.knowledge
        workers.follow(NowModel.addresses(plan, knowledge))
        let now = SystemClock.wall()
        let sight = NowModel.Sight(
            now: now, workers: workers.observations, group: knowledge, deadLetters: deadLetters.count(now: now))
        let newest = model.withLock { model in
            model.look(sight)
            return model.newsJSON
        }
        news.publish("verdict", verdictJSON)
        news.publish("now", newest)
    }

    private var verdictJSON: JSONValue {
        model.withLock { model in
            guard let verdict = model.verdict, let sight = model.sight else { return .null }
            return verdict.json(now: sight.now)
        }
    }
}
