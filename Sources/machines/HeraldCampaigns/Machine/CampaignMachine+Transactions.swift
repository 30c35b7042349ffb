internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldKernel
internal import HeraldTime
internal import HeraldTools

/// What a publisher's transactions mean to it: they are written, refused or lost.
extension CampaignMachine {
    mutating func takeWriterActions() { actions += writer.takeActions().map { .write($0) } }

    mutating func write(
        _ what: Writing, events: [OutgoingRecord] = [], isLast: Bool = false, _ words: Words, _ now: Moment
    ) {
        writing = what
        let records = records(events, isLast: isLast, words, now: now)
        writer.write(BatchWriter.Batch(records: records), now: now.monotonic)
    }

    /// Does what the writer's news mean.
    mutating func follow(_ now: Moment) {
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

    mutating func written(_ now: Moment) {
        lastWrite = now.monotonic
        let what = writing
        writing = nil
        // A start that is written proves nothing of what was refused behind it.
        if what != .opening { refusals = 0 }
        switch (what, phase) {
        case (.opening, .opening): opened()
        case (.batch, _): batchWritten()
        // It comes back from the topic, as all others see it.
        case (.pause, _): rejudges = now.monotonic.advanced(by: Self.signInterval)
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
        case .refused(let error), .lost(.unclaimable(let error)): refused(error, refusal(error), now)
        case .lost(.inDoubt(let error)): refused(error, doubt(error), now)
        }
    }

    private mutating func refused(_ error: KafkaError, _ failure: ToolFailure, _ now: Moment) {
        refusals += 1
        guard !error.isLasting, refusals < Self.refusalLimit else { return finish(.failed(failure)) }
        beginAgain(error.words, now)
    }

    private func doubt(_ error: KafkaError) -> ToolFailure {
        ToolFailure(
            "\(refusals + 1) transactions in a row ended in doubt; started again, the same command finds out what of "
                + "them was written and goes on behind it", error)
    }

    func refusal(_ error: KafkaError) -> ToolFailure {
        let context = configuration.context
        return ToolFailure(
            "the broker takes no events", error,
            allow: KafkaPermission(
                .write, on: .transactionalID(context.transactionalID(of: name)), .topic(order.topic),
                .topic(context.topics.campaigns), .topic(context.topics.audit)))
    }
}
