import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools

enum CampaignReportCommand: HeraldCommand {
    private static let html = CommandOption.optional(
        "html", .file(), "Write a page with pictures and tables; - is standard output.")
    private static let csv = CommandOption.optional(
        "csv", .file(), "Write the results that are not delivered, for a spreadsheet; - is standard output.")
    private static let notReached = CommandOption.optional(
        "not-reached", .file(),
        "Write who was not reached on any push service, and why, a line for each person; - is standard output.")
    private static let notDelivered = CommandOption.optional(
        "not-delivered", .file(),
        "Write what was not delivered, a line for each person and push service; - is standard output.")
    private static let audience = CommandOption.optional(
        "audience", .file("FILE"),
        "The campaign's audience: --not-reached and --not-delivered then have its columns, and who was never published; "
            + "--not-reached has invalid lines, too.")
    private static let all = CommandOption.flag("all", "In CSV every result, replays and delivered ones included.")
    private static let reveal = CommandOption.flag(
        "reveal", "Show the message's text; who did it goes into the audit topic.")

    static let declaration = CommandDeclaration(
        "report", "Write a campaign's outcomes as a page, and who was not reached, as CSV.",
        details:
            "Both are made from the results topic, on any machine, at any time: while the campaign runs, too. The page "
            + "needs no script and nothing from the network: outcomes over time, and failures by reason, status and push "
            + "service. In CSV a line stands for each result that is not delivered, but for those that a replay has "
            + "delivered since; control characters are escaped, and what a spreadsheet would take for a formula begins with "
            + "an apostrophe. --not-reached has a line for each person whom no push service's notification was delivered for: "
            + "with the first result, as without an outcome yet, or, from the audience, as never published. With "
            + "--audience the list has the audience's columns as they are, and can be the audience of another campaign. "
            + "--not-delivered has a line for each notification, open ones included, of people reached on another push "
            + "service, too. "
            + "Only you can read the files, because they contain users.",
        arguments: [CampaignOptions.name],
        options: [html, csv, all, notReached, notDelivered, audience] + AudienceOptions.all + [reveal],
        examples: [
            .init("herald campaign report spring --html spring.html --csv spring.csv", "Both."),
            .init("herald campaign report spring --csv - | wc -l", "To another program."),
            .init(
                "herald campaign report spring --not-reached left.csv --audience users.csv",
                "Whom to reach in another way."),
        ])
    static let usedSettings: UsedSettings =
        .cluster + .topics("requests", "results", "campaigns", "audit") + ["backend.users"]

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let parsed = invocation.parsed
        let (html, csv, notReached, notDelivered) = (
            parsed[html], parsed[csv], parsed[notReached], parsed[notDelivered]
        )
        let files = [html, csv, notReached, notDelivered].compactMap(\.self)
        guard !files.isEmpty else {
            throw parsed.mistake(
                "say what to write: --html FILE, --csv FILE, --not-reached FILE, --not-delivered FILE or some of them")
        }
        guard files.count(where: { $0 == "-" }) < 2 else {
            throw parsed.mistake(
                "only one of --html, --csv, --not-reached and --not-delivered can be standard output")
        }
        guard parsed[audience] == nil || notReached != nil || notDelivered != nil else {
            throw parsed.mistake("--audience belongs to --not-reached and --not-delivered")
        }
        let stop = try StopRequest.listen()
        let query = try CampaignQuery(invocation)
        defer { query.reader.close() }
        let campaign = try query.campaign(parsed[CampaignOptions.name])
        let definition = try query.definition(of: campaign)
        let isRevealed = parsed[reveal]
        if isRevealed {
            try query.context.recordReveal(campaign.name, at: SystemClock.wall().text)
        }
        let audience = try parsed[audience].map { path in
            let form = AudienceOptions.form(parsed)
            // Nobody is sent what it holds: an encoding that is named is taken.
            let known = try form.continuing(campaign.progress, replacesAudience: form.encoding != nil)
            return (
                file: try Audience(path: path, known, copyingInto: invocation.temporaryDirectory),
                name: path == "-" ? "The audience" : path
            )
        }
        var run = CampaignReportRun(
            query: query, definition: definition, invocation: invocation, stop: stop,
            status: try query.statuses(of: [campaign])[0].status,
            report: CampaignReport(definition, now: SystemClock.wall()))
        try run.read()
        if let html { try run.writePage(isRevealed: isRevealed, to: html) }
        if let csv { try run.writeRows(isAll: parsed[all], to: csv) }
        if let notReached { try run.writeUnreached(to: notReached, audience) }
        if let notDelivered {
            try run.writeUndelivered(to: notDelivered, audience?.file, isChecked: notReached != nil)
        }
        return .done
    }
}

