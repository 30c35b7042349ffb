public import HeraldEvents
public import HeraldTime

/// What an operator wants of a campaign, and the rules of when that can be: pure.
public enum ControlOrder: String, CaseIterable, Sendable {
    /// Nothing more is published, and what waits is parked.
    case pause
    /// It goes on.
    case resume
    /// Nothing more is delivered, ever.
    case cancel

    /// Why it cannot be, or need not.
    public enum Refusal: Error, Equatable, Sendable {
        /// It was cancelled, which is for ever.
        case isCancelled(CampaignControl)
        /// All of its outcomes are known.
        case isFinished
    }

    /// What it brings about.
    public var state: CampaignControl.State {
        switch self {
        case .pause: .paused
        case .resume: .running
        case .cancel: .cancelled
        }
    }

    /// Whether there is nothing left to pause or to cancel once all outcomes are known.
    public var needsUnfinished: Bool { self != .resume }

    /// The record to write; `nil` when the campaign is so already.
    ///
    /// - Parameter isFinished: whether all of its outcomes are known.
    public func control(
        for campaign: CampaignBook.Campaign, isFinished: Bool, at moment: WallTime, by name: String, reason: String?
    ) throws(Refusal) -> CampaignControl? {
        if let control = campaign.control, control.state == .cancelled { throw .isCancelled(control) }
        guard campaign.state != state else { return nil }
        if isFinished, needsUnfinished { throw .isFinished }
        return CampaignControl(
            state: state, at: moment, by: name, reason: reason, pauseIfFailures: campaign.control?.pauseIfFailures)
    }

    /// The key of the record.
    public func key(of campaign: String) -> [UInt8] {
        self == .cancel ? CampaignControl.cancellationKey(of: campaign) : CampaignControl.key(of: campaign)
    }
}
