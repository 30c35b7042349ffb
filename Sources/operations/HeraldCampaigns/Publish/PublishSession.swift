internal import Glibc
internal import HeraldEvents
internal import HeraldTime
internal import HeraldTools

/// One run of a publisher with the brokers: from what is published already to the end, or to the loss of the brokers.
///
/// One thread.
final class PublishSession {
    private typealias Interruption = PublishJournal.Interruption

    private static let waitMilliseconds: Int32 = 20
    /// Lines of the audience that are looked at in one turn, when most of them are published already.
    private static let linesPerTurn = 20_000
    /// Bytes of events in one transaction at most.
    private static let batchBytes = 4 << 20

    private let world: CampaignWorld
    private let layout: CampaignWorld.Layout
    private let order: CampaignOrder
    private let journal: PublishJournal
    private let audience: Audience
    private let counts: (recipients: Int, repeats: Int, invalid: Int)
    private let isFirst: Bool
    private let isStopping: @Sendable () -> Bool
    private let onNews: (PublishNews) -> Void
    private let onProgress: (PublishProgress) -> Void
    private let book: CampaignReader

    private var definition: CampaignDefinition
    private var outcomes: OutcomeReader?
    private var pace: PublishPace
    private var judge: FailureJudge
    private var isAtEnd = false
    private var isComplete = false
    private var state = CampaignControl.State.running
    private var step: Int?
    private(set) var progress: PublishProgress

    /// Reads what the campaign is, through what its former publisher had begun, and begins it when there is none.
    init(
        _ world: CampaignWorld, _ layout: CampaignWorld.Layout, _ order: CampaignOrder, _ journal: PublishJournal,
        _ audience: Audience, counts: (recipients: Int, repeats: Int, invalid: Int), progress: PublishProgress,
        isFirst: Bool, isStopping: @escaping @Sendable () -> Bool, onNews: @escaping (PublishNews) -> Void,
        onProgress: @escaping (PublishProgress) -> Void
    ) throws(PublishJournal.Interruption) {
        self.world = world
        self.layout = layout
        self.order = order
        self.journal = journal
        self.audience = audience
        self.counts = counts
        self.isFirst = isFirst
        self.isStopping = isStopping
        self.onNews = onNews
        self.onProgress = onProgress
        self.progress = progress
        self.progress.phase = .readingBack
        let services = order.text.pushServices.count
        do throws(ToolFailure) {
            book = try world.campaigns(layout)
            try book.catchUp(throughOpenTransactions: true)
            let campaign = try order.campaign(in: book.book)
            // Later on a pause is waited out, and a cancellation is an end like others.
            if isFirst { try order.check(against: campaign) }
            if let known = campaign?.definition {
                definition = known
            } else {
                definition = try Self.newDefinition(order, world, layout)
            }
        } catch {
            throw .tool(error)
        }
        pace = PublishPace(outcomesPerEvent: services, rate: nil, ramp: [], published: 0)
        judge = FailureJudge(limit: nil, from: OutcomeCount())
    }

    private static func newDefinition(
        _ order: CampaignOrder, _ world: CampaignWorld, _ layout: CampaignWorld.Layout
    ) throws(ToolFailure) -> CampaignDefinition {
        let now = SystemClock.wall()
        return CampaignDefinition(
            name: order.text.name, message: order.text.template.text, pns: order.text.pushServices,
            topic: order.topic, rate: order.rate, ramp: order.ramp,
            expiresAt: order.expiresInMilliseconds.map { now.advanced(byMilliseconds: $0).milliseconds },
            startedAt: now.milliseconds, startedBy: world.operatorName,
            requestOffsets: try world.ends(of: order.topic, layout.requests[order.topic] ?? []),
            resultOffsets: try world.ends(of: world.topics.results, layout.results))
    }

    /// Publishes what is left of the recipients, and waits for the outcomes.
    func run(_ recipients: inout RecipientSet) throws(PublishJournal.Interruption) -> PublishEnd {
        guard try begin(&recipients) else { return .interrupted }
        let reader = try tool { () throws(ToolFailure) in
            try RecipientReader(audience, order.text, expiresAt: definition.expiresAt)
        }
        while true {
            if let end = try turn(reader, &recipients) {
                try finish(end)
                return end
            }
            onProgress(progress)
        }
    }

    func close() {
        book.close()
        outcomes?.close()
    }

    // MARK: - The beginning

