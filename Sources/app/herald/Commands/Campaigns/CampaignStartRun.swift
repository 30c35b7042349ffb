import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldSettings
import HeraldTelemetry
import HeraldText
import HeraldTime
import HeraldTools

/// One run of `herald campaign start`: look at the campaign, look through the audience, confirm, publish, report.
struct CampaignStartRun {
    /// A message is 4096 bytes at most; its fields' names come on top.
    private static let templateLimit = 65_536

    private typealias Command = CampaignStartCommand

    private let invocation: Invocation
    private let console: Console
    private let settings: Settings
    private let audiencePath: String
    private let invalidFile: String
    private let order: CampaignOrder
    private let isDryRun: Bool
    /// Whether results say who is left out: then a dry run reads them, too.
    private let readsResults: Bool

    /// Refuses what is missing or does not go together.
    init(_ invocation: Invocation) throws {
        self.invocation = invocation
        console = invocation.console
        let parsed = invocation.parsed
        guard let name = parsed[Command.name], let audience = parsed[Command.audience],
            let services = parsed[Command.pushServices]
        else {
            throw parsed.mistake(
                "--name, --audience, --pns and --message, --message-file or --message-column are needed")
        }
        let template = try Self.template(parsed)
        if parsed[Command.pauseShare] == 0 { throw parsed.mistake("--pause-if-failures has to be above 0%") }
        if parsed[Command.expiresIn] == .zero { throw parsed.mistake("--expires-in has to be above 0") }
        audiencePath = audience
        invalidFile = parsed[Command.invalidFile] ?? "\(name).invalid.csv"
        isDryRun = parsed[Command.dryRun]
        readsResults = !parsed[Command.excludeCampaign].isEmpty || parsed[Command.excludeDelivered] != nil
        if parsed[Command.excludeDelivered] == .zero { throw parsed.mistake("--exclude-delivered has to be above 0") }
        guard !parsed[Command.exclude].contains("-") else { throw parsed.mistake("--exclude takes no standard input") }
        settings = try invocation.settings(requiring: isDryRun && !readsResults ? [] : [.kafka])
        let topic = try Self.topic(parsed, settings)
        var order = CampaignOrder(
            text: CampaignText(
                name: name, template: template,
                pushServices: try settings.pushServices(services, of: "pns", in: parsed),
                maximumEventBytes: settings.limits.eventBytes, users: settings.backend.users),
            topic: topic)
        order.reach = settings.contentReach
        if settings.preferences.enabled { order.eventClass = settings.topics.classes[topic] ?? .transactional }
        order.start = try Self.start(parsed)
        order.detaches = parsed[Command.detach]
        order.rate = parsed[Command.rate]
        order.ramp = parsed[Command.ramp]
        order.holds = parsed[Command.holds]
        order.replacesAudience = parsed[Command.replaceAudience]
        order.addsPeople = parsed[Command.addPeople]
        if order.addsPeople, order.replacesAudience {
            throw parsed.mistake("--add-people and --replace-audience do not go together")
        }
        order.pauseIfFailures = parsed[Command.pauseShare]
        if let share = parsed[Command.maxInvalid] { order.maxInvalid = share }
        order.endsWhenPausedByFailures = !console.error.isTerminal
        order.expiresIn = parsed[Command.expiresIn].map { Milliseconds($0) }
        self.order = order
    }

    private static func start(_ parsed: ParsedCommand) throws -> StartTime? {
        guard let text = parsed[Command.at] else {
            guard parsed[Command.zone] == nil else { throw parsed.mistake("--zone says nothing without --at") }
            return nil
        }
        do {
            return try StartTime(text, zone: parsed[Command.zone]) { try ZoneFolder.read() }
        } catch let mistake as StartTime.Mistake {
            throw parsed.mistake("--\(mistake.part): \(mistake.problem)")
        } catch let error as InputError {
            throw CommandFailure("\(ZoneFolder.path) \(error)")
        }
    }

