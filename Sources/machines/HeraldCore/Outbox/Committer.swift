import HeraldTime

/// Makes offsets durable, in one of two forms that is chosen once: ``CommitState`` has its states and transitions.
///
/// It knows the events in the transaction and those that wait for the next, the positions of the commit under way, and
/// the time for which anything waits for one. The engine carries out its answers.
struct Committer: Sendable {
    /// The pause before a failed commit is repeated.
    static let pause: Milliseconds = .milliseconds(100)
    /// The longest wait between a transaction that failed and the next one.
    static let longestPause: Milliseconds = .seconds(5)

    private let interval: Milliseconds
    /// The number of members at which a transaction is committed early.
    private var crowd: Int
    /// The number of settled events at which a transaction is opened before its commit is due.
    ///
    /// The broker has most of their records by then. With fewer they wait: writing them at once costs fewer requests,
    /// and a transaction that is not open holds up no reader of the topics.
    private var early: Int { max(1, min(crowd / 40, room.count)) }
    private var room: TransactionRoom

    private(set) var state: CommitState
    /// The events whose records belong to the transaction.
    private(set) var members: [SlotID] = []
    /// Settled events that wait for the next one.
    private(set) var pending: [SlotID] = []
    /// Events with a refused record: they wait for transactions of their own.
    var suspects = Suspects()
    /// Whether the last transaction was the suspects': now it is the others' turn.
    private var wasTrial = false
    /// Whether the lane has still to hand records to the producer, which may refuse them: a commit would succeed
    /// without.
    private var hasUnproducedRecords = false
    /// The time since which the broker may have an open transaction without a known end; `nil` without one.
    ///
    /// An abort does not prove an end: librdkafka (as of 2.0.2, `rd_kafka_txn_handle_AddPartitionsToTxn`) asks for none
    /// when it aborts before the coordinator has answered for the first partition, and what is open there goes on as the
    /// next transaction.
    private var openSince: MonotonicTime?
    /// The number of this process's claims of the name that may still arrive, and fence it.
    private var lateClaims = 0
    /// The time before which no other transaction is opened.
    private var nextBegin = MonotonicTime.distantPast
    /// The number of failed transactions since the last committed one.
    private var failures = 0

    /// The number of the latest commit.
    private(set) var sequence: UInt64 = 0
    /// The positions of the commit under way.
    private(set) var positions: [CommittedPosition] = []
    /// Whether there may be news for the broker.
    private var hasNews = false
    private var nextCommit = MonotonicTime.distantPast
    private var exposure = Exposure()

    init(configuration: EngineConfiguration) {
        state = configuration.isAtomic ? .atomic(.preparing(doubt: nil)) : .plain(.idle(afterFailure: false))
        interval = configuration.commitInterval
        room = TransactionRoom(timeout: configuration.transactionTimeout)
        crowd = configuration.transactionRoom / 2
    }

    /// Applies the settings' number of members for an early commit.
    mutating func use(_ configuration: EngineConfiguration) { crowd = configuration.transactionRoom / 2 }

    /// Whether nothing is under way, and nothing waits for it.
    var isIdle: Bool {
        switch state {
        case .plain(let plain): plain != .committing
        case .atomic(let transaction): transaction == .closed && pending.isEmpty
        }
    }

    /// The time of the next work; `nil` when only an input can change anything.
    ///
    /// - Parameter isLast: whether a stop has come to its last commit, which waits for nothing but the records.
    func due(isLast: Bool) -> MonotonicTime? {
        let commit = isLast ? MonotonicTime.distantPast : nextCommit
        switch state {
        case .plain(.committing), .atomic(.preparing): return nil
        case .plain(.idle(let afterFailure)): return hasNews || isLast ? (afterFailure ? nextCommit : commit) : nil
        case .atomic(.closed):
            let others = hasNews || !pending.isEmpty ? opening(for: pending.count, commit: commit) : nil
            guard let trial = suspects.due else { return others }
            return min(max(trial, nextBegin), others ?? max(trial, nextBegin))
        case .atomic(.open(let attempt, let withheld)):
            guard withheld == 0, !hasUnproducedRecords else { return nil }
            return attempt.isTrial || members.count >= min(crowd, room.count) ? MonotonicTime.distantPast : commit
        case .atomic(.ending(_, _, let askAgain)): return askAgain
        }
    }

