import HeraldTime

/// The transaction in which records and offsets become durable together (`delivery.guarantee: atomic`).
///
/// An event that is settled becomes a *member* of the open transaction: its records are produced at once. A commit sends
/// the offsets as they are with the members complete, and members *are* complete only when it is acknowledged. What is
/// settled while a commit or an abort is under way is *pending*: it belongs to the next transaction. After an abort the
/// members are pending again, with the same records, and no call is repeated.
///
/// Sources: KIP-98, KIP-447; which errors want which answer: librdkafka's `rd_kafka_error_is_retriable`,
/// `rd_kafka_error_txn_requires_abort`, `rd_kafka_error_is_fatal`.
struct Transaction: Sendable {
    enum Phase: Sendable, Equatable {
        /// The producer is being made.
        case preparing
        /// None is open.
        case none
        case open
        case committing
        case aborting
        /// The producer was lost during a commit: the broker is asked what became of it.
        case resolving
    }

    var phase = Phase.preparing
    /// A record of it failed: it can only be aborted.
    var isDoomed = false
    /// The group did not accept its offsets.
    var isRefused = false
    /// Its partitions have gone meanwhile: what becomes of it says nothing about those of now.
    var isLeftBehind = false
    /// The producer was lost while a commit was under way.
    var isInDoubt = false
    /// The events whose records belong to it.
    var members: [SlotID] = []
    /// Settled events that wait for the next one.
    var pending: [SlotID] = []
    /// Events of which a record was refused: each waits for a transaction of its own.
    var suspects: [SlotID] = []
    /// It is the one of such an event: nobody else joins, and it is committed at once.
    var isAlone = false
    /// The last one was: now it is the others' turn.
    var wasAlone = false
    /// It fails because of a record that was too large, and whose event does not come again with the others.
    var hasCulprit = false
    /// Records that the producer's queue had no room for, and that have to get in before the commit.
    var withheld = 0
    /// The lane has not handed all records to the producer yet, which may refuse them: a commit would succeed without.
    var hasUnheardRecords = false
    var openedAt = MonotonicTime(nanoseconds: .min)
    /// When what was not answered for good is asked again.
    var askAgain: MonotonicTime?
    /// Not before this is another one opened.
    var nextBegin = MonotonicTime(nanoseconds: .min)
    /// How many failed since the last that was committed.
    var failures = 0

    /// Whether there is nothing in it, and nothing waits for it.
    var isIdle: Bool { phase == .none && pending.isEmpty }
}

extension Engine {
    /// The longest wait between a transaction that failed and the next one (milliseconds).
    static let longestTransactionPause: Int64 = 5_000

    /// An event is settled: its records are produced, in the transaction if there is one.
    mutating func send(_ slot: Int32, now: Moment) {
        noteExposure(of: slot, now: now)
        guard configuration.isAtomic else {
            emit(slot)
            return
        }
        noteDecided(slot, true)
        switch transaction.phase {
        case .open where !transaction.isDoomed && !transaction.isAlone:
            join(slot)
        case .none
        where now.monotonic >= transaction.nextBegin && transaction.pending.isEmpty && transaction.suspects.isEmpty:
            begin(now: now)
            join(slot)
        default:
            transaction.pending.append(id(of: slot))
        }
    }

    private mutating func join(_ slot: Int32) {
        transaction.members.append(id(of: slot))
        emit(slot)
    }

    private mutating func begin(now: Moment) {
        transaction.phase = .open
        transaction.openedAt = now.monotonic
        actions.append(.begin)
    }

    /// Does what the transaction's state and the time allow.
    mutating func advanceTransaction(now: Moment) {
        switch transaction.phase {
        case .preparing:
            break
        case .none:
            guard now.monotonic >= transaction.nextBegin else { return }
            if let suspect = nextSuspect() {
                begin(now: now)
                transaction.isAlone = true
                slots[Int(suspect)].phase = .settling
                refusedCount -= 1
                noteDecided(suspect, true)
                join(suspect)
            } else if !transaction.pending.isEmpty {
                begin(now: now)
                let pending = transaction.pending
                transaction.pending.removeAll(keepingCapacity: true)
                for id in pending where isCurrent(id) { join(id.index) }
                commitTransactionIfDue(now: now)
            } else if hasNewWatermark, isCommitDue(now: now) {
                startTransactionCommit(now: now)
            }
        case .open:
            if transaction.isDoomed { abort() } else { commitTransactionIfDue(now: now) }
        case .committing, .aborting, .resolving:
            guard let moment = transaction.askAgain, now.monotonic >= moment else { return }
            transaction.askAgain = nil
            switch transaction.phase {
            case .committing: actions.append(.commit(sequence: commitSequence))
            case .aborting: actions.append(.abort)
            default: actions.append(.lookUp(sequence: commitSequence))
            }
        }
    }

