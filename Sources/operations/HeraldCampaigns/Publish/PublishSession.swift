internal import Glibc
internal import HeraldDriver
internal import HeraldEvents
internal import HeraldTime
internal import HeraldTools

/// One run of a publisher with the brokers: from what is published already to the end, or to the loss of the brokers.
///
/// One thread.
final class PublishSession {
    /// Recipients in one transaction at most: a quarter of what may be open, so that three are with the workers while the next
    /// one is committed.
    static let batchLimit = PublishAdmission.openLimit / 4
    /// Lines of the audience that are looked at in one turn, when most of them are published already.
    private static let linesPerTurn = 20_000
    /// Bytes of events in one transaction at most.
    private static let batchBytes = 4 << 20

    /// What is published, to whom, and who is told; it keeps the recipients.
    private let job: CampaignPublisher
    private let publisher: TransactionalPublisher
    private let isFirst: Bool
    private let campaigns: CampaignReader

    private var definition: CampaignDefinition
    private var reader: RecipientReader?
    private var outcomes: OutcomeReader?
    private var silence: OutcomeSilence
    package var admission: PublishAdmission
    private var judge: FailureJudge
    private var replacements: [AudienceReplacement] = []
    /// When it was finished; a start that publishes nothing changes nothing of that.
    private var finishedAt: Int64?
    private var isAtEnd = false
    private var isComplete = false
    private var end: PublishEnd?
    private var state = CampaignControl.State.running
    private var step: Int?
    /// The step that is published to its end, and since when.
    private var endedStep: (number: Int, since: WallTime)?
    /// The step that was left without all its outcomes, once that was said.
    private var leftStep: Int?
    private(set) var progress: PublishProgress

    private var context: CampaignContext { job.context }
    private var order: CampaignOrder { job.order }

    /// Reads what the campaign is, through what its former publisher had begun, and begins it when there is none.
    ///
    /// - Parameter publisher: has claimed the campaign's name.
    init(_ job: CampaignPublisher, _ publisher: TransactionalPublisher, isFirst: Bool) throws {
        self.job = job
        self.publisher = publisher
        self.isFirst = isFirst
        progress = job.progress
        progress.phase = .readingBack
        campaigns = try job.context.campaigns(job.layout)
        try campaigns.catchUp(throughOpenTransactions: true)
        let campaign = try job.order.campaign(in: campaigns.index)
        // Later on a pause is waited out, and a cancellation is an end like others.
        if isFirst { try job.order.check(against: campaign) }
        definition = try campaign?.definition ?? job.order.newDefinition(job.context, job.layout)
        admission = Self.admission(job.order, definition, published: 0)
        silence = OutcomeSilence(job.context, job.layout, campaign: job.order.text.name)
        judge = FailureJudge(limit: nil, from: OutcomeCount())
    }

    private static func admission(_ order: CampaignOrder, _ definition: CampaignDefinition, published: Int)
        -> PublishAdmission
    {
        PublishAdmission(
            outcomesPerEvent: order.text.pushServices.count, batchLimit: batchLimit,
            rate: order.rate ?? definition.rate, ramp: Ramp(steps: order.ramp ?? definition.ramp ?? []),
            published: published)
    }

    /// Publishes what is left of the recipients, and waits for the outcomes.
    func runToEnd() throws -> PublishEnd {
        guard try begin() else { return .interrupted }
        reader = try RecipientReader(job.audience, order.text, expiresAt: definition.expiresAt)
        let end = try run()
        countLastOutcomes(end)
        try finish(end)
        return end
    }

    func close() {
        campaigns.close()
        outcomes?.close()
        silence.close()
    }

    // MARK: - The beginning

