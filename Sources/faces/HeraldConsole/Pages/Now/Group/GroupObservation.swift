import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldTime
import HeraldTools

/// What Kafka itself says at one moment, whether a worker runs or not.
struct GroupObservation: Sendable, Equatable {
    struct Partition: Sendable, Equatable {
        var place: TopicPartition
        /// Retry topics: the delay.
        var delay: String?
        /// Offsets that are not done.
        var lag: Int64
        /// Those of them that lie behind an open transaction.
        var held: Int64 = 0
        /// Retry topics: those that should have been taken by now.
        var overdue: Int64 = 0
        /// How many records were deleted before they were read.
        var lost: Int64 = 0
        var hasMember: Bool
        /// When the event was published that the group would consume next; `nil` when nothing waits or it is not known.
        var oldest: WallTime?
        /// Since when nothing has become done although something is due; `nil` while something does.
        var stillSince: WallTime?

        /// What waits and is due: retries wait for their time, and nobody can read what is held back.
        var due: Int64 { delay == nil ? lag - held : overdue }
    }

    /// How much of a delay's topic is due by when: about so many events, because the ends of transactions count, too, and what
    /// is to be sent at a moment of its own may be due earlier.
    struct Backlog: Sendable, Equatable {
        var delay: String
        var waiting: Int64
        /// How much is due within each of ``dueWithin``, the earlier ones included.
        var due: [Int64]
    }

    /// The bounds of ``Backlog/due``; the first is what is due by now.
    static let dueWithin: [Duration] = [.zero, .seconds(60), .seconds(300), .seconds(900), .seconds(3_600)]

    var at: WallTime
    var state: String
    var members: [GroupDescription.Member]
    var partitions: [Partition]
    var backlogs: [Backlog] = []
    /// The members that are no workers.
    var strangers: [GroupDescription.Stranger] = []
    /// Transactions that do not end.
    var openTransactions: [OpenTransaction] = []
    var leaderless: [TopicPartition] = []
    /// That topics are configured otherwise than the settings want.
    var drift: Finding?
    var name = ""

    var lostRecords: LostRecords {
        LostRecords(of: partitions.map { ($0.place, $0.lost) })
    }

    var isStable: Bool { state.lowercased() == "stable" }

    /// `2 members`: those that have partitions, once these are given out; one that has died counts until its session ends.
    var memberWords: String {
        func words(_ count: Int) -> String { counted(Int64(count), "member", "members") }
        guard isStable else { return words(members.count) + ", with those that have died until their sessions end" }
        let working = members.count { !$0.partitions.isEmpty }
        return working > 0 && working < members.count ? words(working) + " with partitions" : words(members.count)
    }

    /// Offsets of request topics that are not done.
    var waiting: Int64 { partitions.reduce(0) { $0 + ($1.delay == nil ? $1.lag : 0) } }

    /// Offsets of retry topics that are not done.
    var retrying: Int64 { partitions.reduce(0) { $0 + ($1.delay == nil ? 0 : $1.lag) } }

    /// When the oldest event that waits was published, as far as that is known.
    var oldest: WallTime? { partitions.compactMap(\.oldest).min() }

    /// The same of those that wait for a retry, or of those that wait in request topics.
    func oldest(ofRetries isRetry: Bool) -> WallTime? {
        partitions.filter { ($0.delay != nil) == isRetry }.compactMap(\.oldest).min()
    }
}

/// What the console knows of Kafka.
enum GroupKnowledge: Sendable, Equatable {
    case unasked
    case known(GroupObservation)
    /// The brokers answer, and do not tell; a sentence says why.
    case untold(String, last: GroupObservation?)
    /// No broker answers; the last that was known is kept.
    case unreachable(String, last: GroupObservation?)
    /// Some brokers answer; without the others the group cannot be asked for.
    case tooFewBrokers(String, last: GroupObservation?)

    /// The newest that is known, however old it is.
    var observation: GroupObservation? {
        switch self {
        case .known(let observation): observation
        case .untold(_, let last), .unreachable(_, let last), .tooFewBrokers(_, let last): last
        case .unasked: nil
        }
    }

    /// Whether brokers that do not answer keep the console from knowing.
    var isOutOfReach: Bool {
        switch self {
        case .unreachable, .tooFewBrokers: true
        case .unasked, .known, .untold: false
        }
    }
}

/// Since when partitions have made no progress, from one look to the next.
struct ProgressTracker: Sendable {
    private struct Place: Sendable {
        var next: Int64
        var note: String
        var since: WallTime
    }

    private var places: [TopicPartition: Place] = [:]

    /// Takes where the group stands, and how much of each partition is due.
    ///
    /// - Returns: since when each partition with something due has stood still.
    mutating func look(
        at positions: GroupPositions, due: (TopicPartition) -> Int64, now: WallTime
    ) -> [TopicPartition: WallTime] {
        var still: [TopicPartition: WallTime] = [:]
        var seen: [TopicPartition: Place] = [:]
        for position in positions.partitions {
            let partition = position.partition
            let former = places[partition]
            // The note tells what is done behind the offset.
            let isSame = former?.next == position.next && former?.note == position.note
            let isDue = due(partition) > 0
            let since = isSame && isDue ? former?.since ?? now : now
            seen[partition] = Place(next: position.next, note: position.note, since: since)
            if isDue, isSame { still[partition] = since }
        }
        places = seen
        return still
    }
}
