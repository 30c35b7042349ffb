import HeraldEvents
public import HeraldKernel
public import HeraldTime

/// Carries out the decisions of ``Committer`` about transactions.
extension Engine {
    /// Produces the records of a settled event, in the transaction if there is one.
    mutating func send(_ slot: Int32, now: Moment) {
        noteExposure(of: slot, now: now)
        switch committer.admit(events.id(of: slot), now: now.monotonic) {
        case .plain: emit(slot, now: now)
        case .joins(let isOpening):
            partitions.decide(events[slot].offset, of: events[slot].partition)
            if isOpening { actions.append(.beginTransaction) }
            emit(slot, now: now)
        case .waits: partitions.decide(events[slot].offset, of: events[slot].partition)
        }
    }

    mutating func begin(now: Moment) {
        committer.open(now: now.monotonic)
        actions.append(.beginTransaction)
    }

    /// Opens the transaction of refused events, of waiting ones, or one for offsets alone.
    mutating func openNext(now: Moment) {
        let suspects = nextSuspects(now: now)
        if !suspects.isEmpty {
            actions.append(.beginTransaction)
            committer.open(forSuspects: suspects, now: now.monotonic)
            for suspect in suspects {
                events.tryAgain(suspect.index)
                partitions.decide(events[suspect.index].offset, of: events[suspect.index].partition)
                emit(suspect.index, now: now)
            }
        } else if !committer.pending.isEmpty {
            actions.append(.beginTransaction)
            committer.openForPending(now: now.monotonic)
            for id in committer.members where events.isCurrent(id) { emit(id.index, now: now) }
        } else {
            startCommit(now: now)
        }
    }

    private mutating func nextSuspects(now: Moment) -> [SlotID] {
        var suspects: [SlotID] = []
        repeat {
            suspects = committer.takeSuspects(now: now.monotonic)
            guard !suspects.isEmpty else { break }
            suspects.removeAll { !events.isCurrent($0) || events[$0.index].phase != .refused }
        } while suspects.isEmpty
        return suspects
    }

    /// Notes that the producer is ready for transactions: at the start, and after each `renewProducer`.
    ///
    /// - Parameter lateClaims: how many of its claims of the name may still arrive, each of which fences the producer
    ///   that has it then.
    public mutating func producerReady(lateClaims: Int, now: Moment) {
        guard case .atomic(.preparing) = committer.state else { return }
        append(committer.producerReady(lateClaims: lateClaims))
        advanceStop(now: now)
        run(now: now)
    }

    /// Notes that the transaction can't be committed any more, for a reason beyond any single record.
    public mutating func transactionFailed(now: Moment) {
        if case .atomic(.open) = committer.state { actions.append(committer.abort()) }
    }

    /// Notes that the producer can't continue.
    public mutating func producerLost(isFenced: Bool, now: Moment) {
        guard membership != .left else { return }
        switch committer.state {
        case .plain, .atomic(.preparing): return
        case .atomic(.closed), .atomic(.open), .atomic(.ending): break
        }
        if isFenced, committer.isYoung(timeout: configuration.transactionTimeout, now: now.monotonic),
            !committer.takeLateClaim()
        {
            // The broker had no reason of its own to end the transaction: another process has this worker's name.
            actions.append(.notice(.rival))
            return
        }
        if committer.state.doubt == nil { membersWaitAgain(now: now) }
        committer.producerLost(now: now.monotonic)
        actions.append(.renewProducer)
    }

    /// The consequence of a commit that was not made.
    enum AfterNoCommit {
        case abort(isRefused: Bool)
        /// It is over already.
        case close
    }

    mutating func transactionEnded(_ outcome: TransactionOutcome, orElse next: AfterNoCommit, now: Moment) {
        switch outcome {
        case .acknowledged:
            partitions.acknowledge(committer.positions)
            completeMembers()
            resumeFullPartitions()
            committer.acknowledged(now: now.monotonic)
        case .failedForNow: committer.askLater(now: now.monotonic)
        case .refused, .abortable:
            switch next {
            case .abort(let isRefused): actions.append(committer.abort(isRefused: isRefused))
            case .close:
                membersWaitAgain(now: now)
                committer.close(succeeded: false, now: now.monotonic)
            }
        case .fatal(let isFenced): producerLost(isFenced: isFenced, now: now)
        }
    }

    private mutating func completeMembers() {
        for id in committer.members where events.isCurrent(id) {
            if refusals.isAny { noteAccepted(id.index) }
            partitions.completeAcknowledged(events[id.index].offset, of: events[id.index].partition)
            free(id.index)
        }
    }

    /// Notes the end of an abort, or of one attempt at it.
    public mutating func aborted(_ outcome: TransactionOutcome, now: Moment) {
        guard case .atomic(.ending(_, .aborting(let isRefused), _)) = committer.state else { return }
        switch outcome {
        case .acknowledged:
            membersWaitAgain(now: now)
            committer.close(succeeded: false, now: now.monotonic)
            // Another member has the partitions: uncommitted work stays so.
            if isRefused, membership.isLastCommit { endStopping(now: now) }
        case .failedForNow, .refused, .abortable: committer.askLater(now: now.monotonic)
        case .fatal(let isFenced): producerLost(isFenced: isFenced, now: now)
        }
        advanceStop(now: now)
        run(now: now)
    }

    /// The members' records are produced again in the next transaction; suspects stay suspects.
    private mutating func membersWaitAgain(now: Moment) {
        let isTrial = committer.state.attempt?.isTrial == true
        var again: [SlotID] = []
        for id in committer.members where events.isCurrent(id) {
            productions.rename(of: id.index)
            guard events[id.index].phase == .settling else { continue }
            if isTrial { setApart(id.index) }
            again.append(id)
        }
        committer.putBack(again, now: now.monotonic)
    }
}
