package import HeraldEvents
package import HeraldTime

/// What the settings want of Herald's topics.
package struct TopicWishes: Sendable, Equatable {
    package var names: Topics
    package var retryDelays: [DelayName]
    package var partitions: Int
    /// Copies of each partition; `nil` leaves them to the cluster.
    package var replication: Int?
    package var retention: Milliseconds
    /// How long after its first call an event may still be retried.
    package var maxElapsed: Milliseconds
    /// An event's value at most.
    package var eventBytes: Int
    /// Whether the feedback topic is needed.
    package var wantsFeedback: Bool
    /// Whether the topics of opt-outs and recalls are needed.
    package var wantsPreferences: Bool
    /// The rules for which the topic of caps is needed.
    package var caps: [CapRule]

    package init(
        names: Topics, retryDelays: [DelayName], partitions: Int, replication: Int?, retention: Milliseconds,
        maxElapsed: Milliseconds, eventBytes: Int, wantsFeedback: Bool = false, wantsPreferences: Bool = false,
        caps: [CapRule] = []
    ) {
        self.names = names
        self.retryDelays = retryDelays
        self.partitions = partitions
        self.replication = replication
        self.retention = retention
        self.maxElapsed = maxElapsed
        self.eventBytes = eventBytes
        self.wantsFeedback = wantsFeedback
        self.wantsPreferences = wantsPreferences
        self.caps = caps
    }

    /// The names of all topics, in the order in which events pass them.
    package var topicNames: [String] {
        names.requests + [names.results] + retryDelays.map(names.retryTopic)
            + [names.deadLetter, names.campaigns, names.audiences, names.state, names.audit]
            + (wantsFeedback ? [names.feedback] : [])
            + (wantsPreferences ? [names.preferences, names.recalls] : []) + (caps.isEmpty ? [] : [names.caps])
    }

    /// What every topic must be, given those that there are.
    func topics(beside existing: [String: TopicState]) -> [WantedTopic] {
        let largest = names.requests.compactMap { existing[$0]?.partitions }.max() ?? 0
        let requestBytes = names.requests.map { name in
            max(existing[name]?.number(.maxMessageBytes).map(Int.init(clamping:)) ?? newRequestBytes, eventRecordBytes)
        }
        let failureBytes = max(requestBytes.max() ?? 0, eventRecordBytes) + DeliveryHeaders.maximumByteCount
        // A user's caps are counted by the number of a partition, whichever topic it is of.
        let consumedPartitions = caps.isEmpty ? partitions : max(partitions, largest)
        var topics = (names.requests + [names.results]).map { name in
            WantedTopic(
                name: name, partitions: name == names.results ? partitions : consumedPartitions, retention: retention,
                messageBytes: eventRecordBytes, newMessageBytes: newRequestBytes,
                isUncompressed: names.requests.contains(name))
        }
        topics += retryDelays.map { delay in
            WantedTopic(
                name: names.retryTopic(delay), partitions: consumedPartitions,
                // What waits longest comes at the end of the time for retries, and must not be deleted before it is due.
                retention: max(retention, maxElapsed + delay.length), messageBytes: failureBytes,
                newMessageBytes: failureBytes)
        }
        topics.append(
            WantedTopic(
                name: names.deadLetter, partitions: max(partitions, largest), retention: retention,
                messageBytes: failureBytes, newMessageBytes: failureBytes))
        // Small, and read as a whole: one partition, whose order says what came first.
        func small(_ name: String, _ partitions: Int, _ retention: Milliseconds, _ cleanup: TopicCleanup = .delete) {
            topics.append(
                WantedTopic(
                    name: name, partitions: partitions, retention: retention, messageBytes: Self.headerRoomBytes,
                    newMessageBytes: Self.standardMessageBytes, cleanup: cleanup))
        }
        small(names.campaigns, 1, retention, .compact(Self.replayedAgain))
        small(names.audiences, 1, retention, .compact(Self.published))
        small(names.state, 1, retention, .compact(Self.replayedAgain))
        small(names.audit, 1, max(retention, Self.auditRetention))
        if wantsFeedback { small(names.feedback, partitions, retention) }
        if wantsPreferences {
            small(names.preferences, 1, retention, .compact(Self.optedIn))
            // As long as an event can be called: it waits in its topic, then for its retries, then as a dead letter.
            small(names.recalls, 1, retention + maxElapsed + retention, .compactAndDelete)
        }
        if let longest = caps.map(\.per).max() {
            // A partition for each home. Who got nothing for so long is not read for ever.
            topics.append(
                WantedTopic(
                    name: names.caps, partitions: consumedPartitions, retention: max(2 * longest, .days(1)),
                    messageBytes: capBytes, newMessageBytes: max(Self.standardMessageBytes, capBytes),
                    cleanup: .compactAndDelete))
        }
        return topics
    }

    /// A year: who did what is asked long after the dead letters are gone.
    private static let auditRetention: Milliseconds = .days(365)

    private static let replayedAgain =
        "what is deleted after retention.ms is forgotten, and could be replayed again"
    private static let published =
        "what is deleted after retention.ms is missing when its campaign begins, and nobody would be notified"
    private static let optedIn =
        "what is deleted after retention.ms is forgotten, and users who have opted out would be notified again"

    /// Room for a key, for headers or a result (16 KiB each at most), and for the batch around them.
    private static let headerRoomBytes = 18_432

    private static let standardMessageBytes = 1_048_588

    /// The largest record of caps: a user with all that each rule keeps.
    private var capBytes: Int {
        caps.reduce(Self.headerRoomBytes) { $0 + $1.limit * (80 + 6 * ($1.source?.utf8.count ?? 0)) }
    }

    /// What a topic must take so that the largest event fits.
    private var eventRecordBytes: Int { eventBytes + Self.headerRoomBytes }

    private var newRequestBytes: Int { max(Self.standardMessageBytes, eventRecordBytes) }
}

/// What one topic must at least be.
struct WantedTopic: Equatable {
    var name: String
    var partitions: Int
    var retention: Milliseconds
    /// What its largest record may have at least.
    var messageBytes: Int
    /// What is set when the topic is made, or has too little: more, for records that grow on their way.
    var newMessageBytes: Int
    /// Whether brokers unpack what they are sent, and refuse what is too large then: others than Herald write to it.
    var isUncompressed = false
    var cleanup = TopicCleanup.delete
}

/// What a topic keeps.
enum TopicCleanup: Equatable {
    /// All records for some time.
    case delete
    /// The last record of each key, for ever; otherwise that follows.
    case compact(String)
    /// The last record of each key, for some time.
    case compactAndDelete

    /// Its `cleanup.policy`.
    var policy: String {
        switch self {
        case .delete: "delete"
        case .compact: "compact"
        case .compactAndDelete: "compact,delete"
        }
    }

    var hasRetention: Bool {
        if case .compact = self { false } else { true }
    }
}
