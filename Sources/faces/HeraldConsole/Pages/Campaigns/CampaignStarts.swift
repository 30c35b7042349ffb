internal import HeraldCampaigns
internal import HeraldEvents
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// New campaigns: the audience is uploaded in pieces, read, and, once confirmed, published by a job.
final class CampaignStarts: Sendable {
    private struct Declaration: Decodable {
        var name: String
        var bytes: Int
    }

    private struct Word: Decodable {
        var hash: String?
        var form: StartForm?
        /// The number of recipients, which must be typed above 100.
        var typed: Int?
        /// Whether invalid lines are left out, regardless of their number.
        var leavesOut: Bool?
        /// Whether a campaign that is paused is resumed first.
        var resumes: Bool?
    }

    private struct Trial: Decodable {
        /// `me,anna`.
        var users: String
        var hash: String?
    }

    /// The field of the form that is marked when the file is refused.
    private static let fileField = "audience"

    private let service: CampaignService
    private let rules: CampaignStartRules
    private let jobs: Jobs
    private let uploads: UploadStore
    private let drafts: AskedTasks<CampaignDraft>
    private let trials: AskedTasks<CampaignTrial>

    init(_ service: CampaignService, _ rules: CampaignStartRules, jobs: Jobs) throws {
        self.service = service
        self.rules = rules
        self.jobs = jobs
        var limits = UploadStore.Limits()
        limits.bytes = rules.uploadLimit
        uploads = UploadStore(in: rules.directory, limits: limits)
        drafts = try AskedTasks(
            name: "preview", most: 2, patience: .seconds(30), keeping: .seconds(3_600),
            busy: "two audiences are looked through already; try again in a moment")
        trials = try AskedTasks(
            name: "test", most: 2, keeping: .seconds(600), busy: "two tests are sent already; try again in a moment")
    }

    func sweep() {
        uploads.sweep()
        drafts.sweep()
        trials.sweep()
    }

    func stop() {
        drafts.stop()
        trials.stop()
        uploads.clear()
    }

    var routes: [ConsoleRoute] {
        [
            .operate("/api/uploads") { [self] in try declare($0) },
            .operate("/api/uploads/*") { [self] in try append($0) },
            .operate("/api/uploads/*/discard") { [self] request in
                uploads.discard(request.parameters[0], owner: request.viewer.name)
                return .json([:])
            },
            .get("/api/drafts") { [self] in try choices(of: $0.text("campaign")) },
            .operate("/api/drafts") { [self] in try preview($0) },
            .get("/api/drafts/*") { [self] in try standing($0) },
            .operate("/api/drafts/*/discard") { [self] in
                _ = try draft($0)
                drafts.drop($0.parameters[0])
                return .json([:])
            },
            .operate("/api/drafts/*/messages") { [self] in try messages($0) },
            .get("/api/drafts/*/invalid") { [self] in try invalidLines($0) },
            .change("/api/drafts/*/test") { [self] in try test($0) },
            .get("/api/drafts/*/test") { [self] in try testStanding($0) },
            .change("/api/drafts/*/start") { [self] in try start($0) },
        ]
    }

    // MARK: The audience

    private func declare(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let asked = try request.decoded(Declaration.self)
        let key = try uploads.declare(name: asked.name, byteCount: asked.bytes, owner: request.viewer.name)
        return .json(["upload": .string(key), "pieceBytes": .integer(uploads.limits.pieceBytes)])
    }

    private func append(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        guard let offset = request.text("offset").flatMap({ Int($0) }), offset >= 0 else {
            throw InvalidArgument("offset: say where in the file the piece begins")
        }
        let count = try uploads.append(
            request.body, at: offset, to: request.parameters[0], owner: request.viewer.name)
        return .json(["bytes": .integer(count)])
    }

    /// An audience that was uploaded for a report, which says how it is written.
    func upload(_ key: String, _ request: ConsoleRequest) throws -> ReportMaking.Upload {
        let (file, name) = try uploads.file(key, owner: request.viewer.name)
        let form = try StartForm.audience(
            delimiter: request.text("delimiter"), userColumn: nil, encoding: request.text("encoding"))
        return ReportMaking.Upload(key: key, file: file, name: name, form: form)
    }

    // MARK: The preview

    /// What a form offers, and whom the campaign leaves out that is to go on.
    private func choices(of name: String?) throws -> ConsoleAnswer {
        let requests = service.context.topics.requests
        let index = try service.index(try service.layout())
        let campaigns = index.names.filter { $0 != name }.compactMap { index.campaign($0)?.definition }
            .sorted { ($1.startedAt, $0.name) < ($0.startedAt, $1.name) }.map(\.name)
        let campaign = name.flatMap { index.campaign($0) }
        let exclusions = campaign?.definition?.exclusions
        let isScheduled = campaign?.isScheduled(at: SystemClock.wall()) ?? false
        return .json(
            JSONValue.present([
                .init("topics", .words(requests)),
                .init("topic", .text(requests.count > 1 ? requests[1] : requests.first)),
                .init("pushServices", .words(rules.pushServices.names)),
                .init("uploadLimit", .integer(rules.uploadLimit)), .init("campaigns", .words(campaigns)),
                // Who corrects a word of a campaign that Kafka keeps wants it to be kept there.
                .init("isDetached", .bool(isScheduled && campaign?.definition?.audience != nil)),
                .init("excludedFiles", .words((exclusions?.files ?? []).map(\.name))),
                .init("excludedCampaigns", .words(exclusions?.campaigns ?? [])),
                .init(
                    "excludedDelivered",
                    .text(exclusions?.deliveredWithin.map { DurationText.format(.milliseconds($0)) })),
            ]))
    }

