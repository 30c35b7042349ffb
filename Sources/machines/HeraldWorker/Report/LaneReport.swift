public import HeraldCore
package import HeraldDriver
public import HeraldEvents
public import HeraldKafka
public import HeraldTime

/// What a lane reports: all that others may know of it, copied a few times a second.
public struct LaneReport: Sendable {
    /// The lane's number, from 0.
    public var number: Int
    /// When its loop turned last.
    public var at: MonotonicTime
    /// Whether the lane has ended.
    public var hasEnded = false
    /// Whether everything is made that it needs to take records.
    public var isReady = false
    /// What it is at.
    public var phase = LanePhase.unassigned
    /// Why it holds, if it does.
    public var outage: OutageReport?
    /// Since when it holds for that reason.
    public var outageSince: WallTime?
    /// In an outage: when its latest call ended; `nil` when it made none.
    public var lastCall: WallTime?
    /// In an outage: when the first event in memory that waits for its moment is due; `nil` without any.
    public var nextDue: WallTime?
    /// The push services that it holds alone.
    public var holds: [ServiceHold] = []
    /// How many calls may be in flight, as its engine has found.
    public var inFlightLimit = 0
    /// How many calls a second each push service bears, as its engine has found; `nil` without refusals.
    public var rateLimits: [Double?] = []
    /// What its engine has counted.
    public var counters: Counters
    /// What its engine has seen of publishers' faults.
    public var publishers: PublisherFaults
    /// What it has counted itself.
    public var meter: LaneMeter
    /// Calls in flight.
    public var calls = 0
    /// Events in memory.
    public var events = 0
    /// Records that are not acknowledged.
    public var records = 0
    /// Connections to the backend.
    public var connections = 0
    /// Those of them over which HTTP/2 is spoken.
    public var sharedConnections = 0
    /// Since when the oldest event that is not final waits, by the place of its request topic; `nil` without any.
    public var oldestEvents: [WallTime?]
    /// Events in memory by why they wait, by the place of the reason's kind; empty when that is not known.
    public var waiting: [Int] = []
    /// The users of whom caps know something.
    public var cappedUsers = 0
    /// The bytes that this takes.
    public var capBytes = 0
    /// Its partitions.
    public var partitions: [PartitionReport] = []
    /// How often it has begun to read: with an assignment, or again, where a partition's log was another one.
    public var reading = 0
    /// Those of them that it does not consume, because their offsets were lost: their events have outcomes.
    public var withoutOffsets: [TopicPartition] = []
    /// Those that it does not consume, because records were deleted before they were read.
    package var lostRecords: [LostRecords.Place] = []
    /// Which other groups have offsets on the request topics, if some were lost.
    package var otherGroups: OtherGroups?
    /// Those that have no offset, and wait until it is known whether their events have outcomes.
    public var lookedUp: [TopicPartition] = []
    /// Those that wait because the brokers did not say where they begin.
    public var unanswered: [Unanswered] = []
    /// The assignment that is not consumed yet, because it is being found out where its partitions begin.
    public var beginning: Beginning?
    /// Since when the brokers refuse its records, and what they say.
    public var refusal: Trouble?
    /// The topics that do not take single records, while events wait for that; empty while a topic takes none at all.
    package var refusedRecords: [RefusedRecords] = []
    /// The topics of delays whose retries go by way of another one's, and the latter.
    package var detours: [String: String] = [:]
    /// What keeps it out of its group.
    public var groupObstacle: GroupObstacle?
    /// How the brokers make its clients wait, for a quota.
    public var throttling = Throttling.Client.allCases.map(Throttling.init)
    /// Since when its commits fail, and why.
    public var commitTrouble: Trouble?
    /// Since when outcomes wait, and nothing was committed; `nil` when none waits.
    public var outcomesWaitSince: MonotonicTime?
    /// How long they may wait for the next commit, by the settings.
    public var commitInterval: Milliseconds = .zero
    /// librdkafka's own words about the lane's clients.
    public var statistics = LaneStatistics()

    /// Something that lasts.
    public struct Trouble: Sendable, Equatable {
        /// Since when.
        public var since: MonotonicTime
        /// What it is, in one line.
        public var text: String
        /// What to look at, where the text tells.
        public var remedy: String?
        /// The one topic that it is about, if it is.
        public var topic: String?
        /// Whether no broker answered, which is no refusal.
        package var isSilence = false
        /// When it showed last; `nil` where it lasts until it is over.
        package var latest: MonotonicTime?
    }

    /// Events that wait because a topic does not take a record of theirs, while it takes others.
    package struct RefusedRecords: Sendable, Equatable {
        package var topic: String
        /// How many events wait for it, or have gone another way since.
        package var events: Int
        /// Since when there has been one.
        package var since: WallTime
        /// Why the latest was refused, in one line.
        package var text: String
        package var remedy: String
        /// The topic by way of which they go meanwhile; `nil`: they wait.
        package var instead: String?
    }

    /// A partition about which the brokers did not answer.
    public struct Unanswered: Sendable, Equatable {
        /// The partition.
        public var partition: TopicPartition
        /// Why, in one line.
        public var text: String
    }

    /// An assignment that is not consumed yet.
    public struct Beginning: Sendable, Equatable {
        /// Since when.
        public var since: MonotonicTime
        /// How many partitions it has.
        public var partitions: Int
        /// Why the latest try failed.
        public var trouble: String?
    }

    /// A lane that has not begun.
    public init(number: Int, at: MonotonicTime, services: Int, requestTopics: Int) {
        self.number = number
        self.at = at
        counters = Counters(services: max(1, services), requestTopics: requestTopics)
        publishers = PublisherFaults(requestTopics: requestTopics)
        oldestEvents = Array(repeating: nil, count: requestTopics + 1)
        meter = LaneMeter(services: services)
    }
}

/// Why a lane holds.
public struct OutageReport: Sendable, Equatable {
    /// The reason.
    public var reason: OutageReason
    /// The dead-letter breaker's status, else 0.
    public var status: Int

    /// An outage for this reason.
    public init(_ reason: OutageReason, status: Int = 0) {
        self.reason = reason
        self.status = status
    }
}

/// One of a lane's partitions.
public struct PartitionReport: Sendable, Equatable {
    /// Topic and number.
    public var partition: TopicPartition
    /// Retry topics: the delay, as it is written in the topic's name.
    public var delay: String?
    /// The offset below which everything is done, or deleted where the group has none; `nil` when that is not known yet.
    public var done: Int64?
    /// The offset that is taken next; `nil` when that is not known yet.
    public var next: Int64?
    /// Whether the lane has no room for more of it: it is not fetched, or lies in the queue that it shares with others.
    public var isHeld: Bool

    /// A partition of which nothing is under way, unless it is said what is taken next.
    public init(
        _ partition: TopicPartition, delay: String? = nil, done: Int64? = nil, next: Int64? = nil,
        isHeld: Bool = false
    ) {
        self.partition = partition
        self.delay = delay
        self.done = done
        self.next = next ?? done
        self.isHeld = isHeld
    }
}

/// The newest statistics of a lane's clients, as librdkafka wrote them: another thread parses them.
public struct LaneStatistics: Sendable {
    /// The consumer's.
    public internal(set) var consumer: [UInt8] = []
    /// The producer's.
    public internal(set) var producer: [UInt8] = []
    /// Counts how often any came.
    public internal(set) var number = 0
}
