internal import FoundationEssentials

/// What librdkafka says of one client now and then (`statistics.interval.ms`): the numbers that tell of trouble.
public struct ClientStatistics: Sendable, Equatable {
    /// Requests that were sent.
    public var requests = 0
    /// Requests that were not sent or answered in time, or failed on the way.
    public var requestErrors = 0
    /// Requests that were sent again.
    public var requestRetries = 0
    /// Connections that broke or were closed.
    public var disconnects = 0
    /// Bytes sent to brokers.
    public var bytesSent = 0
    /// Bytes received from brokers.
    public var bytesReceived = 0
    /// Records in the client's queue to the brokers.
    public var recordsQueued = 0
    /// Bytes of records fetched and not taken.
    public var bytesFetchedAhead = 0
    /// Brokers that are connected.
    public var brokersUp = 0
    /// Brokers that were connected, or are to be, and are not.
    public var brokersDown = 0
    /// The slowest broker's time to answer: the 99th percentile of the last interval, in microseconds.
    public var slowestRoundTrip = 0

    /// Nothing yet.
    public init() {}

    /// Reads what librdkafka has written; `nil` when that is not its JSON.
    public init?(json: [UInt8]) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let root = try? decoder.decode(Root.self, from: Data(json)) else { return nil }
        requests = root.tx ?? 0
        bytesSent = root.txBytes ?? 0
        bytesReceived = root.rxBytes ?? 0
        recordsQueued = root.msgCnt ?? 0
        for broker in (root.brokers ?? [:]).values {
            requestErrors += (broker.txerrs ?? 0) + (broker.rxerrs ?? 0) + (broker.reqTimeouts ?? 0)
            requestRetries += broker.txretries ?? 0
            disconnects += broker.disconnects ?? 0
            // Those that only stand for the group or the transactions have no number, and share another's connection.
            guard broker.source != "logical" else { continue }
            switch broker.state {
            case "UP", "UPDATE": brokersUp += 1
            case "INIT": break
            default: if (broker.connects ?? 0) > 0 { brokersDown += 1 }
            }
            slowestRoundTrip = max(slowestRoundTrip, broker.rtt?.p99 ?? 0)
        }
        for topic in (root.topics ?? [:]).values {
            for partition in (topic.partitions ?? [:]).values { bytesFetchedAhead += partition.fetchqSize ?? 0 }
        }
    }

    // The names are librdkafka's own (its STATISTICS.md), in snake case there.

    private struct Root: Decodable {
        var tx: Int?
        var txBytes: Int?
        var rxBytes: Int?
        var msgCnt: Int?
        var brokers: [String: Broker]?
        var topics: [String: Topic]?
    }

    private struct Broker: Decodable {
        var source: String?
        var state: String?
        var connects: Int?
        var disconnects: Int?
        var txerrs: Int?
        var rxerrs: Int?
        var reqTimeouts: Int?
        var txretries: Int?
        var rtt: Window?
    }

    private struct Window: Decodable {
        var p99: Int?
    }

    private struct Topic: Decodable {
        var partitions: [String: Partition]?
    }

    private struct Partition: Decodable {
        var fetchqSize: Int?
    }
}