    /// Begins the commits of an assignment.
    mutating func assigned(now: MonotonicTime) { nextCommit = now.advanced(by: interval) }

    /// Notes possible news for the broker.
    mutating func noteNews() { hasNews = true }

    /// Notes that a record goes to the lane.
    mutating func recordEmitted() { hasUnproducedRecords = true }

    /// Notes that the lane has handed all records to the producer.
    mutating func recordsHanded() { hasUnproducedRecords = false }
}

// MARK: The positions of a commit

extension Committer {
    /// Prepares a commit of ``propose(_:)``d positions.
    mutating func gather(now: MonotonicTime) {
        nextCommit = now.advanced(by: interval)
        hasNews = false
        positions.removeAll(keepingCapacity: true)
    }

    mutating func propose(_ position: CommittedPosition) { positions.append(position) }

    /// Removes from the commit a partition whose position is beyond this offset, after which nothing is known any more.
    mutating func forget(partition: Int32, beyond offset: Int64) {
        positions.removeAll { $0.partition == partition && $0.offset > offset }
    }

    /// Starts the commit.
    ///
    /// - Parameters:
    ///   - recordsOut: Plain: the number of unacknowledged records, whose events it does not cover.
    ///   - isCalledBeside: Atomic: whether one of the ``pending`` events was called.
    mutating func start(recordsOut: Int, isCalledBeside: Bool, now: MonotonicTime) -> Action {
        sequence += 1
        switch state {
        case .plain:
            state = .plain(.committing)
            exposure.commitBegan(coversAll: recordsOut == 0, now: now)
        case .atomic:
            let attempt = state.attempt ?? CommitState.Attempt()
            // Others wait beside a transaction of suspects, or one without room for them, and suspects beside both. Those
            // that were never called don't count: a stream of them would hold up all calls for ever.
            if !isCalledBeside, !suspects.isWaiting { exposure.commitBegan(coversAll: true, now: now) }
            state = .atomic(.ending(attempt, .committing(isLeftBehind: false), askAgain: nil))
        }
        return .commit(sequence: sequence)
    }

    /// Notes that the group has accepted the commit, and trackers and members know.
    mutating func acknowledged(now: MonotonicTime) {
        exposure.committed(sequence: sequence, isProof: !state.isResolving)
        if state.isAtomic {
            // The broker is not asked for the end of an empty transaction.
            if !positions.isEmpty { openSince = nil }
            close(succeeded: true, now: now)
        } else {
            state = .plain(.idle(afterFailure: false))
            positions.removeAll(keepingCapacity: true)
            if exposure.isUnproven { hasNews = true }
        }
    }

    /// Notes that a plain commit was not made.
    mutating func failed(now: MonotonicTime) {
        state = .plain(.idle(afterFailure: true))
        exposure.commitFailed()
        hasNews = true
        nextCommit = now.advanced(by: Self.pause)
    }

    /// Abandons the work under way with the partitions: none of it must be committed any more.
    mutating func abandon(now: MonotonicTime) -> Action? {
        hasNews = false
        positions.removeAll(keepingCapacity: true)
        pending.removeAll(keepingCapacity: true)
        suspects.removeAll()
        switch state {
        case .plain: state = .plain(.idle(afterFailure: false))
        case .atomic(.open): return abort()
        case .atomic(.ending(_, .resolving, _)): close(succeeded: true, now: now)
        case .atomic(.preparing):
            members.removeAll(keepingCapacity: true)
            state = .atomic(.preparing(doubt: nil))
        case .atomic(.closed): break
        case .atomic(.ending(let attempt, .committing, let askAgain)):
            state = .atomic(.ending(attempt, .committing(isLeftBehind: true), askAgain: askAgain))
        case .atomic(.ending(let attempt, .aborting, let askAgain)):
            state = .atomic(.ending(attempt, .aborting(isRefused: false), askAgain: askAgain))
        }
        return nil
    }
}

// MARK: The members of a transaction

extension Committer {
    enum Admission {
        /// Its records are produced, and it waits for no others.
        case plain
        case joins(opening: Bool)
        case waits
    }

