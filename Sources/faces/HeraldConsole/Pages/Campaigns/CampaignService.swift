internal import HeraldCampaigns
internal import HeraldText
internal import HeraldTools

/// The campaigns as the console's requests see them: each reads the campaigns topic again.
struct CampaignService: Sendable {
    /// A request does not wait for millions of results: what is not counted by then is not finished.
    static let patience = Duration.seconds(5)

    var context: CampaignContext
    private let timeline: TimelineContext

    init(_ context: ConsoleContext) {
        self.context = context.campaigns
        timeline = context.timeline
    }

    /// The same, with this name in the audit.
    func signed(by viewer: Viewer) -> CampaignContext {
        var context = context
        context.operatorName = viewer.name
        return context
    }

    func layout(isWriting: Bool = false) throws -> CampaignContext.Layout {
        try context.layout(reach: timeline.reach, admin: timeline.admin, isWriting: isWriting)
    }

    /// What the campaigns topic says.
    ///
    /// - Parameter isWriting: whether something is decided by it: then what is under way now is waited for.
    func index(_ layout: CampaignContext.Layout, isWriting: Bool = false) throws -> CampaignIndex {
        let reader = try context.campaigns(layout)
        defer { reader.close() }
        try reader.catchUp(throughOpenTransactions: isWriting)
        return reader.index
    }

    /// What is known of a campaign.
    static func campaign(_ name: String, in index: CampaignIndex) throws -> CampaignIndex.Campaign {
        if let campaign = index.campaign(name) { return campaign }
        throw Refused("there is no campaign \(SafeText.quoted(name, limit: 64))", status: 404)
    }

    /// An order about a campaign as it stands now.
    func plan(_ order: ControlOrder, of name: String, isWriting: Bool) throws -> ControlPlan {
        let layout = try layout(isWriting: isWriting)
        let campaign = try Self.campaign(name, in: try index(layout, isWriting: isWriting))
        let end = ContinuousClock.now + Self.patience
        let status = try context.statuses(of: [campaign], layout) { _, _ in ContinuousClock.now < end }[0].status
        return ControlPlan(order, status)
    }

    /// The command that gives the same order.
    static func command(_ order: ControlOrder, of name: String, reason: String?) -> [String] {
        var words = ["herald", "campaign", order.rawValue, name]
        if let reason, order != .resume { words += ["--reason", reason] }
        return words
    }
}
