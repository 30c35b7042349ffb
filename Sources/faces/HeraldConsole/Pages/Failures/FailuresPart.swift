internal import HeraldCampaigns
internal import HeraldReplay
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

/// The *Failures* page: groups of dead letters, single ones, and replays step by step.
///
/// | path | answers |
/// |---|---|
/// | `groups` | the groups of `herald dlq list` |
/// | `letters` | the letters that match a filter, page by page, newest first |
/// | `letters/NAME` | the letters at a place or with an id, as in `herald dlq show` |
/// | `reveal` | the same with its texts; recorded in the audit |
/// | `export` | a file; POST includes the texts and is recorded in the audit |
/// | `plans`, `plans/ID`, `plans/ID/start` | a plan of a replay or resolution, and its start |
/// | `open` | replayed events since a given time that wait for their next call |
/// | `abandoned/JOB` | the subject of a job that ended without its last record |
final class FailuresPart: ConsolePart {
    private static let standardPage = 50
    private static let largestPage = 200

    private let context: ConsoleContext
    private let follower: LetterFollower
    private let queries: LetterQueries
    private let planner: ReplayPlanner
    /// What the page Now has found out.
    let board = TroubleBoard()
    private static let openLimit = 5
    let starter: ReplayStarter

    init(_ context: ConsoleContext, jobs: Jobs, news: ConsoleNews) throws(SystemError) {
        self.context = context
        follower = try LetterFollower(context) { news.publish("failures", $0.object) }
        queries = LetterQueries(context: context, follower: follower, board: board)
        planner = try ReplayPlanner(context, queries, board)
        starter = ReplayStarter(context: context, planner: planner, jobs: jobs)
    }

    func start() throws { try follower.start() }

    func stop() {
        planner.stop()
        follower.stop()
    }

    /// The open dead letters since then; `nil` until the topic is read.
    func openLetters(since moment: WallTime) -> OpenLetters? {
        let snapshot = follower.snapshot
        switch snapshot.status {
        case .reading: return nil
        // Earlier records count until the topic can be read again.
        case .failed where snapshot.index.isEmpty: return nil
        case .failed, .current: break
        }
        return snapshot.index.open(
            since: moment, snapshot.marks, snapshot.outcomes, delivered: board.delivered(now: SystemClock.wall()))
    }

    /// The obstacle to reading dead letters; `nil` without one.
    var problem: String? {
        if case .failed(let problem) = follower.snapshot.status { problem } else { nil }
    }

    /// The runs of dead letters since then, oldest first; empty until the topic is read.
    func letterRuns(since moment: WallTime) -> [LetterRun] {
        let snapshot = follower.snapshot
        if case .reading = snapshot.status { return [] }
        return snapshot.index.runs(since: moment, snapshot.marks, snapshot.outcomes)
    }

    var routes: [ConsoleRoute] {
        [
            .get("/api/failures/groups", groups), .get("/api/failures/letters", letters),
            .get("/api/failures/letters/*", letter), .operate("/api/failures/reveal", reveal),
            .get("/api/failures/export", export), .operate("/api/failures/export", exportRevealed),
            .operate("/api/failures/plans", plan), .get("/api/failures/plans/*", showPlan),
            .get("/api/failures/open", openReplays), .change("/api/failures/plans/*/start", start),
            .get("/api/failures/abandoned/*", abandoned),
        ]
    }

    // MARK: - Looking