    private func preview(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let asked = try request.decoded(StartForm.self)
        let owner = request.viewer.name
        let layout = try service.layout()
        let campaign = try service.index(layout).campaign(asked.name)
        let audienceForm = try asked.audience(after: campaign?.progress)
        // The command names what was taken from the last start.
        let form = asked.with(userColumn: audienceForm.userColumn)
        let definition = campaign?.definition
        var order = try form.order(rules, requests: service.context.topics.requests, definition: definition)
        order.replaces = definition
        try check(order, layout, mayBePaused: true)
        let upload = try uploads.file(form.upload, owner: owner)
        let audience: Audience
        do {
            audience = try refusing(form.upload, owner) {
                try Audience(upload.file, name: upload.name, audienceForm, copyingInto: rules.directory)
            }
        } catch let unreadable as UnreadableAudience {
            return .json(Self.failed(unreadable))
        } catch let failure as ToolFailure where failure.kind != .unreachable {
            throw FormMistake(Self.fileField, failure.description)
        }
        var draft = CampaignDraft(
            owner: owner, upload: form.upload, hash: asked.hash, order: order, form: form, file: upload.name)
        draft.wish = try form.exclusions(of: audienceForm, in: rules.directory) { try uploads.file($0, owner: owner) }
        let key = AccessToken.random()
        try drafts.begin(key, showing: draft) { [self, draft] work in
            try refusing(form.upload, owner) {
                try CampaignDraft.preview(
                    draft, audience, of: campaign, work,
                    excluding: { draft, onProgress in
                        try service.context.exclusions(
                            of: draft, try service.index(layout), layout, onProgress: onProgress)
                    },
                    standing: { order, preview, recipients in
                        try campaign.flatMap {
                            try service.context.continuation(
                                of: $0, layout, preview, marking: &recipients, for: order
                            ) { _, _ in work.isWanted }
                        }
                    })
            }
        }
        return .json(draft.json.with("draft", .string(key)))
    }

    /// Reads an uploaded file; a refused file is forgotten at once, so that it takes no room.
    private func refusing<Value>(_ upload: String, _ owner: String, _ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch let unreadable as UnreadableAudience {
            // It is read again in the chosen encoding.
            throw unreadable
        } catch {
            uploads.discard(upload, owner: owner)
            throw error
        }
    }

    /// Refuses orders that cannot be published; claiming the name checks again.
    private func check(
        _ order: CampaignOrder, _ layout: CampaignContext.Layout, mayBePaused: Bool = false
    ) throws {
        guard layout.requests[order.topic] != nil else {
            throw ToolFailure("there is no topic \(order.topic); make it with: herald topics apply")
        }
        let (campaign, now) = (try order.campaign(in: try service.index(layout)), SystemClock.wall())
        do {
            try order.checkMoment(campaign, at: now)
        } catch {
            throw FormMistake("at", "\(error)")
        }
        do {
            try order.checkDetached(campaign, at: now)
        } catch {
            throw FormMistake("detach", "\(error)")
        }
        try order.check(against: campaign, at: now, mayBePaused: mayBePaused)
    }

    private func standing(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let (snapshot, draft) = try draft(request)
        if let failure = snapshot.failure { return .json(Self.failed(failure)) }
        return .json(draft.json.with("draft", .string(request.parameters[0])))
    }

    /// The description of an unreadable audience; a wrong encoding comes with readable alternatives.
    ///
    /// - Parameter field: the field of the form that takes the file.
    static func failed(_ failure: any Error, field: String = fileField) -> JSONValue {
        let readings = (failure as? UnreadableAudience)?.readings.map { reading in
            JSONValue.object([.init("encoding", .string(reading.encoding)), .init("lines", .words(reading.lines))])
        }
        return JSONValue.present([
            .init("state", "failed"), .init("error", .failure(failure)),
            .init("field", .text((failure as? ToolFailure)?.kind == .unreachable ? nil : field)),
            .init("readings", readings.map { JSONValue.array($0).safe } ?? .null),
        ])
    }

    /// Shows the first messages of a campaign that goes on with the message that it has, after an audit record of the
    /// viewer who sees them.
    private func messages(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let draft = try draft(request).draft
        guard let messages = draft.messages else { throw Refused("the audience is still looked through", status: 409) }
        try service.signed(by: request.viewer).recordReveal(draft.order.text.name, at: SystemClock.wall().text)
        return .json(messages)
    }