    /// Admits a settled event.
    mutating func admit(_ id: SlotID, now: MonotonicTime) -> Admission {
        switch state {
        case .plain: return .plain
        case .atomic(.open(let attempt, _)) where !attempt.isTrial && members.count < room.count:
            members.append(id)
            return .joins(opening: false)
        case .atomic(.closed)
        where pending.isEmpty && !suspects.isWaiting && now >= opening(for: 1, commit: nextCommit):
            open(now: now)
            members.append(id)
            return .joins(opening: true)
        case .atomic:
            pending.append(id)
            return .waits
        }
    }

    /// The time at which a transaction is opened for `count` settled events, if the next commit is due at `commit`.
    private func opening(for count: Int, commit: MonotonicTime) -> MonotonicTime {
        count >= early ? nextBegin : max(commit, nextBegin)
    }

    /// Opens a transaction.
    mutating func open(_ attempt: CommitState.Attempt = CommitState.Attempt(), now: MonotonicTime) {
        state = .atomic(.open(attempt, withheld: 0))
        openSince = openSince ?? now
        room.opened(now: now)
    }

    /// Opens one for events with a refused record.
    mutating func open(forSuspects suspects: [SlotID], now: MonotonicTime) {
        open(CommitState.Attempt(isTrial: true), now: now)
        members = suspects
    }

    /// Opens one for the waiting events, within its room.
    mutating func openForPending(now: MonotonicTime) {
        open(now: now)
        swap(&members, &pending)
        guard members.count > room.count else { return }
        pending = Array(members[room.count...])
        members.removeLast(members.count - room.count)
    }

    /// The suspects whose turn it is: every second transaction is for the others, if there are any.
    mutating func takeSuspects(now: MonotonicTime) -> [SlotID] {
        guard let due = suspects.due, now >= due, !wasTrial || pending.isEmpty else { return [] }
        return suspects.take(atMost: room.count, now: now)
    }

    /// Puts back members whose records come again in the next transaction, before those that were settled later.
    mutating func putBack(_ again: [SlotID], now: MonotonicTime) {
        members.removeAll(keepingCapacity: true)
        let attempt = state.attempt ?? CommitState.Attempt()
        suspects.failed(tried: attempt.isTrial ? again : nil)
        room.failed(again.count, attempt, now: now)
        if !attempt.isTrial { pending = again + pending }
    }

    /// Notes that one of its records was refused, and that record's event is isolated.
    mutating func noteCulprit() {
        switch state {
        case .atomic(.open(var attempt, let withheld)):
            attempt.hasCulprit = true
            state = .atomic(.open(attempt, withheld: withheld))
        case .atomic(.ending(var attempt, let ending, let askAgain)):
            attempt.hasCulprit = true
            state = .atomic(.ending(attempt, ending, askAgain: askAgain))
        case .plain, .atomic(.preparing), .atomic(.closed): break
        }
    }

    /// Notes a record without room in the producer's queue: it has to get in before the commit.
    mutating func withhold() {
        guard case .atomic(.open(let attempt, let withheld)) = state else { return }
        state = .atomic(.open(attempt, withheld: withheld + 1))
    }

    /// Whether a waiting record is offered again now; after an abort it comes again with all others.
    mutating func offersAgain() -> Bool {
        switch state {
        case .plain: return true
        case .atomic(.open(let attempt, let withheld)):
            state = .atomic(.open(attempt, withheld: withheld - 1))
            return true
        case .atomic: return false
        }
    }
}

// MARK: The outcome of a transaction

extension Committer {
    /// Notes that the producer is ready; returns the first question.
    mutating func producerReady(lateClaims: Int) -> Action? {
        self.lateClaims += lateClaims
        guard case .atomic(.preparing(let doubt)) = state else { return nil }
        openSince = nil
        guard let doubt else {
            state = .atomic(.closed)
            return nil
        }
        state = .atomic(.ending(doubt, .resolving, askAgain: nil))
        return .resolveCommit(sequence: sequence)
    }

    /// Whether a transaction is open that the broker had no reason yet to end by itself.
    func isYoung(timeout: Milliseconds, now: MonotonicTime) -> Bool {
        openSince.map { now < $0.advanced(by: timeout) } ?? false
    }

    /// Whether a claim of this process itself may have fenced it; each explains that once.
    mutating func takeLateClaim() -> Bool {
        guard lateClaims > 0 else { return false }
        lateClaims -= 1
        return true
    }

