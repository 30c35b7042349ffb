internal import HeraldEvents
internal import HeraldTime

/// Follows one campaign: reads its records, its outcomes and its backlog in the retry topics.
///
/// One thread.
package final class CampaignFollower {
    private static let backlogPause = Duration.seconds(5)
    /// The reading of a long backlog is cut short: the first may take longer than those that follow.
    private static let firstBacklogPatience = Duration.seconds(5)
    private static let backlogPatience = Duration.seconds(1)
    private static let questionPause = Duration.seconds(15)
    private static let brokersSilent = "the brokers do not answer"

    private let campaigns: CampaignReader
    private let outcomes: OutcomeReader?
    private let backlog: RetryBacklog
    private var campaign: CampaignIndex.Campaign
    private var meter = OutcomeMeter()
    private var counted: RetryBacklog.Count?
    private var lastCount = ContinuousClock.now
    private var brokers = BrokerSilence(at: SystemClock.wall())
    private let askWorkers: (@Sendable ([String]) -> String?)?
    private let askRecalls: (@Sendable ([String]) throws -> [String: Recall])?
    private var recall: Recall?
    private var trouble: String?
    private var nextQuestion = ContinuousClock.now

    /// A follower that has read nothing yet.
    ///
    /// - Parameter campaigns: has been read to its end; it stays the caller's to close.
    package init(
        _ context: CampaignContext, _ layout: CampaignContext.Layout, _ campaign: CampaignIndex.Campaign,
        campaigns: CampaignReader
    ) throws {
        self.campaigns = campaigns
        self.campaign = campaign
        askWorkers = context.workerTrouble
        askRecalls = context.recalls
        let since = SystemClock.wall().milliseconds - Int64(OutcomeMeter.window) * 1_000
        outcomes = try campaign.definition.map { definition in
            try context.outcomes(
                of: [.init(definition, after: campaign.progress)], lookingBackTo: since, layout)
        }
        backlog = try RetryBacklog(context, layout, campaign: campaign.name)
    }

    package func close() {
        outcomes?.close()
        backlog.close()
    }

    /// Reads everything to its present end.
    ///
    /// - Parameter onProgress: how many of how many results were passed; `false` ends the reading.
    /// - Returns: whether the end was reached.
    package func catchUp(onProgress: (Int64, Int64) -> Bool, isStopping: () -> Bool) throws -> Bool {
        let now = SystemClock.wall()
        let isWhole =
            try outcomes?.catchUp(
                onProgress: onProgress,
                onResult: { result in
                    // A result whose clock is ahead of this one does not show when it really came.
                    if result.completedAt <= now { meter.add(result, at: now) }
                }) ?? true
        guard isWhole else { return false }
        // Its records have changed while millions of results were read.
        try campaigns.poll()
        countBacklog(within: Self.firstBacklogPatience, isStopping)
        lookForRecall()
        return true
    }

    /// Takes what comes in about this long.
    package func poll(for duration: Duration, isStopping: () -> Bool) throws {
        let end = ContinuousClock.now + duration
        while let outcomes, ContinuousClock.now < end, !isStopping() {
            let left = (end - .now) / .milliseconds(1)
            let hasCome = try outcomes.poll(wait: .milliseconds(Int64(max(1, left)))) { result in
                meter.add(result, at: SystemClock.wall())
                trouble = nil
            }
            if hasCome { brokers.answered(at: SystemClock.wall()) }
        }
        // Behind the outcomes: what has one is published, and what is published without one is open.
        if try campaigns.poll(wait: outcomes == nil ? Milliseconds(duration) : .zero) {
            brokers.answered(at: SystemClock.wall())
        }
        if ContinuousClock.now - lastCount >= Self.backlogPause {
            countBacklog(within: Self.backlogPatience, isStopping)
            lookForRecall()
            askForTrouble()
        }
    }

    /// What was known stays while nobody answers.
    private func lookForRecall() {
        guard let found = try? askRecalls?([campaign.name]) else { return }
        recall = found[campaign.name]
    }

    /// Asks the workers why no outcome comes; nothing is asked while some do, or none is to come.
    private func askForTrouble() {
        let status = status
        let latest = meter.last.map { status.now.time(since: $0) }
        let isQuiet = latest.map { $0 >= Milliseconds(Self.backlogPause) } ?? true
        guard isQuiet, !isSilent, status.state == .running, status.open > 0 else {
            (trouble, nextQuestion) = (nil, .now)
            return
        }
        guard ContinuousClock.now >= nextQuestion else { return }
        trouble = askWorkers?(campaign.definition?.pns ?? [])
        nextQuestion = .now + Self.questionPause
    }

    /// How it stands, as far as it was read.
    package var status: CampaignStatus {
        campaign = campaigns.index.campaign(campaign.name) ?? campaign
        let isSilent = isSilent
        var status = CampaignStatus(
            campaign: campaign, count: outcomes?.count ?? OutcomeCount(), backlog: counted,
            meter: isSilent ? nil : meter, now: isSilent ? brokers.lastAnswer : SystemClock.wall())
        status.trouble = isSilent ? Self.brokersSilent : trouble
        status.recall = recall
        return status
    }

    /// Whether brokers that have answered before do not answer now.
    package var isSilent: Bool { brokers.isSilent(at: SystemClock.wall()) }

    /// Results that were deleted before they could be counted, of any event.
    package var deletedCount: Int64 { outcomes?.deletedCount ?? 0 }

    /// A finished campaign has nothing there.
    private func countBacklog(within patience: Duration, _ isStopping: () -> Bool) {
        let now = SystemClock.wall()
        let found =
            status.isFinished && status.open == 0 ? .init() : backlog.count(within: patience, isStopping: isStopping)
        if found != nil { brokers.answered(at: now, isCount: true) }
        // Brokers that are slow once, or a backlog that moves, are no silence.
        if found != nil || isSilent { counted = found }
        lastCount = .now
    }
}
