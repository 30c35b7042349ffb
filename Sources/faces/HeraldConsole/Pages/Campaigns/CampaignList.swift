internal import HeraldCampaigns
internal import HeraldEvents
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// The states of all campaigns, for the list.
struct CampaignList: Sendable {
    var statuses: [CampaignStatus] = []
    /// The campaigns whose outcomes were not all counted, for lack of time.
    var uncounted: [String] = []
    /// Records of the topic that cannot be read.
    var damagedCount = 0

    var json: JSONValue {
        JSONValue.object([
            .init("state", "done"), .init("campaigns", .array(statuses.map { $0.json() })),
            .init("uncounted", .array(uncounted.map { .string($0) })), .init("damaged", .integer(damagedCount)),
            .init("command", .words(["herald", "campaign", "status"])),
        ]).safe
    }
}

/// Follows all campaigns while a page shows the list.
///
/// Finished campaigns are counted once; the others continuously. One thread.
final class CampaignListFollower {
    private static let turnLength: Milliseconds = .milliseconds(700)

    private let context: CampaignContext
    private let layout: CampaignContext.Layout
    private let campaigns: CampaignReader
    private var counts: [String: OutcomeCount] = [:]
    private var uncounted: Set<String> = []
    private var active: OutcomeReader?

    init(_ service: CampaignService) throws {
        context = service.context
        layout = try service.layout()
        campaigns = try context.campaigns(layout)
    }

    func close() {
        campaigns.close()
        active?.close()
    }

    func run(_ work: AskedTasks<CampaignList>.Work) throws {
        try campaigns.catchUp()
        try countAll(work)
        while work.isWanted {
            work.publish(list)
            try campaigns.poll(wait: Self.turnLength)
            let isNew = campaigns.index.names.contains { counts[$0] == nil }
            if isNew { try countAll(work) } else { try countOn(work) }
            // Behind the outcomes: what has one is published, and what is published without one is open.
            try campaigns.poll()
        }
    }

    private var list: CampaignList {
        let now = SystemClock.wall()
        let index = campaigns.index
        let statuses = index.names.compactMap(index.campaign).map { campaign in
            CampaignStatus(campaign: campaign, count: counts[campaign.name] ?? OutcomeCount(), now: now)
        }
        return CampaignList(
            // Newest first; campaigns known only by an order come last.
            statuses: statuses.sorted { Self.start($0) > Self.start($1) }, uncounted: uncounted.sorted(),
            damagedCount: index.damages.count)
    }

    private static func start(_ status: CampaignStatus) -> Int64 { status.campaign.definition?.startedAt ?? -1 }

    private func countAll(_ work: AskedTasks<CampaignList>.Work) throws {
        active?.close()
        active = nil
        let index = campaigns.index
        let end = ContinuousClock.now + CampaignService.patience
        let statuses = try context.statuses(of: index.names.compactMap(index.campaign), layout) { _, _ in
            work.isWanted && ContinuousClock.now < end
        }
        uncounted = []
        for (status, isWhole) in statuses {
            counts[status.campaign.name] = status.count
            if !isWhole { uncounted.insert(status.campaign.name) }
        }
        let subjects = statuses.filter { !$0.status.isFinished }.compactMap { status, _ in
            status.campaign.definition.map { OutcomeReader.Subject($0, after: status.campaign.progress) }
        }
        if !subjects.isEmpty { active = try context.outcomes(of: subjects, layout) }
    }

    private func countOn(_ work: AskedTasks<CampaignList>.Work) throws {
        guard let active else { return }
        let end = ContinuousClock.now + .seconds(1)
        let isWhole = try active.catchUp(onProgress: { _, _ in work.isWanted && ContinuousClock.now < end })
        for (name, subject) in active.subjects {
            // The earlier count stays until this reader has caught up with it.
            if isWhole || subject.count.known >= counts[name]?.known ?? 0 { counts[name] = subject.count }
            if isWhole { uncounted.remove(name) }
        }
    }
}
