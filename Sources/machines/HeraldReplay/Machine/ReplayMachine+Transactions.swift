internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldKernel
internal import HeraldTime
internal import HeraldTools

/// What a job's transactions hold, and what they mean to it: they are written, refused or lost.
extension ReplayMachine {
    mutating func takeWriterActions() { actions += writer.takeActions().map { .write($0) } }

    mutating func write(_ aim: Aim, _ now: Moment) {
        let records: [OutgoingRecord]
        switch aim {
        case .open:
            var audit = configuration.work.beginning(configuration.context, at: now.wall)
            audit.job = journal.job
            if let holder = known.lease, !holder.isOver { audit.tookOverFrom = holder.job }
            records = journal.transaction(audit: audit)
        case .renewal: records = journal.transaction()
        case .part:
            batch.become(.writing)
            let content = batch.content(job: journal.job, at: now.wall.milliseconds)
            records = journal.transaction(content.records, marks: content.marks)
        case .end(let end):
            var audit = configuration.work.ending(configuration.context, end, progress, at: now.wall)
            audit.job = journal.job
            records = journal.transaction(audit: audit)
        }
        phase.become(.writing(aim))
        writer.write(BatchWriter.Batch(records: records), now: now.monotonic)
        takeWriterActions()
    }

    /// Does what the writer's news mean.
    mutating func follow(_ now: Moment) {
        for event in writer.takeEvents() {
            switch (event, phase) {
            case (.claimed, .claiming(let aim)):
                phase.become(.reading(aim))
                actions.append(.readState(throughOpenTransactions: true))
            case (.written, .writing(let aim)): written(aim, now)
            case (.refused(let error), .writing(let aim)): refused(aim, error, now)
            case (.lost(let loss), .writing(let aim)): lost(aim, loss, now)
            case (.lost(let loss), .claiming(let aim)): giveUp(aim, .lost(loss))
            case (.waiting, _), (.claimed, _), (.written, _), (.refused, _), (.lost, _): break
            }
        }
        takeWriterActions()
    }

    mutating func written(_ aim: Aim, _ now: Moment) {
        (lastWrite, claimCount) = (now.monotonic, 0)
        switch aim {
        case .open:
            phase.become(.working)
            if rules != nil { actions.append(.startLetters(plan.chosenRanges)) }
            pace.beginBatch()
        case .part:
            phase.become(.working)
            partWritten()
        case .renewal: phase.become(.working)
        case .end(let end): finish(notBegun.map { .notBegun($0) } ?? .over(end))
        }
    }

    /// The first part is durable.
    mutating func partWritten() {
        batch.become(.replayed)
        switch batch.parts.first {
        case .letters(let letters)?:
            pace.published(letters.map(\.replay))
            for result in earlyResults { pace.receive(result) }
            earlyResults = []
        case .resolved(_, let offsets)?: pace.progress.replayed += offsets.count
        case nil: break
        }
        partDone()
    }

    private mutating func partDone() { if let count = batch.removeFirst() { pace.dealtWith(count) } }

    /// The broker does not take what was to be written, and nothing of it is.
    private mutating func refused(_ aim: Aim, _ error: KafkaError, _ now: Moment) {
        journal.refused()
        switch aim {
        case .open: finish(.notBegun(configuration.context.beginFailure(.refused(error))))
        case .end(let end): finish(ending(end, .refused(error)))
        case .part where error.kind == .tooLarge && isPublishing:
            if !batch.makeSmaller() {
                batch.become(.tooLarge)
                pace.progress.tooLarge += 1
                partDone()
            }
            phase.become(.working)
        case .part, .renewal: end(.failed(BatchWriter.Failure.refused(error).toolFailure(configuration.work.kind)), now)
        }
    }

    private var isPublishing: Bool { if case .letters? = batch.parts.first { true } else { false } }

    /// The name is lost: it goes on when it can claim it again, unless another job has begun to work.
    mutating func lost(_ aim: Aim, _ loss: BatchWriter.Loss, _ now: Moment) {
        let failure = BatchWriter.Failure.lost(loss)
        guard aim != .open, failure.needsClaim, claimCount < Self.claimLimit else { return giveUp(aim, failure) }
        claimCount += 1
        if aim == .part { batch.become(.inDoubt) }
        claim(aim, now)
    }

    /// The name is another job's or can't be claimed: nothing more can be written.
    mutating func giveUp(_ aim: Aim, _ failure: BatchWriter.Failure) {
        switch aim {
        case .open: finish(.notBegun(configuration.context.beginFailure(failure)))
        case .end(let end): finish(ending(end, failure))
        case .part, .renewal: finish(.over(end(after: failure)))
        }
    }

    /// How a job ends that can't write its last words.
    private func ending(_ end: ReplayEnd, _ failure: BatchWriter.Failure) -> End {
        if let notBegun { return .notBegun(notBegun) }
        return .over(end == .complete ? self.end(after: failure) : end)
    }

    func end(after failure: BatchWriter.Failure) -> ReplayEnd {
        if case .lost(.fenced) = failure { return .takenOver }
        return .failed(failure.toolFailure(configuration.work.kind))
    }
}