/// One run of it: the results are read once for the page, and once more for each list.
private struct CampaignReportRun {
    let query: CampaignQuery
    let definition: CampaignDefinition
    let invocation: Invocation
    let stop: StopRequest
    let status: CampaignStatus
    var report: CampaignReport
    var deletedCount: Int64 = 0
    /// Up to where the results are read: the lists are of the moment of the counts.
    var ends: [Int32: Int64]?
    var feedback: FeedbackCount?

    private var console: Console { invocation.console }
    /// Between the cells of its lists.
    private var delimiter: String { status.campaign.progress?.cellDelimiter ?? "," }

    /// Reads what the page says, and which failures a replay has fixed.
    mutating func read() throws {
        var report = report
        let reader = try query.context.outcomes(of: [.init(definition)], query.layout)
        defer { reader.close() }
        try scan(reader, "counted") { report.add($0) }
        (self.report, deletedCount, ends) = (report, reader.deletedCount, reader.positions)
        feedback = try reading { bar in
            try query.context.feedback(on: definition, query.layout) {
                bar.show($0, of: $1, "\($0) of \($1) records of feedback read")
            }
        }
        if let feedback { console.remark(CampaignWords.sentence(feedback, taken: report.count.delivered)) }
        for sentence in report.omissions { console.remark(SafeText.escaped(sentence)) }
        if deletedCount > 0 {
            console.remark(
                "\(TopicsTool.counted(Int(deletedCount), "result")), of this campaign or others, were deleted by the topic's "
                    + "retention before they could be read: the report does not have them.")
        }
    }

    func writePage(isRevealed: Bool, to path: String) throws {
        let page = ReportPage(
            status, definition, report, isRevealed: isRevealed, feedback: feedback, deletedCount: deletedCount)
        try write(to: path) { stream in try stream.write(page.html) }
        console.remark("\(TopicsTool.counted(report.count.known, "outcome")) in \(path == "-" ? "the page" : path).")
    }

    func writeRows(isAll: Bool, to path: String) throws {
        var count = 0
        try write(to: path) { stream in
            var output = BufferedOutput(stream)
            output.write(ResultRow.heading(delimiter: delimiter))
            try scan("written") { result in
                guard isAll || report.isUnreached(result) else { return }
                count += 1
                output.write(ResultRow.line(result, delimiter: delimiter))
            }
            try output.finish()
        }
        console.remark("\(TopicsTool.counted(count, "result")) in \(path == "-" ? "the rows" : path).")
    }

    func writeUnreached(to path: String, _ audience: (file: Audience, name: String)?) throws {
        var list = UnreachedList(report.people, pushServices: definition.pns)
        var sum: AudienceSum?
        try write(to: path) { stream in
            var output = BufferedOutput(stream)
            sum = try list.write(
                try lines(of: audience?.file),
                delimiter: delimiter,
                to: {
                    output.write($0)
                    if stop.isMade { throw CommandFailure(Self.interruption, status: .partlyDone) }
                },
                known: readUnreached)
            try output.finish()
        }
        console.remark(
            CampaignWords.sentence(
                reached: report.people.reached, unreached: list.count, in: path == "-" ? "the list" : path))
        if let warning = CampaignWords.stillNotified(list.unsettled, status) {
            console.complain("warning: \(warning)")
        }
        if let sum, let audience { console.remark(sum.sentence(SafeText.escaped(audience.name))) }
        if audience == nil { remarkUnpublished() }
    }

