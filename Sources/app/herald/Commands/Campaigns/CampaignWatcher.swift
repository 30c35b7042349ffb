import Glibc
import HeraldCampaigns
import HeraldCommandLine

/// Follows one campaign, and shows it on a terminal while that is wanted.
struct CampaignWatcher {
    private static let turn = Duration.milliseconds(250)

    private let console: Console
    private let configuration: String?
    private let isLive: Bool
    private let follower: CampaignFollower
    private let stop: StopRequest

    init(
        _ query: CampaignQuery, _ campaign: CampaignIndex.Campaign, _ console: Console, configuration: String?,
        isLive: Bool, _ stop: StopRequest
    ) throws {
        self.console = console
        self.configuration = configuration
        self.isLive = isLive
        self.stop = stop
        follower = try CampaignFollower(query.context, query.layout, campaign, campaigns: query.reader)
    }

    func close() { follower.close() }

    /// How it stands; on a terminal, when nothing changes any more or the operator ends it.
    func run() throws -> CampaignStatus {
        try catchUp()
        if isLive { stop.beginWork() }
        let screen = LiveScreen(console.output)
        while isLive {
            let status = follower.status
            try show(status, screen)
            guard !status.isOver, !stop.isMade else { break }
            try follower.poll(for: Self.turn, isStopping: { stop.isMade })
        }
        try screen.end()
        return follower.status
    }

    private func catchUp() throws {
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

    private func show(_ status: CampaignStatus, _ screen: LiveScreen) throws {
        let size = TerminalSize.of(STDOUT_FILENO) ?? TerminalSize(columns: console.output.width, rows: 24)
        let page = CampaignPage(status: status, configuration: configuration, width: size.columns - 1) {
            console.styled($0, $1, on: console.output)
        }
        var hints: [String] = []
        if follower.isSilent {
            hints.append(page.cut("The brokers do not answer; this is as it was before. Still trying."))
        }
        if !status.isOver, !stop.isMade { hints.append(console.styled("Ctrl-C ends", .dim, on: console.output)) }
        try screen.draw(Array((page.lines + hints).prefix(max(1, size.rows - 1))), size: size)
    }
}