    /// Reads back what is published, and writes that this publisher works on it; false when it was asked to stop.
    private func begin() throws -> Bool {
        let campaign = campaigns.index.campaign(order.text.name)
        let former = campaign?.progress
        finishedAt = former?.finishedAt
        var control: CampaignControl?
        let now = SystemClock.wall()
        if campaign?.definition == nil {
            control = CampaignControl(
                state: .running, at: now, by: context.operatorName, pauseIfFailures: order.pauseIfFailures)
        } else {
            let published = try PublishedEvents(
                of: definition, progress: former, context, job.layout, into: &job.recipients,
                onProgress: { _, _ in
                    report()
                    return !job.isStopping()
                })
            guard let published else { return false }
            if let former { try changeAudience(of: former, published, at: now) }
            progress.events = published.count
            progress.published = published.inAudience
            if isFirst { job.onNews(.continues(published.count)) }
            if let limit = order.pauseIfFailures, campaign?.state == .running,
                limit != campaign?.control?.pauseIfFailures
            {
                control = CampaignControl(state: .running, at: now, by: context.operatorName, pauseIfFailures: limit)
            }
        }
        let outcomes = try context.outcomes(of: [.init(definition, after: former)], job.layout)
        self.outcomes = outcomes
        if isFirst {
            // What came before this start does not count again: an operator has seen it, and goes on.
            let isWhole = try outcomes.catchUp { [self] _, _ in
                report()
                return !job.isStopping()
            }
            guard isWhole else { return false }
        }
        progress.outcomes = outcomes.count
        admission = Self.admission(order, definition, published: progress.events)
        judge = FailureJudge(limit: (control ?? campaign?.control)?.pauseIfFailures, from: outcomes.count)
        state = campaign?.state ?? .running
        let isNew = campaign?.definition == nil
        try write(
            definition: isNew ? definition : nil, control: control,
            audit: isFirst ? startEntry(now, isNew: isNew) : nil)
        return true
    }

    /// Takes over what its audience was before; one without some of its people replaces it only when that was asked for.
    private func changeAudience(of former: CampaignProgress, _ published: PublishedEvents, at now: WallTime) throws {
        replacements = former.replacements ?? []
        let change = AudienceChange(
            from: former, to: job.counts.mark, recipients: job.counts.recipients,
            beginsWith: job.counts.beginsWith, published: (published.count, published.inAudience))
        guard change != .none else { return }
        guard change == .grown || order.replacesAudience else {
            throw CampaignContinuation.refusal(of: definition.name, "it has another audience by now")
        }
        replacements.append(
            AudienceReplacement(
                at: now.milliseconds, by: context.operatorName, recipients: former.recipients,
                unpublished: change == .grown ? 0 : max(0, former.recipients - published.count),
                added: change == .grown ? max(0, job.counts.recipients - former.recipients) : nil))
    }

    private func startEntry(_ now: WallTime, isNew: Bool) -> AuditEntry {
        var entry = audit(isNew ? "started" : "continued", at: now)
        entry.planned = job.counts.recipients
        let options = order.auditOptions
        entry.options = options.isEmpty ? nil : options
        return entry
    }

    // MARK: - Outcomes and orders

    private func noteStepEnd() {
        guard let number = admission.endedStep?.number else { return }
        if endedStep?.number != number { endedStep = (number, SystemClock.wall()) }
    }

    private func pollOutcomes(waitMilliseconds: Int32) throws {
        guard let outcomes else { return }
        let known = outcomes.count.known
        try outcomes.poll(waitMilliseconds: waitMilliseconds)
        progress.outcomes = outcomes.count
        if outcomes.count.known != known || progress.open == 0 {
            silence.end()
        } else {
            silence.look(isStopping: job.isStopping)
        }
        progress.silence = silence.facts
    }

    private func followState() throws {
        try campaigns.poll()
        let campaign = campaigns.index.campaign(order.text.name)
        judge.limit = campaign?.control?.pauseIfFailures
        let former = state
        state = campaign?.state ?? .running
        guard state != former else { return }
        switch state {
        case .running:
            judge = FailureJudge(limit: judge.limit, from: progress.outcomes)
            job.onNews(.resumed)
        case .paused: job.onNews(.paused(campaign?.control))
        case .cancelled: break
        }
    }

    private func pauseBecauseOfFailures(_ reason: String) throws {
        try write(
            control: CampaignControl(
                state: .paused, at: SystemClock.wall(), by: context.operatorName, reason: reason,
                pauseIfFailures: judge.limit, isByFailures: true))
    }

    // MARK: - One transaction

