import Dispatch
import HeraldBackend
import HeraldCore
import HeraldEvents
import HeraldHTTP
import HeraldKafka
import HeraldTelemetry
import HeraldThreads
import HeraldTime

/// One thread with one event loop and everything it needs: a member of the group, a producer, connections to the
/// backend, and an ``Engine`` that decides.
///
/// Nothing stands between a record's arrival and its call.
///
/// The thread never blocks but in the loop's wait. The few calls that may (what was committed, how far a partition
/// reaches) run on the lane's helper queue and report through the ``Mailbox``.
final class Lane {
    /// Whose events the loop reports.
    enum Owner {
        static let consumer: UInt8 = 1
        static let producer: UInt8 = 2
        static let mailbox: UInt8 = 3
        static let backend: UInt8 = 4
    }

    /// So many records are taken before the loop looks at its sockets again.
    static let takesPerTurn = 64
    /// How much is fetched ahead is looked at this often (milliseconds).
    static let lookInterval: Int64 = 50
    /// And as soon as so many bytes have come since.
    static let lookBytes = 4 << 20
    /// Lasting trouble is told of this often (milliseconds).
    static let tellInterval: Int64 = 30_000
    /// The queues are polled this often (milliseconds) even if nobody wakes the loop: a sign of life for the group.
    static let pollInterval: Int64 = 500
    /// A question to the brokers that failed is asked again after this long.
    static let questionPause = DispatchTimeInterval.seconds(1)

    let configuration: LaneConfiguration
    let logger: Logger
    let mailbox: Mailbox
    let board: LaneBoard
    let troubles: TroubleLog
    let helper: DispatchQueue

    let loop: EventLoop
    let consumerWakeup: Wakeup
    let producerWakeup: Wakeup
    let consumer: Consumer
    /// Where records go; made anew when the broker does not know the producer any more.
    var records: RecordProducer
    /// The producer's transactional calls; `nil` without transactions.
    var transactionCalls: TransactionCalls?
    let transactionQueue: DispatchQueue
    /// Who this member was when its partitions were assigned: its offsets are accepted for that generation only.
    var groupMetadata: GroupMetadata?
    var isSubscribed = false
    /// An abort is under way, whose report is still to come.
    var isAborting = false
    let commits: EventQueue
    let calls: BackendCalls
    let pushServiceNames: [[UInt8]]

    // What every record touches is the lane's thread's alone and never reached twice at once: the checks that a class's
    // properties get cost a twentieth of an event's time.
    @exclusivity(unchecked) var engine: Engine
    var end: LaneEnd?
    /// Set when the engine has left: how the drain ended.
    var leaving: LaneEnd?
    var jitter = JitterSource(seed: .random(in: .min ... .max))

    /// The record in each of the engine's slots.
    @exclusivity(unchecked) var held: [HeldRecord?]
    /// A record for which the engine had no room: offered again before anything else is taken.
    @exclusivity(unchecked) var aside: (message: Message, source: Int)?
    /// The queue of each of the engine's sources.
    var queues: [MessageQueue] = []
    /// Counts assignments, so that what the helper found out for an older one is dropped.
    var assignment = 0
    /// Counts how often reading began, so that what is said of an older one is known as such.
    var reading = 0
    /// The partitions of an assignment that is not answered yet.
    var pendingAssignment: [TopicPartition]?

    /// Whether the broker has taken any record of this lane.
    var hasProduced = false
    /// Why it takes none at the moment, as far as people were told.
    var produceTrouble: KafkaError?
    var tellAgain = MonotonicTime(nanoseconds: .min)

    /// What people were told of.
    var told: Counters

    // What others may know of the lane.
    @exclusivity(unchecked) var meter: LaneMeter
    var refusal: LaneReport.Trouble?
    var commitTrouble: LaneReport.Trouble?
    var statistics = LaneStatistics()
    var partitionReports: [PartitionReport] = []
    var nextReport = MonotonicTime(nanoseconds: .min)
    var nextProgress = MonotonicTime(nanoseconds: .min)