    /// The request topic that the options name, or the second of the settings.
    static func topic(_ parsed: ParsedCommand, _ settings: Settings) throws -> String {
        let topics = settings.topicNames.requests
        let topic = parsed[Command.topic] ?? (topics.count > 1 ? topics[1] : topics.first ?? "")
        guard topics.contains(topic) else {
            throw parsed.mistake("--topic: \(SafeText.quoted(topic)) is not in topics.requests, so no worker reads it")
        }
        return topic
    }

    /// What the options say that recipients get.
    static func template(_ parsed: ParsedCommand) throws -> ContentTemplate {
        let text: String
        switch (parsed[Command.message], parsed[Command.messageFile], parsed[Command.messageColumn]) {
        case (let message?, nil, nil): text = message
        case (nil, let path?, nil): text = try contents(of: path)
        case (nil, nil, let column?):
            guard !column.contains(where: { "{}|".contains($0) }) else {
                throw parsed.mistake(
                    "--message-column: a field's name has no braces and no bar here; rename the column")
            }
            text = "{{\(column)}}"
        case (nil, nil, nil): throw parsed.mistake("--message, --message-file or --message-column is needed")
        case _: throw parsed.mistake("of --message, --message-file and --message-column only one can be given")
        }
        typealias Content = ContentOptions
        var content = CampaignContent()
        (content.title, content.link) = (parsed[Content.title], parsed[Content.link])
        (content.image, content.data) = (parsed[Content.image], try Content.data(parsed))
        (content.badge, content.sound) = (parsed[Content.badge], parsed[Content.sound])
        content.category = parsed[Content.category]
        do throws(ContentMistake) {
            let template = try ContentTemplate(written: text, content)
            guard template.message.isEmpty else { return template }
        } catch {
            throw parsed.mistake(SafeText.escaped(error.description))
        }
        throw parsed.mistake("the message is empty")
    }

    private static func contents(of path: String) throws -> String {
        let bytes: [UInt8]
        do throws(InputError) {
            bytes = try BoundedFile.read(path, limit: templateLimit)
        } catch {
            throw CommandFailure("\(path) \(error)")
        }
        guard var text = String(validating: bytes, as: UTF8.self) else { throw CommandFailure("\(path) is not UTF-8") }
        // An editor's last line end is no part of the message.
        if text.last == "\n" || text.last == "\r\n" { text.removeLast() }
        return text
    }

