public import HeraldCore
package import HeraldDriver
package import HeraldEvents
package import HeraldKafka

/// A message to a lane.
package enum LaneMessage: Sendable {
    /// Stop taking, finish, leave.
    case drain
    /// The outcome of a transactional call.
    case transaction(TransactionReport)
    /// The starts of a coming assignment's partitions, or of present ones that wait for their offsets.
    case starts(assignment: Int, Result<[StartPosition], KafkaError>)
    /// The range of a partition whose committed offset is out of range.
    case range(TopicPartition, RangeQuestion, Result<OffsetRange, KafkaError>)
    /// Whether a batch that the consumer could not read is readable.
    case batch(TopicPartition, RangeQuestion, Result<BatchReading, KafkaError>)
    /// These partitions have records that are not fetched, for an unknown reason.
    case standingStill([TopicPartition])
    /// Of these partitions of delays, which are not fetched, records were deleted that are still to be taken.
    case overtaken([TopicPartition])
    /// A campaign's new control.
    case campaign(String, CampaignControl)
    /// Records of caps that lie in home partitions of an assignment.
    case caps(assignment: Int, [CapMessage])
    /// These home partitions of an assignment are read.
    case capsRead(assignment: Int, [Int32])
    /// New settings.
    case settings(LaneSettings)
    /// The request topics' numbers of partitions; 0 when unknown.
    case partitionCounts([Int])
    /// The topics that are not there, or may not be seen, as brokers have just said.
    case missingTopics(Set<String>)
    /// A question about waiting events.
    case question(WaitingQuestion)
    /// Calls use other credentials from now on.
    case credentialsChanged
    /// There are no credentials.
    case credentialsUnavailable
    /// The renewal of refused credentials has ended, well or not.
    case credentialsRenewed
}

/// The settings of a lane that may change while it runs.
public struct LaneSettings: Sendable, Equatable {
    /// The engine's part.
    public var engine: LiveConfiguration
    /// The most connections to the backend; a lower limit makes no call wait, since there are fewer calls.
    public var connectionLimit: Int

    /// A lane's settings.
    public init(engine: LiveConfiguration, connectionLimit: Int) {
        self.engine = engine
        self.connectionLimit = connectionLimit
    }
}

/// The start of a partition of a coming assignment.
package struct StartPosition: Sendable {
    /// Whether a partition without an offset was consumed before.
    package enum Evidence: Sendable, Equatable {
        /// It was not: it begins at its first record.
        case absent
        /// Unknown yet.
        case sought
        /// Its events have outcomes: its offset was lost.
        case outcomes
        /// Its start is unknown: the brokers did not answer the questions that decide it.
        case unanswered(KafkaError)
    }

    /// The group's committed offset.
    package var committed: CommitPosition
    /// The first offset to read again, to recognise repeated events; `nil` when that is not wanted.
    package var history: Int64?
    /// The failed push services of settled events, by the dead-letter topic; `nil` when it could not be read.
    package var failed: [Int64: PushServiceSet]? = [:]
    /// The evidence about a partition without a committed offset.
    package var evidence = Evidence.absent
    /// The readable offsets of such a partition; `nil` when they were not asked for.
    package var retained: Range<Int64>?
    /// The other groups with offsets, where its offset was lost.
    package var otherGroups: OtherGroups?

    package init(committed: CommitPosition, history: Int64? = nil, evidence: Evidence = .absent) {
        self.committed = committed
        self.history = history
        self.evidence = evidence
    }

    /// Whether it holds events, and they have outcomes.
    var isLost: Bool { evidence == .outcomes && retained?.isEmpty != true }

    /// A start about which the brokers did not answer.
    init(unanswered partition: TopicPartition, _ error: KafkaError) {
        self.init(
            committed: CommitPosition(partition: partition, offset: Offset.none), evidence: .unanswered(error))
    }

    var isUnanswered: Bool {
        if case .unanswered = evidence { true } else { false }
    }

    /// The same start without its history, which is useless while its failures are unknown.
    var withoutHistory: StartPosition {
        var start = self
        (start.history, start.failed) = (nil, nil)
        return start
    }
}

/// A partition's first offset and the one after its last, its group's committed offset, and the place of the first
/// record younger than any taken one.
package struct OffsetRange: Sendable {
    package var low: Int64
    package var high: Int64
    /// `nil` when it has committed nothing.
    package var committed: Int64?
    /// `nil` without one, or when it was not asked for.
    package var younger: Int64?
    /// The offset after its last known record; `nil` when it was not looked at.
    package var reach: Int64?

    package init(
        low: Int64, high: Int64, committed: Int64? = nil, younger: Int64? = nil, reach: Int64? = nil
    ) {
        self.low = low
        self.high = high
        self.committed = committed
        self.younger = younger
        self.reach = reach
    }
}
