package import HeraldDriver
internal import HeraldEvents
package import HeraldKafka
internal import HeraldKernel
package import HeraldTime
package import HeraldTools

/// Publishes a campaign to its end, or until something ends it: pure.
///
/// It claims the campaign's name, reads what is published, says that it publishes, and goes through the audience from
/// its beginning. After any trouble of a transaction or of reading it starts again in the same way, as another process
/// would after a kill. ``RecipientBatch`` is what is published together, ``CampaignPace`` says when how many may go,
/// ``BatchWriter`` how a transaction becomes durable, and ``Phase`` has the rest.
package struct CampaignMachine: JobMachine {
    /// What it wants done; each that reads may come to ``failed(_:now:)``.
    package enum Action: Sendable {
        case write(BatchWriter.Action)
        /// Reads the campaigns topic: ``learned(_:now:)``. From then on ``campaignSeen(_:now:)`` tells what it says of
        /// this campaign.
        case readCampaigns(to: TopicReader.End)
        /// Finds the ends of the request topic and of the results topic: ``endsFound(requests:results:now:)``.
        case findEnds
        /// Reads the campaign's request topic from its beginning: ``foundPublished(_:)`` for each event of the campaign,
        /// ``readBack(now:)`` at the end.
        case readBack(CampaignDefinition, to: TopicReader.End)
        /// Begins to count outcomes, from where a former publisher came to; `isWhole` to the present end:
        /// ``outcomesRead(_:positions:)``, and ``outcomesCaughtUp(now:)`` once.
        case countOutcomes(CampaignDefinition, after: CampaignProgress?, isWhole: Bool)
        /// Begins to read the audience, for events with this expiry (epoch milliseconds).
        case openAudience(expiresAt: Int64?)
        /// Reads on in the audience, as long as ``wantsRecipient``.
        case readRecipients
        /// Goes on counting outcomes: ``outcomesCaughtUp(now:)`` at the end.
        case readLastOutcomes(to: TopicReader.End)
        /// Counts what waits in the retry topics: ``answered(retries:now:)``.
        case countRetries
        /// Asks why workers do not deliver: ``answered(trouble:now:)``.
        case askWorkers
        case notice(PublishNews)
    }

    /// The audience, as a preview has found it.
    package struct AudienceCounts: Sendable {
        package var recipients: Int
        package var repeats: Int
        package var invalid: Int
        package var mark: String
        package var beginsWith: String?

        package init(recipients: Int, repeats: Int = 0, invalid: Int = 0, mark: String, beginsWith: String? = nil) {
            self.recipients = recipients
            self.repeats = repeats
            self.invalid = invalid
            self.mark = mark
            self.beginsWith = beginsWith
        }
    }

    /// What it keeps to.
    package struct Configuration: Sendable {
        package var context: CampaignContext
        package var order: CampaignOrder
        package var audience: AudienceCounts
        /// The number of the process, which its records say.
        package var process: Int32
        package var writer: BatchWriter.Configuration

        package init(
            context: CampaignContext, order: CampaignOrder, audience: AudienceCounts, process: Int32,
            writer: BatchWriter.Configuration
        ) {
            self.context = context
            self.order = order
            self.audience = audience
            self.process = process
            self.writer = writer
        }
    }

    /// What the transaction under way is about.
    private enum Writing {
        case opening, batch, sign, pause, restoredPause, end
    }

    /// Before it begins again after trouble.
    static let restMilliseconds: Int64 = 1_000
    /// So often in a row a broker may refuse a transaction, one that it has ended itself for instance.
    static let refusalLimit = 10
    /// So often a living publisher writes something.
    static let signMilliseconds: Int64 = 5_000

    let configuration: Configuration
    package private(set) var phase = Phase.idle
    package private(set) var progress: PublishProgress
    /// The recipients seen in the audience, and those whose events are published.
    private(set) var recipients: RecipientSet
    private(set) var writer: BatchWriter
    private(set) var batch = RecipientBatch()
    private var actions: [Action] = []
    private var writing: Writing?

    // What is known of the campaign since it was learned.
    private var definition: CampaignDefinition?
    private var former: CampaignProgress?
    private(set) var control: CampaignControl?
    private var state = CampaignControl.State.running
    /// The control record that it wrote itself when it began.
    private var ownStart: CampaignControl?
    /// The pause that this has taken the place of, because somebody wrote it meanwhile; it is written again.
    private var overwrittenPause: CampaignControl?
    private var hasRestoredPause = false
    private var published: PublishedEvents?
    private(set) var replacements: [AudienceReplacement] = []
    /// What it is to say at its beginning.
    private var opening = Words()
    private(set) var pace: CampaignPace?
    /// Up to where outcomes are counted.
    private(set) var positions: [Int32: Int64] = [:]
    /// When it was finished; a start that publishes nothing changes nothing of that.
    private(set) var finishedAt: Int64?
    /// Whether no recipient is left.
    private(set) var isComplete = false
    /// It has had the campaign paused, and judges it again then unless that is read before.
    private var rejudges: MonotonicTime?
    private(set) var lastLook: LastLook?
    /// What keeps it from reading.
    private var trouble: ToolFailure?
    /// It reads too few partitions.
    private var isOutgrown = false

    private var isStopping = false
    private var hasOpened = false
    private var refusals = 0
    private var lastWrite = MonotonicTime.distantPast
    /// When there is something to do although nothing comes.
    private var workWake: MonotonicTime?

    /// A machine that begins with the first ``advance(now:)``.
    ///
    /// - Parameter recipients: those that the preview has marked; give the only copy away, because it may be large.
    package init(_ configuration: Configuration, recipients: consuming RecipientSet) {
        self.configuration = configuration
        self.recipients = recipients
        progress = PublishProgress(
            recipients: configuration.audience.recipients,
            outcomesPerEvent: configuration.order.text.pushServices.count)
        writer = BatchWriter(configuration.writer)
    }

    var name: String { order.text.name }
    private var order: CampaignOrder { configuration.order }

    package var isOver: Bool { phase.name == .ended }

    /// How it ended; `nil` before.
    package var end: PublishEnd? { if case .ended(let end) = phase { end } else { nil } }

    /// Whether the campaign is paused or cancelled.
    var isHeld: Bool { state != .running }

    /// Whether the next line of the audience is wanted.
    package var wantsRecipient: Bool { batch.state == .gathering && trouble == nil }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package var nextWake: MonotonicTime? {
        var moments = [writer.nextWake]
        switch phase {
        case .idle: moments.append(.distantPast)
        case .resting(let end): moments.append(end)
        case .publishing, .paused:
            moments.append(workWake)
        case .closing: moments.append(lastLook?.wake)
        case .claiming, .learning, .placing, .readingBack, .counting, .opening, .finishing, .ended: break
        }
        return moments.compactMap { $0 }.min()
    }

    /// When the events expire.
    private func expiry(_ now: Moment) -> MonotonicTime? {
        definition?.expiresAt.map { now.monotonic.advanced(byMilliseconds: $0 - now.wall.milliseconds) }
    }

    private var nextSign: MonotonicTime? {
        state == .cancelled ? nil : lastWrite.advanced(byMilliseconds: Self.signMilliseconds)
    }

    // MARK: Inputs

    /// Ends with what is written; a transaction that is under way is not left alone.
    package mutating func stop(now: Moment) {
        guard !isStopping else { return }
        isStopping = true
        switch phase {
        case .idle, .claiming, .learning, .placing, .readingBack, .counting, .resting: finish(.interrupted)
        case .opening, .publishing, .paused, .finishing:
            writer.giveUp(now: now.monotonic)
            follow(now)
        case .closing, .ended: break
        }
    }

    package mutating func receive(_ report: BatchWriter.Report, now: Moment) {
        writer.receive(report, now: now.monotonic)
        follow(now)
    }

    /// What the campaigns topic says, now that no other publisher of the campaign can write.
    package mutating func learned(_ index: CampaignIndex, now: Moment) {
        guard case .learning = phase else { return }
        trying(now) { try $0.learn(index, now) }
    }

    /// The topics end there, where a new campaign begins.
    package mutating func endsFound(requests: [String: Int64], results: [String: Int64], now: Moment) {
        guard case .placing = phase else { return }
        let definition = order.newDefinition(
            at: now.wall, by: configuration.context.operatorName, requests: requests, results: results)
        opening.definition = definition
        opening.control = startControl(now)
        count(definition)
    }

    /// This recipient's event is in the request topic.
    package mutating func foundPublished(_ id: RecipientID) { published?.add(id, to: &recipients) }

    /// All that is published was found.
    package mutating func readBack(now: Moment) {
        guard case .readingBack = phase, let definition, let published else { return }
        trying(now) { machine in
            try published.check(
                definition, against: machine.former, results: machine.configuration.context.topics.results)
            if let former = machine.former { try machine.changeAudience(of: former, published, now) }
            machine.goOn(after: published, definition, now)
        }
    }

    /// What became of what is published, and up to where that was read.
    package mutating func outcomesRead(_ count: OutcomeCount, positions: [Int32: Int64], now: Moment) {
        switch phase {
        case .counting, .opening, .publishing, .paused, .closing:
            if lastLook?.quietSince != nil, count.known != progress.outcomes.known {
                lastLook?.quietSince = now.monotonic
            }
            progress.outcomes = count
            self.positions = positions
            pace?.outcomes = count
        case .idle, .claiming, .learning, .placing, .readingBack, .finishing, .resting, .ended: break
        }
    }

    /// Outcomes are counted as far as they were wanted.
    package mutating func outcomesCaughtUp(now: Moment) {
        switch phase {
        case .counting: open(now)
        case .closing(let end):
            if lastLook?.isOpenEnded ?? false {
                lastLook?.quietSince = now.monotonic
            } else {
                writeEnd(end, now)
            }
        case .idle, .claiming, .learning, .placing, .readingBack, .opening, .publishing, .paused, .finishing,
            .resting, .ended:
            break
        }
    }

    /// What the campaigns topic says of the campaign by now.
    package mutating func campaignSeen(_ campaign: CampaignIndex.Campaign?, now: Moment) {
        switch phase {
        case .placing, .readingBack, .counting:
            note(campaign)
            if !hasOpened { trying(now) { try $0.order.check(against: campaign) } }
        case .publishing, .paused: follow(campaign, now)
        case .idle, .claiming, .learning, .opening, .closing, .finishing, .resting, .ended: break
        }
    }

    private mutating func note(_ campaign: CampaignIndex.Campaign?) {
        (control, overwrittenPause) = (campaign?.control, nil)
        // Nobody can read the topic and write to it at once: a pause may lie in front of this start's own record.
        if let ownStart, control == ownStart, let replaced = campaign?.replaced, replaced.state == .paused {
            (control, overwrittenPause) = (replaced, replaced)
        }
        state = control?.state ?? .running
    }

    private mutating func follow(_ campaign: CampaignIndex.Campaign?, _ now: Moment) {
        let (before, former) = (state, control)
        note(campaign)
        if control != former { rejudges = nil }
        pace?.allow(failures: control?.pauseIfFailures)
        guard state != before else { return }
        switch state {
        case .running:
            phase.become(.publishing)
            pace?.resume()
            actions.append(.notice(.resumed))
        case .paused:
            phase.become(.paused)
            if batch.state == .gathering { batch.clear() }
            actions.append(.notice(.paused(control)))
            withdrawBatch(now)
        case .cancelled: withdrawBatch(now)
        }
    }

    /// Has a batch that is refused for now not tried again: that would be another transaction.
    private mutating func withdrawBatch(_ now: Moment) {
        guard writing == .batch else { return }
        writer.giveUp(now: now.monotonic)
        follow(now)
    }

    /// Takes the next line's recipient; one who is published already is passed.
    package mutating func take(_ id: RecipientID, user: [UInt8], event: [UInt8]) {
        guard wantsRecipient, let definition else { return }
        let former = recipients.insert(id, .published)
        guard former.contains(.seen) else {
            // The preview did not have this one.
            trouble = AudiencePreview.changed
            return
        }
        guard !former.contains(.published) else { return passLine() }
        var record = OutgoingRecord(topic: definition.topic, key: user, value: event)
        if let trace = configuration.context.trace { record.link(to: trace) }
        batch.add(record, of: id)
        noteLine()
    }

    /// Passes a line without a recipient.
    package mutating func passLine() {
        guard wantsRecipient else { return }
        batch.passLine()
        noteLine()
    }

    /// The audience has no further line.
    package mutating func audienceEnded() { if wantsRecipient { batch.complete() } }

    /// What is left of the file are repeats and invalid lines; the last batch says that it is complete.
    private mutating func noteLine() {
        if progress.published + batch.count == configuration.audience.recipients { batch.complete() }
    }

    /// What waits in the retry topics; `nil` when the brokers don't say it.
    package mutating func answered(retries: RetryBacklog.Count?, now: Moment) {
        pace?.answered(retries: retries, now: now)
    }

    /// Why workers do not deliver; `nil` when nothing is known that speaks against them.
    package mutating func answered(trouble: String?, now: Moment) { pace?.answered(trouble: trouble, now: now) }

    /// What was to be read can't be.
    package mutating func failed(_ failure: ToolFailure, now: Moment) {
        switch phase {
        case .learning, .placing, .readingBack, .counting: giveWay(to: failure, now)
        // A transaction that is under way comes to its end first.
        case .opening, .publishing, .paused: trouble = trouble ?? failure
        // What was not read is open, as before.
        case .closing(let end): writeEnd(end, now)
        case .idle, .claiming, .finishing, .resting, .ended: break
        }
    }

    /// A topic has partitions that it does not read: it begins anew, with all of them.
    package mutating func grown(now: Moment) {
        switch phase {
        // A transaction that is under way comes to its end first.
        case .opening, .publishing, .paused: isOutgrown = true
        case .idle, .claiming, .learning, .placing, .readingBack, .counting, .closing, .finishing, .resting, .ended:
            break
        }
    }

    package mutating func advance(now: Moment) {
        writer.advance(now: now.monotonic)
        follow(now)
        switch phase {
        case .idle: claim(now)
        case .resting(let end): if end <= now.monotonic { claim(now) }
        case .publishing, .paused:
            work(now)
            workWake = [pace?.nextWake, nextSign, rejudges, expiry(now)].compactMap { $0 }.filter { $0 > now.monotonic }
                .min()
        case .closing(let end): if let lastLook, lastLook.wake <= now.monotonic { writeEnd(end, now) }
        case .claiming, .learning, .placing, .readingBack, .counting, .opening, .finishing, .ended: break
        }
        takeWriterActions()
    }

    // MARK: Beginning

    private mutating func claim(_ now: Moment) {
        phase.become(.claiming)
        writer.claim(now: now.monotonic)
    }

    private mutating func learn(_ index: CampaignIndex, _ now: Moment) throws {
        let campaign = try order.campaign(in: index)
        // Later on a pause is waited out, and a cancellation is an end like others.
        if !hasOpened { try order.check(against: campaign) }
        former = campaign?.progress
        note(campaign)
        (finishedAt, isComplete, opening, pace) = (former?.finishedAt, false, Words(), nil)
        (replacements, positions, trouble, rejudges, isOutgrown) = ([], [:], nil, nil, false)
        batch.clear()
        if let definition = campaign?.definition {
            self.definition = definition
            published = PublishedEvents(forgetting: &recipients)
            phase.become(.readingBack)
            // An event may lie behind another producer's transaction, which hides it as long as that is open.
            actions.append(.readBack(definition, to: .written))
        } else {
            phase.become(.placing)
            actions.append(.findEnds)
        }
    }

    /// Takes over what its audience was before; one without some of its people replaces it only when that was asked for.
    private mutating func changeAudience(
        of former: CampaignProgress, _ published: PublishedEvents, _ now: Moment
    ) throws {
        replacements = former.replacements ?? []
        let audience = configuration.audience
        let change = AudienceChange(
            from: former, to: audience.mark, recipients: audience.recipients, beginsWith: audience.beginsWith,
            published: (published.count, published.inAudience))
        guard change != .none else { return }
        guard change == .grown || order.replacesAudience else {
            throw CampaignContinuation.refusal(of: name, "it has another audience by now")
        }
        replacements.append(
            AudienceReplacement(
                at: now.wall.milliseconds, by: configuration.context.operatorName, recipients: former.recipients,
                unpublished: change == .grown ? 0 : max(0, former.recipients - published.count),
                added: change == .grown ? max(0, audience.recipients - former.recipients) : nil))
    }

    private mutating func goOn(after published: PublishedEvents, _ definition: CampaignDefinition, _ now: Moment) {
        progress.events = published.count
        progress.published = published.inAudience
        if !hasOpened { actions.append(.notice(.continues(published.count))) }
        if let limit = order.pauseIfFailures, state == .running, limit != control?.pauseIfFailures {
            opening.control = startControl(now)
        }
        count(definition)
    }

    private func startControl(_ now: Moment) -> CampaignControl {
        CampaignControl(
            state: .running, at: now.wall, by: configuration.context.operatorName,
            pauseIfFailures: order.pauseIfFailures)
    }

    private mutating func count(_ definition: CampaignDefinition) {
        self.definition = definition
        phase.become(.counting)
        // What came before this start does not count again: an operator has seen it, and goes on.
        actions.append(.countOutcomes(definition, after: former, isWhole: !hasOpened))
    }

    private mutating func open(_ now: Moment) {
        guard let definition else { return }
        pace = CampaignPace(
            order, definition, published: progress.events, limit: (opening.control ?? control)?.pauseIfFailures,
            from: progress.outcomes, mayAskWorkers: configuration.context.workerTrouble != nil)
        if !hasOpened { opening.audit = startEntry(isNew: opening.definition != nil, now: now) }
        if isHeld { opening.control = nil }
        if let control = opening.control { (ownStart, hasRestoredPause) = (control, false) }
        phase.become(.opening)
        write(.opening, opening, now)
    }

    private mutating func opened() {
        hasOpened = true
        phase.become(state == .paused ? .paused : .publishing)
        actions.append(.openAudience(expiresAt: definition?.expiresAt))
    }

    // MARK: Ending, and beginning again

    private mutating func finish(_ end: PublishEnd) { phase.become(.ended(end)) }

    private mutating func trying(_ now: Moment, _ body: (inout Self) throws -> Void) {
        do {
            try body(&self)
        } catch {
            giveWay(to: ToolFailure(saying: error), now)
        }
    }

    private mutating func giveWay(to failure: ToolFailure, _ now: Moment) {
        if failure.kind == .unreachable { beginAgain(failure.description, now) } else { finish(.failed(failure)) }
    }

    private mutating func beginAgain(_ cause: String, _ now: Moment) {
        actions.append(.notice(.unreachable(cause)))
        guard !isStopping else { return finish(.interrupted) }
        rest(now)
    }

    private mutating func rest(_ now: Moment) {
        phase.become(.resting(until: now.monotonic.advanced(byMilliseconds: Self.restMilliseconds)))
    }

    private mutating func close(_ end: PublishEnd, _ now: Moment) {
        lastLook = LastLook(isOpenEnded: end != .complete && end != .interrupted, now: now.monotonic)
        phase.become(.closing(end))
        actions.append(.readLastOutcomes(to: .written))
    }

    private mutating func writeEnd(_ end: PublishEnd, _ now: Moment) {
        lastLook = nil
        phase.become(.finishing(end))
        if end == .complete, finishedAt == nil { finishedAt = now.wall.milliseconds }
        write(.end, Words(audit: endEntry(end, now: now), end: end), now)
    }

    // MARK: Publishing

    /// What comes next, when the writer is free.
    enum Step {
        /// It can't go on.
        case giveWay(ToolFailure)
        /// It begins anew, to read what it does not yet.
        case rest
        case close(PublishEnd)
        /// It has the campaign paused.
        case pause(String)
        /// It writes again what its own start has taken the place of.
        case restorePause(CampaignControl)
        case wait(JobWaitReason)
        /// The audience is read.
        case gathering
        /// So many recipients at most may be in the next transaction.
        case gather(Int)
        case write
    }

    mutating func nextStep(_ now: Moment) -> Step {
        if let trouble { return .giveWay(trouble) }
        if isStopping { return .close(.interrupted) }
        if isOutgrown { return .rest }
        switch state {
        case .cancelled: return .close(.cancelled)
        case .paused:
            if let overwrittenPause, !hasRestoredPause { return .restorePause(overwrittenPause) }
            if order.endsWhenPausedByFailures, control?.isByFailures ?? false { return .close(.paused) }
            return .wait(
                .campaignPaused(by: control?.by ?? "", since: control?.at ?? now.wall, cause: control?.reason))
        case .running: break
        }
        if let rejudges, now.monotonic < rejudges { return .wait(.pauseUnread(until: now.wall(rejudges))) }
        if let reason = pace?.failure(now: now) { return .pause(reason) }
        if isComplete {
            return pace?.isAllKnown ?? false ? .close(.complete) : .wait(.lastOutcomes(openOutcomes, until: nil))
        }
        if let expiry = expiry(now), expiry <= now.monotonic { return .close(.expired) }
        switch batch.state {
        case .gathering, .writing: return .gathering
        case .gathered where batch.count > 0 || batch.isLast: return .write
        case .gathered, .idle: break
        }
        switch pace?.decision(now: now) {
        case .publish(let limit): return .gather(limit)
        case .wait(.rate): return .wait(.rate(until: now.wall(pace?.nextCredit ?? now.monotonic)))
        case .wait(.ramp):
            if let wait = pace?.rampWait(now) { return .wait(.rampStep(wait.standing, openOutcomes)) }
            return .wait(.openOutcomes(openOutcomes, limit: PublishAdmission.openLimit))
        case .wait(.outcomes), nil: return .wait(.openOutcomes(openOutcomes, limit: PublishAdmission.openLimit))
        }
    }

    /// Does what is to be done next.
    private mutating func work(_ now: Moment) {
        look(now)
        guard writer.isReady else { return }
        switch nextStep(now) {
        case .giveWay(let failure): giveWay(to: failure, now)
        case .rest: rest(now)
        case .close(let end): close(end, now)
        case .pause(let reason): pause(reason, now)
        case .restorePause(let control): write(.restoredPause, Words(control: control), now)
        case .wait:
            passBatch()
            signIfDue(now)
        case .gathering: break
        case .write: writeBatch(now)
        case .gather(let limit):
            passBatch()
            signIfDue(now)
            guard writer.isReady else { return }
            actions += pace?.news(now: now).map { .notice($0) } ?? []
            batch.begin(atMost: limit)
            actions.append(.readRecipients)
        }
    }

    /// The lines that were looked at are published already.
    private mutating func passBatch() { if batch.state == .gathered, batch.count == 0, !batch.isLast { batch.clear() } }

    /// Looks whether outcomes come, and asks why none do.
    private mutating func look(_ now: Moment) {
        for question in pace?.look(now: now) ?? [] {
            switch question {
            case .retries: actions.append(.countRetries)
            case .workers: actions.append(.askWorkers)
            }
        }
    }

    /// Shows that it lives, when it is time.
    private mutating func signIfDue(_ now: Moment) {
        if let nextSign, nextSign <= now.monotonic { write(.sign, Words(), now) }
    }

    private mutating func pause(_ reason: String, _ now: Moment) {
        let control = CampaignControl(
            state: .paused, at: now.wall, by: configuration.context.operatorName, reason: reason,
            pauseIfFailures: control?.pauseIfFailures, isByFailures: true)
        write(.pause, Words(control: control), now)
    }

    private mutating func writeBatch(_ now: Moment) {
        // No recipient of the preview may be missing at the end.
        guard !batch.isLast || progress.published + batch.count == configuration.audience.recipients else {
            return finish(.failed(AudiencePreview.changed))
        }
        batch.write()
        write(.batch, events: batch.records, isLast: batch.isLast, Words(), now)
    }

    private mutating func batchWritten() {
        let (count, isLast) = (batch.count, batch.isLast)
        batch.clear()
        pace?.notePublished(count)
        progress.events += count
        progress.published += count
        progress.publishedNow += count
        if count > 0 { finishedAt = nil }
        if isLast {
            isComplete = true
            actions.append(.notice(.allPublished))
        }
    }

    // MARK: Transactions

    private mutating func takeWriterActions() { actions += writer.takeActions().map { .write($0) } }

    private mutating func write(
        _ what: Writing, events: [OutgoingRecord] = [], isLast: Bool = false, _ words: Words, _ now: Moment
    ) {
        writing = what
        let records = records(events, isLast: isLast, words, now: now)
        writer.write(BatchWriter.Batch(records: records), now: now.monotonic)
    }

    /// Does what the writer's news mean.
    private mutating func follow(_ now: Moment) {
        var events = writer.takeEvents()
        while !events.isEmpty, !isOver {
            for event in events where !isOver {
                switch event {
                case .claimed: claimed()
                case .waiting(let error):
                    actions.append(.notice(.unreachable(error.words)))
                    if isStopping { writer.giveUp(now: now.monotonic) }
                case .written: written(now)
                case .refused(let error): notWritten(.refused(error), now)
                case .lost(let loss): notWritten(.lost(loss), now)
                }
            }
            events = writer.takeEvents()
        }
        takeWriterActions()
    }

    private mutating func claimed() {
        guard case .claiming = phase else { return }
        phase.become(.learning)
        // Other campaigns' transactions may be open in front of what is said of this one.
        actions.append(.readCampaigns(to: .written))
    }

    private mutating func written(_ now: Moment) {
        lastWrite = now.monotonic
        let what = writing
        writing = nil
        // A start that is written proves nothing of what was refused behind it.
        if what != .opening { refusals = 0 }
        switch (what, phase) {
        case (.opening, .opening): opened()
        case (.batch, _): batchWritten()
        // It comes back from the topic, as all others see it.
        case (.pause, _): rejudges = now.monotonic.advanced(byMilliseconds: Self.signMilliseconds)
        case (.restoredPause, _): hasRestoredPause = true
        case (.end, .finishing(let end)): finish(end)
        case (.sign, _), (.opening, _), (.end, _), (nil, _): break
        }
    }

    private mutating func notWritten(_ failure: BatchWriter.Failure, _ now: Moment) {
        writing = nil
        // What was asked for is done; only the last words are missing.
        if case .finishing(let end) = phase, end == .interrupted || end == .complete { return finish(end) }
        switch failure {
        case .lost(.fenced(isLong: false)): finish(.takenOver)
        case .lost(.fenced(isLong: true)): beginAgain("a transaction has taken too long", now)
        case .lost(.unreachable(let error)): beginAgain(error.words, now)
        case .lost(.unclaimable(let error)) where error.kind == .unsupported:
            finish(.failed(ToolFailure(noTransactions: error)))
        case .refused(let error), .lost(.inDoubt(let error)), .lost(.unclaimable(let error)):
            refusals += 1
            guard !error.isLasting, refusals < Self.refusalLimit else { return finish(.failed(refusal(error))) }
            beginAgain(error.words, now)
        }
    }

    private func refusal(_ error: KafkaError) -> ToolFailure {
        let context = configuration.context
        return ToolFailure(
            "the broker takes no events", error,
            allow: KafkaPermission(
                .write, on: .transactionalID(context.transactionalID(of: name)), .topic(order.topic),
                .topic(context.topics.campaigns), .topic(context.topics.audit)))
    }
}
