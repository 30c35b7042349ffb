internal import HeraldCampaigns
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

/// The *Campaigns* page: the states of campaigns, orders about them, and their reports; ``CampaignStarts`` has the new
/// ones.
///
/// Campaigns are followed only while a page shows them; otherwise the campaigns topic alone is read, for ``TakeUps``.
final class CampaignsPart: ConsolePart {
    private struct Order: Decodable {
        var reason: String?
        /// The hold that its viewer lets the campaign pass; `nil` for other orders.
        var hold: Int?
    }

    private static let listKey = "list"

    private let service: CampaignService
    /// Of files without names.
    private let directory: String
    private let users: UserRule
    private let starts: CampaignStarts
    private let jobs: Jobs
    private let lists: AskedTasks<CampaignList>
    private let details: AskedTasks<CampaignDetail>
    private let reports: AskedTasks<ReportMaking>
    private let housekeeping: RepeatedWork
    /// `nil` where nobody may make changes.
    private let takeUps: RepeatedWork?

    init(_ context: ConsoleContext, allowsChanges: Bool, jobs: Jobs) throws {
        service = CampaignService(console: context)
        (directory, users) = (context.starts.directory, context.starts.users)
        self.jobs = jobs
        starts = try CampaignStarts(service, context.starts, jobs: jobs)
        lists = try AskedTasks(name: "campaigns", most: 2, keeping: .seconds(10), busy: "the list is about to be read")
        details = try AskedTasks(
            name: "campaign", most: 8, keeping: .seconds(10),
            busy: "eight campaigns are looked at already; close one of their pages")
        reports = try AskedTasks(
            name: "report", most: 2, keeping: .seconds(600), busy: "two reports are made already; try again in a moment"
        )
        housekeeping = try RepeatedWork(name: "housekeeping", every: .seconds(30)) {
            [starts, lists, details, reports] in
            starts.sweep()
            lists.sweep()
            details.sweep()
            reports.sweep()
        }
        takeUps = try allowsChanges ? TakeUps(service, context.starts, jobs: jobs).begin() : nil
    }

    func stop() {
        housekeeping.stop()
        takeUps?.stop()
        lists.stop()
        details.stop()
        reports.stop()
        starts.stop()
    }

    var routes: [ConsoleRoute] {
        let orders = ControlOrder.allCases.map { order in
            ConsoleRoute.change("/api/campaigns/*/\(order.rawValue)") { [self] in try give(order, $0) }
        }
        return orders + starts.routes + [
            .get("/api/campaigns") { [self] _ in try list() },
            .get("/api/campaigns/*") { [self] in try detail($0.parameters[0]) },
            .get("/api/campaigns/*/consequence/*") { [self] in try consequence($0) },
            .get("/api/campaigns/*/report") { [self] in try report($0) },
            .get("/api/campaigns/*/report/page") { [self] in try reportPage($0.parameters[0]) },
            .operate("/api/campaigns/*/report/lists/*") { [self] in try reportList($0) },
            .operate("/api/campaigns/*/message") { [self] in try message($0) },
        ]
    }

    // MARK: Looking

    private func list() throws -> ConsoleAnswer {
        let snapshot = try lists.begin(Self.listKey) { [service] work in
            let follower = try CampaignListFollower(service)
            defer { follower.close() }
            try follower.run(work)
        }
        if let failure = snapshot.failure { throw failure }
        return .json(snapshot.value?.json ?? ["state": "reading"])
    }

    private func detail(_ name: String) throws -> ConsoleAnswer {
        let snapshot = try details.begin(name) { [service, jobs] work in
            let subject = PublishingJob.subject(name)
            try CampaignDetail.follow(name, service, isBegun: { jobs.isBusy(with: subject) }, work)
        }
        if let failure = snapshot.failure { throw failure }
        return .json((snapshot.value ?? CampaignDetail()).json(name))
    }

