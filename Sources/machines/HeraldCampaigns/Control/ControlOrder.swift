package import HeraldEvents
package import HeraldTime

/// What an operator wants of a campaign, and the rules of when that can be: pure.
package enum ControlOrder: String, CaseIterable, Sendable {
    /// Nothing more is published, and what waits is suspended.
    case pause
    case resume
    case cancel
    /// It counts as finished; what is open is left to its retries.
    case finish

    /// What an order comes to.
    package enum Decision: Equatable, Sendable {
        case write(ControlRecord)
        case unchanged
        case isCancelled(CampaignControl)
        case isFinished
        /// Why it cannot be declared finished: paused, or so many recipients are left.
        case isPaused
        case isUnpublished(Int)
    }

    package var state: CampaignControl.State {
        switch self {
        case .pause: .paused
        case .resume, .finish: .running
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
        if self == .finish {
            if isFinished { return .unchanged }
            guard campaign.state == .running else { return .isPaused }
            guard let progress = campaign.progress, progress.isComplete else {
                return .isUnpublished(campaign.progress.map { max(0, $0.everybody - $0.published) } ?? 0)
            }
        } else if campaign.state == state {
            guard self == .resume, let hold = campaign.hold else { return .unchanged }
            return .write(.go(CampaignGo(passed: hold, at: moment.milliseconds, by: name)))
        }
        if isFinished, needsUnfinished { return .isFinished }
        return .write(
            .state(
                CampaignControl(
                    state: state, at: moment, by: name, reason: reason,
                    pauseIfFailures: campaign.control?.pauseIfFailures, cause: self == .finish ? .finished : nil)))
    }

    package func key(of campaign: String) -> [UInt8] {
        self == .cancel ? CampaignControl.cancellationKey(of: campaign) : CampaignControl.key(of: campaign)
    }
}
