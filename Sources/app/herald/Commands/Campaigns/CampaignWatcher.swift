import Glibc
import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldTime
import HeraldTools

/// Follows one campaign: reads its outcomes, its records and its backlog, and shows them on a terminal while that is wanted.
struct CampaignWatcher {
    private static let turnMilliseconds: Int32 = 250
    private static let backlogPause = Duration.seconds(5)
    /// The reading of a long backlog is cut short: the first look may take longer than those that follow.
    private static let firstBacklogPatience = Duration.seconds(5)
    private static let backlogPatience = Duration.seconds(1)

    private let query: CampaignQuery
    private let name: String
    private let console: Console
    private let isLive: Bool
    private let outcomes: OutcomeReader?
    private let backlog: RetryBacklog
    private let stop: StopRequest
    private var meter = OutcomeMeter()
    private var counted: RetryBacklog.Count?
    /// Who was told once what there is in the retry topics may ask: no answer means that there are no brokers.
    private var wasCounted = false

    init(_ query: CampaignQuery, _ campaign: CampaignIndex.Campaign, _ console: Console, isLive: Bool) throws {
        self.query = query
        self.console = console
        self.isLive = isLive
        name = campaign.name
        stop = try StopRequest.listen {
            if isLive { try? console.output.write(LiveScreen.restoring) }
        }
        let since = SystemClock.wall().milliseconds - Int64(OutcomeMeter.window) * 1_000
        outcomes = try campaign.definition.map { definition in
            try query.context.outcomes(
                of: [.init(definition, after: campaign.progress)], lookingBackTo: since, query.layout)
        }
        backlog = try RetryBacklog(query.context, query.layout, campaign: campaign.name)
    }

    func close() {
        outcomes?.close()
        backlog.close()
    }

    /// How it stands; on a terminal, when nothing changes any more or somebody wants to see no more.
    mutating func run() throws -> CampaignStatus {
        try catchUp()
        try countBacklog(within: Self.firstBacklogPatience)
        let screen = LiveScreen(console.output)
        var lastCount = ContinuousClock.now
        while isLive {
            let status = try status()
            try show(status, screen)
            guard !status.isOver, !stop.isMade else { break }
            try query.reader.poll()
            try pollOutcomes()
            if ContinuousClock.now - lastCount >= Self.backlogPause {
                try countBacklog(within: Self.backlogPatience)
                lastCount = .now
            }
        }
        try screen.end()
        return try status()
    }

    /// A finished campaign has nothing there.
    private mutating func countBacklog(within patience: Duration) throws {
        counted = try status().isFinished ? .init() : backlog.count(within: patience) { [stop] in stop.isMade }
        wasCounted = wasCounted || counted != nil
    }

    private mutating func catchUp() throws {
        var line = ProgressLine(console)
        let now = SystemClock.wall()
        _ = try outcomes?.catchUp(
            onProgress: { passed, total in
                line.show(share: passed, of: total, "\(passed) of \(total) results read")
                return !stop.isMade
            },
            onResult: { result in
                // When one of a clock ahead of this one really came, nobody knows by now.
                if result.completedAt <= now { meter.add(result, at: now) }
            })
        line.clear()
        if stop.isMade { throw CommandFailure("interrupted", status: .partlyDone) }
        if let deleted = outcomes?.deletedCount, deleted > 0 {
            console.remark(
                "\(TopicsTool.counted(Int(deleted), "result")), of this campaign or others, were deleted by the topic's "
                    + "retention before they could be counted: what they said shows as waiting.")
        }
    }

    private mutating func pollOutcomes() throws {
        guard let outcomes else {
            usleep(UInt32(Self.turnMilliseconds) * 1_000)
            return
        }
        let end = ContinuousClock.now + .milliseconds(Int64(Self.turnMilliseconds))
        while ContinuousClock.now < end, !stop.isMade {
            let left = (end - .now) / .milliseconds(1)
            try outcomes.poll(waitMilliseconds: Int32(max(1, left))) { meter.add($0, at: SystemClock.wall()) }
        }
    }

    private func status() throws -> CampaignStatus {
        let campaign = try query.campaign(name)
        return CampaignStatus(
            campaign: campaign, count: outcomes?.count ?? OutcomeCount(), backlog: counted, meter: meter,
            now: SystemClock.wall())
    }

    private func show(_ status: CampaignStatus, _ screen: LiveScreen) throws {
        let size = TerminalSize.of(STDOUT_FILENO) ?? TerminalSize(columns: console.output.width, rows: 24)
        let page = CampaignPage(status: status, width: size.columns - 1) {
            console.styled($0, $1, on: console.output)
        }
        var hints: [String] = []
        if counted == nil, wasCounted {
            hints.append(page.cut("The brokers do not answer; this is as it was before. Still trying."))
        }
        if !status.isOver, !stop.isMade { hints.append(console.styled("Ctrl-C ends", .dim, on: console.output)) }
        try screen.draw(Array((page.lines + hints).prefix(max(1, size.rows - 1))), size: size)
    }
}
