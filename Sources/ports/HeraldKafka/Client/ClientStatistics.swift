/// The numbers that reveal trouble, out of one client's periodic statistics (`statistics.interval.ms`).
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
    /// Bytes of records fetched and not yet consumed.
    public var bytesFetchedAhead = 0
    /// Brokers that are connected.
    public var brokersUp = 0
    /// Brokers that are not connected although a connection was attempted.
    public var brokersDown = 0
    /// The slowest broker's response time: the 99th percentile of the last interval, in microseconds.
    public var slowestRoundTrip = 0

    /// Nothing yet.
    public init() {}

    /// Reads librdkafka's JSON; `nil` when it is malformed.
    ///
    /// The JSON has a kilobyte for each partition every few seconds; all but a few numbers are skipped.
    public init?(json: [UInt8]) {
        var reader = StatisticsReader(json)
        do throws(StatisticsReader.Malformed) { try read(&reader) } catch { return nil }
    }

    // The names are librdkafka's own (its STATISTICS.md).

    private mutating func read(_ reader: inout StatisticsReader) throws(StatisticsReader.Malformed) {
        try reader.members { name, reader throws(StatisticsReader.Malformed) in
            switch name {
            case "tx": requests = try reader.number()
            case "tx_bytes": bytesSent = try reader.number()
            case "rx_bytes": bytesReceived = try reader.number()
            case "msg_cnt": recordsQueued = try reader.number()
            case "brokers":
                try reader.members { _, reader throws(StatisticsReader.Malformed) in try readBroker(&reader) }
            case "topics":
                try reader.members { _, reader throws(StatisticsReader.Malformed) in try readTopic(&reader) }
            default: break
            }
        }
    }

    private mutating func readBroker(_ reader: inout StatisticsReader) throws(StatisticsReader.Malformed) {
        var (isLogical, state, connects, roundTrip) = (false, "", 0, 0)
        try reader.members { name, reader throws(StatisticsReader.Malformed) in
            switch name {
            case "source": isLogical = try reader.string() == "logical"
            case "state": state = try reader.string()
            case "connects": connects = try reader.number()
            case "disconnects": disconnects += try reader.number()
            case "txerrs", "rxerrs", "req_timeouts": requestErrors += try reader.number()
            case "txretries": requestRetries += try reader.number()
            case "rtt":
                try reader.members { name, reader throws(StatisticsReader.Malformed) in
                    if name == "p99" { roundTrip = try reader.number() }
                }
            default: break
            }
        }
        // Logical brokers stand for a group or a transaction: they have no number, and share another's connection.
        guard !isLogical else { return }
        switch state {
        case "UP", "UPDATE": brokersUp += 1
        case "INIT": break
        default: if connects > 0 { brokersDown += 1 }
        }
        slowestRoundTrip = max(slowestRoundTrip, roundTrip)
    }

    private mutating func readTopic(_ reader: inout StatisticsReader) throws(StatisticsReader.Malformed) {
        try reader.members { name, reader throws(StatisticsReader.Malformed) in
            guard name == "partitions" else { return }
            try reader.members { _, reader throws(StatisticsReader.Malformed) in
                try reader.members { name, reader throws(StatisticsReader.Malformed) in
                    if name == "fetchq_size" { bytesFetchedAhead += try reader.number() }
                }
            }
        }
    }
}
