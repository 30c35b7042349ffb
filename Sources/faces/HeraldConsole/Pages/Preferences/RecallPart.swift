internal import HeraldCampaigns
internal import HeraldEvents
internal import HeraldText
internal import HeraldThreads
internal import HeraldTimeline
internal import HeraldTools

/// The page *Preferences*' recalls: what is not called yet of an event or a campaign, and its recall.
final class RecallPart: ConsolePart {
    /// Either a campaign, or an id and a user.
    private struct Subject: Decodable {
        var campaign: String?
        var id: String?
        var user: String?
        var source: String?
        var reason: String?
    }

    private let context: ConsoleContext
    private let campaigns: CampaignService
    private let tasks: ReadingTasks

    init(_ context: ConsoleContext) throws {
        self.context = context
        campaigns = CampaignService(console: context)
        tasks = try ReadingTasks(name: "recall", busy: "four searches are at work; wait until one has ended")
    }

    func stop() { tasks.stop() }

    var routes: [ConsoleRoute] {
        [
            .get("/api/recalls") { [self] request in
                try look(
                    Subject(
                        campaign: request.text("campaign"), id: request.text("id"), user: request.text("user"),
                        source: request.text("source")))
            },
            .get("/api/recalls/*") { [self] in try tasks.standing(of: $0.parameters[0]) },
            .change("/api/recalls/give") { [self] in try recall($0, isWithdrawn: false) },
            .change("/api/recalls/withdraw") { [self] in try recall($0, isWithdrawn: true) },
        ]
    }

    private static func subject(_ asked: Subject) throws -> Recall.Subject {
        func text(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        if let campaign = text(asked.campaign) { return .campaign(campaign) }
        guard let id = text(asked.id) else { throw FormMistake("recall-id", "is needed, or a campaign's name") }
        guard let user = text(asked.user) else { throw FormMistake("recall-user", "is needed beside the id") }
        return .event(id: id, user: user, source: text(asked.source))
    }

    private static func command(_ subject: Recall.Subject) -> [String] {
        switch subject {
        case .campaign(let name): ["herald", "recall", "--campaign", name]
        case .event(let id, let user, let source):
            ["herald", "recall", "--id", id, "--user", user] + (source.map { ["--source", $0] } ?? [])
        }
    }

    // MARK: Looking

    private func look(_ asked: Subject) throws -> ConsoleAnswer {
        let subject = try Self.subject(asked)
        return try tasks.begin { [self] progress in
            let known = try context.words.recall(
                of: subject, reach: context.reach, admin: context.admin, onProgress: { _, _ in progress(0, 0) })
            let scope = try scope(subject, progress)
            return .present([
                .init("subject", .string(subject.words)), .init("left", scope.left.map { .integer($0) } ?? .null),
                .init("sentences", .words(scope.sentences)), .init("isRecalled", .bool(known != nil)),
                .init("at", .text(known?.at?.text)), .init("by", .text(known?.by)),
                .init("reason", .text(known?.reason)), .init("command", .words(Self.command(subject))),
            ])
        }
    }

    private func scope(_ subject: Recall.Subject, _ progress: (Int64, Int64) -> Bool) throws -> RecallScope {
        switch subject {
        case .campaign(let name):
            let layout = try campaigns.layout()
            let index = try campaigns.index(layout)
            guard let campaign = index.campaign(name) else {
                return RecallScope(
                    unknownCampaign: name, nearest: Suggestion.nearest(to: name, in: index.names))
            }
            let end = ContinuousClock.now + CampaignService.patience
            let (status, isWhole) = try campaigns.context.statuses(of: [campaign], layout) { passed, total in
                progress(passed, total) && ContinuousClock.now < end
            }[0]
            return RecallScope(status, isWhole: isWhole)
        case .event(let id, let user, let source):
            let query = TimelineQuery(user: user, id: id)
            let found = try context.search.run(
                query, reach: context.reach, admin: context.admin, onProgress: progress)
            return RecallScope(found, source: source)
        }
    }

    // MARK: Recalling

    private func recall(_ request: ConsoleRequest, isWithdrawn: Bool) throws -> ConsoleAnswer {
        let asked = try request.decoded(Subject.self)
        let subject = try Self.subject(asked)
        let words = context.signed(by: request.viewer.name).words
        _ = try words.partitions(
            of: words.topics.recalls, isWriting: true, reach: context.reach, admin: context.admin)
        let reason = ConsoleRequest.reason(asked.reason)
        try words.recall(subject, isWithdrawn: isWithdrawn, reason: reason)
        let command =
            Self.command(subject) + (isWithdrawn ? ["--withdraw"] : []) + (reason.map { ["--reason", $0] } ?? [])
        let answer: JSONValue = ["subject": .string(subject.words), "command": .words(command)]
        return .json(answer.safe)
    }
}
