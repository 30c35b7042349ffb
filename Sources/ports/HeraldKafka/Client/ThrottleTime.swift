public import HeraldTime

/// How long brokers made a client wait, because it had used up a quota.
public struct ThrottleTime: Sendable, Equatable {
    /// How often.
    public private(set) var count = 0
    /// In all.
    public private(set) var total = Milliseconds.zero
    /// The last time.
    public private(set) var latest = Milliseconds.zero

    /// None yet.
    public init() {}

    mutating func note(_ time: Milliseconds) {
        count += 1
        total += time
        latest = time
    }
}
