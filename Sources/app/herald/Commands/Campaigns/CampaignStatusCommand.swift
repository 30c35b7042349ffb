import Glibc
import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools

enum CampaignStatusCommand: HeraldCommand {
    private static let name = CommandOption.optional(
        "NAME", CampaignOptions.nameType, "The campaign; all of them if not given.")
    private static let once = CommandOption.flag("once", "Print the current state once, also on a terminal.")

    static let declaration = CommandDeclaration(
        "status", "Show a campaign's progress, live on a terminal, or list all campaigns.",
        details: "It counts outcomes, one for each recipient and push service: delivered, retrying, failed, waiting. A "
            + "replayed dead letter that was delivered counts as delivered. It works on any machine, whether the campaign's "
            + "publisher runs or not; on a terminal it goes on until the campaign is finished, or Ctrl-C. The list takes a "
            + "few seconds at most, and says which campaigns it could not count to the end.",
        arguments: [name], options: [once, OutputFormat.option],
        examples: [
            .init("herald campaign status", "All campaigns."),
            .init("herald campaign status spring", "Watch one."),
        ])
    static let usedSettings: UsedSettings = .cluster + .workers + .topics("results", "retry", "campaigns") + .words

    /// The list of campaigns does not wait: one that was not looked at for long has many results to count.
    private static let listPatience = Duration.seconds(5)
    /// Between two pictures.
    private static let turn = Duration.milliseconds(250)

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        let isLive =
            parsed[name] != nil && invocation.format == .table && console.output.isTerminal && !parsed[once]
        let stop = try StopRequest.listen {
            if isLive { try? console.output.write(LiveScreen.restoring) }
        }
        let query = try CampaignQuery(invocation)
        defer { query.reader.close() }
        guard let name = parsed[name] else {
            try list(query, invocation)
            return .done
        }
        let campaign = try query.campaign(name)
        let follower = try CampaignFollower(query.context, query.layout, campaign, campaigns: query.reader)
        defer { follower.close() }
        try catchUp(follower, console, stop)
        func page(_ feedback: FeedbackCount? = nil, width: Int) -> CampaignPage {
            CampaignPage(
                status: follower.status, feedback: feedback, configuration: invocation.configuration, width: width
            ) { console.styled($0, $1, on: console.output) }
        }
        guard isLive else {
            let feedback = try campaign.definition.flatMap { try query.context.feedback(on: $0, query.layout) }
            let width = console.output.isTerminal ? console.output.width : 100
            try invocation.format.write(
                follower.status.json(feedback), lines: page(feedback, width: width).lines, to: console)
            return .done
        }
        stop.beginWork()
        let screen = LiveScreen(console.output)
        while true {
            let isOver = follower.status.isOver || stop.isMade
            let size = TerminalSize.of(STDOUT_FILENO) ?? TerminalSize(columns: console.output.width, rows: 24)
            let page = page(width: size.columns - 1)
            var lines = page.lines
            if !isOver { lines.append(console.styled("Ctrl-C ends", .dim, on: console.output)) }
            try screen.draw(Array(lines.prefix(max(1, size.rows - 1))), size: size)
            guard !isOver else { break }
            try follower.poll(for: turn, isStopping: { stop.isMade })
        }
        try screen.end()
        return .done
    }

    private static func catchUp(_ follower: CampaignFollower, _ console: Console, _ stop: StopRequest) throws {
        _ = try stop.reading(console) { bar in
            try follower.catchUp(
                onProgress: { bar.show($0, of: $1, "\($0) of \($1) results read") }, isStopping: { stop.isMade })
        }
        if follower.deletedCount > 0 {
            console.remark(
                "\(TopicsTool.counted(Int(follower.deletedCount), "result")), of this campaign or others, were deleted by "
                    + "the topic's retention before they could be counted: what they said shows as waiting.")
        }
    }

    private static func list(_ query: CampaignQuery, _ invocation: Invocation) throws {
        let (index, console) = (query.reader.index, invocation.console)
        let campaigns = index.names.compactMap(index.campaign)
        let found = try query.statuses(of: campaigns, until: ContinuousClock.now + listPatience)
        let format = invocation.format
        if format == .table {
            try writeTable(found.map(\.status), console)
        } else {
            try format.writeAll(found.map { $0.status.json() }, lines: [], to: console)
        }
        if found.isEmpty { console.remark("There are no campaigns.") }
        let unfinished = found.filter { !$0.isWhole }.map(\.status.campaign.name)
        if !unfinished.isEmpty {
            console.remark(
                "Not counted completely, for lack of time: \(unfinished.joined(separator: ", ")). "
                    + "herald campaign status NAME does it.")
        }
    }

    /// The numbers of the page of each, one campaign in a line.
    private static func writeTable(_ statuses: [CampaignStatus], _ console: Console) throws {
        var table = RecordWriter(
            .table,
            columns: [
                .init("name"), .init("state"), .init("notifications", isNumber: true),
                .init("delivered", isNumber: true),
            ] + OutcomeCount.unreachedOutcomes.map { .init(OutcomeCount.name($0), isNumber: true) } + [
                .init("open", isNumber: true), .init("unpublished", isNumber: true), .init("started"),
                .init("recipients", isNumber: true, isForWide: true), .init("by", isForWide: true),
                .init("reason", isForWide: true),
            ], console: console)
        for status in statuses {
            let (campaign, count) = (status.campaign, status.count)
            let start = campaign.definition.map { WallTime(milliseconds: $0.startedAt) }
            try table.write(
                [
                    .string(campaign.name), .string(status.state.rawValue),
                    .count(status.total.map(Int64.init)), .integer(count.delivered),
                ] + count.allUnreached.map { .integer($0.count) } + [
                    .integer(status.open),
                    .integer(status.unpublished), start.map { table.time($0) } ?? .null,
                    .count(campaign.progress.map { Int64($0.everybody) }), .text(campaign.definition?.startedBy),
                    .text(status.reason),
                ])
        }
        try table.finish()
    }
}
