public import HeraldKernel
public import HeraldTime

extension Engine {
    /// The positions of the commit under way.
    public var commitPositions: [CommittedPosition] { committer.positions }

    /// The time at which ``advanceCommits(now:)`` has something to do.
    var commitDue: MonotonicTime? { membership == .left ? nil : committer.due(isLast: membership.isLastCommit) }

    /// Advances the commits as far as the committer's state and the time allow.
    mutating func advanceCommits(now: Moment) {
        guard let due = commitDue, now.monotonic >= due else { return }
        switch committer.state {
        case .atomic(.closed): openNext(now: now)
        case .plain, .atomic(.open): startCommit(now: now)
        case .atomic(.ending): append(committer.askAgain())
        case .atomic(.preparing): break
        }
    }

    /// Starts a commit of everything that the broker does not know yet.
    mutating func startCommit(now: Moment) {
        let isNeeded = gatherPositions(now: now)
        switch committer.state {
        case .plain, .atomic(.closed):
            guard isNeeded else {
                // Calls may have waited for a commit that turned out to be empty.
                run(now: now)
                return
            }
            if committer.state.isAtomic { begin(now: now) }
        default: break
        }
        let isCalledBeside = committer.pending.contains { events[$0.index].wasCalled }
        actions.append(
            committer.start(recordsOut: productions.count, isCalledBeside: isCalledBeside, now: now.monotonic))
    }

    /// Gathers the positions of a commit, as if the members of the transaction were complete already; false without
    /// any.
    private mutating func gatherPositions(now: Moment) -> Bool {
        committer.gather(now: now.monotonic)
        var trackers = partitions.all.map(\.tracker)
        for id in committer.members where events.isCurrent(id) {
            let offset = events[id.index].offset
            if offset != Slot.noOffset { trackers[Int(events[id.index].partition)]?.complete(offset) }
        }
        for partition in partitions.indices {
            let position = partitions.position(
                partition, trackers[Int(partition)], isUnproven: committer.isUnproven)
            if let position { committer.propose(position) }
        }
        return !committer.positions.isEmpty
    }

    /// Notes the end of a commit, or of one attempt at it.
    public mutating func committed(sequence: UInt64, _ outcome: TransactionOutcome, now: Moment) {
        switch committer.state {
        case .plain(.committing) where sequence == committer.sequence: plainCommitEnded(outcome, now: now)
        case .plain: return
        case .atomic(.ending(_, .committing(let isLeftBehind), _)) where sequence == committer.sequence:
            transactionEnded(outcome, orElse: .abort(isRefused: outcome == .refused && !isLeftBehind), now: now)
        case .atomic(.ending(_, .resolving, _)) where sequence == committer.sequence:
            // The broker has aborted it long ago.
            transactionEnded(outcome, orElse: .close, now: now)
        case .atomic: break
        }
        // The last commit of a stop had to wait for the one before.
        if outcome == .acknowledged { lifecycle.allowCommit(now: now.monotonic) }
        advanceStop(now: now)
        run(now: now)
    }

    private mutating func plainCommitEnded(_ outcome: TransactionOutcome, now: Moment) {
        if outcome == .acknowledged {
            partitions.acknowledge(committer.positions)
            committer.acknowledged(now: now.monotonic)
            resumeFullPartitions()
        } else {
            committer.failed(now: now.monotonic)
        }
        // Another member has the partitions: uncommitted work stays so.
        if outcome == .refused, membership.isLastCommit { endStopping(now: now) }
    }

    mutating func append(_ action: Action?) {
        if let action { actions.append(action) }
    }
}

extension Engine {
    /// Notes that nothing arrived for this long beyond the requested wait: the process was stopped, or its machine.
    ///
    /// The group may have given the partitions to others since. No call is made before a commit that begins now shows
    /// that it has not; the broker refuses the commits of a worker that is no longer a member.
    public mutating func stoodStill(for pause: Milliseconds) {
        guard pause >= configuration.maxUnrecorded, case .assigned = membership else { return }
        committer.stoodStill()
    }

    /// Whether another call may begin: no called event has waited for its commit for too long, and the partitions are
    /// this worker's.
    ///
    /// While a topic takes no record, one begins periodically: its outcome may be taken.
    mutating func mayCall(now: Moment) -> Bool {
        guard now.monotonic >= refusals.nextCall else { return false }
        return committer.allowsCall(
            recordsOut: productions.count, now: now.monotonic, within: configuration.maxUnrecorded)
    }

    /// Whether the event is decided and waits for its commit.
    package func isDecided(_ id: SlotID) -> Bool { events.isCurrent(id) && events[id.index].phase == .settling }

    /// Notes that an event is decided whose calls would be repeated if this worker died now.
    mutating func noteExposure(of slot: Int32, now: Moment) {
        guard events[slot].wasCalled else { return }
        committer.decided(recordsOut: productions.count, now: now.monotonic)
    }
}
