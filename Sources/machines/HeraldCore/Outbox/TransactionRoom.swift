import HeraldTime

/// How many events a transaction may have, so that their records pass within its time.
///
/// A producer's quota bounds the bytes that do, and what does not pass is written again, from its beginning. So after a
/// transaction that failed or took long the next one is half as large, down to one event, and after each that was quick
/// twice as large, until the room is of no matter.
struct TransactionRoom: Sendable {
    /// What brokers take shows with the first transactions.
    static let first = 64
    /// So many failures in a row may have other causes.
    static let patience = 2

    /// The broker ends a transaction by itself that is open for so long.
    private let timeout: Milliseconds
    /// So many events the next transaction may have.
    private(set) var count = Self.first
    private var began = MonotonicTime.distantPast
    /// So many transactions in a row failed, those of suspects left out.
    private var failures = 0

    init(timeout: Milliseconds) { self.timeout = timeout }

    /// A transaction is opened.
    mutating func opened(now: MonotonicTime) { began = now }

    /// One of so many events failed, those left out that were refused.
    ///
    /// One that fails soon, such as for a refused record or a rebalance, says nothing of how much passes; several in a row do.
    mutating func failed(_ events: Int, _ attempt: CommitState.Attempt, now: MonotonicTime) {
        if !attempt.isTrial { failures += 1 }
        let isExplained = isQuick(now) && (attempt.isTrial || failures <= Self.patience)
        if events > 0, !isExplained { count = max(1, events / 2) }
    }

    /// One of so many events was committed; more than `crowd` are never waited for.
    mutating func committed(_ events: Int, _ attempt: CommitState.Attempt, crowd: Int, now: MonotonicTime) {
        if !attempt.isTrial { failures = 0 }
        if 2 * now.time(since: began) > timeout {
            count = max(1, events / 2)
        } else if isQuick(now), count < crowd {
            count *= 2
        }
        if count >= crowd { count = .max }
    }

    private func isQuick(_ now: MonotonicTime) -> Bool { 4 * now.time(since: began) < timeout }
}
