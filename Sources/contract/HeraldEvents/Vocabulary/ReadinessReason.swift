/// Why a worker is not ready, by the words of `/readyz`.
public enum ReadinessReason: Hashable, Sendable, CaseIterable {
    /// Lanes and their clients are still being made.
    case starting
    /// It was told to stop.
    case stopping
    /// A lane's loop does not turn.
    case stuck
    /// No broker answers.
    case brokersUnreachable
    /// The brokers refuse Herald's login, or there is no token for it.
    case loginFailed
    /// Topics are gone.
    case topicsMissing
    /// Partitions without a leader.
    case partitionsWithoutLeader
    /// Partitions whose offsets were lost: their events have outcomes.
    case offsetsMissing
    /// Too few brokers answer for some partitions to be written or read.
    case tooFewBrokers
    /// Outcomes or events wait, and nothing is committed.
    case noProgress
    /// The group takes no member, or has no coordinator, until a setting is changed.
    case groupRefuses
    /// The group has not given out the partitions.
    case unassigned
    /// The brokers refuse records.
    case recordsRefused
    /// Offsets can't be committed.
    case commitsFailing
    /// No answer comes from the backend.
    case backendUnreachable
    /// Nothing is consumed until the backend or the settings are fixed.
    case outage(OutageReason)

    /// All reasons; a test compares them with the cases.
    public static let allCases: [Self] =
        [
            .starting, .stopping, .stuck, .brokersUnreachable, .loginFailed, .topicsMissing, .partitionsWithoutLeader,
            .offsetsMissing, .tooFewBrokers, .noProgress, .groupRefuses, .unassigned, .recordsRefused, .commitsFailing,
            .backendUnreachable,
        ] + OutageReason.allCases.map(Self.outage)

    /// The reason with this word; `nil` when there is none.
    public init?(word: String) {
        guard let reason = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = reason
    }

    /// The word for it.
    public var word: String {
        switch self {
        case .starting: "starting"
        case .stopping: "stopping"
        case .stuck: "stuck"
        case .brokersUnreachable: "brokers-unreachable"
        case .loginFailed: "login-failed"
        case .topicsMissing: "topics-missing"
        case .partitionsWithoutLeader: "partitions-without-leader"
        case .offsetsMissing: "offsets-missing"
        case .tooFewBrokers: "too-few-brokers"
        case .noProgress: "no-progress"
        case .groupRefuses: "group-refuses"
        case .unassigned: "unassigned"
        case .recordsRefused: "records-refused"
        case .commitsFailing: "commits-failing"
        case .backendUnreachable: "backend-unreachable"
        case .outage(let reason): "outage-\(reason.rawValue)"
        }
    }
    /// Whether events wait because of it, so that a lag that grows is its consequence.
    public var holdsEventsUp: Bool {
        switch self {
        case .starting, .stopping, .unassigned: false
        case .stuck, .brokersUnreachable, .loginFailed, .topicsMissing, .partitionsWithoutLeader, .offsetsMissing,
            .tooFewBrokers, .noProgress, .groupRefuses, .recordsRefused, .commitsFailing, .backendUnreachable, .outage:
            true
        }
    }
}

/// What a worker that is ready warns of, by the words of `/readyz`.
public enum ReadinessWarning: String, Sendable, CaseIterable {
    /// More events arrive than are finished.
    case lagGrowing = "lag-growing"
    /// Records are published otherwise than the contract asks.
    case publisherFaults = "publisher-faults"
    /// All calls to a push service fail.
    case pushServiceFailing = "push-service-failing"
    /// Events can't be read, because a transaction before them does not end.
    case behindOpenTransaction = "behind-open-transaction"
    /// The group has a member that is no worker.
    case strangerInGroup = "stranger-in-group"
    /// Brokers make the worker's clients wait, because a quota is used up.
    case brokersThrottle = "brokers-throttle"
    /// Events wait, because brokers do not take a record of theirs.
    case recordRefused = "record-refused"
    /// Offsets of a partition were passed over.
    case offsetsPassedOver = "offsets-passed-over"
}
