public import HeraldTime

/// A transaction that is open in a partition: until it ends, no `read_committed` reader gets its records, nor any behind them.
public struct OpenTransaction: Sendable, Equatable {
    /// Where it is open.
    public var partition: TopicPartition
    /// Its first record, before which readers stand: the partition's last stable offset.
    public var offset: Int64
    /// The offset that the partition's next record gets.
    public var end: Int64
    /// Since when it has been open, as far as that is known.
    public var since: WallTime
    /// Whether that is when somebody saw it first: it may have been open for longer.
    public var isAtLeast: Bool

    /// A transaction that was open at this moment.
    public init(partition: TopicPartition, offset: Int64, end: Int64, since: WallTime, isAtLeast: Bool = false) {
        self.partition = partition
        self.offset = offset
        self.end = end
        self.since = since
        self.isAtLeast = isAtLeast
    }

    /// For so long one may be open without a word.
    ///
    /// A live publisher's takes far less. What a killed worker leaves open ends within 20 s: after its own time-out of 10,
    /// and the next of the brokers' looks, of which there is one every 10. Who waits longer than this waits too long.
    public static let patience: Milliseconds = .seconds(30)
    /// The brokers let no transaction be open for longer (`transaction.max.timeout.ms`), unless they are set otherwise.
    public static let longest: Milliseconds = .minutes(15)

    /// What is behind it, in the middle of a sentence.
    public var words: String {
        "\(partition) can be read up to offset \(offset) alone, behind which a transaction has been open \(isAtLeast ? "at least " : "")"
            + "since \(RFC3339.text(since)) and \(end - offset == 1 ? "1 offset waits" : "\(end - offset) offsets wait")"
    }

    /// What ends it, in the middle of a sentence.
    public var remedy: String {
        let place = "--topic \(partition.topic) --partition \(partition.partition)"
        return "the brokers abort a dead publisher's by \(RFC3339.text(since.advanced(by: Self.longest))) "
            + "(transaction.max.timeout.ms, 15 min unless set); `kafka-transactions.sh --bootstrap-server BROKER "
            + "describe-producers \(place)` (or find-hanging, of one that they forgot) names it, and `abort \(place) "
            + "--start-offset \(offset)` ends it now"
    }
}

/// Since when partitions have stood behind a transaction, from one look to the next: pure.
///
/// The last stable offset moves whenever the oldest open transaction ends, so a partition that is written in one transaction
/// after the other is never behind the same one for long.
public struct OpenTransactionWatch: Sendable {
    private struct Place {
        var offset: Int64
        var since: Moment
    }

    private var places: [TopicPartition: Place] = [:]

    /// Nothing was seen yet.
    public init() {}

    /// Takes how far partitions can be read and how far they reach; of one that is not among both nothing is new.
    ///
    /// - Parameters:
    ///   - stable: their last stable offsets.
    ///   - ends: the offsets that their next records get, asked for later.
    ///   - patience: for how long a transaction may be open.
    /// - Returns: the transactions that have been open for longer, those of the most offsets first.
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
                    partition: partition, offset: offset, end: end, since: place.since.wall, isAtLeast: true))
        }
        return lasting.sorted { ($1.end - $1.offset, "\($0.partition)") < ($0.end - $0.offset, "\($1.partition)") }
    }

    /// Forgets all partitions but these.
    public mutating func keep(_ partitions: Set<TopicPartition>) {
        places = places.filter { partitions.contains($0.key) }
    }
}