    // Reused for record after record.
    @exclusivity(unchecked) var headers = HeaderList()
    @exclusivity(unchecked) var output = OutputRecord()
    var mayHaveMore = false
    var nextPoll: MonotonicTime
    /// When the latest turn of the loop began.
    private var lastTurn: Moment?
    var nextLook = MonotonicTime(nanoseconds: .min)
    /// What the consumer had fetched at the last look.
    var lookedBytes = 0
    /// What the process knows of campaigns.
    let campaigns: CampaignWatch
    /// The process's credentials.
    let credentials: CredentialSource
    /// What calls show at the moment; `nil` while there is no access token.
    var access: BackendAccess?
    /// Since when.
    var accessSince = MonotonicTime(nanoseconds: .min)
    /// Whether a call was refused that was sent since then.
    var isAccessRefused = false
    /// Why there is none.
    var tokenTrouble: TokenTrouble?

    /// Makes the clients and joins the group.
    ///
    /// On the lane's own thread.
    init(
        configuration: LaneConfiguration, mailbox: Mailbox, credentials: CredentialSource,
        campaigns: CampaignWatch, board: LaneBoard, troubles: TroubleLog, logger: Logger
    ) throws {
        self.configuration = configuration
        self.mailbox = mailbox
        self.credentials = credentials
        self.campaigns = campaigns
        self.board = board
        self.troubles = troubles
        self.logger = logger.with(["lane": .int(configuration.number)])
        helper = DispatchQueue(label: "herald.lane.\(configuration.number).helper")
        loop = try EventLoop()
        consumerWakeup = try Wakeup()
        producerWakeup = try Wakeup()
        consumer = try Consumer(properties: configuration.consumerProperties)
        transactionQueue = DispatchQueue(label: "herald.lane.\(configuration.number).transactions")
        records = try RecordProducer(configuration: configuration)
        commits = consumer.makeEventQueue()
        calls = BackendCalls(loop: loop, owner: Owner.backend, configuration: configuration.backend)
        pushServiceNames = configuration.engine.decoder.pushServices.names.map { Array($0.utf8) }
        engine = Engine(configuration: configuration.engine)
        told = engine.counters
        meter = LaneMeter(services: pushServiceNames.count)
        held = Array(repeating: nil, count: configuration.engine.maxBuffered)
        nextPoll = SystemClock.monotonic()
        try loop.add(consumerWakeup.descriptor, token: EventToken(owner: Owner.consumer), interest: .readable)
        try loop.add(producerWakeup.descriptor, token: EventToken(owner: Owner.producer), interest: .readable)
        try loop.add(mailbox.wakeup.descriptor, token: EventToken(owner: Owner.mailbox), interest: .readable)
        consumer.queue.notify(consumerWakeup.descriptor)
        consumer.notifyFetched(consumerWakeup)
        commits.notify(consumerWakeup.descriptor)
        records.client.notify(producerWakeup.descriptor)
        credentials.listen { mailbox.post(.access($0)) }
        campaigns.listen { mailbox.post(.campaign($0, $1)) }
        // Nothing is taken before it is certain that it can be settled.
        if configuration.engine.isAtomic { makeTransactionCalls() } else { subscribe() }
    }

    func subscribe() {
        isSubscribed = true
        do {
            try consumer.subscribe(configuration.subscription)
        } catch {
            end = .failed("the topics could not be subscribed to: \(error).")
        }
    }

    var moment: Moment { Moment(monotonic: SystemClock.monotonic(), wall: SystemClock.wall()) }

    /// Runs until the lane has drained or can't go on.
    func run() -> LaneEnd {
        while true {
            turn()
            if let end { return close(end) }
            if let leaving { return leave(leaving) }
        }
    }

    /// One turn of the loop: wait, hear everybody, take what fits, carry out what was decided.
    private func turn() {
        let timeout = timeout()
        let count = loop.wait(timeoutMilliseconds: timeout)
        let now = moment
        noteStandstill(timeout, now: now)
        var consumerIsReady = now.monotonic >= nextPoll
        var producerIsReady = consumerIsReady
        for index in 0..<count {
            let event = loop[index]
            switch event.token.owner {
            case Owner.consumer:
                consumerWakeup.drain()
                consumerIsReady = true
            case Owner.producer:
                producerWakeup.drain()
                producerIsReady = true
            case Owner.mailbox: for message in mailbox.take() { hear(message) }
            default: calls.handle(event, now: now.monotonic)
            }
        }
        calls.tick(now.monotonic)
        hearAnswers(now: now)
        if producerIsReady { hearDeliveries(now: now) }
        if consumerIsReady {
            nextPoll = now.monotonic.advanced(byMilliseconds: Self.pollInterval)
            engine.recordsArrived()
            hearCommits(now: now)
            hearConsumer()
        }
        if now.monotonic >= nextLook || consumer.fetchedBytes - lookedBytes >= Self.lookBytes { lookAhead(now: now) }
        engine.tick(now: now)
        carryOut(now: now)
        take(now: now)
        if now.monotonic >= nextReport { leaveReport(now: now.monotonic) }
    }

