import HeraldText
import HeraldThreads
import HeraldTime
import HeraldTools

/// The pages Verdict and Now: watches the workers and their group.
final class NowPart: ConsolePart {
    private static let hourMilliseconds: Int64 = 3_600_000

    private let plan: NowPlan
    private let news: ConsoleNews
    private let workers = WorkerWatch()
    private let group: GroupWatch
    private let evidence: EvidenceWatch
    private let board: TroubleBoard
    private let letters: @Sendable (WallTime) -> TraitTally?
    private let model = Guarded(NowModel())
    private let wakeup: Wakeup
    private let looking = Guarded<OwnThread?>(nil)

    /// - Parameters:
    ///   - board: is told what the page Failures says, too.
    ///   - letters: the open dead letters since a moment; `nil` when that is not known.
    init(
        _ plan: NowPlan, news: ConsoleNews, board: TroubleBoard, letters: @escaping @Sendable (WallTime) -> TraitTally?
    ) throws(SystemError) {
        self.plan = plan
        self.news = news
        self.board = board
        self.letters = letters
        group = try GroupWatch(plan)
        evidence = try EvidenceWatch(plan)
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
        try evidence.start()
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
        evidence.stop()
    }

    private func look() {
        let knowledge = group.knowledge
        workers.follow(NowModel.addresses(plan, knowledge))
        let now = SystemClock.wall()
        let sight = NowModel.Sight(
            now: now, workers: workers.observations, group: knowledge,
            letters: letters(now.advanced(byMilliseconds: -Self.hourMilliseconds)), evidence: evidence.evidence)
        let (newest, dead) = model.withLock { model in
            model.look(sight)
            return (model.newsJSON, model.deadServices)
        }
        board.note(sight.evidence, dead: dead)
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
