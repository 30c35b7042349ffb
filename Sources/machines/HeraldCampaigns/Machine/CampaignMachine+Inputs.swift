package import HeraldDriver
internal import HeraldEvents
internal import HeraldKernel
package import HeraldTime
package import HeraldTools

/// What a publisher is told: by its driver, by topics, and by the audience.
extension CampaignMachine {
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

    mutating func note(_ campaign: CampaignIndex.Campaign?) {
        (control, overwrittenPause) = (campaign?.control, nil)
        // Nobody can read the topic and write to it at once: a pause may lie in front of this start's own record.
        if let ownStart, control == ownStart, let replaced = campaign?.replaced, replaced.state == .paused {
            (control, overwrittenPause) = (replaced, replaced)
        }
        state = control?.state ?? .running
    }

    mutating func follow(_ campaign: CampaignIndex.Campaign?, _ now: Moment) {
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
}