    /// Tells the engine how much later it is than this turn was to begin.
    ///
    /// Where the monotonic clock stops with the machine, the wall clock tells.
    private func noteStandstill(_ timeout: Int32, now: Moment) {
        if let before = lastTurn {
            let passed = max(
                now.monotonic.milliseconds(since: before.monotonic), now.wall.milliseconds(since: before.wall))
            engine.stoodStill(for: passed - Int64(timeout))
        }
        lastTurn = now
    }

    private func timeout() -> Int32 {
        if mayHaveMore { return 0 }
        let now = SystemClock.monotonic()
        var deadline = queues.isEmpty ? nextPoll : min(nextPoll, nextLook)
        if let wake = engine.nextWake { deadline = min(deadline, wake) }
        if let wake = calls.nextDeadline { deadline = min(deadline, wake) }
        return EventLoop.timeoutMilliseconds(until: deadline, now: now)
    }

    private func hear(_ message: LaneMessage) {
        switch message {
        case .drain:
            logger.info("draining")
            engine.drain(now: moment)
        case .committed(let assignment, let result): answerAssignment(assignment, result)
        case .range(let partition, let reading, let result): judgeRange(of: partition, reading: reading, result)
        case .transaction(let report): hear(report)
        case .access(let news): take(news)
        case .campaign(let name, let control): engine.campaign(name, is: control, now: moment)
        case .credentialsRenewed: engine.credentialsRenewed(now: moment)
        }
        carryOut(now: moment)
    }

    /// Carries out what the engine decided, in order; what that leads to at once is carried out too.
    func carryOut(now: Moment) {
        var next = 0
        while next < engine.actions.count {
            let action = engine.actions[next]
            next += 1
            switch action {
            case .call(let token): call(token, now: now)
            case .produce(let id): produce(id, now: now)
            case .release(let slot): release(slot)
            case .keep(let slot): held[Int(slot)]?.keep()
            case .commit(let sequence): commit(sequence, now: now)
            case .begin: beginTransaction(now: now)
            case .abort:
                isAborting = true
                transactionCalls?.abort()
            case .renewProducer: renewProducer()
            case .lookUp(let sequence):
                transactionCalls?.lookUp(sequence, commitPositions(), queries: consumer.queries)
            case .rewind(let partition): rewind(partition)
            case .pause(let partition): setPaused(true, partition)
            case .retainQueue(let source): queues[source].retain()
            case .dropRetained(let source): queues[source].dropRetained()
            case .resume(let partition): setPaused(false, partition)
            case .unassign: unassign()
            case .leave(let complete): leaving = .drained(complete: complete)
            case .renewCredentials: renewCredentials()
            case .pauseCampaign(let name, let failed, let all):
                campaigns.pause(CampaignFailures(campaign: name, failed: failed, of: all))
            case .notice(let notice): tell(notice)
            }
        }
        engine.clearActions()
    }

    private func release(_ slot: Int32) {
        held[Int(slot)]?.release()
        held[Int(slot)] = nil
    }

    func releaseEverything() {
        for slot in held.indices { release(Int32(slot)) }
        aside?.message.release()
        aside = nil
    }

    /// The drain is over: leaves the group and closes.
    ///
    /// A static member keeps its place.
    private func leave(_ how: LaneEnd) -> LaneEnd {
        let deadline = SystemClock.monotonic().advanced(byMilliseconds: 10_000)
        do {
            try consumer.beginClosing()
            while !consumer.isClosed || isAborting, SystemClock.monotonic() < deadline {
                hearConsumer()
                for message in mailbox.take() { hear(message) }
                // An abort waits until its failed records were heard of.
                hearDeliveries(now: moment)
                carryOut(now: moment)
                _ = loop.wait(timeoutMilliseconds: 10)
                consumerWakeup.drain()
            }
        } catch {
            logger.warning("the group could not be left: \(error)")
        }
        return close(how)
    }

    private func close(_ how: LaneEnd) -> LaneEnd {
        mailbox.close()
        releaseEverything()
        queues.removeAll()
        calls.close()
        consumer.close()
        records.client.close()
        leaveLastReport()
        return how
    }
}