    /// Notes that the producer can't continue.
    ///
    /// Members that are not in doubt have been put back.
    mutating func producerLost(now: MonotonicTime) {
        let doubt = state.doubt
        if doubt == nil { close(succeeded: false, now: now) }
        state = .atomic(.preparing(doubt: doubt))
    }

    /// Aborts the transaction, the only way left.
    mutating func abort(isRefused: Bool = false) -> Action {
        state = .atomic(.ending(state.attempt ?? CommitState.Attempt(), .aborting(isRefused: isRefused), askAgain: nil))
        return .abortTransaction
    }

    /// Notes that a call failed; the same call has to be repeated.
    mutating func askLater(now: MonotonicTime) {
        guard case .atomic(.ending(let attempt, let ending, _)) = state else { return }
        state = .atomic(.ending(attempt, ending, askAgain: now.advanced(by: Self.pause)))
    }

    /// Repeats the same call.
    mutating func askAgain() -> Action? {
        guard case .atomic(.ending(let attempt, let ending, _)) = state else { return nil }
        state = .atomic(.ending(attempt, ending, askAgain: nil))
        return switch ending {
        case .committing: .commit(sequence: sequence)
        case .aborting: .abortTransaction
        case .resolving: .resolveCommit(sequence: sequence)
        }
    }

    /// Ends a transaction.
    mutating func close(succeeded: Bool, now: MonotonicTime) {
        let attempt = state.attempt ?? CommitState.Attempt()
        if succeeded, !members.isEmpty {
            room.committed(members.count, attempt, crowd: crowd, now: now)
            if attempt.isTrial { suspects.passed(members.count) }
        }
        state = .atomic(.closed)
        members.removeAll(keepingCapacity: true)
        positions.removeAll(keepingCapacity: true)
        wasTrial = attempt.isTrial
        hasNews = hasNews || !succeeded || exposure.isUnproven
        if succeeded {
            failures = 0
            return
        }
        exposure.commitFailed()
        if !attempt.hasCulprit {
            // The next one will not fail for a culprit, but may for another reason.
            failures += 1
            let pause = min(Self.pause.doubled(times: min(failures, 10) - 1), Self.longestPause)
            nextBegin = now.advanced(by: pause)
        }
    }
}

// MARK: The waiting for a commit

extension Committer {
    /// Notes that a called event is decided; its records are on their way.
    mutating func decided(recordsOut: Int, now: MonotonicTime) {
        if !isRecording(recordsOut) { exposure.nothingWaits() }
        exposure.decided(now: now)
    }

    /// The reason why no call begins: none may, or the last one had to wait, and only a commit has the timer look
    /// again.
    func hold(recordsOut: Int, now: MonotonicTime, within limit: Milliseconds) -> Exposure.Hold? {
        if let hold = exposure.hold(now: now, within: limit), hold == .unproven || isRecording(recordsOut) {
            return hold
        }
        return isInTheWay(recordsOut: recordsOut) ? .unrecorded(since: exposure.oldest ?? now) : nil
    }

    /// Whether a call may begin; if not, only a commit changes that.
    mutating func allowsCall(recordsOut: Int, now: MonotonicTime, within limit: Milliseconds) -> Bool {
        if !isRecording(recordsOut) { exposure.nothingWaits() }
        return exposure.allowsCall(now: now, within: limit)
    }

    /// Notes that the worker stood still; only later commits show that it is still a member.
    mutating func stoodStill() {
        exposure.stoodStill(after: sequence)
        // There may be nothing new to commit: the same offset again shows it as well.
        hasNews = true
    }

    /// Forgets the waiting events, which are gone.
    mutating func eventsGone() { exposure.partitionsGone() }

    /// Whether a commit is needed even without news.
    var isUnproven: Bool { exposure.isUnproven }

    /// Whether calls wait for a commit.
    func isInTheWay(recordsOut: Int) -> Bool {
        exposure.isInTheWay && (exposure.isUnproven || isRecording(recordsOut))
    }

    /// Whether any decided event waits for a commit; those left out of transactions do not.
    func isRecording(_ recordsOut: Int) -> Bool {
        state.isAtomic
            ? !members.isEmpty || !pending.isEmpty || suspects.isWaiting
            : recordsOut > 0 || state == .plain(.committing) || hasNews
    }
}
