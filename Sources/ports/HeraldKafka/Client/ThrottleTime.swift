public import HeraldTime

/// The time that brokers made a client wait because it had used up a quota.
public struct ThrottleTime: Sendable, Equatable {
    /// The number of waits.
    public private(set) var count = 0
    /// Their total.
    public private(set) var total = Milliseconds.zero
    /// The latest wait.
    public private(set) var latest = Milliseconds.zero
    /// The broker that imposed the latest wait, as `number (host:port)`.
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
