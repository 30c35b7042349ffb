public import HeraldTime

/// How a commit ended.
public enum CommitOutcome: Sendable, Equatable {
    /// The broker has it.
    case acknowledged
    /// It may work another time.
    case failedForNow
    /// The group does not take it from this member any more; a rebalance is coming.
    case refused
}

extension Engine {
    /// Time passed: what is due goes on.
    public mutating func tick(now: Moment) {
        while let entry = due.takeDue(at: now.monotonic) {
            switch entry.purpose {
            case .quickRetry: quickRetryIsDue(entry)
            case .event: eventIsDue(entry.slot, now: now)
            case .resume: resumeIsDue(entry.slot)
            case .production:
                let id = ProductionID(index: entry.slot.index, generation: entry.slot.generation)
                if production(id) != nil { actions.append(.produce(id)) }
            }
        }
        probe(now: now)
        run(now: now)
        switch membership {
        case .assigned:
            commitIfDue(now: now)
        case .stopping(let stopping):
            if !stopping.isCommitting {
                finishStopping(now: now)
                commitIfDue(now: now)
            } else if now.monotonic >= stopping.deadline {
                endStopping(stopping)
            } else {
                commitIfDue(now: now)
            }
        case .none, .left:
            break
        }
    }

    private mutating func commitIfDue(now: Moment) {
        if hasNewWatermark, !commitInFlight, now.monotonic >= nextCommit { startCommit() }
    }

    /// When the engine wants its next ``tick(now:)`` at the latest; `nil` when nothing waits.
    public var nextWake: MonotonicTime? {
        var earliest = due.earliest
        func consider(_ moment: MonotonicTime) {
            earliest = min(earliest ?? moment, moment)
        }
        if hasNewWatermark, !commitInFlight, membership != .none, membership != .left { consider(nextCommit) }
        if let hold, hold.probe == nil, !wanted.isEmpty { consider(hold.nextProbe) }
        if case .stopping(let stopping) = membership { consider(stopping.deadline) }
        return earliest
    }

    private mutating func quickRetryIsDue(_ entry: DueQueue.Entry) {
        let slot = entry.slot.index
        guard isCurrent(entry.slot), services[serviceIndex(slot, Int(entry.service))].phase == .resting else { return }
        want(slot, Int(entry.service))
    }

    private mutating func eventIsDue(_ id: SlotID, now: Moment) {
        let place = Int(id.index)
        guard isCurrent(id), slots[place].phase == .waiting else { return }
        waitingCount -= 1
        slots[place].phase = .active
        if slots[place].holdsSource {
            slots[place].holdsSource = false
            let source = Int(slots[place].source)
            sources[source].isBlocked = false
            sources[source].mayHaveRecords = true
        }
        if slots[place].isOrdered { activations.append(id) } else { goOn(id.index, now: now) }
    }

    private mutating func resumeIsDue(_ id: SlotID) {
        guard isCurrent(id) else { return }
        resume(source: Int(slots[Int(id.index)].source))
    }

    mutating func resume(source: Int) {
        guard sources[source].isPaused else { return }
        sources[source].isPaused = false
        for partition in sources[source].partitions { actions.append(.resume(partition: partition)) }
    }

    // MARK: Commits

    /// Starts a commit of everything that the broker does not know yet.
    mutating func startCommit() {
        hasNewWatermark = false
        var isNeeded = false
        for index in partitions.indices {
            committing[index] = nil
            guard let tracker = partitions[index].tracker, tracker.hasUncommitted else { continue }
            committing[index] = CommittedPosition(
                partition: Int32(index), offset: tracker.watermark,
                metadata: tracker.completions.text(committing: tracker.watermark), mark: tracker.mark)
            isNeeded = true
        }
        if isNeeded {
            commitInFlight = true
            commitSequence += 1
            actions.append(.commit(sequence: commitSequence))
        } else if case .stopping(let stopping) = membership, stopping.isCommitting {
            endStopping(stopping)
        }
    }

    /// What the commit under way commits.
    public var commitPositions: [CommittedPosition] { committing.compactMap { $0 } }

    /// A commit ended.
    public mutating func committed(sequence: UInt64, _ outcome: CommitOutcome, now: Moment) {
        guard commitInFlight, sequence == commitSequence else { return }
        commitInFlight = false
        nextCommit = now.monotonic.advanced(byMilliseconds: configuration.commitInterval)
        switch outcome {
        case .acknowledged:
            for case let position? in committing {
                partitions[Int(position.partition)].tracker?.acknowledge(position.mark)
            }
        case .failedForNow, .refused:
            hasNewWatermark = true
        }
        guard case .stopping(var stopping) = membership, stopping.isCommitting else { return }
        switch outcome {
        case .acknowledged where hasNewWatermark:
            stopping.allowCommit(now: now.monotonic)
            membership = .stopping(stopping)
            startCommit()
        case .acknowledged: endStopping(stopping)
        case .refused: endStopping(stopping)
        case .failedForNow: break
        }
    }
}