    func run() throws -> ExitStatus {
        let isAssumed = invocation.parsed[Confirmation.option]
        if audiencePath == "-", !isAssumed, !isDryRun {
            throw CommandFailure(
                "needs a confirmation, and standard input is the audience; add --yes", status: .needsConfirmation)
        }
        let cluster = isDryRun && !readsResults ? nil : try findCampaign()
        var order = cluster?.order ?? order
        try order.checkMoment(cluster?.campaign, at: SystemClock.wall())
        try order.checkDetached(cluster?.campaign, at: SystemClock.wall())
        let audience = try openAudience(of: cluster?.campaign)
        let stop = try StopRequest.listen()
        let exclusions = try findExclusions(audience, cluster, stop)
        (order.exclusions, order.lacksResults) = (exclusions?.record, exclusions?.lacksResults ?? false)
        try order.checkExclusions(against: cluster?.campaign, at: SystemClock.wall())
        var recipients = RecipientSet()
        let preview = try look(
            through: audience, after: cluster?.campaign?.progress, leavingOut: exclusions?.forPreview,
            marking: &recipients, stop)
        var found = CampaignPreview(order, preview, of: cluster?.campaign, at: SystemClock.wall())
        found.exclusionNotes = exclusions?.notes ?? []
        if let cluster, let campaign = cluster.campaign {
            found.continuation = try continuation(
                of: campaign, in: cluster, preview, marking: &recipients, for: order, stop)
        }
        let output = CampaignStartOutput(
            format: invocation.format, preview: found, invalidFile: invalidFile)
        guard let cluster, !isDryRun else {
            try output.writePreview(console)
            if let refusal = found.refusal { throw CommandFailure(SafeText.escaped(refusal)) }
            guard preview.recipients > 0 else {
                throw CommandFailure(SafeText.escaped(found.nobodyRemains ?? Self.nobody))
            }
            return .done
        }
        if !console.isQuiet { for line in output.previewLines { console.complain(line) } }
        if let refusal = found.refusal { throw CommandFailure("nothing was published: " + SafeText.escaped(refusal)) }
        guard preview.recipients > 0 else {
            throw CommandFailure("\(SafeText.escaped(found.nobodyRemains ?? Self.nobody)); nothing was published")
        }
        try found.continuation?.check(order)
        if let trouble = settings.workerTrouble(for: order.text.pushServices) {
            console.complain(SafeText.escaped(trouble))
        }
        let count = found.toNotify
        let question =
            count == 0
            ? "Everybody is published. Wait for the outcomes?"
            : "Notify \(TopicsTool.counted(count, found.continuation == nil ? "recipient" : "remaining recipient"))?"
        // Without recipients there is nothing to confirm.
        let isNeedless = isAssumed || count == 0
        guard
            try stop.confirm(question, count: count, isAssumed: isNeedless, console, refusal: "Nothing was published.")
        else { return .needsConfirmation }
        // Its moment may be over by the time that it is confirmed.
        let now = SystemClock.wall()
        try order.checkMoment(cluster.campaign, at: now)
        try order.checkDetached(cluster.campaign, at: now)
        try order.check(against: cluster.campaign, at: now)
        var started = order
        if order.detaches {
            guard let stored = try store(audience, in: cluster, preview, marking: &recipients, stop) else {
                throw CommandFailure(Self.interruption, status: .partlyDone)
            }
            started.stored = stored
        }
        let screen = CampaignStartScreen(console)
        let trace = ToolTrace(settings)
        var context = cluster.context
        context.trace = trace?.context
        let (end, progress) = context.publish(
            started, cluster.layout, audience: audience, counts: preview.counts, recipients: consume recipients,
            lookAtTopics: cluster.lookAtTopics,
            stoppedBy: { [name = context.operatorName] in stop.isMade ? name : nil }, onNews: { screen.report($0) },
            onTurn: { screen.show($0, now: $1) })
        screen.clear()
        trace?.end(
            "publish", to: order.topic, count: progress.publishedNow,
            [SpanAttribute("herald.campaign", order.text.name)], console)
        try console.report { console in try output.write(end, progress, console) }
        return screen.status(of: end, progress, name: order.text.name)
    }

    private struct Cluster {
        var context: CampaignContext
        var layout: CampaignContext.Layout
        var lookAtTopics: () throws -> CampaignContext.Layout
        var campaign: CampaignIndex.Campaign?
        var index: CampaignIndex
        /// With what it may replace.
        var order: CampaignOrder
    }

    /// Refuses what cannot be continued before a long file is read; it is looked at again when the name is claimed.
    private func findCampaign() throws -> Cluster {
        let context = settings.campaignContext(environment: invocation.environment)
        let (reach, admin) = (settings.clusterReach, try settings.adminClient())
        let lookAtTopics = { try context.layout(reach: reach, admin: admin, isWriting: true) }
        let layout = try lookAtTopics()
        guard layout.requests[order.topic] != nil else {
            throw CommandFailure("there is no topic \(order.topic); make it with: herald topics apply")
        }
        let reader = try context.campaigns(layout)
        defer { reader.close() }
        try reader.catchUp()
        let campaign = try order.campaign(in: reader.index)
        var order = order
        order.replaces = campaign?.definition
        try order.check(against: campaign, at: SystemClock.wall())
        return Cluster(
            context: context, layout: layout, lookAtTopics: lookAtTopics, campaign: campaign,
            index: reader.index, order: order)
    }

    /// The recipients left of a campaign that was started before, and its present publisher.
    private func continuation(
        of campaign: CampaignIndex.Campaign, in cluster: Cluster, _ preview: AudiencePreview,
        marking recipients: inout RecipientSet, for order: CampaignOrder, _ stop: StopRequest
    ) throws -> CampaignContinuation? {
        try stop.reading(console, interruption: Self.interruption) { bar in
            try cluster.context.continuation(
                of: campaign, cluster.layout, preview, marking: &recipients, for: order,
                onProgress: { bar.show($0, of: $1, "reading what is published") })
        }
    }

