public import HeraldTime

/// An open transaction of a partition: until it ends, `read_committed` readers get neither its records nor later ones.
public struct OpenTransaction: Sendable, Equatable {
    /// Its partition.
    public var partition: TopicPartition
    /// Its first record, at which readers stop: the partition's last stable offset.
    public var offset: Int64
    /// The offset of the partition's next record.
    public var end: Int64
    /// The time since which it has been open, as far as known.
    public var since: WallTime
    /// Whether that time is only the first observation: it may have been open for longer.
    public var isAtLeast: Bool

    /// The brokers' addresses, for a command to type.
    public var servers: String

    /// A transaction that was open at this moment.
    public init(
        partition: TopicPartition, offset: Int64, end: Int64, since: WallTime, isAtLeast: Bool = false,
        servers: String
    ) {
        self.servers = servers
        self.partition = partition
        self.offset = offset
        self.end = end
        self.since = since
        self.isAtLeast = isAtLeast
    }

    /// The time that a transaction may be open before it is reported.
    ///
    /// A live publisher's ends far sooner. A killed worker's ends within 20 s: after its own time-out of 10 s and the
    /// brokers' next check, which runs every 10 s.
    public static let patience: Milliseconds = .seconds(30)
    /// The brokers' limit for open transactions (`transaction.max.timeout.ms`), unless configured otherwise.
    public static let longest: Milliseconds = .minutes(15)

    /// The stuck records, for the middle of a sentence.
    public var words: String {
        "\(partition): \(end - offset == 1 ? "1 offset waits" : "\(end - offset) offsets wait") from \(offset) on behind a "
            + "transaction that has been open \(isAtLeast ? "at least " : "")since \(RFC3339.text(since))"
    }

    /// What to do about it at this moment, for the middle of a sentence: a live publisher's is to be waited for.
    public func remedy(now: WallTime) -> String {
        now.time(since: since) < Self.patience ? "it is a moment old, and ends by itself: look again" : remedy
    }

    /// The way to end it, for the middle of a sentence.
    public var remedy: String {
        let place = "--topic \(partition.topic) --partition \(partition.partition)"
        return "wait: the brokers abort a dead publisher's by \(RFC3339.text(since.advanced(by: Self.longest))) "
            + "(transaction.max.timeout.ms, 15 min unless set); or end it: `kafka-transactions.sh --bootstrap-server "
            + "\(servers) abort \(place) --start-offset \(offset)`"
    }
}

/// Tracks since when partitions have been stuck behind a transaction, from one look to the next: pure.
///
/// The last stable offset moves whenever the oldest open transaction ends, so a partition written in one transaction
/// after another is never stuck behind the same one for long.
public struct OpenTransactionWatch: Sendable {
    private struct Place {
        var offset: Int64
        var since: Moment
    }

    private var places: [TopicPartition: Place] = [:]
    private let servers: String

    /// A watch that has seen nothing yet.
    ///
    /// - Parameter servers: the brokers' addresses.
    public init(servers: String) { self.servers = servers }

    /// Takes the last stable offset and the end of partitions; a partition missing from either is left unchanged.
    ///
    /// - Parameters:
    ///   - stable: Their last stable offsets.
    ///   - ends: The offsets of their next records, queried later.
    ///   - patience: The time that a transaction may be open.
    /// - Returns: The transactions that have been open for longer, ordered by their number of offsets, largest first.
    public mutating func look(
        stable: [TopicPartition: Int64], ends: [TopicPartition: Int64], now: Moment,
        patience: Milliseconds = OpenTransaction.patience
    ) -> [OpenTransaction] {
        var lasting: [OpenTransaction] = []
        for (partition, offset) in stable {
            guard let end = ends[partition] else { continue }
            guard end > offset else {
                places[partition] = nil
                continue
            }
            let known = places[partition].flatMap { $0.offset == offset ? $0 : nil }
            let place = known ?? Place(offset: offset, since: now)
            places[partition] = place
            guard now.monotonic.time(since: place.since.monotonic) >= patience else { continue }
            lasting.append(
                OpenTransaction(
                    partition: partition, offset: offset, end: end, since: place.since.wall, isAtLeast: true,
                    servers: servers))
        }
        return lasting.sorted { ($1.end - $1.offset, "\($0.partition)") < ($0.end - $0.offset, "\($1.partition)") }
    }

    /// Forgets all partitions but these.
    public mutating func keep(_ partitions: Set<TopicPartition>) {
        places = places.filter { partitions.contains($0.key) }
    }
}
