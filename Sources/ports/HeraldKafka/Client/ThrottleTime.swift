public import HeraldTime

/// How long brokers made a client wait, because it had used up a quota.
public struct ThrottleTime: Sendable, Equatable {
    /// How often.
    public private(set) var count = 0
    /// In all.
    public private(set) var total = Milliseconds.zero
    /// The last time.
    public private(set) var latest = Milliseconds.zero
    /// The broker that said so the last time, as `number (host:port)`.
    public private(set) var broker = ""

    /// None yet.
    public init() {}

    mutating func note(_ time: Milliseconds, by broker: String) {
        count += 1
        total += time
        latest = time
        self.broker = broker
    }
}
