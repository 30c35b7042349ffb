public import HeraldEvents

/// How many outcomes of a campaign a lane has seen fail, or how many of its latest calls were rejected with one status.
public struct CampaignFailures: Equatable, Sendable {
    /// The campaign's name.
    public var campaign: String
    /// What the campaign was to do when they were counted: what is decided later, they say nothing of.
    public var judged: CampaignControl
    /// How many failed.
    public var failed: Int
    /// Of so many.
    public var of: Int
    /// The status that rejected them, if it was one.
    public var status: Int?

    /// Why the campaign is paused, for people.
    public var reason: String {
        guard let status else { return "\(failed) of \(of) outcomes of a worker failed" }
        return "its users are rejected: \(failed) of a worker's latest \(of) calls with status \(status)"
    }
}
