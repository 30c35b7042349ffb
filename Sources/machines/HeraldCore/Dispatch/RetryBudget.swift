/// Stops quick retries from amplifying an outage: they may be a share of recent successes only.
///
/// The rule is that of gRPC's retry throttling (gRFC A6): a bucket of tokens, one taken by each call that failed for now,
/// a tenth given back by each that did not; with half of the tokens gone there are no quick retries.
struct RetryBudget: Sendable, Equatable {
    /// So many tokens there are at most: with none given back, half as many failures are retried quickly.
    static let size = 1_000.0
    /// What a call that was answered gives back.
    static let share = 0.1

    private var tokens = Self.size

    /// Whether a quick retry may be made.
    var allowsRetry: Bool { tokens > Self.size / 2 }

    mutating func failed() { tokens = max(0, tokens - 1) }

    mutating func succeeded() { tokens = min(Self.size, tokens + Self.share) }
}
