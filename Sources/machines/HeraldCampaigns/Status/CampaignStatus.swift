package import HeraldEvents
package import HeraldTime

/// How a campaign stands, from what was read: pure.
///
/// All counts of outcomes are for each push service.
package struct CampaignStatus: Sendable {
    /// A publisher that was not heard of for so long is not there, or cannot reach the brokers.
    static let patience: Milliseconds = .seconds(20)

    package var campaign: CampaignIndex.Campaign
    package var count: OutcomeCount
    /// What waits in the retry topics; `nil` when that is not known.
    package var backlog: RetryBacklog.Count?
    /// How fast outcomes come; `nil` when that is not known.
    package var meter: OutcomeMeter?
    /// Why nothing is delivered, in words; `nil` when nothing is known that speaks against it.
    package var trouble: String?
    /// The recall of its events; `nil` when they are not recalled, or that is not known.
    package var recall: Recall?
    package var now: WallTime

    package init(
        campaign: CampaignIndex.Campaign, count: OutcomeCount, backlog: RetryBacklog.Count? = nil,
        meter: OutcomeMeter? = nil, now: WallTime
    ) {
        self.campaign = campaign
        self.count = count
        self.backlog = backlog
        self.meter = meter
        self.now = now
    }

    /// What a campaign is called: the same word in every list, page and report.
    package enum State: String, CaseIterable, Sendable {
        /// Its publisher waits for the moment at which it is to begin.
        case scheduled
        case running
        /// Nobody publishes the rest: its publisher has ended, or is not heard of.
        case stopped
        /// As many as its operator wanted to see first are published: it goes on when somebody says so.
        case waiting = "waiting for you"
        /// What waits is suspended until it is resumed.
        case paused
        case cancelled
        /// Its events' moment has come before all were published or had an outcome: what is left is too late.
        case expired
        /// Everything is published, and every outcome known or left to its retries.
        case finished
    }

    package var state: State {
        if campaign.state == .cancelled { return .cancelled }
        if isFinished { return .finished }
        if isExpired { return .expired }
        if campaign.state == .paused { return .paused }
        if campaign.hold != nil { return .waiting }
        if isWithoutPublisher { return .stopped }
        return isScheduled || (awaitsTakeUp && !isPublisherAlive) ? .scheduled : .running
    }

    /// Whether recipients are left, and nobody publishes them.
    package var isWithoutPublisher: Bool {
        !(campaign.progress?.isComplete ?? true) && !isPublisherAlive && !awaitsTakeUp
    }

    /// Whether it is to begin later, and nobody is published.
    package var isScheduled: Bool { campaign.isScheduled(at: now) }

    /// Whether the moment has come at which its events expire.
    package var isExpired: Bool { campaign.definition?.expiresAt.map { $0 <= now.milliseconds } ?? false }

    private var pushServiceCount: Int { campaign.definition?.pns.count ?? 0 }

    /// The outcomes that there will be; `nil` before the audience was read.
    package var total: Int? {
        guard let progress = campaign.progress else { return nil }
        return progress.everybody * pushServiceCount
    }

    /// The recipients whose events are published: what is known already came from published ones.
    package var publishedRecipients: Int {
        let services = max(1, pushServiceCount)
        return max(campaign.progress?.published ?? 0, (count.known + services - 1) / services)
    }

    /// The outcomes that the published events will have.
    package var published: Int { pushServiceCount > 0 ? publishedRecipients * pushServiceCount : count.known }

    package var unpublished: Int { max(0, (total ?? 0) - published) }

    /// Recipients that the publisher has not reached yet.
    package var recipientsLeft: Int { max(0, (campaign.progress?.everybody ?? 0) - publishedRecipients) }

    /// What is published and has no outcome yet.
    package var open: Int { max(0, published - count.known) }

    /// What waits in the retry topics for its next call.
    package var retrying: Int { min(backlog?.retrying ?? 0, open) }

    /// What is published, and neither known nor retrying.
    package var waiting: Int { max(0, open - retrying) }

    /// Of those that wait, the ones that are suspended because the campaign is paused.
    package var suspended: Int { min(backlog?.suspended ?? 0, waiting) }

    /// Of those that wait, the ones whose users have quiet hours.
    package var asleep: Int { min(backlog?.asleep ?? 0, waiting - suspended) }

    /// Whether everything is published, and every outcome known or left to its retries.
    package var isFinished: Bool {
        guard let progress = campaign.progress, pushServiceCount > 0, progress.isComplete else { return false }
        return campaign.control?.cause == .finished || count.known >= progress.published * pushServiceCount
    }

    /// Whether nothing will change any more: finished, or cancelled or expired with every published event accounted for.
    package var isOver: Bool {
        switch state {
        case .finished: true
        case .cancelled, .expired: campaign.progress != nil && open == 0 && !isPublisherAlive
        case .scheduled, .running, .waiting, .stopped, .paused: false
        }
    }

    /// Whether somebody without an outcome may still be notified, also after it was declared finished.
    package var mayNotify: Bool {
        switch state {
        case .cancelled: false
        case .finished, .expired: open > 0
        case .scheduled, .running, .waiting, .stopped, .paused: open > 0 || unpublished > 0 || campaign.progress == nil
        }
    }

    /// How long ago the publisher was heard of; 0 for clocks that differ.
    package var silence: Milliseconds? {
        campaign.progress.map { max(.zero, now.time(since: WallTime(milliseconds: $0.at))) }
    }

    /// Whether the publisher was heard of a short while ago, and has not said that it ends.
    package var isPublisherAlive: Bool {
        campaign.progress?.end == nil && silence.map { $0 < Self.patience } ?? false
    }

    /// Since when it is in its state, as far as records say it.
    package var since: WallTime? {
        switch state {
        case .scheduled, .paused, .cancelled: campaign.control?.at
        // One that was to begin later has run since its moment, and not since somebody said so.
        case .running: [campaign.control?.at, campaign.definition?.start?.moment].compactMap(\.self).max()
        case .waiting: campaign.progress?.heldSince.map(WallTime.init(milliseconds:))
        case .stopped: campaign.progress.map { WallTime(milliseconds: $0.at) }
        case .expired: campaign.definition?.expiresAt.map(WallTime.init(milliseconds:))
        // A publisher has seen the last outcome, or it is unknown when that came.
        case .finished:
            campaign.progress?.finishedAt.map(WallTime.init(milliseconds:))
                ?? campaign.control.flatMap { $0.cause == .finished ? $0.at : nil }
        }
    }

    /// The operator who has brought it into its state, and why; `nil` when it came by itself.
    package var order: CampaignControl? {
        switch state {
        case .scheduled, .running, .paused, .cancelled: campaign.control
        case .finished: campaign.control.flatMap { $0.cause == .finished ? $0 : nil }
        case .waiting, .stopped, .expired: nil
        }
    }

    /// Why it is in its state; `nil` when that needs no reason, or nobody gave one.
    package var reason: String? {
        switch state {
        case .scheduled: CampaignWords.start(self)
        case .waiting: CampaignWords.hold(self)
        case .stopped: CampaignWords.withoutPublisher(self)
        case .running, .paused, .cancelled, .expired, .finished: order?.reason
        }
    }

    /// What its publisher waits for before the next step of the ramp.
    package var rampWait: RampWait? {
        state == .running && isPublisherAlive ? campaign.progress?.rampWait : nil
    }

    /// Outcomes a second at present.
    package var perSecond: Double? {
        // What ends during a pause was in flight, and a pause says nothing of how fast it goes on.
        if state == .paused { return nil }
        guard state == .running else { return meter?.perSecond(at: now) }
        // Before the publisher began, and before it was resumed, none were to come.
        let begun = campaign.progress?.begunAt.map(WallTime.init(milliseconds:))
        return meter?.perSecond(at: now, since: [since, begun].compactMap(\.self).max())
    }

    /// What open notifications wait for while no outcome comes, and until when, where that is known.
    package enum Wait: Equatable, Sendable {
        case trouble(String)
        /// So many were suspended; the last of them is called again then.
        case suspended(Int, until: WallTime)
        /// All that is open retries; the next call is due then.
        case retries(Int, next: WallTime)
        /// All that is open waits for the end of users' quiet hours; the first end then.
        case quietHours(Int, next: WallTime)
    }

    /// What it waits for; `nil` while outcomes come, or nothing of it is to come.
    package var wait: Wait? {
        guard state == .running || ([.waiting, .stopped].contains(state) && open > 0) else { return nil }
        if let trouble { return .trouble(trouble) }
        guard recall == nil, open > 0,
            perSecond ?? 0 == 0 || meter?.last.map({ now.time(since: $0) >= Self.quiet }) ?? true
        else {
            return nil
        }
        if suspended > 0, let until = backlog?.suspendedUntil, until > now {
            return .suspended(suspended, until: until)
        }
        if retrying == open, let next = backlog?.nextCall { return .retries(retrying, next: max(next, now)) }
        if asleep == open, let next = backlog?.asleepUntil { return .quietHours(asleep, next: max(next, now)) }
        return nil
    }

    /// A pause between outcomes that people notice.
    private static let quiet: Milliseconds = .seconds(5)

    /// Whether outcomes have ceased, however many came in the last half minute.
    private func isSilent(at perSecond: Double) -> Bool {
        meter?.last.map { now.time(since: $0).inSeconds >= max(Self.quiet.inSeconds, Self.silentTurns / perSecond) }
            ?? true
    }

    /// Outcomes that come singly are so many pauses apart before they have ceased.
    private static let silentTurns = 5.0

    /// How long it will take at the present pace, and at least as long as the rate lets publishing take; `nil` when that is
    /// unknown.
    package var secondsLeft: Double? {
        guard let perSecond, perSecond > 0, state == .running, trouble == nil, recall == nil, let total else {
            return nil
        }
        // Without a publisher nothing more comes, and a step that waits for retries has no known end.
        guard rampWait == nil, unpublished == 0 || isPublisherAlive else { return nil }
        // Retries come when they are due, at no pace.
        guard unpublished > 0 || retrying < open else { return nil }
        guard !isSilent(at: perSecond) else { return nil }
        let publishing = campaign.progress?.rate.map { Double(recipientsLeft) / $0 } ?? 0
        return max(publishing, Double(total - min(total, count.known)) / perSecond)
    }
}