    private func groups(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let name = request.text("by") ?? GroupField.reason.rawValue
        guard let field = GroupField(rawValue: name) else {
            throw InvalidArgument("by: one of \(GroupField.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return .json(
            try queries.groups(by: field, try LetterFilter(request), isWhole: request.text("whole") != nil))
    }

    private func letters(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let cursor = try request.text("behind").map { text throws(InvalidArgument) in
            guard let cursor = LetterOrder(cursor: text) else {
                throw InvalidArgument("behind: take it from the answer before")
            }
            return cursor
        }
        let limit = request.text("limit").flatMap { Int($0) } ?? Self.standardPage
        return .json(
            try queries.letters(
                try LetterFilter(request), behind: cursor, atMost: max(1, min(limit, Self.largestPage))))
    }

    private func letter(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        .json(["letters": .array(try queries.letters(named: request.parameters[0], isRevealed: false))])
    }

    // MARK: - Texts

    private struct Named: Decodable {
        /// A place or an id.
        var name: String
    }

    private func reveal(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let name = try request.decoded(Named.self).name
        // A request for unknown letters is not recorded.
        let entries = try queries.entries(named: name, follower.snapshot)
        try context.signed(by: request.viewer.name).replay.recordReveal(
            "show \(Selection.quoted(name))", at: SystemClock.wall())
        // Edited values must be exact, even if they disturb a page; only texts can be edited.
        let values = entries.map { entry -> JSONValue in
            let text = entry.value.flatMap { String(validating: $0, as: UTF8.self) }
            return .present([.init("place", .string(entry.place)), .init("value", .text(text))])
        }
        return .json([
            "letters": .array(try queries.letters(named: name, isRevealed: true)), "values": .array(values),
        ])
    }

    private func export(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let export = letterExport(try Self.format(request.text("format")), isRevealed: false)
        return try queries.export(try LetterFilter(request), export)
    }

    private struct ExportRequest: Decodable {
        var filter: LetterFilter
        var format: String?
    }

    private func exportRevealed(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let asked = try request.decoded(ExportRequest.self)
        let export = letterExport(try Self.format(asked.format), isRevealed: true)
        let selection = try asked.filter.selection(now: SystemClock.wall())
        try context.signed(by: request.viewer.name).replay
            .recordReveal("export \(selection.text)", at: SystemClock.wall())
        return try queries.export(asked.filter, export)
    }

    private func letterExport(_ format: LetterExport.Format, isRevealed: Bool) -> LetterExport {
        LetterExport(format, isRevealed: isRevealed, configuration: context.configuration) { [context] name in
            // Without a word of the campaign it is a file as any other.
            let service = CampaignService(console: context)
            let index = try? service.index(service.layout())
            return index?.campaign(name)?.progress?.cellDelimiter
        }
    }

    private static func format(_ name: String?) throws(InvalidArgument) -> LetterExport.Format {
        guard let name else { return .jsonl }
        guard let format = LetterExport.Format(rawValue: name) else { throw InvalidArgument("format: jsonl or csv") }
        return format
    }

    // MARK: - Replays

    private func plan(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let id = try planner.plan(try request.decoded(PlanRequest.self))
        return .json(try planner.object(id))
    }

    private func showPlan(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        .json(try planner.object(request.parameters[0]))
    }

    private func start(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let asked = try request.decoded(ReplayStarter.Request.self)
        return .json(["job": .string(try starter.start(request.parameters[0], asked, by: request.viewer.name))])
    }

    /// The last answers to replayed events, and the times of their next calls.
    private func openReplays(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        guard let text = request.text("since"), let since = RFC3339.parse(Array(text.utf8).span.bytes) else {
            throw InvalidArgument("since: a moment such as 2026-11-23T02:14:00Z")
        }
        let open = board.openReplays(since: since, now: SystemClock.wall())
        return .json([
            "count": .integer(open.count), "open": .array(open.prefix(Self.openLimit).map(\.json)),
        ])
    }

    /// The recorded instructions of a job that ended without its last record.
    private func abandoned(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        guard let lease = follower.snapshot.lease.abandoned(), lease.job == request.parameters[0] else {
            throw ToolFailure("this job has ended, or another has taken over")
        }
        let entry = try context.replay.beginning(ofJob: lease.job, since: lease.since)
        let text = entry?.selection ?? lease.work.split(separator: " ").dropFirst().joined(separator: " ")
        let kind = lease.work.hasPrefix(PlanRequest.Kind.resolve.rawValue) ? PlanRequest.Kind.resolve : .replay
        let options = (entry?.options ?? [:]).sorted { $0.key < $1.key }
        return .json(
            .present([
                .init("job", .string(lease.job)), .init("owner", .string(SafeText.escaped(lease.owner))),
                .init("kind", .string(kind.rawValue)),
                .init("since", .string(WallTime(milliseconds: lease.since).text)),
                .init("selection", .string(SafeText.escaped(text))),
                .init("reason", .text(entry?.reason.map(SafeText.escaped))),
                .init("options", .object(options.map { .init($0.key, .string(SafeText.escaped($0.value))) })),
                .init("filter", LetterFilter(text: text)?.object ?? .null),
            ]))
    }
}
