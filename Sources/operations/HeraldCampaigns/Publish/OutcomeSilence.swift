internal import HeraldTools

/// Finds out why no outcome of a campaign comes although some are open: what retries, and whether workers deliver.
///
/// Nothing is asked while outcomes come. One thread.
package final class OutcomeSilence {
    /// What is known of a silence.
    package struct Facts: Sendable {
        package var since: ContinuousClock.Instant
        /// What waits in the retry topics; `nil` when that is not known, or was not asked yet.
        package var retries: RetryBacklog.Count?
        /// Why workers do not deliver, in a sentence; `nil` when nothing is known that speaks against them.
        package var trouble: String?
        /// Whether anybody was asked about the workers.
        package var isAsked = false

        package init(since: ContinuousClock.Instant) { self.since = since }
    }

    /// Short silences are none.
    private static let patience = Duration.seconds(2)
    private static let backlogPause = Duration.seconds(5)
    private static let backlogPatience = Duration.seconds(1)
    /// So long a silence worries people.
    package static let worry = Duration.seconds(30)
    private static let questionPause = Duration.seconds(30)

    private let context: CampaignContext
    private let layout: CampaignContext.Layout
    private let campaign: String
    private var backlog: RetryBacklog?
    private var lastCount: ContinuousClock.Instant?
    private var lastQuestion: ContinuousClock.Instant?

    private(set) var facts: Facts?

    init(_ context: CampaignContext, _ layout: CampaignContext.Layout, campaign: String) {
        self.context = context
        self.layout = layout
        self.campaign = campaign
    }

    func close() { backlog?.close() }

    /// An outcome has come, or none is open.
    func end() { facts = nil }

    /// No outcome has come; asks what is to be asked by now.
    func look(isStopping: () -> Bool) {
        let now = ContinuousClock.now
        var known = facts ?? Facts(since: now)
        defer { facts = known }
        let silence = now - known.since
        guard silence >= Self.patience else { return }
        if lastCount.map({ now - $0 >= Self.backlogPause }) ?? true {
            known.retries = count(isStopping)
            lastCount = .now
        }
        guard silence >= Self.worry, let ask = context.workerTrouble else { return }
        if lastQuestion.map({ now - $0 >= Self.questionPause }) ?? true || !known.isAsked {
            (known.trouble, known.isAsked) = (ask(), true)
            lastQuestion = .now
        }
    }

    private func count(_ isStopping: () -> Bool) -> RetryBacklog.Count? {
        if backlog == nil { backlog = try? RetryBacklog(context, layout, campaign: campaign) }
        return backlog?.count(within: Self.backlogPatience, isStopping: isStopping)
    }
}
