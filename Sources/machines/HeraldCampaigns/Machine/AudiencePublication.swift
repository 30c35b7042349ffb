package import HeraldDriver
package import HeraldEvents
package import HeraldKafka
internal import HeraldKernel
package import HeraldTime
package import HeraldTools

/// What a ``CampaignMachine`` goes through: an audience; and what it records: the campaign's progress.
///
/// ``RecipientBatch`` is what is published together, ``CampaignPace`` says when how many may go.
package struct AudiencePublication: PublicationWork {
    /// What it wants done; each that reads may come to `failed(_:now:)`.
    package enum Action: PublicationAction {
        case write(BatchWriter.Action)
        /// Reads the campaigns topic: `learned(_:now:)`. From then on `campaignSeen(_:now:)` tells what it says of this
        /// campaign.
        case readCampaigns(to: TopicReader.End)
        /// Finds the ends of the request topic and of the results topic: `endsFound(requests:results:now:)`.
        case findEnds
        /// Reads the campaign's request topic from its beginning: `foundPublished(_:)` for each event of the campaign,
        /// `readBack(now:)` at the end.
        case readBack(CampaignDefinition, to: TopicReader.End)
        /// Begins to count outcomes, from where a former publisher came to; `isWhole` to the present end:
        /// `outcomesRead(_:positions:now:)`, and `outcomesCaughtUp(now:)` once.
        case countOutcomes(CampaignDefinition, after: CampaignProgress?, isWhole: Bool)
        /// Begins to read the audience, for events with this expiry (epoch milliseconds).
        case openAudience(expiresAt: Int64?)
        /// Reads on in the audience, as long as `wantsRecipient`.
        case readRecipients
        /// Goes on counting outcomes: `outcomesCaughtUp(now:)` at the end.
        case readLastOutcomes(to: TopicReader.End)
        /// Counts what waits in the retry topics: `answered(retries:now:)`.
        case countRetries
        /// Asks why workers do not deliver: `answered(trouble:now:)`.
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
        package var comparedTo: String?
        package var emptyLines: Int?
        /// Its people who are left out, for each reason.
        package var excluded: [Int]
        package var excludedMark: String?
        /// How it was read; `nil` where its publisher needs not say it.
        package var reading: AudienceReading?

        package init(
            recipients: Int, repeats: Int = 0, invalid: Int = 0, emptyLines: Int? = nil, mark: String,
            excluded: [Int] = [], excludedMark: String? = nil, beginsWith: String? = nil, comparedTo: String? = nil,
            reading: AudienceReading? = nil
        ) {
            self.recipients = recipients
            self.repeats = repeats
            self.invalid = invalid
            self.mark = mark
            self.beginsWith = beginsWith
            self.comparedTo = comparedTo
            self.emptyLines = emptyLines
            self.excluded = excluded
            self.excludedMark = excludedMark
            self.reading = reading
        }
    }

    /// The reading of what workers have settled by now, before the last words.
    struct LastLook {
        /// So long the outcomes are waited for that workers are about to commit.
        static let patience: Milliseconds = .seconds(3)
        /// When none has come for so long, no worker is about to commit some.
        static let quiet: Milliseconds = .milliseconds(700)

        /// Whether workers may have outcomes that they are still about to write: they have paused the campaign because of
        /// them.
        let isOpenEnded: Bool
        /// What is not read by then is open, as before.
        let deadline: MonotonicTime
        /// Since when nothing has come, after everything was read; `nil` before.
        var quietSince: MonotonicTime?

        /// When it is over whatever comes.
        var end: MonotonicTime { min(deadline, quietSince?.advanced(by: Self.quiet) ?? deadline) }
    }

    package static let signInterval: Milliseconds = .seconds(5)
    package static var hasLease: Bool { false }
    package static var ledger: JobWaitReason.Reading { .published }
    package static var source: JobWaitReason.Reading { .audience }
    package func retries(_ cause: String) -> Action? { .notice(.unreachable(cause)) }

    let context: CampaignContext
    let order: CampaignOrder
    let audience: AudienceCounts
    /// The number of the process, which its records say.
    let process: Int32
    var progress: PublishProgress
    /// The recipients seen in the audience, and those whose events are published.
    var recipients: RecipientSet
    var batch = RecipientBatch()

    // What is known of the campaign since it was learned.
    private(set) var definition: CampaignDefinition?
    private(set) var former: CampaignProgress?
    var control: CampaignControl?
    private var state = CampaignControl.State.running
    /// The control record that it wrote itself when it began.
    private var ownStart: CampaignControl?
    /// It has not read that one back: a transaction of others that is open in front of it may hide a pause, too.
    private var isStartUnread = false
    /// The pause that this has taken the place of, because somebody wrote it meanwhile; it is written again.
    var overwrittenPause: CampaignControl?
    var hasRestoredPause = false
    var published: PublishedEvents?
    var replacements: [AudienceReplacement] = []
    /// Whether it takes the place of what is to begin later.
    private(set) var replacesScheduled = false
    /// What it may replace is decided once: a publisher that it has put an end to would be missed at the moment itself.
    private(set) var learnedAt: WallTime
    /// What it is to say at its beginning.
    var opening = Words()
    /// What it writes for the campaign: a pause because too many failed, or the one that its start has overwritten.
    var nextControl: CampaignControl?
    var pace: CampaignPace?
    /// Up to where outcomes are counted.
    var positions: [Int32: Int64] = [:]
    /// When it was finished; a start that publishes nothing changes nothing of that.
    var finishedAt: Int64?
    /// When it began, epoch milliseconds; `nil` before.
    var begunAt: Int64?
    /// Whether no recipient is left.
    var isComplete = false
    /// It has had the campaign paused, and judges it again then unless that is read before.
    var rejudges: MonotonicTime?
    var lastLook: LastLook?
    /// The hold that an operator has let it pass last.
    private var passed = 0
    /// Since when it waits at a hold, epoch milliseconds.
    var heldSince: Int64?
    /// Who has asked it to stop.
    var stoppedBy: String?
    /// Whether others go on, because its process ends and nobody has asked it to stop.
    var handsOver = false
    /// It reads too few partitions.
    var isOutgrown = false

    /// - Parameter recipients: those that the preview has marked; give the only copy away, because it may be large.
    package init(
        _ order: CampaignOrder, _ context: CampaignContext, audience: AudienceCounts, process: Int32,
        recipients: consuming RecipientSet
    ) {
        (self.order, self.context, self.audience, self.process) = (order, context, audience, process)
        self.recipients = recipients
        learnedAt = WallTime(milliseconds: 0)
        progress = PublishProgress(
            recipients: audience.recipients, outcomesPerEvent: order.text.pushServices.count)
    }

    var name: String { order.text.name }
    var terms: CampaignTerms { CampaignTerms(order, definition, former, control) }
    package var campaign: String? { name }

    /// Whether the campaign is paused or cancelled.
    var isHeld: Bool { state != .running }
    package var signs: Bool { state != .cancelled }

    // MARK: Its beginning

    package mutating func claimed() -> (phase: PublicationPhase, action: Action) {
        // Other campaigns' transactions may be open in front of what is said of this one.
        (.learning, .readCampaigns(to: .written))
    }

    /// Begins with what was learned of the campaign; its definition, when it was begun before.
    ///
    /// - Parameter isFirst: whether it has not opened yet: what it begins with then it publishes to its end.
    mutating func begin(
        _ campaign: CampaignIndex.Campaign?, isFirst: Bool, _ now: Moment
    ) throws -> CampaignDefinition? {
        if !isFirst, let present = campaign?.definition, present != definition {
            throw CampaignContinuation.outdated(name)
        }
        learnedAt = now.wall
        replacesScheduled = try isFirst && order.mayReplace(campaign, at: now.wall)
        former = campaign?.progress
        note(campaign)
        (finishedAt, isComplete, opening, pace) = (former?.finishedAt, false, Words(), nil)
        heldSince = former?.heldSince
        (replacements, positions, rejudges, isOutgrown, isStartUnread) = ([], [:], nil, false, false)
        batch.clear()
        guard let definition = campaign?.definition else { return nil }
        self.definition = definition
        published = PublishedEvents(forgetting: &recipients)
        return definition
    }

    mutating func define(requests: [String: Int64], results: [String: Int64], _ now: Moment) -> CampaignDefinition {
        let definition = order.newDefinition(
            at: now.wall, by: context.operatorName, requests: requests, results: results)
        self.definition = definition
        (opening.definition, opening.control) = (definition, startControl(now))
        return definition
    }

    /// Goes on with what was found; how many events that is.
    mutating func readBack(_ definition: CampaignDefinition, _ now: Moment) throws -> Int {
        guard let published else { return 0 }
        try published.check(definition, against: former, results: context.topics.results)
        if replacesScheduled {
            try replaceScheduled(definition, published, now)
        } else if let former {
            try changeAudience(of: former, published, now)
        }
        progress.events = published.count
        progress.published = published.inAudience
        let isNewLimit = order.pauseIfFailures.map { $0 != control?.pauseIfFailures } ?? false
        // A campaign that was declared finished runs again for those who are added.
        let isReopened = control?.cause == .finished && published.inAudience < audience.recipients
        if state == .running, isNewLimit || isReopened { opening.control = startControl(now) }
        return published.count
    }

    /// Takes the place of what was to begin later: nobody was published of it, so nobody is lost by another audience.
    private mutating func replaceScheduled(
        _ definition: CampaignDefinition, _ published: PublishedEvents, _ now: Moment
    ) throws {
        guard published.count == 0, former?.audience == audience.mark || former?.audience == audience.comparedTo else {
            throw CampaignContinuation.outdated(name)
        }
        guard !order.addsPeople else { throw CampaignContinuation.tooEarly(name, left: former?.recipients ?? 0) }
        replacements = former?.replacements ?? []
        let new = order.replacing(definition, at: now.wall)
        guard new != definition else { return }
        self.definition = new
        opening.definition = new
    }

    /// Takes over what its audience was before; one without some of its people replaces it only when that was asked for.
    private mutating func changeAudience(
        of former: CampaignProgress, _ published: PublishedEvents, _ now: Moment
    ) throws {
        replacements = former.replacements ?? []
        let change = AudienceChange(
            from: former, to: audience.mark, recipients: audience.recipients, beginsWith: audience.beginsWith,
            published: (published.count, published.inAudience), addsPeople: order.addsPeople)
        guard change != .none else { return }
        if order.lacksResults { throw CampaignExclusions.cut(name, results: context.topics.results) }
        guard change == .grown || order.replacesAudience else {
            // Whether this audience begins with the former one is known only of the one that it was compared to.
            guard former.audience == audience.comparedTo else { throw CampaignContinuation.outdated(name) }
            guard !order.addsPeople else {
                throw CampaignContinuation.tooEarly(name, left: max(0, former.everybody - published.count))
            }
            throw CampaignContinuation.refusal(of: name, "it has another audience by now")
        }
        let isGrown = change == .grown
        let added = AudienceChange.added(
            to: former, recipients: audience.recipients, published: published.inAudience)
        let isAlone = isGrown && audience.beginsWith != former.audience
        replacements.append(
            AudienceReplacement(
                at: now.wall.milliseconds, by: context.operatorName,
                recipients: isGrown ? former.everybody : former.recipients,
                unpublished: isGrown ? 0 : max(0, former.recipients - published.count),
                added: isGrown ? added : nil,
                former: isAlone
                    ? AudienceLines(
                        repeats: former.repeats + audience.recipients - added, invalid: former.invalid,
                        empty: former.emptyLines ?? 0) : nil))
    }

    private func startControl(_ now: Moment) -> CampaignControl {
        CampaignControl(
            state: .running, at: now.wall, by: context.operatorName,
            pauseIfFailures: terms.pauseIfFailures)
    }

    /// Outcomes are counted: what it says when it begins.
    mutating func prepareOpening(isFirst: Bool, _ now: Moment) {
        guard definition != nil else { return }
        pace = CampaignPace(
            order, terms, published: progress.events, limit: (opening.control ?? control)?.pauseIfFailures,
            from: progress.outcomes, mayAskWorkers: context.workerTrouble != nil)
        begunAt = begunAt ?? now.wall.milliseconds
        if isFirst { opening.audit = startEntry(isNew: former == nil, now: now) }
        if isHeld { opening.control = nil }
        if let control = opening.control { (ownStart, hasRestoredPause, isStartUnread) = (control, false, true) }
    }

    // MARK: Orders and outcomes

    mutating func note(_ campaign: CampaignIndex.Campaign?) {
        if campaign?.control != control { isStartUnread = false }
        passed = campaign?.go?.passed ?? 0
        (control, overwrittenPause) = (campaign?.control, nil)
        // Nobody can read the topic and write to it at once: a pause may lie in front of this start's own record.
        if let ownStart, control == ownStart, let replaced = campaign?.replaced, replaced.state == .paused {
            (control, overwrittenPause) = (replaced, replaced)
        }
        state = control?.state ?? .running
    }

    /// Follows what the campaign is to do; the news of that, `nil` when it is as before.
    mutating func follow(_ campaign: CampaignIndex.Campaign?) -> [Action]? {
        let (before, former, wasHolding) = (state, control, hold != nil)
        note(campaign)
        if control != former { rejudges = nil }
        pace?.allow(failures: control?.pauseIfFailures)
        guard state != before else { return wasHolding && hold == nil ? [.notice(.resumed)] : nil }
        switch state {
        case .running:
            pace?.resume()
            return [.notice(.resumed)]
        case .paused:
            if batch.state == .gathering { batch.clear() }
            return [.notice(.paused(control))]
        case .cancelled: return []
        }
    }

    // MARK: Holds

    private var holds: CampaignHolds { CampaignHolds(terms.holds, passed: passed) }

    /// The hold at which it waits for its operator; `nil` when it does not.
    var hold: Int? {
        guard !isComplete, progress.events > 0 else { return nil }
        let next = holds.next(from: progress.events)
        return next == progress.events ? next : nil
    }

    /// Notes since when it waits, once so many more are published.
    mutating func noteHold(after count: Int, isLast: Bool, _ now: Moment) {
        let published = progress.events + count
        let isHolding = !isLast && published > 0 && holds.next(from: published) == published
        heldSince = isHolding ? heldSince ?? now.wall.milliseconds : nil
    }

    mutating func outcomesRead(_ count: OutcomeCount, _ positions: [Int32: Int64], _ now: Moment) {
        if lastLook?.quietSince != nil, count.known != progress.outcomes.known {
            lastLook?.quietSince = now.monotonic
        }
        progress.outcomes = count
        self.positions = positions
        pace?.outcomes = count
    }

    package var openOutcomes: JobWaitReason.Outcomes {
        JobWaitReason.Outcomes(
            open: progress.open, retrying: pace?.silenceFacts?.retries.map { min($0.retrying, progress.open) },
            silence: silenceWords)
    }

    /// What is known of why no outcome comes, in words; `nil` while a silence is none yet.
    var silenceWords: String? {
        pace?.silenceFacts.flatMap { CampaignWords.sentence($0, open: progress.open) }
    }

    // MARK: The audience

    package var isGathering: Bool { batch.state == .gathering }

    /// Takes the next line's recipient; whether the preview has had this one.
    mutating func take(_ id: RecipientID, user: [UInt8], event: [UInt8]) -> Bool {
        guard let definition else { return true }
        let former = recipients.insert(id, .published)
        guard !former.isDisjoint(with: [.seen, .excluded]) else { return false }
        guard former.isDisjoint(with: [.published, .excluded]) else {
            passLine()
            return true
        }
        var record = OutgoingRecord(topic: definition.topic, key: user, value: event)
        if let trace = context.trace { record.link(to: trace) }
        batch.add(record, of: id)
        noteLine()
        return true
    }

    mutating func passLine() {
        batch.passLine()
        noteLine()
    }

    /// What is left of the file are repeats and invalid lines; the last batch says that it is complete.
    private mutating func noteLine() {
        if progress.published + batch.count == audience.recipients { batch.complete() }
    }

    // MARK: What comes next

    /// When the events expire.
    private func expiry(_ now: Moment) -> MonotonicTime? {
        definition?.expiresAt.map { now.monotonic.advanced(by: .milliseconds($0 - now.wall.milliseconds)) }
    }

    /// When its first recipient may be published; `nil` when that is now, or somebody is: what has begun goes on, whatever
    /// the clock shows.
    private func start(_ now: Moment) -> CampaignStart? {
        guard progress.events == 0, let start = definition?.start, now.wall < start.moment else { return nil }
        return start
    }

    /// Whether another process can publish the rest.
    private var isStored: Bool { definition?.audience?.mark == audience.mark }

    package func wakes(now: Moment) -> [MonotonicTime?] {
        let start = start(now).map { now.monotonic.advanced(by: $0.moment.time(since: now.wall)) }
        return [pace?.nextWake, rejudges, expiry(now), start]
    }

    /// Looks whether outcomes come, and asks why none do.
    package mutating func questions(now: Moment) -> [Action] {
        (pace?.look(now: now) ?? []).map { $0 == .retries ? .countRetries : .askWorkers }
    }

    package mutating func nextStep(isStopping: Bool, now: Moment) -> PublicationStep {
        if isStopping { return .end(handsOver && isStored ? .detached : .interrupted) }
        if isOutgrown { return .beginAnew }
        switch state {
        case .cancelled: return .end(.cancelled)
        case .paused:
            if let overwrittenPause, !hasRestoredPause { return write(overwrittenPause) }
            if order.detaches { return .end(.detached) }
            if order.endsWhenPausedByFailures, control?.isByFailures ?? false { return .end(.failing) }
            return .wait(
                .campaignPaused(by: control?.by ?? "", since: control?.at ?? now.wall, cause: control?.reason))
        case .running: break
        }
        if isStartUnread { return .wait(.reading(.campaign)) }
        if order.detaches { return .end(.detached) }
        if let rejudges, now.monotonic < rejudges { return .wait(.pauseUnread(until: now.wall(rejudges))) }
        if let reason = pace?.failure(now: now) {
            return write(
                CampaignControl(
                    state: .paused, at: now.wall, by: "publisher \(process) of \(context.operatorName)", reason: reason,
                    pauseIfFailures: control?.pauseIfFailures, cause: .failures))
        }
        if isComplete {
            progress.asleepUntil = pace?.asleepUntil(now: now)
            let isOver =
                control?.cause == .finished || (pace?.isAllKnown ?? false) || progress.asleepUntil != nil
            return isOver ? .end(.complete) : .wait(.lastOutcomes(openOutcomes, until: nil))
        }
        if let expiry = expiry(now), expiry <= now.monotonic { return .end(.expired) }
        if let start = start(now) { return .wait(.scheduled(until: start.moment, words: start.words)) }
        switch batch.state {
        case .gathering, .writing: return .gathering
        case .gathered where batch.isLast && progress.published + batch.count != audience.recipients:
            // A recipient of the preview is missing.
            return .giveWay(AudiencePreview.changed)
        case .gathered where batch.count > 0 || batch.isLast: return .write(.part)
        case .gathered, .idle: break
        }
        if let hold {
            return .wait(.hold(published: hold, since: heldSince.map(WallTime.init(milliseconds:))))
        }
        let outcomes = openOutcomes
        let step = pace?.nextStep(outcomes, now: now) ?? .gathering
        guard case .gather(let limit) = step, let end = holds.next(from: progress.events) else { return step }
        return .gather(min(limit, end - progress.events))
    }

    private mutating func write(_ control: CampaignControl) -> PublicationStep {
        nextControl = control
        return .write(.order)
    }

    /// The lines that were looked at are published already.
    package mutating func holdSource() {
        if batch.state == .gathered, batch.count == 0, !batch.isLast { batch.clear() }
    }

    package mutating func gather(_ limit: Int, now: Moment) -> [Action] {
        let news = pace?.news(now: now) ?? []
        batch.begin(atMost: limit)
        return news.map { .notice($0) } + [.readRecipients]
    }

    package mutating func close(_ end: PublicationEnd, now: Moment) -> Action? {
        lastLook = LastLook(
            isOpenEnded: ![.complete, .interrupted, .detached].contains(end),
            deadline: now.monotonic.advanced(by: LastLook.patience))
        return .readLastOutcomes(to: .written)
    }

    package var lookEnd: MonotonicTime? { lastLook?.end }

    /// All is read that there is; whether workers may be about to write more.
    mutating func waitsForQuiet(_ now: Moment) -> Bool {
        guard lastLook?.isOpenEnded ?? false else { return false }
        lastLook?.quietSince = now.monotonic
        return true
    }
}
