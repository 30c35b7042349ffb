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

    /// What a process is for; each kind is numbered from its own number on.
    enum Kind: Int, CaseIterable {
        case worker = 0
        /// It follows a hub's messages.
        case job = 1_000
        /// It works on dead letters.
        case replay = 2_000
        /// It publishes a campaign.
        case publisher = 3_000
    }

    init(_ kind: Kind, _ index: Int, life: Int = 0) {
        self.init(worker: kind.rawValue + index, life: life)
    }

    var kind: Kind { Kind.allCases.last { $0.rawValue <= worker } ?? .worker }
    /// Which one of its kind it is.
    var index: Int { worker - kind.rawValue }
    var isJob: Bool { kind != .worker }

    var description: String { "\(kind) \(index).\(life)" }
}

/// Something that happens at a moment.
enum Step {
    case publish
    /// An event is published a second time.
    case publishTwin(of: RecordName)
    /// A publisher ends its transaction.
    case publisherEnds(transaction: Int)
    case start(worker: Int)
    case fault(Fault)
    /// A follower of the hub's messages starts; unasked, it only does where none runs.
    case follow(job: Int, takesOver: Bool)
    case jobFault
    /// An operator does something to replays, or one has a fault.
    case replayFault
    /// The operator looks whether all is replayed, and starts what is left.
    case finishReplays
    case resumeReplay(Process)
    /// An operator does something to the campaign that is published, or a publisher has a fault.
    case publisherFault
    /// The operator looks whether the campaign is published, and starts what is left.
    case finishPublishing
    case pausePublishing
    case resumePublishing
    case thaw(Process, after: Int64)
    case weather
    /// Users that were refused are accepted from here on.
    case pardon
    case changeCampaign
    case resumeCampaign(Int)
    case brokersBack
    /// An operator restores offsets that were lost.
    case restoreOffsets
    /// Another program commits what this generation gave it.
    case strangerCommits(generation: Int)
    case leaderBack(Place)
    /// A topic that was deleted is there again.
    case topicBack(Int)
    /// A worker asks where a partition begins and ends.
    case range(Process, TopicPartition, RangeQuestion)
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
    /// The group hears nothing of a worker that is well.
    case sessionLoss
    case grow
    case outage
    case coordinatorLoad
    case leaderLoss
    case refusal
    /// Retention deletes records that are dealt with.
    case retention
    /// The campaigns topic can't be read or written, or is deleted and made anew.
    case campaignsTopic
    /// A topic that workers consume is deleted and recreated.
    case recreation
    /// The log of a partition that workers consume is cut off.
    case cut
    case rival
    case clockStep
    /// A worker is told other settings.
    case settings
    /// The group's offsets are lost, and nobody is its member any more.
    case offsetLoss
    /// Another program joins the workers' group, and commits there.
    case stranger
}

/// What a process asks of the broker.
enum Request {
    case unassigned
    /// What is committed of the partitions that this generation gave it.
    case offsets(generation: Int, assignment: Int)
    // Without transactions.
    case append(ProductionID, Place, LogRecord, Effect, isAcknowledgementLost: Bool)
    case commit(sequence: UInt64, generation: Int, [Position])
    // Transactions. The numbers tell one blocking call, and one transaction, from another.
    case initialise(call: Int)
    case write(ProductionID, Place, LogRecord, Effect?, epoch: Int, transaction: Int, sentAt: Int64)
    case sendOffsets(call: Int, [Position], generation: Int, epoch: Int, transaction: Int)
    /// A partition becomes part of a transaction, which opens it if none is; a write does the same by itself.
    case addPartition(epoch: Int)
    case end(call: Int, commits: Bool, epoch: Int, transaction: Int)
    case lookUp(sequence: UInt64, [Position])
    /// A job asks where its group stands in the results.
    case standing(question: Int)
    /// A worker writes that a campaign is paused.
    case control(ControlRequest)
    /// A replay reads the state topic: to these ends, once it has found them.
    case state(question: Int, isWhole: Bool, ends: [Int64]?)
}

/// What a process hears.
enum News {
    case tick(Int)
    case answer(CallToken, CallResult)
    case credentialsRenewed
    /// The password in its file is another one.
    case credentialsChanged
    case control(ControlNews)
    case revoked
    case lost
    case assigned(generation: Int, [Place])
    case offsets(assignment: Int, [Committed])
    case range(TopicPartition, RangeQuestion, OffsetRange)
    /// Whether a batch can be read.
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
}

/// What a follower hears.
enum JobNews {
    case tick(Int)
    /// Where its group stands; without that, no broker has said so in time.
    case standing(question: Int, [Committed]?)
    case answer(token: UInt64, MessageAnswer)
    /// What the state topic says; without that, it could not be read.
    case state(question: Int, KnownState?)
}

/// What is committed of a partition.
struct Committed {
    var place: Place
    var offset: Int64?
    var metadata: String
    /// It was said of the topic that had this name before.
    var isOutdated = false
    /// What the results say when nothing is committed.
    var evidence = StartPosition.Evidence.absent
}

/// How the broker answers a transactional producer.
enum Reply {
    case done
    /// The group does not accept the member or its generation.
    case refused
    /// The producer's epoch is over.
    case fenced
    /// No leader was there in time.
    case timedOut
    /// An abort took it back.
    case purged
}