    /// When ``advanceTransaction(now:)`` has something to do; `nil` when only an input can change anything.
    var nextTransactionStep: MonotonicTime? {
        switch transaction.phase {
        case .preparing: nil
        case .none:
            if !transaction.pending.isEmpty || !transaction.suspects.isEmpty {
                transaction.nextBegin
            } else {
                hasNewWatermark ? max(nextCommit, transaction.nextBegin) : nil
            }
        case .open:
            if transaction.isDoomed || isUrgent {
                MonotonicTime(nanoseconds: .min)
            } else {
                transaction.withheld > 0 ? nil : nextCommit
            }
        case .committing, .aborting, .resolving: transaction.askAgain
        }
    }

    /// The event whose turn it is to be tried alone: every second transaction is for the others, if there are any.
    private mutating func nextSuspect() -> Int32? {
        if transaction.wasAlone, !transaction.pending.isEmpty { return nil }
        while let first = transaction.suspects.first {
            transaction.suspects.removeFirst()
            if isCurrent(first), slots[Int(first.index)].phase == .refused { return first.index }
        }
        return nil
    }

    /// The commit does not wait for its interval.
    private var isUrgent: Bool {
        isCrowded || isLastCommit || (transaction.isAlone && transaction.withheld == 0)
    }

    /// So much has gathered.
    private var isCrowded: Bool {
        transaction.withheld == 0 && transaction.members.count >= configuration.transactionRoom / 2
    }

    /// A stop has come to its last commit, which waits for nothing but the records.
    private var isLastCommit: Bool {
        if case .stopping(let stopping) = membership {
            stopping.isCommitting && transaction.withheld == 0
        } else {
            false
        }
    }

    private func isCommitDue(now: Moment) -> Bool { now.monotonic >= nextCommit || isUrgent }

    private mutating func commitTransactionIfDue(now: Moment) {
        guard transaction.withheld == 0, !transaction.hasUnheardRecords, isCommitDue(now: now) else { return }
        startTransactionCommit(now: now)
    }

    private mutating func startTransactionCommit(now: Moment) {
        nextCommit = now.monotonic.advanced(byMilliseconds: configuration.commitInterval)
        let isNeeded = gatherPositions()
        if transaction.phase == .none {
            guard isNeeded else { return }
            begin(now: now)
        }
        transaction.phase = .committing
        commitSequence += 1
        // The others wait on beside a transaction that one event has for itself.
        if !transaction.isAlone || transaction.pending.isEmpty {
            exposure.commitBegan(coversAll: true, now: now.monotonic)
        }
        actions.append(.commit(sequence: commitSequence))
    }

    mutating func abort() {
        transaction.phase = .aborting
        transaction.askAgain = nil
        actions.append(.abort)
    }

    /// What the transaction holds belongs to partitions that are gone: it must not be committed.
    mutating func abandonTransaction(now: Moment) {
        guard configuration.isAtomic else { return }
        transaction.pending.removeAll(keepingCapacity: true)
        transaction.suspects.removeAll(keepingCapacity: true)
        transaction.isInDoubt = false
        switch transaction.phase {
        case .open: abort()
        case .resolving: endTransaction(now: now, succeeded: true)
        case .preparing, .none: transaction.members.removeAll(keepingCapacity: true)
        case .committing, .aborting:
            transaction.isLeftBehind = true
            transaction.isRefused = false
        }
    }

    // MARK: What became of it

    /// The producer is ready for transactions: at the start, and after each `renewProducer`.
    public mutating func producerReady(now: Moment) {
        guard transaction.phase == .preparing else { return }
        if transaction.isInDoubt {
            transaction.isInDoubt = false
            transaction.phase = .resolving
            actions.append(.lookUp(sequence: commitSequence))
        } else {
            transaction.phase = .none
        }
        commitForStop(now: now)
        run(now: now)
    }

    /// The transaction can't be committed any more, for a reason that is no single record's.
    public mutating func transactionFailed(now: Moment) {
        if transaction.phase == .open { transaction.isDoomed = true }
        advanceTransaction(now: now)
    }

