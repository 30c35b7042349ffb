internal import HeraldEvents
internal import HeraldTime
internal import HeraldTools

/// When a campaign publishes, waits and has failed: by its rate and ramp, and by the outcomes of what is published.
///
/// Pure.
struct CampaignPace: Sendable {
    private static let stepPatience = Milliseconds(RampStep.patience)

    private let pushServices: [String]
    private var outcomesPerEvent: Int { pushServices.count }
    private var admission: PublishAdmission
    private var limit: FailureLimit
    private var silence: OutcomeSilence
    /// What was known when the silence was looked at last.
    private var knownBefore: Int
    /// The step that is published to its end, and since when.
    private var endedStep: (number: Int, since: Moment)?
    /// The step that was left without all its outcomes, once that was said.
    private var leftStep: Int?
    /// Of the open outcomes, those that waited for a long retry of their own or for their users when that was asked last,
    /// while they may still be open.
    private var waitingAlone = 0
    /// The step that was said to begin.
    private var step: Int?

    /// What became of what is published, as far as it was read.
    var outcomes: OutcomeCount

    /// The pace of a campaign of which so many events are published.
    ///
    /// - Parameters:
    ///   - terms: its ramp and its rate.
    ///   - limit: the share of failures that is allowed; `nil` allows all.
    ///   - outcomes: those that came before: an operator has seen them, and goes on.
    init(
        _ order: CampaignOrder, _ terms: CampaignTerms, published: Int, limit: Double?,
        from outcomes: OutcomeCount, mayAskWorkers: Bool
    ) {
        pushServices = order.text.pushServices
        admission = PublishAdmission(
            outcomesPerEvent: pushServices.count, batchLimit: RecipientBatch.recipientLimit,
            rate: terms.rate, ramp: Ramp(steps: terms.ramp),
            published: published, boundsPile: true)
        self.limit = FailureLimit(share: limit, meaningfulCount: CampaignControl.outcomesToJudge)
        silence = OutcomeSilence(mayAskWorkers: mayAskWorkers)
        knownBefore = outcomes.known
        self.outcomes = outcomes
        resume()
    }

    /// The outcomes that are still to come of what is published.
    var open: Int { max(0, admission.expected - outcomes.known) }

    /// The events that would go out at once, on the push service that keeps up best.
    ///
    /// One that is held holds back nobody of the others. What waits alone is called one by one.
    private var piledUp: Int {
        let counts = outcomes.byPushService
        let open = pushServices.map { max(0, admission.published - (counts?[$0]?.known ?? 0)) }.min() ?? 0
        return max(0, (counts == nil ? self.open / outcomesPerEvent : open) - waitingAlone / outcomesPerEvent)
    }

    var isAllKnown: Bool { outcomes.known >= admission.expected }

    /// The first end of quiet hours, while all that is open waits for one; `nil` when other outcomes may come before, or that
    /// is not known.
    func asleepUntil(now: Moment) -> WallTime? {
        guard let retries = silence.facts?.retries, !retries.isPartly, retries.retrying + retries.suspended == 0,
            open > 0, retries.asleep >= open, let until = retries.asleepUntil, until > now.wall
        else { return nil }
        return until
    }

    /// What is known of why no outcome comes.
    var silenceFacts: OutcomeSilence.Facts? { silence.facts }

    // MARK: What happens

    /// So many more are published.
    mutating func notePublished(_ count: Int) { admission.notePublished(count) }

    /// The share of failures that is allowed by now.
    mutating func allow(failures share: Double?) { limit.share = share }

    /// The campaign is resumed: what an operator has seen and accepted does not count again, and while it was paused no
    /// outcome was to come.
    mutating func resume() {
        limit.accept(failed: outcomes.first(.failed), known: judged)
        silence.end()
    }

    /// The outcomes that say something of the message.
    private var judged: Int { outcomes.first(.failed) + outcomes.first(.reached) }

