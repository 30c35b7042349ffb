package import HeraldKafka
internal import HeraldKernel
package import HeraldTime

/// Writes batches of records, each in one transaction, under a name that one process has at a time: pure.
///
/// A batch is written as a whole or not at all. After ``Event/lost(_:)`` only ``claim(now:)`` helps: a producer of a
/// new epoch ends the former's transaction, and the log then shows what was written. ``BatchWriter/State`` has the
/// states and transitions.
///
/// Its owner asks with ``claim(now:)`` and ``write(_:now:)``, carries out ``takeActions()``, reports their results, and
/// learns the end by ``takeEvents()``.
package struct BatchWriter: Sendable {
    /// Its limits.
    package struct Configuration: Sendable {
        /// The longest time of an open transaction before the broker ends it: `transaction.timeout.ms`.
        package var transactionTimeout: Milliseconds
        /// The patience with an absent broker or a moving leader; `nil` for no limit.
        package var patience: Milliseconds?

        package init(transactionTimeout: Milliseconds, patience: Milliseconds? = .minutes(2)) {
            self.transactionTimeout = transactionTimeout
            self.patience = patience
        }
    }

    /// The records and offsets that become durable together.
    package struct Batch: Sendable {
        package var records: [OutgoingRecord]
        /// The group's offsets that are committed with it.
        package var positions: [CommitPosition]

        package init(records: [OutgoingRecord], positions: [CommitPosition] = []) {
            self.records = records
            self.positions = positions
        }
    }

    /// An order to the driver.
    package enum Action: Sendable {
        /// Replaces the former producer, if any, and claims the name: ``TransactionReport``.
        case claim
        /// Opens a transaction, and offers these records one after another: ``Report/produced``,
        /// ``Report/notProduced(_:)``. Without an open transaction none may be offered: they would open one at the
        /// broker that a late request ends.
        case produce([OutgoingRecord])
        case commit(sequence: UInt64, [CommitPosition])
        case abort
    }

    /// A report of the driver.
    package enum Report: Sendable {
        case transaction(TransactionReport)
        /// The producer has accepted all records.
        case produced
        /// It opens no transaction, or refuses one of the records.
        case notProduced(KafkaError)
        /// A broker refused one of them.
        case undelivered(KafkaError)
    }

    /// The reason why it can write no more before the name is claimed again.
    package enum Loss: Error, Sendable, Equatable {
        /// Another process has claimed the name, or the broker has ended a transaction that took too long (`isLong`: it has
        /// taken long enough for that, there was none yet, or a late claim of its own explains it).
        case fenced(isLong: Bool)
        /// The client and its broker do not agree about the transaction: whether the batch was written shows when the name
        /// is claimed again.
        case inDoubt(KafkaError)
        /// No broker answers; whether the batch was written shows when the name is claimed again.
        case unreachable(KafkaError)
        /// The name can't be claimed.
        case unclaimable(KafkaError)
    }

    /// News for its owner.
    package enum Event: Sendable {
        /// The name is its own: no earlier transaction under it is open.
        case claimed
        /// An attempt failed, and is repeated.
        case waiting(KafkaError)
        /// The batch is durable.
        case written
        /// The broker refuses the batch; nothing of it was written, for certain.
        case refused(KafkaError)
        case lost(Loss)
    }

    private static let pause: Milliseconds = .milliseconds(100)
    private static let longestPause: Milliseconds = .seconds(2)

    private let configuration: Configuration
    package private(set) var state = State.unclaimed
    private var actions: [Action] = []
    private var events: [Event] = []
    private var sequence: UInt64 = 0
    /// The time since which the broker may have an open transaction; an abort does not prove its end (``Producer``).
    private var openSince: MonotonicTime?
    /// The number of its own claims that may still arrive and fence it; each explains one fence.
    private var lateClaims = 0
    private var hasGivenUp = false

    package init(_ configuration: Configuration) { self.configuration = configuration }

    /// Whether ``write(_:now:)`` may be called.
    package var isReady: Bool { state.name == .ready }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package mutating func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    /// The time at which ``advance(now:)`` has something to do; `nil` when only a report changes anything.
    package var nextWake: MonotonicTime? {
        switch state {
        case .unclaimed, .ready, .producing, .lost: nil
        case .claiming(_, let end, _): end
        case .committing(_, let again), .aborting(_, _, let again): again
        case .pausing(_, let end): end
        }
    }

    // MARK: Orders of its owner

    /// Claims the name: ends the transaction of its former holder, if any, and keeps that one from any other.
    package mutating func claim(now: MonotonicTime) {
        hasGivenUp = false
        state.become(.claiming(since: now, until: end(now), cause: nil))
        actions.append(.claim)
    }

    /// Writes a batch; ``Event/written``, ``Event/refused(_:)`` or ``Event/lost(_:)`` follows.
    package mutating func write(_ batch: Batch, now: MonotonicTime) {
        hasGivenUp = false
        openSince = openSince ?? now
        begin(Attempt(batch: batch, since: now, end: end(now), pause: Self.pause))
    }

    /// Makes no further attempt when the one under way fails.
    package mutating func giveUp(now: MonotonicTime) {
        hasGivenUp = true
        switch state {
        case .pausing(let attempt, _): if let cause = attempt.cause { fail(cause) }
        case .committing(let attempt, .some), .aborting(let attempt, _, .some):
            if let cause = attempt.cause { lose(.unreachable(cause)) }
        case .unclaimed, .claiming, .ready, .producing, .committing, .aborting, .lost: break
        }
    }

    private func end(_ now: MonotonicTime) -> MonotonicTime? {
        configuration.patience.map { now.advanced(by: $0) }
    }

    // MARK: Reports of the driver

    /// Repeats the attempt that is due.
    package mutating func advance(now: MonotonicTime) {
        switch state {
        case .claiming(_, let end?, _) where end <= now:
            lose(
                .unreachable(KafkaError(code: KafkaError.Code.timedOut, message: "no broker makes the producer ready")))
        case .pausing(let attempt, let end) where end <= now: begin(attempt)
        case .committing(let attempt, let again?) where again <= now:
            state.become(.committing(attempt, askAgain: nil))
            actions.append(.commit(sequence: sequence, attempt.batch.positions))
        case .aborting(let attempt, let cause, let again?) where again <= now:
            state.become(.aborting(attempt, cause, askAgain: nil))
            actions.append(.abort)
        case .unclaimed, .claiming, .ready, .producing, .committing, .aborting, .pausing, .lost: break
        }
    }

    package mutating func receive(_ report: Report, now: MonotonicTime) {
        switch report {
        case .transaction(.ready(let lateClaims)): claimed(lateClaims)
        case .transaction(.waiting(let error)): notClaimed(error, isLasting: false)
        case .transaction(.notReady(let error)): notClaimed(error, isLasting: true)
        case .transaction(.committed(let number, let error, let outcome)):
            if number == sequence { committed(error, outcome, now: now) }
        case .transaction(.aborted(let error, let outcome)): aborted(error, outcome, now: now)
        case .notProduced(let error): notProduced(error, now: now)
        case .produced: produced()
        case .undelivered(let error): undelivered(error)
        }
    }

    private mutating func claimed(_ lateClaims: Int) {
        // Those of an abandoned claim arrive all the same.
        self.lateClaims += lateClaims
        guard case .claiming = state else { return }
        openSince = nil
        state.become(.ready)
        events.append(.claimed)
    }

    private mutating func notClaimed(_ error: KafkaError, isLasting: Bool) {
        guard case .claiming(let since, let end, _) = state else { return }
        if error.kind == .fenced { return lose(.fenced(isLong: true)) }
        if isLasting { return lose(.unclaimable(error)) }
        if hasGivenUp { return lose(.unreachable(error)) }
        state.become(.claiming(since: since, until: end, cause: error))
        events.append(.waiting(error))
    }

    private mutating func begin(_ attempt: Attempt) {
        var attempt = attempt
        attempt.cause = nil
        attempt.undelivered = nil
        sequence += 1
        state.become(.producing(attempt))
        actions.append(.produce(attempt.batch.records))
    }

    private mutating func produced() {
        guard case .producing(let attempt) = state else { return }
        state.become(.committing(attempt, askAgain: nil))
        actions.append(.commit(sequence: sequence, attempt.batch.positions))
    }

    /// Handles a transaction for which no commit was requested.
    private mutating func notProduced(_ error: KafkaError, now: MonotonicTime) {
        guard case .producing(let attempt) = state else { return }
        let mayTryAgain =
            error.isRetriable || error.isAbortable || error.code == KafkaError.Code.queueFull
            || error.kind == .unreachable
        abort(attempt, Cause(error: error, isFinal: !mayTryAgain), now: now)
    }

    private mutating func undelivered(_ error: KafkaError) {
        // A record purged by an abort shows nothing else.
        guard error.code != KafkaError.Code.purgedInQueue, error.code != KafkaError.Code.purgedInFlight else { return }
        switch state {
        case .producing(var attempt):
            attempt.undelivered = attempt.undelivered ?? error
            state.become(.producing(attempt))
        case .committing(var attempt, let again):
            attempt.undelivered = attempt.undelivered ?? error
            state.become(.committing(attempt, askAgain: again))
        case .unclaimed, .claiming, .ready, .aborting, .pausing, .lost: break
        }
    }

    private mutating func committed(_ error: KafkaError?, _ outcome: TransactionOutcome, now: MonotonicTime) {
        guard case .committing(var attempt, _) = state else { return }
        guard let error else {
            openSince = nil
            state.become(.ready)
            events.append(.written)
            return
        }
        if case .fatal(isFenced: true) = outcome { return lose(fenced(now: now)) }
        if outcome == .failedForNow {
            guard goesOn(attempt, error, now: now) else { return lose(.unreachable(error)) }
            attempt.cause = error
            return state.become(
                .committing(attempt, askAgain: now.advanced(by: Self.pause)))
        }
        // A refused record or a forbidden topic means that the client has not asked for the commit. After any other
        // error the broker may have been asked, and have made it, whatever the client reports then: an abort that
        // succeeds is no proof.
        let cause = attempt.undelivered ?? error
        guard attempt.undelivered != nil || cause.isLasting, error.isAbortable else {
            // Kafka answers one that it is just fencing with an internal error: to claim the name then would take it back.
            return abort(attempt, Cause(error: error, isFinal: true, isInDoubt: true), now: now)
        }
        // A forbidden topic is refused before any record: then only the commit reports it.
        let final = cause.isLasting ? cause : error.isLasting ? error : nil
        abort(attempt, Cause(error: final ?? cause, isFinal: final != nil), now: now)
    }

    /// Ends a transaction for which no commit was requested, or asks whether it is still its own.
    private mutating func abort(_ attempt: Attempt, _ cause: Cause, now: MonotonicTime) {
        if cause.error.kind == .fenced { return lose(fenced(now: now)) }
        guard !cause.error.isFatal, !cause.isInDoubt || cause.error.isAbortable else {
            return lose(.inDoubt(cause.error))
        }
        state.become(.aborting(attempt, cause, askAgain: nil))
        actions.append(.abort)
    }

    private mutating func aborted(_ error: KafkaError?, _ outcome: TransactionOutcome, now: MonotonicTime) {
        guard case .aborting(var attempt, let cause, _) = state else { return }
        attempt.cause = error ?? cause.error
        if let error {
            if case .fatal(isFenced: true) = outcome { return lose(fenced(now: now)) }
            if cause.isInDoubt { return askAgain(attempt, cause, outcome, now: now) }
            if outcome == .failedForNow {
                guard goesOn(attempt, error, now: now) else { return lose(.unreachable(error)) }
                return state.become(
                    .aborting(attempt, cause, askAgain: now.advanced(by: Self.pause)))
            }
            // None of its partitions was admitted, so the coordinator has nothing to abort; the client cannot know that
            // when some of them are refused together. A lasting refusal stays one.
            guard error.code == KafkaError.Code.invalidTransactionState, cause.error.isLasting else {
                return lose(.inDoubt(error))
            }
        }
        if cause.isInDoubt { return lose(.inDoubt(cause.error)) }
        if cause.isFinal { return refuse(cause.error) }
        attempt.cause = cause.error
        guard goesOn(attempt, cause.error, now: now) else { return fail(cause.error) }
        let end = now.advanced(by: attempt.pause)
        attempt.pause = min(2 * attempt.pause, Self.longestPause)
        state.become(.pausing(attempt, until: end))
    }

    /// Asks some times more whether the name is still its own, while the broker does not say it.
    private mutating func askAgain(
        _ attempt: Attempt, _ cause: Cause, _ outcome: TransactionOutcome, now: MonotonicTime
    ) {
        guard outcome == .abortable, attempt.pause < Self.longestPause, !hasGivenUp else {
            return lose(.inDoubt(cause.error))
        }
        var attempt = attempt
        let end = now.advanced(by: attempt.pause)
        attempt.pause = 2 * attempt.pause
        state.become(.aborting(attempt, cause, askAgain: end))
    }

    /// Whether another attempt follows; reports it.
    private mutating func goesOn(_ attempt: Attempt, _ error: KafkaError, now: MonotonicTime) -> Bool {
        guard !hasGivenUp, attempt.end.map({ now < $0 }) ?? true else { return false }
        events.append(.waiting(error))
        return true
    }

    /// Ends the attempts at a batch of which nothing was written.
    private mutating func fail(_ cause: KafkaError) {
        if cause.kind == .unreachable { lose(.unreachable(cause)) } else { refuse(cause) }
    }

    private mutating func refuse(_ error: KafkaError) {
        state.become(.ready)
        events.append(.refused(error))
    }

    private mutating func lose(_ loss: Loss) {
        actions = []
        state.become(.lost)
        events.append(.lost(loss))
    }

    private mutating func fenced(now: MonotonicTime) -> Loss {
        if lateClaims > 0 {
            lateClaims -= 1
            return .fenced(isLong: true)
        }
        let isLong = openSince.map { now.time(since: $0) >= configuration.transactionTimeout } ?? true
        return .fenced(isLong: isLong)
    }
}