    private func report(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let name = request.parameters[0]
        if request.text("anew") != "true", let known = reports.ask(name), !known.isEnded || known.value?.made != nil {
            return .json((known.value ?? ReportMaking()).json(name))
        }
        let upload = try request.text("upload").map { try starts.upload($0, request) }
        let snapshot = try reports.begin(name, showing: ReportMaking(upload: upload)) {
            [service, directory, users] in
            try ReportMaking.make(name, upload, users: users, service, in: directory, $0)
        }
        if let failure = snapshot.failure as? UnreadableAudience {
            return .json(CampaignStarts.failed(failure, field: ReportMaking.fileField))
        }
        if let failure = snapshot.failure { throw failure }
        guard snapshot.value?.upload?.key == upload?.key else {
            throw Refused(
                "another report of this campaign is being made, with another audience; try again in a moment",
                status: 409)
        }
        return .json((snapshot.value ?? ReportMaking()).json(name))
    }

    private func reportPage(_ name: String) throws -> ConsoleAnswer {
        let made = try made(name)
        return .file(made.page, type: "text/html; charset=utf-8", name: made.fileName(name, nil))
    }

    /// A list of people, after an audit record of the viewer who takes it.
    private func reportList(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let name = request.parameters[0]
        guard let list = ReportMaking.List(rawValue: request.parameters[1]) else {
            throw Refused("there is no such list", status: 404)
        }
        let made = try made(name)
        guard let file = made.files[list] else {
            throw Refused("this list is too large for a download; the command has no bound", status: 409)
        }
        let fileName = made.fileName(name, list)
        try service.signed(by: request.viewer).recordReveal(
            name, options: [list.option: fileName], at: SystemClock.wall().text)
        return try .file(
            file, type: fileName.hasSuffix("csv") ? "text/csv; charset=utf-8" : "application/jsonl", name: fileName)
    }

    private func made(_ name: String) throws -> ReportMaking.Made {
        if let made = reports.ask(name)?.value?.made { return made }
        throw Refused("the report is not made (any more); ask for it again", status: 404)
    }

    /// Shows the message's template and those beside it, after an audit record of the viewer who sees it.
    private func message(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let name = request.parameters[0]
        let campaign = try CampaignService.campaign(name, in: try service.index(try service.layout(isWriting: true)))
        guard let definition = campaign.definition else {
            throw Refused("nothing is known of its message", status: 404)
        }
        try service.signed(by: request.viewer).recordReveal(name, at: SystemClock.wall().text)
        let content = definition.content ?? CampaignContent()
        return .json(JSONValue.object([.init("message", .string(definition.message))] + content.members()).safe)
    }

    // MARK: Orders

    private func consequence(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        guard let order = ControlOrder(rawValue: request.parameters[1]) else {
            throw Refused("there is no such order", status: 404)
        }
        let plan = try service.plan(order, of: request.parameters[0], isWriting: false)
        // An impossible order is refused before the operator is asked.
        _ = try plan.control(at: SystemClock.wall(), by: request.viewer.name, reason: nil)
        let answer: JSONValue = [
            "consequence": .string(plan.consequence), "at": .string(plan.status.now.text),
            "state": .string(plan.status.state.rawValue),
            "delivered": .integer(plan.status.count.delivered), "open": .integer(plan.status.open),
            "unpublished": .integer(plan.status.unpublished),
            "command": .words(CampaignService.command(order, of: plan.campaign.name, reason: nil)),
        ]
        return .json(answer.safe)
    }

    private func give(_ order: ControlOrder, _ request: ConsoleRequest) throws -> ConsoleAnswer {
        let asked = try request.decoded(Order.self)
        let reason = order == .resume ? nil : ConsoleRequest.reason(asked.reason)
        let (plan, control) = try service.give(
            order, of: request.parameters[0], by: request.viewer, reason: reason, passing: asked.hold)
        let command = JSONValue.words(CampaignService.command(order, of: plan.campaign.name, reason: reason))
        return .json(JSONValue.object(plan.members(control)).with("command", command).safe)
    }
}