    /// Says who is missing in a list without the audience.
    private func remarkUnpublished() {
        let unpublished = status.campaign.progress.map { $0.everybody - $0.published } ?? 0
        guard unpublished > 0 else { return }
        console.remark(
            "It lacks \(CampaignWords.counted(unpublished, "recipient")) who were never published, because Kafka does "
                + "not know them: add --audience FILE.")
    }

    /// - Parameter isChecked: whether the file was found to be the campaign's audience.
    func writeUndelivered(to path: String, _ audience: Audience?, isChecked: Bool) throws {
        let lines = try lines(of: audience)
        var known = UnreachedList(report.people, pushServices: definition.pns)
        // Only a check tells who was left out.
        if let lines, !isChecked || definition.exclusions != nil {
            try readUnreached(&known) { _ in }
            try lines.check(among: &known)
        }
        var count = 0
        try write(to: path) { stream in
            var output = BufferedOutput(stream)
            var list = try UndeliveredList(report, lines, delimiter: delimiter) {
                output.write($0)
                if stop.isMade { throw CommandFailure(Self.interruption, status: .partlyDone) }
            }
            try scan("looked at") { try list.add($0) }
            try readPublished { try list.add(published: $0) }
            try list.finish(unpublished: known.unpublished)
            try output.finish()
            count = list.count
        }
        console.remark(
            "\(CampaignWords.counted(count, "notification")) that \(count == 1 ? "was" : "were") not delivered in "
                + "\(path == "-" ? "the list" : path).")
        if audience == nil { remarkUnpublished() }
    }

    private func lines(of audience: Audience?) throws -> UnreachedAudience? {
        try audience.map { try UnreachedAudience($0, definition, status.campaign.progress, users: query.users) }
    }

    /// Goes through what Kafka knows of those who were not reached.
    private func readUnreached(
        _ list: inout UnreachedList, _ body: (UnreachedList.Entry) throws -> Void
    ) throws {
        try scan("looked at") { result in
            if let entry = list.entry(result) { try body(entry) }
        }
        try readPublished { user in
            if let entry = list.entry(published: user) { try body(entry) }
        }
    }

    private func readPublished(_ body: (String) throws -> Void) throws {
        _ = try reading { bar in
            try query.context.publishedUsers(
                of: definition, query.layout, onProgress: { bar.show($0, of: $1, "\($0) of \($1) events read") }, body)
        }
    }

    private static let interruption = "interrupted; what was not finished was not written"

    private func reading<Answer>(_ read: (ReadingBar) throws -> Answer) throws -> Answer {
        try stop.reading(console, interruption: Self.interruption, read)
    }

    /// Goes through the results that the report counts, once more.
    private func scan(_ verb: String, _ body: (NotificationResult) throws -> Void) throws {
        let reader = try query.context.outcomes(of: [.init(definition)], query.layout)
        defer { reader.close() }
        try scan(reader, verb, body)
    }

    private func scan(
        _ reader: OutcomeReader, _ verb: String, _ body: (NotificationResult) throws -> Void
    ) throws {
        _ = try reading { bar in
            try reader.catchUp(
                until: ends, onProgress: { bar.show($0, of: $1, "\(reader.count.known) outcomes \(verb)") },
                onResult: body)
        }
    }

    private func write(to path: String, _ body: (Console.Stream) throws -> Void) throws {
        guard path != "-" else { return try body(console.output) }
        let file = try OutputFile(path)
        try body(file.stream)
        try file.finish()
    }
}
