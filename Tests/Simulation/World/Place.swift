import HeraldEvents

/// A partition of a topic, in the simulation; the topic is a number in the cluster's list.
///
/// A topic that is recreated has another number: what lies in the former one has other names.
struct Place: Hashable, Comparable {
    var topic: Int
    var partition: Int

    static func < (left: Self, right: Self) -> Bool {
        (left.topic, left.partition) < (right.topic, right.partition)
    }
}

/// A record, by where it lies.
struct RecordName: Hashable {
    var place: Place
    var offset: Int64
}

/// What a commit says about one partition.
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
        /// Even without, no topic takes it with the publisher's headers.
        case huge
        /// Nor without those: only a dead letter without its value.
        case enormous
        /// No topic takes more of it than its results, until somebody changes that.
        case impossible
        /// Brokers refuse all that is written of it, until somebody changes that.
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
    /// What the record is about, as indices of the checkers' duties.
    var duties: [Int] = []
    /// What the hub calls the message that a result is about.
    var message: String?
    /// Whether the topics that it may go to take it.
    var size = Size.usual
    /// The transaction that it was written in.
    var transaction: Int?
    /// What is wrong with it.
    var damage: Damage?
    /// The end of a transaction: it has an offset, and no consumer sees it.
    var isMarker = false

    enum Damage {
        /// What a client does that has come to a batch which it can't read: it stays there, goes on behind it, or takes what it
        /// read for the offset to go on at, which is nowhere.
        enum Client: CaseIterable { case stays, goesOn, isLost }

        /// It lies in a batch, with these offsets, that nobody can read.
        case batch(Range<Int64>, Client)
        /// A client fails once to read it.
        case fluke
    }

    static func marker(_ timestamp: Int64) -> Self { Self(timestamp: timestamp, isMarker: true) }
}

/// What a record that a worker writes means for the event that it belongs to.
struct Effect {
    enum Kind {
        case result(outcome: Outcome, first: Outcome?, reason: DeadLetterReason?, attempts: Int?)
        case retry(attempts: Int, reason: RetryReason?)
        case deadLetter
    }

    /// The record that is settled, and all that it is about, as indices of the checkers' duties.
    var settles: RecordName
    var whole: [Int]
    var kind: Kind
    /// What of it this is about.
    var duties: [Int]
    /// What the hub calls the message that was delivered.
    var message: String?
}