    /// The events of the next recipients that are not published; none when the audience has no more of them.
    private func nextEvents(atMost limit: Int, _ reader: RecipientReader) throws -> [OutgoingRecord] {
        var events: [OutgoingRecord] = []
        var bytes = 0
        var lines = 0
        events.reserveCapacity(limit)
        while events.count < limit, bytes < Self.batchBytes, lines < Self.linesPerTurn, !isAtEnd {
            lines += 1
            switch try reader.next() {
            case .end: isAtEnd = true
            case .invalid: break
            case .recipient:
                let former = job.recipients.insert(reader.id, .published)
                // Somebody who was in nobody's preview.
                guard former.contains(.seen) else { throw AudiencePreview.changed }
                guard !former.contains(.published) else { continue }
                var event = OutgoingRecord(topic: definition.topic, key: reader.user, value: reader.event)
                if let trace = context.trace { event.link(to: trace) }
                bytes += event.byteCount
                events.append(event)
            }
        }
        // What is left of the file are repeats and invalid lines; the last batch says that it is complete.
        if progress.published + events.count == job.counts.recipients { isAtEnd = true }
        return events
    }

    /// Writes events and what belongs to them, and how far the campaign is, in one transaction.
    private func write(
        _ events: [OutgoingRecord] = [], definition: CampaignDefinition? = nil, control: CampaignControl? = nil,
        audit: AuditEntry? = nil
    ) throws {
        let name = order.text.name
        var records = events
        func add(_ key: String, _ value: [UInt8]) {
            records.append(OutgoingRecord(topic: context.topics.campaigns, key: Array(key.utf8), value: value))
        }
        if let definition { add(CampaignDefinition.key(of: name), RecordJSON.encoded(definition)) }
        if let control { add(name, control.encoded()) }
        add(CampaignProgress.key(of: name), RecordJSON.encoded(record()))
        if let audit { records.append(audit.record(topic: context.topics.audit)) }
        try publisher.write(records)
    }

    private func audit(_ phase: String, at moment: WallTime) -> AuditEntry {
        var entry = AuditEntry(action: "campaign.start", phase: phase, at: moment.text, by: context.operatorName)
        entry.selection = order.text.name
        return entry
    }

    private func record() -> CampaignProgress {
        let positions = outcomes?.positions ?? [:]
        return CampaignProgress(
            recipients: job.counts.recipients, audience: job.counts.mark,
            strangers: progress.events > progress.published ? progress.events - progress.published : nil,
            replacements: replacements.isEmpty ? nil : replacements, published: progress.events,
            repeats: job.counts.repeats, invalid: job.counts.invalid,
            rampWait: isAtEnd || state != .running ? nil : rampWait, end: end?.name, finishedAt: finishedAt,
            isComplete: isComplete,
            at: SystemClock.wall().milliseconds,
            by: "\(context.operatorName) pid \(getpid())", outcomes: progress.outcomes.snapshot,
            resultOffsets: Dictionary(uniqueKeysWithValues: positions.map { ("\($0.key)", $0.value) }))
    }

    /// Counts what workers have settled by now, so that the last words are not about a moment before.
    private func countLastOutcomes(_ end: PublishEnd) {
        guard let outcomes else { return }
        outcomes.readLast(isOpenEnded: end != .complete && end != .interrupted)
        progress.outcomes = outcomes.count
    }

    /// Writes how it ended, unless the name is somebody else's by now.
    private func finish(_ end: PublishEnd) throws {
        self.end = end
        if end == .complete, finishedAt == nil { finishedAt = SystemClock.wall().milliseconds }
        var entry = audit("ended", at: SystemClock.wall())
        entry.end = end.name
        entry.counts = [
            "published": progress.publishedNow, "delivered": progress.outcomes.delivered,
            "failed": progress.undelivered,
            "open": progress.open,
        ]
        do {
            try write(audit: entry)
        } catch {
            // What was asked for is done; only the last words are missing.
            guard end == .interrupted || end == .complete else { throw error }
        }
    }
}

extension PublishSession: PublishPolicy {
    private var open: Int { max(0, admission.expected - progress.outcomes.known) }

    var openOutcomes: (all: Int, step: Int) { (open, rampWait == nil ? 0 : open) }