    /// Reads back what is published, and writes that this publisher works on it; false when it was asked to stop.
    private func begin(_ recipients: inout RecipientSet) throws(PublishJournal.Interruption) -> Bool {
        let campaign = book.book.campaign(order.text.name)
        let former = campaign?.progress
        var control: CampaignControl?
        let now = SystemClock.wall()
        if campaign?.definition == nil {
            control = CampaignControl(
                state: .running, at: now, by: world.operatorName, pauseIfFailures: order.pauseIfFailures)
        } else {
            let published = try tool { () throws(ToolFailure) in
                try PublishedEvents(
                    of: definition, progress: former, world, layout, into: &recipients,
                    onProgress: { _, _ in
                        onProgress(progress)
                        return !isStopping()
                    })
            }
            guard let published else { return false }
            progress.events = published.count
            progress.published = published.inAudience
            if isFirst { onNews(.continues(published.count)) }
            if let limit = order.pauseIfFailures, campaign?.state == .running,
                limit != campaign?.control?.pauseIfFailures
            {
                control = CampaignControl(state: .running, at: now, by: world.operatorName, pauseIfFailures: limit)
            }
        }
        let outcomes = try tool { () throws(ToolFailure) in
            try world.outcomes(of: [.init(definition, after: former)], layout)
        }
        self.outcomes = outcomes
        progress.outcomes = outcomes.count
        pace = PublishPace(
            outcomesPerEvent: order.text.pushServices.count, rate: order.rate ?? definition.rate,
            ramp: order.ramp ?? definition.ramp ?? [], published: progress.events)
        judge = FailureJudge(
            limit: (control ?? campaign?.control)?.pauseIfFailures, from: outcomes.count)
        state = campaign?.state ?? .running
        try journal.write(
            definition: campaign?.definition == nil ? definition : nil, control: control, progress: record(),
            audit: isFirst ? startEntry(now, isNew: campaign?.definition == nil) : nil)
        return true
    }

    private func startEntry(_ now: WallTime, isNew: Bool) -> AuditEntry {
        var entry = journal.audit(isNew ? "started" : "continued", at: now)
        entry.planned = counts.recipients
        var options: [String: String] = [:]
        if let rate = order.rate { options["rate"] = "\(rate)/s" }
        if let ramp = order.ramp { options["ramp"] = ramp.map(String.init).joined(separator: ",") }
        if let limit = order.pauseIfFailures { options["pause-if-failures"] = "\(limit * 100)%" }
        entry.options = options.isEmpty ? nil : options
        return entry
    }

    // MARK: - One turn

    /// Looks at everything, and does one thing; how it ends, when it does.
    private func turn(
        _ reader: RecipientReader, _ recipients: inout RecipientSet
    ) throws(PublishJournal.Interruption) -> PublishEnd? {
        if isStopping() { return .interrupted }
        try look(waitMilliseconds: 0)
        try followState()
        if state == .cancelled { return .cancelled }
        if journal.isHeartbeatDue { try journal.write(progress: record()) }
        guard state == .running else {
            if order.endsWhenPausedByFailures, book.book.campaign(order.text.name)?.control?.isByFailures ?? false {
                return .paused
            }
            progress.phase = .paused
            try look(waitMilliseconds: Self.waitMilliseconds)
            return nil
        }
        let isStepEnd = pace.isAtStepEnd && progress.outcomes.known >= pace.expected
        if let reason = judge.verdict(on: progress.outcomes, isStepEnd: isStepEnd) {
            let control = CampaignControl(
                state: .paused, at: SystemClock.wall(), by: world.operatorName, reason: reason,
                pauseIfFailures: judge.limit, isByFailures: true)
            try journal.write(control: control, progress: record())
            // It comes back from the topic, as everybody else sees it.
            return nil
        }
        if isAtEnd {
            progress.phase = .finishing
            if progress.outcomes.known >= pace.expected { return .complete }
            try look(waitMilliseconds: Self.waitMilliseconds)
            return nil
        }
        if let expiresAt = definition.expiresAt, expiresAt <= SystemClock.wall().milliseconds { return .expired }
        try publishWhatMay(reader, &recipients)
        return nil
    }

    private func publishWhatMay(
        _ reader: RecipientReader, _ recipients: inout RecipientSet
    ) throws(PublishJournal.Interruption) {
        switch pace.decision(known: progress.outcomes.known, at: .now) {
        case .publish(let count):
            if pace.step != step {
                step = pace.step
                if let step { onNews(.step(step)) }
            }
            progress.phase = .publishing
            try publish(atMost: count, reader, &recipients)
        case .wait(let reason):
            switch reason {
            case .rate: progress.phase = .publishing
            case .outcomes: progress.phase = .waitingForOutcomes
            case .ramp: progress.phase = .waitingForStep(step ?? 1)
            }
            try look(waitMilliseconds: Self.waitMilliseconds)
        }
    }

