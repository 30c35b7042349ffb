/// Stops quick retries from amplifying an outage: they are limited to a share of recent successes.
///
/// The rule is gRPC's retry throttling (gRFC A6): a bucket of tokens; each temporary failure takes one, each other call
/// returns a tenth; with half of the tokens gone there are no quick retries.
struct RetryBudget: Sendable, Equatable {
    /// The most tokens: with none returned, half as many failures are retried quickly.
    static let size = 1_000.0
    /// The part of a token that an answered call returns.
    static let share = 0.1

    private var tokens = Self.size

    /// Whether a quick retry may be made.
    var allowsRetry: Bool { tokens > Self.size / 2 }

    mutating func failed() { tokens = max(0, tokens - 1) }

    mutating func succeeded() { tokens = min(Self.size, tokens + Self.share) }
}
