import HeraldBackend
import HeraldEvents
import HeraldHTTP
import HeraldKafka
import HeraldThreads

/// What other threads say to a lane.
enum LaneMessage: Sendable {
    /// Stop taking, finish, leave.
    case drain
    /// What became of a transactional call.
    case transaction(TransactionReport)
    /// What the group had committed for the partitions of a coming assignment.
    case committed(assignment: Int, Result<[StartPosition], KafkaError>)
    /// What the process's credentials have become.
    case access(AccessNews)
    /// What a campaign is to do from now on.
    case campaign(String, CampaignControl)
    /// The renewal of refused credentials has ended, well or not.
    case credentialsRenewed
    /// How far a partition reaches whose committed offset is out of range.
    case range(TopicPartition, reading: Int, Result<OffsetRange, KafkaError>)
}

/// Where a partition of a coming assignment is taken up.
struct StartPosition: Sendable {
    /// What the group has committed.
    var committed: CommitPosition
    /// Where its records are read from, to find out which events came before; `nil` when that is not wanted.
    var history: Int64?
    /// What the dead-letter topic says of these records: which push services failed.
    var failed: [Int64: PushServiceSet] = [:]
}

/// The first offset of a partition and the one after its last.
struct OffsetRange: Sendable {
    var low: Int64
    var high: Int64
}

/// The one way into a lane from outside of its thread.
final class Mailbox: Sendable {
    private let messages = Guarded<[LaneMessage]>([])
    private let closed = Guarded(false)
    /// Wakes the lane's loop.
    let wakeup: Wakeup

    init() throws(SystemError) {
        wakeup = try Wakeup()
    }

    /// Leaves a message, from any thread.
    func post(_ message: LaneMessage) {
        messages.withLock { $0.append(message) }
        wakeup.signal()
    }

    /// Whether nobody reads it any more.
    var isClosed: Bool { closed.withLock { $0 } }

    /// Nobody reads it any more: who tries something again and again for the lane stops.
    func close() { closed.withLock { $0 = true } }

    /// Takes everything that was left, on the lane's thread.
    func take() -> [LaneMessage] {
        wakeup.drain()
        return messages.withLock { messages in
            defer { messages.removeAll() }
            return messages
        }
    }
}