    private func look(waitMilliseconds: Int32) throws(PublishJournal.Interruption) {
        guard let outcomes else { return }
        let known = outcomes.count.known
        try tool { () throws(ToolFailure) in
            _ = try outcomes.takeArrived(waitMilliseconds: waitMilliseconds)
        }
        progress.outcomes = outcomes.count
        if outcomes.count.known != known || progress.open == 0 {
            progress.silentSince = nil
        } else if progress.silentSince == nil {
            progress.silentSince = .now
        }
    }

    private func followState() throws(PublishJournal.Interruption) {
        try tool { () throws(ToolFailure) in _ = try book.takeArrived() }
        let campaign = book.book.campaign(order.text.name)
        judge.limit = campaign?.control?.pauseIfFailures
        let former = state
        state = campaign?.state ?? .running
        guard state != former else { return }
        switch state {
        case .running:
            judge = FailureJudge(limit: judge.limit, from: progress.outcomes)
            onNews(.resumed)
        case .paused: onNews(.paused(campaign?.control))
        case .cancelled: break
        }
    }

    // MARK: - One transaction

    /// Publishes the next recipients that are not published; none when the audience has no more of them.
    private func publish(
        atMost limit: Int, _ reader: RecipientReader, _ recipients: inout RecipientSet
    ) throws(PublishJournal.Interruption) {
        var events: [OutgoingRecord] = []
        var bytes = 0
        var lines = 0
        events.reserveCapacity(limit)
        while events.count < limit, bytes < Self.batchBytes, lines < Self.linesPerTurn, !isAtEnd {
            lines += 1
            switch try tool({ () throws(ToolFailure) in try reader.next() }) {
            case .end: isAtEnd = true
            case .invalid: break
            case .recipient:
                let former = recipients.insert(reader.id, .published)
                // Somebody who was in nobody's preview.
                guard former.contains(.seen) else { throw .tool(AudiencePreview.changed) }
                guard !former.contains(.published) else { continue }
                let event = OutgoingRecord(topic: definition.topic, key: reader.user, value: reader.event)
                bytes += event.byteCount
                events.append(event)
            }
        }
        guard !events.isEmpty || isAtEnd else { return }
        guard audience.isUnchanged else { throw .tool(AudiencePreview.changed) }
        progress.events += events.count
        progress.published += events.count
        // Nobody of the preview may be missing at the end.
        guard !isAtEnd || progress.published == counts.recipients else { throw .tool(AudiencePreview.changed) }
        isComplete = isAtEnd
        do throws(PublishJournal.Interruption) {
            try journal.write(events, progress: record())
        } catch {
            // Whether they are published shows when it is read back, which forgets the marks before.
            progress.events -= events.count
            progress.published -= events.count
            throw error
        }
        progress.publishedNow += events.count
        pace.notePublished(events.count)
        if isAtEnd { onNews(.allPublished) }
    }

    private func record() -> CampaignProgress {
        let positions = outcomes?.positions ?? [:]
        return CampaignProgress(
            recipients: counts.recipients, published: progress.events, repeats: counts.repeats,
            invalid: counts.invalid, isComplete: isComplete, at: SystemClock.wall().milliseconds,
            by: "\(world.operatorName) pid \(getpid())", outcomes: progress.outcomes.snapshot,
            resultOffsets: Dictionary(uniqueKeysWithValues: positions.map { ("\($0.key)", $0.value) }))
    }

    /// Writes how it ended, unless the name is somebody else's by now.
    private func finish(_ end: PublishEnd) throws(PublishJournal.Interruption) {
        var entry = journal.audit("ended", at: SystemClock.wall())
        entry.end = end.name
        entry.counts = [
            "published": progress.publishedNow, "delivered": progress.outcomes.delivered, "failed": progress.failed,
            "open": progress.open,
        ]
        do throws(PublishJournal.Interruption) {
            try journal.write(progress: record(), audit: entry)
        } catch {
            // What was asked for is done; only the last words are missing.
            guard end == .interrupted || end == .complete else { throw error }
        }
    }

    private func tool<Answer>(
        _ body: () throws(ToolFailure) -> Answer
    ) throws(PublishJournal.Interruption) -> Answer {
        do throws(ToolFailure) {
            return try body()
        } catch {
            throw .tool(error)
        }
    }
}
