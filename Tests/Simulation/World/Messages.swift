import HeraldCore
import HeraldEvents
import HeraldHub
import HeraldKafka
import HeraldKernel
import HeraldReplay
import HeraldWorker

/// One life of a process: a worker's, or a job's.
struct Process: Hashable, CustomStringConvertible {
    var worker: Int
    var life: Int

    /// Its identifier in the group.
    var member: Int { worker * 1_000_000 + life }

    init(worker: Int, life: Int) {
        self.worker = worker
        self.life = life
    }

    init(member: Int) {
        self.init(worker: member / 1_000_000, life: member % 1_000_000)
    }

    /// The kind of a process; each kind has its own first number.
    enum Kind: Int, CaseIterable {
        case worker = 0
        /// Follows a hub's messages.
        case job = 1_000
        /// Works on dead letters.
        case replay = 2_000
        /// Publishes a campaign.
        case publisher = 3_000
    }

    init(_ kind: Kind, _ index: Int, life: Int = 0) {
        self.init(worker: kind.rawValue + index, life: life)
    }

    var kind: Kind { Kind.allCases.last { $0.rawValue <= worker } ?? .worker }
    /// Its number within its kind.
    var index: Int { worker - kind.rawValue }
    var isJob: Bool { kind != .worker }

    var description: String { "\(kind) \(index).\(life)" }
}

/// A step at a moment.
enum Step {
    case publish
    /// An event is published a second time.
    case publishTwin(of: RecordName)
    /// A publisher ends its transaction.
    case publisherEnds(transaction: Int)
    case start(worker: Int)
    case fault(Fault)
    /// A follower of the hub's messages starts; without `takesOver` only if none runs.
    case follow(job: Int, takesOver: Bool)
    case jobFault
    /// An operator acts on replays, or one has a fault.
    case replayFault
    /// The operator checks whether all is replayed, and starts the rest.
    case finishReplays
    case resumeReplay(Process)
    /// An operator acts on the published campaign, or a publisher has a fault.
    case publisherFault
    /// The operator checks whether the campaign is published, and starts the rest.
    case finishPublishing
    case pausePublishing
    case resumePublishing
    case thaw(Process, after: Int64)
    case weather
    /// Refused users are accepted from now on.
    case pardon
    case changeCampaign
    /// A user opts out or in, or somebody recalls something.
    case say
    /// A worker reads what was said.
    case followWords(Process)
    case resumeCampaign(Int)
    case brokersBack
    /// An operator restores lost offsets.
    case restoreOffsets
    /// An operator skips the records that were deleted before they were read.
    case skipLost
    /// Another program commits the partitions of this generation.
    case strangerCommits(generation: Int)
    case leaderBack(Place)
    /// A deleted topic exists again.
    case topicBack(Int)
    /// A worker asks for the beginning and end of a partition.
    case range(Process, TopicPartition, RangeQuestion)
    /// Another client of a worker looks whether a batch is readable.
    case batch(Process, TopicPartition, RangeQuestion)
    case sessionEnds(Process, join: Int)
    /// A worker that was told to stop must have left by now.
    case drainIsOver(Process)
    case expires(Expiry)
    /// A transaction's marker reaches a partition, or the group's offsets.
    case marker(transaction: Int, Place?)
    case request(Process, Request)
    /// A copy of a request arrives whose connection ended before.
    case lateRequest(Process, Request)
    case news(Process, News)
}

/// The faults of the world.
enum Fault {
    case crash
    case stop
    case freeze
    /// The group loses contact with a healthy worker.
    case sessionLoss
    case grow
    case outage
    case coordinatorLoad
    case leaderLoss
    case refusal
    /// Retention deletes done records.
    case retention
    /// The campaigns topic can't be read or written, or is deleted and recreated.
    case campaignsTopic
    /// A topic that workers consume is deleted and recreated.
    case recreation
    /// The log of a partition that workers consume is cut off.
    case cut
    case rival
    case clockStep
    /// A worker gets other settings.
    case settings
    /// The group's offsets are lost, and it has no members.
    case offsetLoss
    /// Records are deleted before they are read.
    case deletion
    /// Another program joins the workers' group, and commits there.
    case stranger
}

/// A process's request to the broker.
enum Request {
    case unassigned
    /// The committed offsets of the partitions that this generation gave it.
    case offsets(generation: Int, assignment: Int)
    // Without transactions.
    case append(ProductionID, Place, LogRecord, Effect, isAcknowledgementLost: Bool)
    case commit(sequence: UInt64, generation: Int, [Position])
    // Transactions. The numbers distinguish blocking calls, and transactions.
    case initialise(call: Int)
    case write(ProductionID, Place, LogRecord, Effect?, epoch: Int, transaction: Int, sentAt: Int64)
    case sendOffsets(call: Int, [Position], generation: Int, epoch: Int, transaction: Int)
    /// A partition becomes part of a transaction, which opens if none is open; a write does the same by itself.
    case addPartition(epoch: Int)
    case end(call: Int, commits: Bool, epoch: Int, transaction: Int)
    case lookUp(sequence: UInt64, [Position])
    /// A job asks for its group's position in the results.
    case standing(question: Int)
    /// A worker writes that a campaign is paused.
    case control(ControlRequest)
    /// A replay reads the state topic: to these ends, once it has found them.
    case state(question: Int, isWhole: Bool, ends: [Int64]?)
}

/// A message to a process.
enum News {
    case tick(Int)
    case answer(CallToken, CallResult)
    case credentialsRenewed
    /// The password in its file has changed.
    case credentialsChanged
    case control(ControlNews)
    case revoked
    case lost
    case assigned(generation: Int, [Place])
    case offsets(assignment: Int, [Committed])
    case range(TopicPartition, RangeQuestion, OffsetRange)
    /// Whether a batch is readable.
    case batch(TopicPartition, RangeQuestion, Result<BatchReading, KafkaError>)
    case acknowledged(ProductionID, ProductionFailure?)
    case committed(sequence: UInt64, TransactionOutcome)
    // Transactions.
    case initialised(call: Int, epoch: Int)
    case written(ProductionID, transaction: Int, Reply)
    case replied(call: Int, Reply)
    case lookedUp(sequence: UInt64, TransactionOutcome)
    case timedOut(call: Int)
    /// A blocking call returns.
    case concluded(TransactionClient.Operation, TransactionOutcome)
    case job(JobNews)
    /// Its reader of caps has its turn.
    case caps
}

/// A message to a job.
enum JobNews {
    case tick(Int)
    /// Its group's position; `nil` if no broker has answered in time.
    case standing(question: Int, [Committed]?)
    case answer(token: UInt64, MessageAnswer)
    /// The content of the state topic; `nil` if it could not be read.
    case state(question: Int, KnownState?)
}

/// The committed offset of a partition.
struct Committed {
    var place: Place
    var offset: Int64?
    var metadata: String
    /// It belongs to the former topic of this name.
    var isOutdated = false
    /// The evidence of the results when no offset is committed.
    var evidence = StartPosition.Evidence.absent
}

/// The broker's reply to a transactional producer.
enum Reply {
    case done
    /// The group does not accept the member or its generation.
    case refused
    /// The producer's epoch is over.
    case fenced
    /// There was no leader in time.
    case timedOut
    /// An abort took it back.
    case purged
}