    private func invalidLines(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let draft = try draft(request).draft
        guard let lines = draft.outcome?.invalidLines, !lines.isEmpty else {
            throw Refused("there are no invalid lines", status: 404)
        }
        return .file(lines, type: "text/csv; charset=utf-8", name: "\(draft.order.text.name).invalid.csv")
    }

    /// The draft of a preview: it contains messages and users, so only the viewer who requested it sees it.
    private func draft(
        _ request: ConsoleRequest
    ) throws -> (snapshot: AskedTasks<CampaignDraft>.Snapshot, draft: CampaignDraft) {
        guard let snapshot = drafts.ask(request.parameters[0]), let draft = snapshot.value,
            draft.owner == request.viewer.name, request.viewer.role == .operator
        else { throw Refused("this preview was forgotten; make it again", status: 404) }
        return (snapshot, draft)
    }

    // MARK: The test

    /// Sends what the draft's recipients would get to a few users, signed by this viewer.
    private func test(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let asked = try request.decoded(Trial.self)
        let draft = try draft(request).draft
        guard asked.hash == draft.hash else {
            throw Refused("nothing is sent: this is not what was previewed; preview it again", status: 409)
        }
        guard let outcome = draft.outcome else { throw Refused("the audience is still looked through", status: 409) }
        let users: [String]
        do throws(ToolFailure) {
            users = try CampaignTest.users(asked.users)
        } catch {
            throw FormMistake("testUsers", error.description)
        }
        let (context, layout) = (service.signed(by: request.viewer), try service.layout(isWriting: true))
        let snapshot = try trials.begin(request.parameters[0], showing: CampaignTrial()) { [rules] work in
            try CampaignTrial.run(
                draft, outcome.audience, to: users, pushServices: rules.pushServices, in: context, layout, work)
        }
        if let failure = snapshot.failure { throw failure }
        return .json((snapshot.value ?? CampaignTrial()).json)
    }

    private func testStanding(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        _ = try draft(request)
        guard let snapshot = trials.ask(request.parameters[0]) else {
            throw Refused("nothing was sent from this preview", status: 404)
        }
        if let failure = snapshot.failure { throw failure }
        return .json((snapshot.value ?? CampaignTrial()).json)
    }

    // MARK: The start

    private func start(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let word = try request.decoded(Word.self)
        var draft = try draft(request).draft
        guard word.hash == draft.hash, word.form.map({ $0.hash == draft.hash }) ?? true else {
            throw Refused("nothing is started: this is not what was previewed; preview it again", status: 409)
        }
        guard let outcome = draft.outcome else { throw Refused("the audience is still looked through", status: 409) }
        let count = outcome.preview.toNotify
        guard outcome.preview.audience.recipients > 0 else {
            throw Refused(outcome.preview.nobodyRemains ?? "the audience has no recipients", status: 409)
        }
        if let refusal = outcome.preview.refusal {
            guard word.leavesOut == true else { throw Refused("nothing is started: \(refusal)", status: 409) }
            // The audit records the terms agreed to.
            draft.order.maxInvalid = 1
        }
        if let needed = draft.typed, word.typed != needed {
            throw Refused(
                "nothing is started: \(CampaignWords.counted(count, "recipient")) would be notified; type the number",
                status: 409)
        }
        let layout = try service.layout(isWriting: true)
        try check(draft.order, layout, mayBePaused: word.resumes == true)
        if word.resumes == true { _ = try service.give(.resume, of: draft.order.text.name, by: request.viewer) }
        let job = PublishingJob(
            context: service.signed(by: request.viewer), layout: layout, index: try service.index(layout),
            lookAtTopics: { [service] in try service.layout(isWriting: true) }, draft: draft, outcome: outcome)
        let id = try jobs.begin(job.description) { try job.run($0) }
        drafts.drop(request.parameters[0])
        for key in [draft.upload] + (draft.form.exclude ?? []) { uploads.discard(key, owner: draft.owner) }
        return .json(["job": .string(id), "campaign": .string(draft.order.text.name)])
    }
}

extension CampaignContext {
    /// Finds who is left out; `nil` when it was ended, or nobody is to be.
    ///
    /// - Parameter onProgress: how far it is, of how much; `false` ends it.
    func exclusions(
        of draft: CampaignDraft, _ index: CampaignIndex, _ layout: Layout, onProgress: (Int, Int) -> Bool
    ) throws -> FoundExclusions? {
        guard let wish = draft.wish else { return nil }
        let (order, name, now) = (draft.order, draft.order.text.name, SystemClock.wall())
        guard var found = try wish.readFiles(of: name, users: order.text.users, onProgress: onProgress) else {
            return nil
        }
        let frozen = order.exclusions ?? order.frozenExclusions(of: index.campaign(name), at: now)
        let isWhole = try findDelivered(
            wish, of: name, in: index, layout, frozen: frozen, at: now, adding: &found,
            onProgress: { onProgress(Int($0), Int($1)) })
        return isWhole ? found : nil
    }
}
