package import HeraldEvents
public import HeraldKafka
public import HeraldTime

/// That brokers make a lane's client wait, because a quota is used up.
public struct Throttling: Sendable, Equatable {
    /// Whose requests wait.
    public enum Client: String, Sendable, CaseIterable {
        /// The one that records outcomes.
        case producer
        /// The one that reads events.
        case consumer
    }

    /// Who answers a request at once for so long is not throttling any more.
    private static let patience: Milliseconds = .seconds(10)

    /// Whose requests wait.
    public let client: Client
    /// For how long they waited, in all.
    public private(set) var total = Milliseconds.zero
    /// The broker that said so last, as `number (host:port)`.
    private var broker = ""
    /// For how long, the last time.
    private var latest = Milliseconds.zero
    /// From when to when they have waited again and again; `nil` when they never have.
    private var stretch: Range<MonotonicTime>?

    /// Nothing has waited yet.
    public init(_ client: Client) {
        self.client = client
    }

    /// Takes what brokers have said since the last time.
    public mutating func note(_ news: ThrottleTime, now: MonotonicTime) {
        guard news.count > 0 else { return }
        let since = isOn(now) ? stretch?.lowerBound ?? now : now
        stretch = since..<now.advanced(by: news.latest)
        total += news.total
        (broker, latest) = (news.broker, news.latest)
    }

    /// Whether its requests wait at the moment, or the next one may.
    public func isOn(_ now: MonotonicTime) -> Bool {
        stretch.map { now < $0.upperBound.advanced(by: Self.patience) } ?? false
    }

    /// Until when its requests wait, as was said last.
    var until: MonotonicTime { stretch?.upperBound ?? .distantPast }

    /// What happens and what to do.
    ///
    /// - Parameter consequence: what does not go on because of it, as a phrase; `nil` says nothing of that.
    package func finding(_ key: FindingKey = .brokersThrottle, behind consequence: String? = nil, now: MonotonicTime)
        -> Finding
    {
        let waited = stretch.map { now.time(since: $0.lowerBound) } ?? .zero
        let last = latest < .seconds(1) ? "\(latest.count) ms" : "\(latest.wholeSeconds) s"
        let (quota, limits) =
            switch client {
            case .producer:
                (
                    "producer_byte_rate",
                    "outcomes are recorded as fast as it allows, calls wait for them, and nothing is lost"
                )
            case .consumer: ("consumer_byte_rate", "events are read as fast as it allows, and nothing is lost")
            }
        let since = waited < .seconds(1) ? "throttles" : "has for \(waited.wholeSeconds) s throttled"
        return Finding(
            key,
            (consequence.map { $0 + "; " } ?? "")
                + "broker \(broker) \(since) this worker's \(client.rawValue), and told it last to wait \(last), because a "
                + "quota of its user or client id is used up (\(quota) or request_percentage)", place: [broker],
            step:
                "raise it (`kafka-configs.sh --describe --entity-type users --entity-type clients` shows it); \(limits)"
        )
    }
}
