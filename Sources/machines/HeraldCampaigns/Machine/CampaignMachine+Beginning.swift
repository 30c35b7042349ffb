internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldKernel
internal import HeraldTime
internal import HeraldTools

/// How a publisher begins and ends, and begins again after trouble.
extension CampaignMachine {
    mutating func claim(_ now: Moment) {
        phase.become(.claiming)
        writer.claim(now: now.monotonic)
    }

    mutating func learn(_ index: CampaignIndex, _ now: Moment) throws {
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
    mutating func changeAudience(
        of former: CampaignProgress, _ published: PublishedEvents, _ now: Moment
    ) throws {
        replacements = former.replacements ?? []
        let audience = configuration.audience
        let change = AudienceChange(
            from: former, to: audience.mark, recipients: audience.recipients, beginsWith: audience.beginsWith,
            published: (published.count, published.inAudience))
        guard change != .none else { return }
        guard change == .grown || order.replacesAudience else {
            // Whether this audience begins with the former one is known only of the one that it was compared to.
            guard former.audience == audience.comparedTo else { throw CampaignContinuation.outdated(name) }
            throw CampaignContinuation.refusal(of: name, "it has another audience by now")
        }
        replacements.append(
            AudienceReplacement(
                at: now.wall.milliseconds, by: configuration.context.operatorName, recipients: former.recipients,
                unpublished: change == .grown ? 0 : max(0, former.recipients - published.count),
                added: change == .grown ? max(0, audience.recipients - former.recipients) : nil))
    }

    mutating func goOn(after published: PublishedEvents, _ definition: CampaignDefinition, _ now: Moment) {
        progress.events = published.count
        progress.published = published.inAudience
        if !hasOpened { actions.append(.notice(.continues(published.count))) }
        if let limit = order.pauseIfFailures, state == .running, limit != control?.pauseIfFailures {
            opening.control = startControl(now)
        }
        count(definition)
    }

    func startControl(_ now: Moment) -> CampaignControl {
        CampaignControl(
            state: .running, at: now.wall, by: configuration.context.operatorName,
            pauseIfFailures: order.pauseIfFailures)
    }

    mutating func count(_ definition: CampaignDefinition) {
        self.definition = definition
        phase.become(.counting)
        // What came before this start does not count again: an operator has seen it, and goes on.
        actions.append(.countOutcomes(definition, after: former, isWhole: !hasOpened))
    }

    mutating func open(_ now: Moment) {
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

    mutating func opened() {
        hasOpened = true
        phase.become(state == .paused ? .paused : .publishing)
        actions.append(.openAudience(expiresAt: definition?.expiresAt))
    }

    // MARK: Ending, and beginning again

    mutating func finish(_ end: PublishEnd) { phase.become(.ended(end)) }

    mutating func trying(_ now: Moment, _ body: (inout Self) throws -> Void) {
        do {
            try body(&self)
        } catch {
            giveWay(to: ToolFailure(saying: error), now)
        }
    }

    mutating func giveWay(to failure: ToolFailure, _ now: Moment) {
        if failure.kind == .unreachable { beginAgain(failure.description, now) } else { finish(.failed(failure)) }
    }

    mutating func beginAgain(_ cause: String, _ now: Moment) {
        actions.append(.notice(.unreachable(cause)))
        guard !isStopping else { return finish(.interrupted) }
        rest(now)
    }

    mutating func rest(_ now: Moment) {
        phase.become(.resting(until: now.monotonic.advanced(by: Self.restTime)))
    }

    mutating func close(_ end: PublishEnd, _ now: Moment) {
        lastLook = LastLook(isOpenEnded: end != .complete && end != .interrupted, now: now.monotonic)
        phase.become(.closing(end))
        actions.append(.readLastOutcomes(to: .written))
    }

    mutating func writeEnd(_ end: PublishEnd, _ now: Moment) {
        lastLook = nil
        phase.become(.finishing(end))
        if end == .complete, finishedAt == nil { finishedAt = now.wall.milliseconds }
        write(.end, Words(audit: endEntry(end, now: now), end: end), now)
    }
}
