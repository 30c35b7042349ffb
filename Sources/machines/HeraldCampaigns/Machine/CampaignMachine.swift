internal import HeraldDriver
package import HeraldEvents
internal import HeraldKafka
internal import HeraldKernel
package import HeraldTime
package import HeraldTools

/// Publishes a campaign to its end, or until something ends it: pure.
///
/// It claims the campaign's name, reads what is published, says that it publishes, and goes through the audience from
/// its beginning. After any trouble of a transaction or of reading it starts again in the same way, as another process
/// would after a kill.
package typealias CampaignMachine = PublicationMachine<AudiencePublication>

extension PublicationMachine<AudiencePublication> {
    /// How far it is.
    package var progress: PublishProgress { work.progress }

    /// What is known of why no outcome comes, in words; `nil` while a silence is none yet.
    package var silenceWords: String? { work.silenceWords }

    /// Ends with what is written, because somebody of this name wants it.
    ///
    /// - Parameter handsOver: whether its process ends, and others are to go on, if the audience is kept in Kafka.
    package mutating func stop(by name: String, handsOver: Bool = false, now: Moment) {
        if work.stoppedBy == nil { work.handsOver = handsOver }
        work.stoppedBy = work.stoppedBy ?? name
        stop(now: now)
    }

    // MARK: What topics say

    /// What the campaigns topic says, now that no other publisher of the campaign can write.
    package mutating func learned(_ index: CampaignIndex, now: Moment) {
        guard case .learning = phase else { return }
        trying(now) { try $0.learn(index, now) }
    }

    private mutating func learn(_ index: CampaignIndex, _ now: Moment) throws {
        let campaign = try work.order.campaign(in: index)
        // Later on a pause is waited out, and a cancellation is an end like others.
        if !hasOpened {
            try work.order.check(against: campaign, at: now.wall)
            try work.order.checkExclusions(against: campaign, at: now.wall)
        }
        trouble = nil
        if let definition = try work.begin(campaign, isFirst: !hasOpened, now) {
            phase.become(.readingBack)
            // An event may lie behind another producer's transaction, which hides it as long as that is open.
            actions.append(.readBack(definition, to: .written))
        } else {
            phase.become(.placing)
            actions.append(.findEnds)
        }
    }

    /// The topics end there, where a new campaign begins.
    package mutating func endsFound(requests: [String: Int64], results: [String: Int64], now: Moment) {
        guard case .placing = phase else { return }
        count(work.define(requests: requests, results: results, now))
    }

    /// This recipient's event is in the request topic.
    package mutating func foundPublished(_ id: RecipientID) { work.published?.add(id, to: &work.recipients) }

    /// All that is published was found.
    package mutating func readBack(now: Moment) {
        guard case .readingBack = phase, let definition = work.definition else { return }
        trying(now) { machine in
            let count = try machine.work.readBack(definition, now)
            if !machine.hasOpened { machine.actions.append(.notice(.continues(count))) }
            machine.count(definition)
        }
    }

    private mutating func count(_ definition: CampaignDefinition) {
        phase.become(.counting)
        // What came before this start does not count again: an operator has seen it, and goes on.
        actions.append(.countOutcomes(definition, after: work.former, isWhole: !hasOpened))
    }

    /// What became of what is published, and up to where that was read.
    package mutating func outcomesRead(_ count: OutcomeCount, positions: [Int32: Int64], now: Moment) {
        switch phase {
        case .counting, .opening, .publishing, .closing: work.outcomesRead(count, positions, now)
        case .idle, .looking, .watching, .claiming, .learning, .placing, .readingBack, .finishing, .resting, .ended:
            break
        }
    }

    /// Outcomes are counted as far as they were wanted.
    package mutating func outcomesCaughtUp(now: Moment) {
        switch phase {
        case .counting:
            work.prepareOpening(isFirst: !hasOpened, now)
            open(now)
        case .closing(let end): if !work.waitsForQuiet(now) { writeEnd(end, now) }
        case .idle, .looking, .watching, .claiming, .learning, .placing, .readingBack, .opening, .publishing,
            .finishing, .resting, .ended:
            break
        }
    }

