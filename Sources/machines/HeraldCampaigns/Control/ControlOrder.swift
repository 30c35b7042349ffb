package import HeraldEvents
package import HeraldTime

/// What an operator wants of a campaign, and the rules of when that can be: pure.
package enum ControlOrder: String, CaseIterable, Sendable {
    /// Nothing more is published, and what waits is suspended.
    case pause
    case resume
    case cancel

    /// What an order comes to.
    package enum Decision: Equatable, Sendable {
        case write(CampaignControl)
        case unchanged
        case isCancelled(CampaignControl)
        case isFinished
    }

    package var state: CampaignControl.State {
        switch self {
        case .pause: .paused
        case .resume: .running
        case .cancel: .cancelled
        }
    }

    /// Whether there is nothing left to pause or to cancel once all outcomes are known.
    package var needsUnfinished: Bool { self != .resume }

    /// What it comes to for a campaign.
    ///
    /// - Parameter isFinished: whether all of its outcomes are known.
    package func decision(
        for campaign: CampaignIndex.Campaign, isFinished: Bool, at moment: WallTime, by name: String, reason: String?
    ) -> Decision {
        if let control = campaign.control, control.state == .cancelled { return .isCancelled(control) }
        guard campaign.state != state else { return .unchanged }
        if isFinished, needsUnfinished { return .isFinished }
        return .write(
            CampaignControl(
                state: state, at: moment, by: name, reason: reason,
                pauseIfFailures: campaign.control?.pauseIfFailures))
    }

    package func key(of campaign: String) -> [UInt8] {
        self == .cancel ? CampaignControl.cancellationKey(of: campaign) : CampaignControl.key(of: campaign)
    }
}
