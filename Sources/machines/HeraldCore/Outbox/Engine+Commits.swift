public import HeraldKernel
public import HeraldTime

extension Engine {
    /// What the commit under way commits.
    public var commitPositions: [CommittedPosition] { committer.positions }

    /// When ``advanceCommits(now:)`` has something to do.
    var commitDue: MonotonicTime? { membership == .left ? nil : committer.due(isLast: membership.isLastCommit) }

    /// Does what the committer's state and the time allow.
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
                // Calls may have waited for a commit that has nothing to say.
                run(now: now)
                return
            }
            if committer.state.isAtomic { begin(now: now) }
        default: break
        }
        actions.append(committer.start(recordsOut: productions.count, now: now.monotonic))
    }

    /// Finds what a commit has to say, as if the members of the transaction were complete already; false when nothing.
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

    /// A commit ended, or one try of it.
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
        // Another member has the partitions: what is not committed by now never will be.
        if outcome == .refused, membership.isLastCommit { endStopping(now: now) }
    }

    mutating func append(_ action: Action?) {
        if let action { actions.append(action) }
    }
}

extension Engine {
    /// For this long nothing came beyond what this engine had asked to wait: the process was stopped,
    /// or its machine.
    ///
    /// The group may have given the partitions to others since. Nothing is called before a commit that begins now shows
    /// that it has not; the broker refuses the commits of a worker that is no longer a member.
    public mutating func stoodStill(for pause: Milliseconds) {
        guard pause >= configuration.maxUnrecorded, case .assigned = membership else { return }
        committer.stoodStill()
    }

    /// Whether another call may begin: nothing that was called has waited for its commit for too long, and the partitions
    /// are this worker's.
    ///
    /// While a topic takes no record, one begins now and then: its outcome may be taken.
    mutating func mayCall(now: Moment) -> Bool {
        guard now.monotonic >= refusals.nextCall else { return false }
        return committer.allowsCall(
            recordsOut: productions.count, now: now.monotonic, within: configuration.maxUnrecorded)
    }

    /// Whether everything about the event is decided and it waits for its commit.
    package func isDecided(_ id: SlotID) -> Bool { events.isCurrent(id) && events[id.index].phase == .settling }

    /// Notes that an event is decided whose calls would be made again if this worker died now.
    mutating func noteExposure(of slot: Int32, now: Moment) {
        guard events[slot].wasCalled else { return }
        committer.decided(recordsOut: productions.count, now: now.monotonic)
    }
}
