import HeraldTime

/// The most events of a transaction, so that their records pass within its time.
///
/// A producer's quota limits the bytes, and an unfinished transaction is written again from its beginning. So after a
/// failed or slow transaction the next one is half as large, down to one event, and after each quick one twice as
/// large, until the limit does not matter.
struct TransactionRoom: Sendable {
    /// The brokers' capacity shows with the first transactions.
    static let first = 64
    /// The number of failures in a row that may have other causes.
    static let patience = 2

    /// The time after which the broker itself ends an open transaction.
    private let timeout: Milliseconds
    /// The most events of the next transaction.
    private(set) var count = Self.first
    private var began = MonotonicTime.distantPast
    /// The number of failed transactions in a row, those of suspects left out.
    private var failures = 0

    init(timeout: Milliseconds) { self.timeout = timeout }

    /// A transaction is opened.
    mutating func opened(now: MonotonicTime) { began = now }

    /// Notes the failure of a transaction with this many events, refused ones left out.
    ///
    /// One quick failure, such as for a refused record or a rebalance, is no evidence about the capacity; several in a
    /// row are.
    mutating func failed(_ events: Int, _ attempt: CommitState.Attempt, now: MonotonicTime) {
        if !attempt.isTrial { failures += 1 }
        let isExplained = isQuick(now) && (attempt.isTrial || failures <= Self.patience)
        if events > 0, !isExplained { count = max(1, events / 2) }
    }

    /// Notes the commit of a transaction with this many events; more than `crowd` are never waited for.
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
