internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

/// What a publisher of a campaign reaches: the brokers, the audience, clocks, and who asked for it.
///
/// One thread; it blocks while brokers are asked where topics end and whether they have grown, while the retry topics are counted and workers asked about
/// (only when no outcome comes), and while it waits.
final class CampaignClients: JobIO {
    /// Who asked for the campaign, and what they are told.
    struct Owner {
        /// Who wants it to stop; `nil` while nobody does.
        var stoppedBy: @Sendable () -> String?
        /// Whether it is to stop because the process ends.
        var handsOver: @Sendable () -> Bool
        var onNews: (PublishNews) -> Void
        /// Called in each turn with how the publisher stands.
        var onTurn: (CampaignMachine, Moment) -> Void
    }

    /// What is read to an end.
    private enum Reading {
        case campaigns
        case published(TopicReader, RecipientIDs)
        case outcomes
    }

    /// An answer that waits for the machine.
    private enum Answer {
        case ends(requests: [String: Int64], results: [String: Int64])
        case caughtUp
        case retries(RetryBacklog.Count?)
        case trouble(String?)
        case failure(ToolFailure)
    }

    /// So often it looks for outcomes and orders, and asks whether it is to stop.
    private static let turnLength: Milliseconds = .milliseconds(20)
    /// How long the next record is waited for on the way to an end.
    private static let readingTime: Milliseconds = .milliseconds(20)
    private static let backlogPatience = Duration.seconds(1)
    /// So often it looks whether topics have grown, or the audience has changed.
    private static let layoutInterval: Milliseconds = .minutes(1)

    private let context: CampaignContext
    private let lookAtTopics: () throws -> CampaignContext.Layout
    private var layout: CampaignContext.Layout
    private var nextLook = MonotonicTime.distantPast
    private let order: CampaignOrder
    private let audience: Audience
    private let owner: Owner
    private let wakeup: Wakeup
    private let transactor: Transactor

    // What is read from one claim to the next.
    private var campaigns: CampaignReader?
    private var outcomes: OutcomeReader?
    private var recipients: RecipientReader?
    private var reading: Reading?
    private var isGathering = false

    private var backlog: RetryBacklog?
    private var answers: [Answer] = []

    init(
        _ context: CampaignContext, _ layout: CampaignContext.Layout, _ order: CampaignOrder, audience: Audience,
        owner: Owner, lookAtTopics: @escaping () throws -> CampaignContext.Layout
    ) throws(SystemError) {
        self.context = context
        self.layout = layout
        self.lookAtTopics = lookAtTopics
        self.order = order
        self.audience = audience
        self.owner = owner
        wakeup = try Wakeup()
        transactor = Transactor(
            properties: context.writerProperties + [("transactional.id", context.transactionalID(of: order.text.name))],
            wakeup: wakeup)
    }

    func close() {
        endStretch()
        backlog?.close()
        transactor.close()
    }

    private func endStretch() {
        endReading()
        campaigns?.close()
        outcomes?.close()
        (campaigns, outcomes, recipients, isGathering, answers) = (nil, nil, nil, false, [])
    }

    private func endReading() {
        if case .published(let reader, _) = reading { reader.close() }
        reading = nil
    }

    // MARK: What the machine wants

    var now: Moment { SystemClock.moment() }

    func perform(_ action: CampaignMachine.Action) {
        do {
            try carryOut(action)
        } catch {
            answers.append(.failure(ToolFailure(saying: error)))
        }
    }

    private func carryOut(_ action: CampaignMachine.Action) throws {
        switch action {
        case .write(let action):
            if case .claim = action { endStretch() }
            transactor.perform(action)
        case .readCampaigns(let end):
            // Whoever had the name before may have written to partitions that are new since.
            try look()
            campaigns = try context.campaigns(layout)
            try campaigns?.reader.aim(at: end)
            reading = .campaigns
        case .findEnds:
            answers.append(
                .ends(
                    requests: try context.ends(of: order.topic, layout.requests[order.topic] ?? []),
                    results: try context.ends(of: context.topics.results, layout.results)))
        case .readBack(let definition, let end):
            let reader = try context.published(definition, layout)
            reading = .published(reader, RecipientIDs(campaign: definition.name))
            try reader.aim(at: end)
        case .countOutcomes(let definition, let progress, let isWhole):
            outcomes = try context.outcomes(of: [.init(definition, after: progress)], layout)
            outcomes?.results.reader.consumer.queue.notify(wakeup)
            if isWhole { try readOutcomes(to: .committed) } else { answers.append(.caughtUp) }
        case .openAudience(let expiresAt):
            recipients = try RecipientReader(audience, order.text, expiresAt: expiresAt)
        case .readRecipients: isGathering = true
        case .readLastOutcomes(let end): try readOutcomes(to: end)
        case .countRetries:
            if backlog == nil { backlog = try? RetryBacklog(context, layout, campaign: order.text.name) }
            answers.append(
                .retries(backlog?.count(within: Self.backlogPatience, isStopping: { owner.stoppedBy() != nil })))
        case .askWorkers: answers.append(.trouble(context.workerTrouble?(order.text.pushServices)))
        case .notice(let news): owner.onNews(news)
        }
    }