    /// The producer can't go on.
    public mutating func producerLost(isFenced: Bool, now: Moment) {
        guard configuration.isAtomic, transaction.phase != .preparing, membership != .left else { return }
        let isYoung =
            now.monotonic < transaction.openedAt.advanced(byMilliseconds: configuration.transactionTimeout)
        if isFenced && isYoung {
            // The broker had no reason to end the transaction by itself: somebody else has this worker's name.
            actions.append(.notice(.rival))
            return
        }
        transaction.isInDoubt = transaction.phase == .committing || transaction.phase == .resolving
        if !transaction.isInDoubt {
            membersWaitAgain(now: now)
            endTransaction(now: now, succeeded: false)
        }
        transaction.phase = .preparing
        transaction.askAgain = nil
        actions.append(.renewProducer)
    }

    mutating func transactionEnded(sequence: UInt64, _ outcome: CommitOutcome, now: Moment) {
        guard sequence == commitSequence, transaction.phase == .committing || transaction.phase == .resolving
        else { return }
        switch outcome {
        case .acknowledged:
            acknowledgePositions()
            exposure.committed(sequence: sequence)
            for id in transaction.members where isCurrent(id) {
                let offset = slots[Int(id.index)].offset
                if offset != Slot.noOffset {
                    partitions[Int(slots[Int(id.index)].partition)].tracker?.completeAcknowledged(offset)
                }
                free(id.index)
            }
            takeFromFullAgain()
            endTransaction(now: now, succeeded: true)
        case .failedForNow:
            transaction.askAgain = now.monotonic.advanced(byMilliseconds: Self.commitPause)
        case .refused, .abortable:
            transaction.isRefused = outcome == .refused && !transaction.isLeftBehind
            if transaction.phase == .resolving {
                // The broker has aborted it long ago.
                membersWaitAgain(now: now)
                endTransaction(now: now, succeeded: false)
            } else {
                abort()
            }
        case .fatal(let isFenced):
            producerLost(isFenced: isFenced, now: now)
        }
    }

    /// An abort ended, or one try of it.
    public mutating func aborted(_ outcome: CommitOutcome, now: Moment) {
        guard transaction.phase == .aborting else { return }
        switch outcome {
        case .acknowledged:
            let isRefused = transaction.isRefused
            membersWaitAgain(now: now)
            endTransaction(now: now, succeeded: false)
            // Somebody else has the partitions: what is not committed by now never will be.
            if isRefused, case .stopping(let stopping) = membership, stopping.isCommitting { endStopping(now: now) }
        case .failedForNow, .refused, .abortable:
            transaction.askAgain = now.monotonic.advanced(byMilliseconds: Self.commitPause)
        case .fatal(let isFenced):
            producerLost(isFenced: isFenced, now: now)
        }
        commitForStop(now: now)
        run(now: now)
    }

    private mutating func endTransaction(now: Moment, succeeded: Bool) {
        transaction.phase = .none
        transaction.members.removeAll(keepingCapacity: true)
        transaction.isDoomed = false
        transaction.isRefused = false
        transaction.isLeftBehind = false
        transaction.withheld = 0
        transaction.askAgain = nil
        transaction.wasAlone = transaction.isAlone
        transaction.isAlone = false
        let hasCulprit = transaction.hasCulprit
        transaction.hasCulprit = false
        forgetPositions()
        if exposure.isUnproven { hasNewWatermark = true }
        if succeeded {
            transaction.failures = 0
        } else if hasCulprit {
            // The next one will not fail for it.
            hasNewWatermark = true
        } else {
            exposure.commitFailed()
            transaction.failures += 1
            let pause = min(Self.commitPause << Int64(min(transaction.failures, 10) - 1), Self.longestTransactionPause)
            transaction.nextBegin = now.monotonic.advanced(byMilliseconds: pause)
            hasNewWatermark = true
        }
    }

    /// The members' records are produced again in the next transaction, before those that were settled later.
    private mutating func membersWaitAgain(now: Moment) {
        var again: [SlotID] = []
        for id in transaction.members where isCurrent(id) {
            renameProductions(of: id.index)
            if slots[Int(id.index)].phase == .settling { again.append(id) }
        }
        transaction.members.removeAll(keepingCapacity: true)
        transaction.pending = again + transaction.pending
    }
}