    /// What it waits for before the next step of the ramp; `nil` when that may begin.
    private var rampWait: RampWait? {
        guard let (number, size) = admission.endedStep, let step = rampStep, case .waits(let reason) = step.verdict
        else { return nil }
        return RampWait(
            step: number, recipients: size, open: open, retrying: silence.facts?.retries.map { min($0.retrying, open) },
            reason: reason, goesOnAt: step.mayGoOnWithout ? patienceEnd?.milliseconds : nil)
    }

    /// The step whose recipients are all published, as far as it is known.
    private var rampStep: RampStep? {
        guard let size = admission.endedStep?.size else { return nil }
        return RampStep(
            outcomes: size * progress.outcomesPerEvent, open: open, retryingLong: silence.facts?.retries?.retryingLong,
            canFail: judge.canFail(progress.outcomes, open: open), outcomesPerEvent: progress.outcomesPerEvent,
            isFollowedByStep: admission.step != nil,
            isPatienceOver: patienceEnd.map { $0 <= SystemClock.wall() } ?? false)
    }

    private var patienceEnd: WallTime? {
        endedStep.map { $0.since.advanced(byMilliseconds: Int64(RampStep.patience / .milliseconds(1))) }
    }

    func poll(waitMilliseconds: Int32) throws {
        noteStepEnd()
        try pollOutcomes(waitMilliseconds: waitMilliseconds)
        try followState()
    }

    func keepAlive() throws {
        if state != .cancelled, publisher.isHeartbeatDue { try write() }
    }

    func standing() throws -> Standing<PublishEnd> {
        if job.isStopping() { return .ended(.interrupted) }
        switch state {
        case .cancelled: return .ended(.cancelled)
        case .paused:
            if order.endsWhenPausedByFailures, campaigns.index.campaign(order.text.name)?.control?.isByFailures ?? false
            {
                return .ended(.paused)
            }
            progress.phase = .paused
            return .waiting
        case .running: break
        }
        let openAtStepEnd = rampStep.map { $0.verdict == .goesOnWithout ? 0 : open }
        if let reason = judge.verdict(on: progress.outcomes, openAtStepEnd: openAtStepEnd) {
            try pauseBecauseOfFailures(reason)
            // It comes back from the topic, as everybody else sees it.
            return .waiting
        }
        if isAtEnd {
            progress.phase = .finishing
            return progress.outcomes.known >= admission.expected ? .ended(.complete) : .waiting
        }
        if let expiresAt = definition.expiresAt, expiresAt <= SystemClock.wall().milliseconds {
            return .ended(.expired)
        }
        return .publishing
    }

    func holdBack(_ reason: PublishAdmission.Wait) -> PublishEnd? {
        switch reason {
        case .rate: progress.phase = .publishing
        case .outcomes: progress.phase = .waitingForOutcomes
        case .ramp: progress.phase = rampWait.map { .waitingForStep($0) } ?? .publishing
        }
        return nil
    }

    /// Publishes the next recipients that are not published, with how far the campaign is then.
    func publish(atMost limit: Int) throws -> Int {
        guard let reader else { return 0 }
        if let number = admission.endedStep?.number, leftStep != number, rampStep?.verdict == .goesOnWithout {
            leftStep = number
            job.onNews(.goesOnWithout(open, step: number))
        }
        if admission.step != step {
            step = admission.step
            if let step { job.onNews(.step(step)) }
        }
        progress.phase = .publishing
        let events = try nextEvents(atMost: limit, reader)
        guard !events.isEmpty || isAtEnd else { return 0 }
        guard job.audience.isUnchanged else { throw AudiencePreview.changed }
        progress.events += events.count
        progress.published += events.count
        // Nobody of the preview may be missing at the end.
        guard !isAtEnd || progress.published == job.counts.recipients else { throw AudiencePreview.changed }
        isComplete = isAtEnd
        do {
            try write(events)
        } catch {
            // Whether they are published shows when it is read back, which forgets the marks before.
            progress.events -= events.count
            progress.published -= events.count
            throw error
        }
        progress.publishedNow += events.count
        if !events.isEmpty { finishedAt = nil }
        if isAtEnd { job.onNews(.allPublished) }
        return events.count
    }

    func report() { job.onProgress(progress) }
}