    private func look() throws {
        layout = try lookAtTopics()
        nextLook = now.monotonic.advanced(by: Self.layoutInterval)
    }

    private func readOutcomes(to end: TopicReader.End) throws {
        try outcomes?.results.reader.aim(at: end)
        reading = .outcomes
    }

    // MARK: What arrives

    func deliver(to machine: inout CampaignMachine) {
        if let name = owner.stoppedBy() { machine.stop(by: name, handsOver: owner.handsOver(), now: now) }
        transactor.serve { machine.receive($0, now: now) }
        deliverAnswers(to: &machine)
        do {
            if try readOn(&machine) { ended(&machine) }
            if machine.phase.hearsOrders { try followOrders(&machine) }
            if machine.phase.isFollowing { try followOutcomes(&machine) }
            try deliverRecipients(to: &machine)
            if machine.phase.isFollowing { try lookForChanges(&machine) }
        } catch {
            endReading()
            machine.failed(ToolFailure(saying: error), now: now)
        }
        owner.onTurn(machine, now)
    }

    private func deliverAnswers(to machine: inout CampaignMachine) {
        let (present, now) = (answers, now)
        answers = []
        for answer in present {
            switch answer {
            case .ends(let requests, let results): machine.endsFound(requests: requests, results: results, now: now)
            case .caughtUp:
                tellOutcomes(to: &machine)
                machine.outcomesCaughtUp(now: now)
            case .retries(let count): machine.answered(retries: count, now: now)
            case .trouble(let trouble): machine.answered(trouble: trouble, now: now)
            case .failure(let failure): machine.failed(failure, now: now)
            }
        }
    }

    /// Reads on to the end that is wanted; whether it is reached.
    private func readOn(_ machine: inout CampaignMachine) throws -> Bool {
        let wait = Self.readingTime
        switch reading {
        case .campaigns: return try campaigns?.turn(wait: wait) ?? true
        case .published(let reader, let ids):
            return try reader.turn(wait: wait) { message in
                if let id = PublishedEvents.id(of: message, ids) { machine.foundPublished(id) }
            }
        case .outcomes:
            let isAtEnd = try outcomes?.turn(wait: wait) ?? true
            tellOutcomes(to: &machine)
            return isAtEnd
        case nil: return false
        }
    }

    private func ended(_ machine: inout CampaignMachine) {
        let ended = reading
        endReading()
        switch ended {
        case .campaigns: machine.learned(campaigns?.index ?? CampaignIndex(), now: now)
        case .published: machine.readBack(now: now)
        case .outcomes: machine.outcomesCaughtUp(now: now)
        case nil: break
        }
    }

    /// Tells what the campaign is to do.
    private func followOrders(_ machine: inout CampaignMachine) throws {
        try campaigns?.poll()
        machine.campaignSeen(campaigns?.index.campaign(order.text.name), now: now)
    }

    /// Looks for partitions that are new, and whether the audience is still the same: a publisher may wait for days, and
    /// says at once what it would fail of then.
    private func lookForChanges(_ machine: inout CampaignMachine) throws {
        guard nextLook <= now.monotonic else { return }
        guard audience.isUnchanged else { throw AudiencePreview.changed }
        let former = layout
        // Brokers that do not say it now are asked again.
        nextLook = now.monotonic.advanced(by: Self.layoutInterval)
        if let present = try? lookAtTopics(), present != former { machine.grown(now: now) }
    }

    /// Tells what became of its events.
    private func followOutcomes(_ machine: inout CampaignMachine) throws {
        guard reading == nil else { return }
        try outcomes?.poll()
        tellOutcomes(to: &machine)
    }

    private func tellOutcomes(to machine: inout CampaignMachine) {
        guard let outcomes else { return }
        machine.outcomesRead(outcomes.count, positions: outcomes.positions, now: now)
    }

    private func deliverRecipients(to machine: inout CampaignMachine) throws {
        guard isGathering, let recipients else { return }
        isGathering = false
        while machine.wantsRecipient {
            switch try recipients.next() {
            case .end: machine.audienceEnded()
            case .invalid: machine.passLine()
            case .recipient: machine.take(recipients.id, user: recipients.user, event: recipients.event)
            }
        }
        guard audience.isUnchanged else { throw AudiencePreview.changed }
    }

    func wait(until moment: MonotonicTime?) {
        guard reading == nil, !isGathering, answers.isEmpty else { return }
        transactor.wait(until: moment, atMost: Self.turnLength)
    }
}