    /// What the campaigns topic says of the campaign by now.
    package mutating func campaignSeen(_ campaign: CampaignIndex.Campaign?, now: Moment) {
        switch phase {
        case .placing, .readingBack, .counting:
            work.note(campaign)
            if !hasOpened { trying(now) { try $0.work.order.check(against: campaign, at: $0.work.learnedAt) } }
        case .publishing:
            guard let news = work.follow(campaign) else { return }
            actions += news
            // A batch that is refused for now is not tried again.
            if work.isHeld, writing == .part { withdraw(now) }
        case .idle, .looking, .watching, .claiming, .learning, .opening, .closing, .finishing, .resting, .ended: break
        }
    }

    /// What waits in the retry topics; `nil` when the brokers don't say it.
    package mutating func answered(retries: RetryBacklog.Count?, now: Moment) {
        work.pace?.answered(retries: retries, now: now)
    }

    /// Why workers do not deliver; `nil` when nothing is known that speaks against them.
    package mutating func answered(trouble: String?, now: Moment) { work.pace?.answered(trouble: trouble, now: now) }

    /// What was to be read can't be.
    package mutating func failed(_ failure: ToolFailure, now: Moment) {
        switch phase {
        case .learning, .placing, .readingBack, .counting: giveWay(to: failure, now)
        // A transaction that is under way comes to its end first.
        case .opening, .publishing: trouble = trouble ?? failure
        // What was not read is open, as before.
        case .closing(let end): writeEnd(end, now)
        case .idle, .looking, .watching, .claiming, .finishing, .resting, .ended: break
        }
    }

    private mutating func trying(_ now: Moment, _ body: (inout Self) throws -> Void) {
        do {
            try body(&self)
        } catch {
            giveWay(to: ToolFailure(saying: error), now)
        }
    }

    /// A topic has partitions that it does not read: it begins anew, with all of them.
    package mutating func grown(now: Moment) {
        switch phase {
        // A transaction that is under way comes to its end first.
        case .opening, .publishing: work.isOutgrown = true
        case .idle, .looking, .watching, .claiming, .learning, .placing, .readingBack, .counting, .closing, .finishing,
            .resting, .ended:
            break
        }
    }

    // MARK: The audience

    /// Whether the next line of the audience is wanted.
    package var wantsRecipient: Bool { work.isGathering && trouble == nil }

    /// Takes the next line's recipient; one who is published already is passed.
    package mutating func take(_ id: RecipientID, user: [UInt8], event: [UInt8]) {
        guard wantsRecipient else { return }
        // The preview did not have this one.
        if !work.take(id, user: user, event: event) { trouble = AudiencePreview.changed }
    }

    /// Passes a line without a recipient.
    package mutating func passLine() { if wantsRecipient { work.passLine() } }

    /// The audience has no further line.
    package mutating func audienceEnded() { if wantsRecipient { work.batch.complete() } }

    /// Why a recipient's event is not published yet; `nil` when it is, or the audience does not have this one.
    package func waiting(for id: RecipientID, now: Moment) -> JobWaitReason? {
        guard let reason = waiting(now: now) else { return nil }
        if work.batch.contains(id) { return reason }
        let marks = work.recipients.marks(of: id)
        guard marks.contains(.seen), !marks.contains(.published) else { return nil }
        // In which order the file has them shows when it is read.
        let ahead = progress.recipients - progress.published - 1
        return ahead <= 0 ? reason : .turn(ahead: ahead, doing: reason.phrase)
    }
}

extension PublicationPhase {
    /// Whether a campaign's orders are read as they come.
    package var hearsOrders: Bool { isFollowing || [.placing, .readingBack, .counting].contains(name) }

    /// Whether its outcomes are read as they come.
    package var isFollowing: Bool { [.opening, .publishing, .closing].contains(name) }
}
