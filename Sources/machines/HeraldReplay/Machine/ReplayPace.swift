internal import HeraldEvents
internal import HeraldTime
internal import HeraldTools

/// When a replay publishes, waits and ends: by its ramp and rate, by the outcomes of what it has published, and by patience.
///
/// Pure.
struct ReplayPace: Sendable {
    /// From so many known outcomes on a share means something in the middle of a batch.
    private static let judgedFrom = 20
    /// A step of which dead letters wait for quiet hours takes so many others at once at most.
    private static let mostStandIns = 100

    private let options: ReplayOptions
    /// Whether workers report outcomes; of what others read all that is known is what comes back.
    private let hasOutcomes: Bool
    private let patience: Milliseconds
    private let limit: FailureLimit
    private var admission: PublishAdmission
    private var outcomes = ReplayTally()
    /// Of others: how many of the batch are published, and how many came back, in all and of the batch.
    private var publishedInBatch = 0
    private var returned = (all: 0, batch: 0)
    /// Since when all of the batch is published.
    private var waitingSince: MonotonicTime?

    /// How far the replay is.
    var progress = ReplayProgress()
    /// When the last step changes by itself; `nil` when only what comes changes it.
    private(set) var nextWake: MonotonicTime?

    /// The pace of a replay that has published nothing.
    ///
    /// - Parameter batchLimit: dead letters in one transaction at most.
    init(_ options: ReplayOptions, planned: Int, batchLimit: Int, hasOutcomes: Bool) {
        self.options = options
        self.hasOutcomes = hasOutcomes
        patience = Milliseconds(options.patience)
        limit = FailureLimit(share: options.stopShare, meaningfulCount: Self.judgedFrom)
        admission = PublishAdmission(
            outcomesPerEvent: 1, batchLimit: batchLimit, rate: options.rate, ramp: options.ramp, published: 0)
        progress.planned = planned
    }

    // MARK: What happens

    /// From now on what is published belongs to the next batch.
    mutating func beginBatch() {
        waitingSince = nil
        outcomes.beginBatch()
        returned.batch = 0
        publishedInBatch = 0
        admission.leaveStep()
        noteOutcomes()
        progress.batch += 1
    }

    mutating func receive(_ result: NotificationResult) { outcomes.receive(result) }

    /// Takes what went to a retry topic.
    mutating func receive(_ event: RetriedEvent) { outcomes.receive(event) }

    /// So many replays of others' dead letters came back as new ones.
    mutating func cameBack(_ count: Int) {
        returned.all += count
        returned.batch += count
    }

    mutating func published(_ replays: [ReplayRules.Replay]) {
        if hasOutcomes, patience > .zero { for replay in replays { outcomes.expect(replay) } }
        publishedInBatch += replays.count
        progress.replayed += replays.count
    }

    /// All of what was allowed and gathered is written, or stays as it is for good.
    mutating func dealtWith(_ count: Int) { admission.notePublished(count) }

    /// Says in ``progress`` what is known of the outcomes.
    mutating func noteOutcomes() {
        progress.delivered = outcomes.total.delivered
        progress.suppressed = outcomes.total.suppressed
        progress.failed = hasOutcomes ? outcomes.total.failed : returned.all
        progress.open = outcomes.total.open
        (progress.asleep, progress.asleepUntil) = (outcomes.total.asleep, outcomes.asleepUntil)
    }

    /// The time of a pause is none in which outcomes failed to come.
    mutating func pause() { waitingSince = nil }

    // MARK: What follows

    /// What may happen now.
    ///
    /// - Parameters:
    ///   - isAtEnd: all of the plan is published.
    ///   - pause: what an operator has paused.
    mutating func nextStep(isAtEnd: Bool, isStopping: Bool, pause: ReplayPause?, now: Moment) -> PublicationStep {
        nextWake = nil
        noteOutcomes()
        if isFailing(isAllSent: isAtEnd || admission.isAtStepEnd) { return .end(.failing) }
        if isStopping { return .end(isAtEnd ? .complete : .interrupted) }
        if let pause { return .wait(.paused(by: pause.by, since: pause.since)) }
        if isAtEnd {
            guard isBatchOpen(now.monotonic), let end = patienceEnd(now.monotonic) else { return .end(.complete) }
            return .wait(
                hasOutcomes
                    ? .lastOutcomes(.init(open: outcomes.batch.awaited), until: now.wall(end))
                    : .returns(until: now.wall(end)))
        }
        // What sleeps proves nothing: others take its place in the step.
        if admission.isAtStepEnd, case let sleepers = outcomes.takeSleepers(), sleepers > 0 {
            admission.extendStep(by: min(sleepers, Self.mostStandIns))
            waitingSince = nil
        }
        if admission.isAtStepEnd, !isBatchOpen(now.monotonic) { beginBatch() }
        let open = open(now.monotonic)
        let step = admission.nextStep(.init(open: open.all), openInStep: open.step, now: now)
        nextWake = nextWake ?? admission.nextCredit
        return step ?? held(now)
    }

    /// A step of the ramp waits; how it ends when that was too long.
    private mutating func held(_ now: Moment) -> PublicationStep {
        if let end = patienceEnd(now.monotonic) {
            guard hasOutcomes else { return .wait(.returns(until: now.wall(end))) }
            let step = admission.endedStep ?? (progress.batch, outcomes.batch.expected)
            return .wait(
                .rampStep(
                    .init(number: step.number, size: step.size, of: .letters, .patience(now.wall(end))),
                    .init(open: outcomes.batch.awaited)))
        }
        let batch = outcomes.batch
        // Even if all of them fail it has to be not too many.
        guard limit.canFail(failed: batch.failed, known: batch.known, open: batch.awaited) != true else {
            return .end(.outcomeTimeout)
        }
        beginBatch()
        return nextStep(isAtEnd: false, isStopping: false, pause: nil, now: now)
    }

    /// How many outcomes are open.
    private mutating func open(_ now: MonotonicTime) -> (all: Int, step: Int) {
        if hasOutcomes { return (outcomes.total.awaited, outcomes.batch.awaited) }
        return (0, admission.isAtStepEnd && isBatchOpen(now) ? 1 : 0)
    }

    /// Whether too many of the batch have failed again.
    private func isFailing(isAllSent: Bool) -> Bool {
        let batch = outcomes.batch
        let failed = hasOutcomes ? batch.failed : returned.batch
        let (known, open) = hasOutcomes ? (batch.known, batch.awaited) : (publishedInBatch, 0)
        return limit.excess(failed: failed, known: known, openAtEnd: isAllSent ? open : nil) != nil
    }

    /// Whether the outcomes of the batch are still waited for, or what of it comes back to a topic of others is.
    private mutating func isBatchOpen(_ now: MonotonicTime) -> Bool {
        hasOutcomes ? outcomes.batch.awaited > 0 : patienceEnd(now) != nil
    }

    /// Until when the outcomes of a batch that is published are waited for; `nil` when that was long enough.
    private mutating func patienceEnd(_ now: MonotonicTime) -> MonotonicTime? {
        let since = waitingSince ?? now
        waitingSince = since
        guard now.time(since: since) < patience else { return nil }
        nextWake = since.advanced(by: patience)
        return nextWake
    }
}