    mutating func answered(retries: RetryBacklog.Count?, now: Moment) {
        silence.answered(retries: retries, now: now.monotonic)
        if let retries { waitingAlone = retries.waitingAlone }
    }

    mutating func answered(trouble: String?, now: Moment) { silence.answered(trouble: trouble, now: now.monotonic) }

    /// Notes since when a step is published to its end, and whether outcomes come: what is to be asked now.
    mutating func look(now: Moment) -> [OutcomeSilence.Question] {
        if let number = admission.endedStep?.number, endedStep?.number != number { endedStep = (number, now) }
        let known = outcomes.known
        defer { knownBefore = known }
        waitingAlone = min(waitingAlone, open)
        guard known == knownBefore, open > 0 else {
            silence.end()
            return []
        }
        return silence.look(now: now.monotonic)
    }

    /// When something changes by itself; `nil` when only what comes changes anything.
    var nextWake: MonotonicTime? {
        [admission.nextCredit, silence.nextWake, rampStep.flatMap { $0.mayGoOnWithout ? patienceEnd?.monotonic : nil }]
            .compactMap { $0 }.min()
    }

    // MARK: What follows

    /// Why the campaign has to be paused; `nil` when it has not.
    func failure(now: Moment) -> String? {
        let step = rampStep(now)
        let excess = limit.excess(
            failed: outcomes.first(.failed), known: judged,
            openAtEnd: step.map { $0.verdict == .goesOnWithout ? 0 : open })
        guard let excess, let share = limit.share else { return nil }
        return "\(excess.failed) of \(excess.known) outcomes failed, more than \(ShareText.text(share))"
    }

    /// How many may be published now, or what that waits for.
    mutating func nextStep(_ outcomes: JobWaitReason.Outcomes, now: Moment) -> PublicationStep {
        let wait = rampWait(now)
        let step = admission.nextStep(
            outcomes, piledUp: piledUp, openInStep: wait == nil ? 0 : open, now: now)
        return step ?? .wait(wait.map { .rampStep($0.standing, outcomes) } ?? .nextTurn)
    }

    /// What people should know before something is published now.
    mutating func news(now: Moment) -> [PublishNews] {
        var news: [PublishNews] = []
        if let number = admission.endedStep?.number, leftStep != number, rampStep(now)?.verdict == .goesOnWithout {
            leftStep = number
            news.append(.goesOnWithout(open, step: number))
        }
        if admission.step != step {
            step = admission.step
            if let step { news.append(.step(step)) }
        }
        return news
    }

    /// What it waits for before the next step of the ramp; `nil` when that may begin.
    func rampWait(_ now: Moment) -> RampWait? {
        guard let (number, size) = admission.endedStep, let step = rampStep(now), case .waits(let reason) = step.verdict
        else { return nil }
        return RampWait(
            step: number, recipients: size, open: open,
            retrying: silence.facts?.retries.map { min($0.retrying, open) },
            reason: reason, goesOnAt: step.mayGoOnWithout ? patienceEnd?.wall.milliseconds : nil)
    }

    /// The step whose recipients are all published, as far as it is known.
    private func rampStep(_ now: Moment) -> RampStep? {
        var step = rampStep
        step?.isPatienceOver = patienceEnd.map { $0.monotonic <= now.monotonic } ?? false
        return step
    }

    private var rampStep: RampStep? {
        guard let size = admission.endedStep?.size else { return nil }
        return RampStep(
            outcomes: size * outcomesPerEvent, open: open, retryingLong: silence.facts?.retries?.retryingLong,
            canFail: limit.canFail(failed: outcomes.first(.failed), known: judged, open: open),
            outcomesPerEvent: outcomesPerEvent,
            isFollowedByStep: admission.step != nil)
    }

    private var patienceEnd: Moment? {
        endedStep.map { step in
            Moment(
                monotonic: step.since.monotonic.advanced(by: Self.stepPatience),
                wall: step.since.wall.advanced(by: Self.stepPatience))
        }
    }
}
