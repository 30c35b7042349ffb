internal import HeraldEvents
internal import HeraldReplay
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTimeline
internal import HeraldTools

/// The *Find* page: the history of a user's events or of one event, and the reason for its current state.
///
/// A search reads topics for seconds, so it is a task that ends when no page asks for it any more.
final class FindPart: ConsolePart {
    private struct Reveal: Decodable {
        /// The request record, `TOPIC/PARTITION/OFFSET`.
        var origin: String
    }

    private let context: ConsoleContext
    /// The job of this console that plans to replay a dead letter, and the reason why it has not yet.
    private let planned: PlannedLetters
    private let searches: AskedTasks<EventSearch>
    private let housekeeping: RepeatedWork

    typealias PlannedLetters = @Sendable (_ partition: Int32, _ offset: Int64) throws -> Explanation.PlannedLetter?

    init(_ context: ConsoleContext, planned: @escaping PlannedLetters) throws {
        self.planned = planned
        self.context = context
        let searches = try AskedTasks<EventSearch>(
            name: "search", most: 4, busy: "four searches are at work; wait until one has ended")
        self.searches = searches
        housekeeping = try RepeatedWork(name: "housekeeping", every: .seconds(30)) { searches.sweep() }
    }

    func stop() {
        housekeeping.stop()
        searches.stop()
    }

    var routes: [ConsoleRoute] {
        [
            .get("/api/find") { [self] in try begin($0) },
            .get("/api/find/*") { [self] in try standing(of: $0.parameters[0]) },
            .get("/api/find/*/explanation") { [self] in try explanation($0) },
            .operate("/api/find/message") { [self] in try message($0) },
        ]
    }

    // MARK: A search

    private func begin(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        var query = TimelineQuery(user: request.text("user"), id: request.text("id"))
        guard query.user != nil || query.id != nil else { throw InvalidArgument("say whose: a user, an id, or both") }
        let since = request.text("since")
        query.since = try since.map { try MomentText.parse($0, name: "since", now: SystemClock.wall()) }
        query.readsAllPartitions = request.text("allPartitions") == "true"
        query.limit = EventSearch.partitionLimit
        let key = AccessToken.random()
        let asked = EventSearch(query: query, since: since)
        try searches.begin(key) { [context] work in try Self.run(asked, context, work) }
        return .json(asked.json.with("search", .string(key)))
    }

    private static func run(
        _ asked: EventSearch, _ context: ConsoleContext, _ work: AskedTasks<EventSearch>.Work
    ) throws {
        var search = asked
        work.publish(search)
        let found = try context.search.run(asked.query, reach: context.reach, admin: context.admin) { passed, total in
            (search.passed, search.total) = (passed, total)
            work.publish(search)
            return work.isWanted
        }
        if asked.query.user != nil || found.timelines.isEmpty {
            do {
                search.lostRequests = try context.search.lostRequests(
                    asked.query, reach: context.reach, admin: context.admin)
            } catch {
                search.lostRequests = "Whether requests were deleted before they were read is not known: \(error)."
            }
        }
        search.found = found
        work.publish(search)
    }

    private func standing(of key: String) throws -> ConsoleAnswer {
        guard let snapshot = searches.ask(key) else { throw Self.forgotten }
        if let failure = snapshot.failure { return .json(["state": "failed", "error": .failure(failure)]) }
        guard let search = snapshot.value else { return .json(["state": "reading", "passed": 0, "total": 0]) }
        return .json(search.json.with("search", .string(key)))
    }

    private static let forgotten = Refused("this search was forgotten; search again", status: 404)

    // MARK: One event

    private func explanation(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        guard let found = searches.ask(request.parameters[0])?.value?.found else { throw Self.forgotten }
        let name = request.text("event") ?? ""
        guard let event = found.timelines.first(where: { "\($0.origin)" == name }) else {
            throw Refused("the search has no event \(SafeText.quoted(name))", status: 404)
        }
        let letter = try event.deadLetter.flatMap { try planned($0.record.partition, $0.record.offset) }
        var situation = context.situation(SystemClock.wall())
        situation.planned = letter
        let explanation = try context.search.explanation(
            of: event, in: found, situation, reach: context.reach, admin: context.admin)
        var words = ["herald", "explain", event.id ?? "\(event.origin)"]
        if let user = event.user { words += ["--user", user] }
        return .json(explanation.json.with("command", .words(words)).safe)
    }

    /// Shows a message, after an audit record of the viewer who sees it.
    private func message(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let name = try request.decoded(Reveal.self).origin
        guard let origin = Origin(name), context.search.topics.requests.contains(origin.topic) else {
            throw InvalidArgument("origin: \(SafeText.quoted(name)) is no request record TOPIC/PARTITION/OFFSET")
        }
        var entry = AuditEntry(
            action: "event.reveal", phase: "done", at: SystemClock.wall().text, by: request.viewer.name)
        entry.selection = "\(origin)"
        try entry.recordReveal(topic: context.replay.topics.audit, properties: context.replay.auditProperties)
        guard let content = try context.search.content(of: origin) else { return .json(["message": .null]) }
        let members: [JSONValue.Member] = [.init("message", .string(content.message))] + content.beside.members
        return .json(JSONValue.object(members).safe)
    }
}

extension JSONValue {
    /// An error as a sentence that is safe to show.
    static func failure(_ error: any Error) -> JSONValue { .string(SafeText.escaped("\(error)")) }
}
