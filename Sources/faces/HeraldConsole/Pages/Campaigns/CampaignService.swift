internal import HeraldCampaigns
internal import HeraldEvents
internal import HeraldText
import HeraldTime
internal import HeraldTools

/// The campaigns for the console's requests, each of which reads the campaigns topic again.
struct CampaignService: Sendable {
    /// A request does not wait for millions of results: by then it returns what it has counted.
    static let patience = Duration.seconds(5)

    let console: ConsoleContext
    var context: CampaignContext { console.campaigns }

    /// The context with this viewer's name in the audit.
    func signed(by viewer: Viewer) -> CampaignContext { console.signed(by: viewer.name).campaigns }

    func layout(isWriting: Bool = false) throws -> CampaignContext.Layout {
        try context.layout(reach: console.reach, admin: console.admin, isWriting: isWriting)
    }

    /// The content of the campaigns topic.
    ///
    /// - Parameter isWriting: whether a decision depends on it: open transactions are then waited for.
    func index(_ layout: CampaignContext.Layout, isWriting: Bool = false) throws -> CampaignIndex {
        let reader = try context.campaigns(layout)
        defer { reader.close() }
        try reader.catchUp(throughOpenTransactions: isWriting)
        return reader.index
    }

    static func campaign(_ name: String, in index: CampaignIndex) throws -> CampaignIndex.Campaign {
        if let campaign = index.campaign(name) { return campaign }
        throw Refused("there is no campaign \(SafeText.quoted(name, limit: 64))", status: 404)
    }

    /// The plan of an order about a campaign in its current state.
    func plan(_ order: ControlOrder, of name: String, isWriting: Bool) throws -> ControlPlan {
        let layout = try layout(isWriting: isWriting)
        let campaign = try Self.campaign(name, in: try index(layout, isWriting: isWriting))
        let end = ContinuousClock.now + Self.patience
        let status = try context.statuses(of: [campaign], layout) { _, _ in ContinuousClock.now < end }[0].status
        return ControlPlan(order, status)
    }

    /// Gives an order about a campaign, signed by this viewer; the plan, and what was written, `nil` when it was so already.
    func give(
        _ order: ControlOrder, of name: String, by viewer: Viewer, reason: String? = nil, passing hold: Int? = nil
    ) throws -> (plan: ControlPlan, control: ControlRecord?) {
        let plan = try plan(order, of: name, isWriting: true)
        let control = try plan.control(at: SystemClock.wall(), by: viewer.name, reason: reason)
        // Somebody else may have let it go on meanwhile, to the next hold.
        if case .go(let go) = control, go.passed != hold {
            throw Refused(
                "the campaign has gone on since you looked: \(CampaignWords.number(go.passed)) are published by now; look again, and "
                    + "say it of those", status: 409)
        }
        if let control { try signed(by: viewer).write(control, order, of: plan.campaign.name) }
        return (plan, control)
    }

    static func command(_ order: ControlOrder, of name: String, reason: String?) -> [String] {
        var words = ["herald", "campaign", order.rawValue, name]
        if let reason, order != .resume { words += ["--reason", reason] }
        return words
    }
}
