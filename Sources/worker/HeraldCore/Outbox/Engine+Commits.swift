import HeraldTime

/// How a commit, or the end of a transaction, came out.
public enum CommitOutcome: Sendable, Equatable {
    /// The broker has it.
    case acknowledged
    /// It may work another time; of a transaction: the same call has to be made again.
    case failedForNow
    /// The group does not take it from this member any more; a rebalance is coming.
    case refused
    /// The transaction can only be aborted.
    case abortable
    /// The producer is of no more use; `isFenced` when the broker knows a newer one by its name.
    case fatal(isFenced: Bool)
}

extension Engine {
    /// After a commit that failed it is made again after this long (milliseconds).
    static let commitPause: Int64 = 100

    /// What the commit under way commits.
    public var commitPositions: [CommittedPosition] { committing.compactMap { $0 } }

    /// Whether a commit would tell the broker something new.
    var hasUncommitted: Bool { partitions.contains { $0.tracker?.hasUncommitted == true } }

    mutating func commitIfDue(now: Moment) {
        if configuration.isAtomic {
            advanceTransaction(now: now)
        } else if hasNewWatermark, !commitInFlight, now.monotonic >= nextCommit {
            startCommit(now: now)
        }
    }

    /// Starts a commit of everything that the broker does not know yet.
    mutating func startCommit(now: Moment) {
        nextCommit = now.monotonic.advanced(byMilliseconds: configuration.commitInterval)
        guard gatherPositions() else {
            // Calls may have waited for a commit that has nothing to say.
            run(now: now)
            return
        }
        commitInFlight = true
        commitSequence += 1
        exposure.commitBegan(coversAll: productionsOut == 0, now: now.monotonic)
        actions.append(.commit(sequence: commitSequence))
    }

    /// Finds what a commit has to say, as if the members of the transaction were complete already; false when nothing.
    mutating func gatherPositions() -> Bool {
        hasNewWatermark = false
        var trackers = partitions.map(\.tracker)
        for id in transaction.members where isCurrent(id) {
            let offset = slots[Int(id.index)].offset
            if offset != Slot.noOffset { trackers[Int(slots[Int(id.index)].partition)]?.complete(offset) }
        }
        var isNeeded = false
        for index in partitions.indices {
            committing[index] = nil
            // What is known already shows as well that this worker is still a member.
            guard let tracker = trackers[index], tracker.hasUncommitted || exposure.isUnproven else { continue }
            let text = tracker.completions.text(committing: tracker.watermark)
            committing[index] = CommittedPosition(
                partition: Int32(index), offset: tracker.watermark, metadata: text,
                mark: partitions[index].tracker?.mark ?? 0)
            isNeeded = true
        }
        return isNeeded
    }

    /// A commit ended, or one try of it.
    public mutating func committed(sequence: UInt64, _ outcome: CommitOutcome, now: Moment) {
        if configuration.isAtomic {
            transactionEnded(sequence: sequence, outcome, now: now)
        } else {
            guard commitInFlight, sequence == commitSequence else { return }
            commitInFlight = false
            lastCommitFailed = outcome != .acknowledged
            if lastCommitFailed {
                exposure.commitFailed()
                hasNewWatermark = true
                nextCommit = now.monotonic.advanced(byMilliseconds: Self.commitPause)
            } else {
                acknowledgePositions()
                exposure.committed(sequence: sequence)
                if exposure.isUnproven { hasNewWatermark = true }
                takeFromFullAgain()
            }
            // Somebody else has the partitions: what is not committed by now never will be.
            if outcome == .refused, case .stopping(let stopping) = membership, stopping.isCommitting {
                endStopping(now: now)
            }
        }
        if outcome == .acknowledged, case .stopping(var stopping) = membership, stopping.isCommitting {
            // It had to wait for the one before.
            stopping.allowCommit(now: now.monotonic)
            membership = .stopping(stopping)
        }
        commitForStop(now: now)
        run(now: now)
    }

    /// Notes that the broker has what was being committed.
    mutating func acknowledgePositions() {
        for case let position? in committing {
            partitions[Int(position.partition)].tracker?.acknowledge(position.mark)
        }
        forgetPositions()
    }

    /// Notes whether the next commit will say of this slot's record that it is done.
    mutating func noteDecided(_ slot: Int32, _ isDecided: Bool) {
        let place = Int(slot)
        guard slots[place].offset != Slot.noOffset else { return }
        let partition = Int(slots[place].partition)
        if isDecided { partitions[partition].tracker?.decide() } else { partitions[partition].tracker?.undecide() }
    }

    mutating func forgetPositions() {
        for index in committing.indices { committing[index] = nil }
    }
}