    /// Writes the audience to its topic; `nil` when it was interrupted.
    private func store(
        _ audience: Audience, in cluster: Cluster, _ preview: AudiencePreview, marking recipients: inout RecipientSet,
        _ stop: StopRequest
    ) throws -> StoredAudience? {
        var line = ProgressLine(console)
        defer { line.clear() }
        return try cluster.context.store(
            audience, order.text, cluster.layout, preview: preview, marking: &recipients,
            onProgress: { passed in
                line.show(share: Int64(passed), of: Int64(audience.byteCount), "writing the audience to Kafka")
                return !stop.isMade
            })
    }

    private func openAudience(of campaign: CampaignIndex.Campaign?) throws -> Audience {
        let form = try AudienceOptions.form(invocation.parsed)
            .continuing(
                campaign?.progress, replacesAudience: order.replacesAudience, addsPeople: order.addsPeople)
        let audience = try Audience(path: audiencePath, form, copyingInto: invocation.temporaryDirectory)
        if audiencePath != "-", audience.isSameFile(as: invalidFile) {
            throw invocation.parsed.mistake("--invalid-file is the audience itself")
        }
        return audience
    }

    /// Finds who is left out; `nil` when nobody is to be.
    private func findExclusions(
        _ audience: Audience, _ cluster: Cluster?, _ stop: StopRequest
    ) throws -> FoundExclusions? {
        let parsed = invocation.parsed
        let form = AudienceOptions.form(parsed)
        let files = try parsed[Command.exclude].map { path in
            guard !audience.isSameFile(as: path) else {
                throw parsed.mistake("--exclude \(SafeText.quoted(path)) is the audience itself: nobody would remain")
            }
            return try ExclusionFile(
                SpooledFile(path: path, copyingInto: invocation.temporaryDirectory), name: path, form: form,
                copyingInto: invocation.temporaryDirectory)
        }
        let (name, now) = (order.text.name, SystemClock.wall())
        let wish = try ExclusionWish(
            files: files, campaigns: parsed[Command.excludeCampaign],
            deliveredWithin: parsed[Command.excludeDelivered].map { Milliseconds($0) }, of: name)
        guard !wish.isEmpty else { return nil }
        let found = try stop.reading(console, interruption: Self.interruption) { bar -> FoundExclusions? in
            let read = try wish.readFiles(of: name, users: order.text.users) {
                bar.show(Int64($0), of: Int64($1), "reading who is left out")
            }
            guard var found = read, let cluster else { return read }
            let isWhole = try cluster.context.findDelivered(
                wish, of: name, in: cluster.index, cluster.layout,
                frozen: order.frozenExclusions(of: cluster.campaign, at: now), at: now, adding: &found,
                onProgress: { bar.show($0, of: $1, "reading who was delivered") })
            return isWhole ? found : nil
        }
        guard let found else { throw CommandFailure(Self.interruption, status: .partlyDone) }
        return found
    }

    private func look(
        through audience: Audience, after former: CampaignProgress?,
        leavingOut exclusions: (people: ExcludedPeople, reasons: Int)?, marking recipients: inout RecipientSet,
        _ stop: StopRequest
    ) throws -> AudiencePreview {
        let expiresAt = order.expiresIn.map { SystemClock.wall().advanced(by: $0) }
        let preview = try stop.reading(console, interruption: Self.interruption) { bar in
            try AudiencePreview(
                audience, order.text, expiresAt: expiresAt?.milliseconds, marking: &recipients,
                into: InvalidLines(path: invalidFile), after: former, leavingOut: exclusions,
                onProgress: {
                    bar.show(Int64($0), of: Int64(audience.byteCount), "looking through the audience")
                })
        }
        guard let preview else { throw CommandFailure(Self.interruption, status: .partlyDone) }
        return preview
    }

    private static let nobody = "the audience has no recipients"
    private static let interruption = "interrupted; nothing was published"
}
