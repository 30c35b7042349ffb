public import HeraldCore
package import HeraldDriver
package import HeraldEvents
package import HeraldKafka

/// What others say to a lane.
package enum LaneMessage: Sendable {
    /// Stop taking, finish, leave.
    case drain
    /// What became of a transactional call.
    case transaction(TransactionReport)
    /// Where the partitions of a coming assignment are taken up, or those of the present one that wait for their offsets.
    case starts(assignment: Int, Result<[StartPosition], KafkaError>)
    /// How far a partition reaches whose committed offset is out of range.
    case range(TopicPartition, RangeQuestion, Result<OffsetRange, KafkaError>)
    /// Whether a batch can be read that the consumer could not read.
    case batch(TopicPartition, RangeQuestion, Result<BatchReading, KafkaError>)
    /// These partitions have records that are not fetched, and nothing says why.
    case standingStill([TopicPartition])
    /// What a campaign is to do from now on.
    case campaign(String, CampaignControl)
    /// Other settings count from now on.
    case settings(LaneSettings)
    /// The request topics have so many partitions; 0 when that is not known.
    case partitionCounts([Int])
    /// A question why events wait.
    case question(WaitingQuestion)
    /// Calls show other credentials from now on.
    case credentialsChanged
    /// There are none to show.
    case credentialsUnavailable
    /// The renewal of refused credentials has ended, well or not.
    case credentialsRenewed
}

/// The settings of a lane that may change while it works.
public struct LaneSettings: Sendable, Equatable {
    /// What the engine decides by.
    public var engine: LiveConfiguration
    /// How many connections to the backend there may be; fewer than before make no call wait, since there are fewer
    /// calls.
    public var connectionLimit: Int

    /// A lane's settings.
    public init(engine: LiveConfiguration, connectionLimit: Int) {
        self.engine = engine
        self.connectionLimit = connectionLimit
    }
}

/// Where a partition of a coming assignment is taken up.
package struct StartPosition: Sendable {
    /// Whether a partition without an offset was consumed before.
    package enum Evidence: Sendable, Equatable {
        /// It was not: it begins at its first record.
        case absent
        /// That is still to be found out.
        case sought
        /// Its events have outcomes: its offset was lost.
        case outcomes
        /// Nobody knows where it begins: the brokers did not say what it takes to know that.
        case unanswered(KafkaError)
    }

    /// What the group has committed.
    package var committed: CommitPosition
    /// Where its records are read from, to find out which events came before; `nil` when that is not wanted.
    package var history: Int64?
    /// What the dead-letter topic says of what was dealt with before: which push services failed; `nil` when it could not
    /// be read.
    package var failed: [Int64: PushServiceSet]? = [:]
    /// What is known of a partition for which nothing is committed.
    package var evidence = Evidence.absent
    /// What there is of such a partition: its offsets that can be read; `nil` when nobody asked.
    package var retained: Range<Int64>?
    /// Which other groups have offsets, where its offset was lost.
    package var otherGroups: OtherGroups?

    package init(committed: CommitPosition, history: Int64? = nil, evidence: Evidence = .absent) {
        self.committed = committed
        self.history = history
        self.evidence = evidence
    }

    /// Whether it holds events, and they have outcomes.
    var isLost: Bool { evidence == .outcomes && retained?.isEmpty != true }

    /// One about which the brokers did not answer.
    init(unanswered partition: TopicPartition, _ error: KafkaError) {
        self.init(
            committed: CommitPosition(partition: partition, offset: Offset.none), evidence: .unanswered(error))
    }

    var isUnanswered: Bool {
        if case .unanswered = evidence { true } else { false }
    }

    /// The same where nobody can say what failed of the history: it is of no use then.
    var withoutHistory: StartPosition {
        var start = self
        (start.history, start.failed) = (nil, nil)
        return start
    }
}

/// The first offset of a partition and the one after its last, what its group has committed, and where the first record lies that
/// is younger than all that was taken.
package struct OffsetRange: Sendable {
    package var low: Int64
    package var high: Int64
    /// `nil` when it has committed nothing.
    package var committed: Int64?
    /// `nil` when there is none, or nobody asked.
    package var younger: Int64?
    /// The offset behind the last record that it was seen to have; `nil` when nobody looked.
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
