import HeraldEvents

/// A partition of a topic, in the simulation; the topic is a number in the cluster's list.
///
/// A recreated topic has another number: the records of the former one have other names.
struct Place: Hashable, Comparable {
    var topic: Int
    var partition: Int

    static func < (left: Self, right: Self) -> Bool {
        (left.topic, left.partition) < (right.topic, right.partition)
    }
}

/// A record's name: its place and offset.
struct RecordName: Hashable {
    var place: Place
    var offset: Int64
}

/// A commit's content about one partition.
struct Position {
    var place: Place
    var offset: Int64
    var metadata: String
}

/// A record in a simulated log.
struct LogRecord {
    enum Size {
        case usual
        /// With diagnostics it is too large for a topic.
        case large
        /// Even without diagnostics it is too large for every topic with the publisher's headers.
        case huge
        /// Even without those headers it is: only a dead letter without its value fits.
        case enormous
        /// No topic takes more of it than its results, until an operator changes that.
        case impossible
        /// Brokers refuse all of its records, until an operator changes that.
        case invalid
    }

    var key: [UInt8]?
    var value: [UInt8]?
    var headers = HeaderList()
    var timestamp: Int64
    /// The user's number.
    var user = 0
    /// The event's number, in the order of publication.
    var event = 0
    /// The record's duties, as indices of the checkers' duties.
    var duties: [Int] = []
    /// The hub's name of the message that a result reports.
    var message: String?
    /// Its size in relation to the topics' limits.
    var size = Size.usual
    /// The transaction that it was written in.
    var transaction: Int?
    /// Its damage, if any.
    var damage: Damage?
    /// The end of a transaction: it has an offset, and consumers do not see it.
    var isMarker = false

    enum Damage {
        /// A client's behaviour at an unreadable batch: it stays there, continues behind it, or continues at an offset
        /// that it read from the batch, which does not exist.
        enum Client: CaseIterable { case stays, goesOn, isLost }

        /// It is in a batch, with these offsets, that no client can read.
        case batch(Range<Int64>, Client)
        /// A client fails once to read it.
        case fluke
    }

    static func marker(_ timestamp: Int64) -> Self { Self(timestamp: timestamp, isMarker: true) }
}

/// The effect of a worker's record on its event.
struct Effect {
    enum Kind {
        case result(outcome: Outcome, first: Outcome?, reason: DeadLetterReason?, attempts: Int?)
        case retry(attempts: Int, reason: RetryReason?)
        case deadLetter
        case caps
    }

    /// The settled record, and all of its duties, as indices of the checkers' duties.
    var settles: RecordName
    var whole: [Int]
    var kind: Kind
    /// The duties concerned.
    var duties: [Int]
    /// When the outcome was decided.
    var at: Int64 = 0
    /// The hub's name of the delivered message.
    var message: String?
}
