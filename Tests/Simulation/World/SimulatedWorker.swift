import HeraldCore
import HeraldEvents
import HeraldTelemetry
import HeraldTime
import HeraldWorker

/// One worker process: the lane of a real one, over a simulated group, producer and backend.
///
/// | file | part |
/// |---|---|
/// | `SimulatedWorker+Inputs.swift` | what it hears, and when its lane turns |
/// | `SimulatedWorker+IO.swift` | what its lane drives: the group and the records |
/// | `SimulatedWorker+Calls.swift` | calls of the backend |
/// | `SimulatedWorker+Producing.swift` | records that it writes |
/// | `TransactionalProcess.swift` | its transactional producer, as any process has one |
final class SimulatedWorker {
    unowned let simulation: Simulation
    let index: Int
    private(set) var life = 0
    private(set) var isRunning = false
    /// What it was told last, which it begins its next life with.
    private(set) var configuration: EngineConfiguration
    /// By which its port judges answers: as its lane said.
    var statuses = StatusTable.usual
    /// The most events that there may be in this life.
    private(set) var maxBuffered = 0
    /// The lane of this life; it knows its worker, and has to be let go in the end.
    private var runningLane: Lane<SimulatedWorker>?
    var inbox = Inbox()
    /// What it follows campaigns with.
    private(set) var controls: SimulatedControls?
    /// Its lane waits until it is known what stands in the campaigns topic.
    var hasLaneStarted: Bool { runningLane != nil }

    // The assignment.
    var generation = 0
    var places: [Place] = []
    /// What is fetched of them.
    var fetched = FetchedQueues(limit: 1)
    /// The lane's number of the assignment whose offsets it asked for last.
    var askedFor = 0
    /// What it was told to be committed of each of them when it was assigned.
    var told: [Committed] = []
    /// Where it began to take from each of them.
    var begunAt: [Int64] = []

    /// How many records are in the engine's slots.
    var retainedRecords = 0
    /// When the lane turned last, and for how long it has stood still since.
    var lastTurn: Int64 = 0
    var frozenFor: Int64 = 0
    /// Somebody writes under its name, and it was told.
    var hasRival = false
    /// The next tick: when it comes, and its number, because an earlier one may have taken its place.
    var nextTick: (at: Int64, number: Int) = (.max, 0)
    /// Nothing reaches it before this moment.
    private(set) var frozenUntil: Int64?
    /// It has joined its group.
    var isMember = false
    /// Counts how often this life of it did.
    private(set) var joins = 0
    /// It was given partitions, or none, and has not given them back.
    var isAssigned = false
    /// It has given them back, and the group has not heard of it.
    var isGivingBack = false
    /// Its session has ended, and it does not know it yet.
    private(set) var isZombie = false
    /// It was told to stop or to give its partitions back.
    var isStopping = false
    /// Then: before this moment nothing may be given up.
    var stopDeadline: Int64 = 0
    /// The latest commit was not acknowledged.
    var commitIsDoubtful = false
    /// How far its wall clock is off.
    private(set) var skew: Int64 = 0

    // For the checkers.
    /// The record that was called last for each user, or each partition, by the order that is kept.
    var active: [OrderLine: RecordName] = [:]
    /// Records of which others of their line were called later: it is not their turn any more.
    var passed: Set<RecordName> = []
    /// Calls under way.
    var callsOut: [RecordName: Int] = [:]
    /// Since when events are decided whose calls would be made again after a kill.
    var unrecordedSince: [SlotID: Int64] = [:]
    /// How far the partitions of its earlier assignments were done.
    var stood: [Place: Int64] = [:]
    /// The same where another program has committed more, until the worker says so.
    var unnoticed: [Place: Int64] = [:]
    /// Since when it knows that its partitions are lost; a freeze makes it forget.
    var lostSince: Int64?
    /// It stood still for longer than it may without being told that it is still a member.
    private(set) var hasStoodStill = false
    /// Records on their way to the broker.
    var produced: Set<ProductionID> = []
    /// Events of which a record was refused, and the number of that transaction.
    var apart: [RecordName: Int] = [:]
    /// Events of which a record was too large, as was known before.
    var unfit: Set<RecordName> = []
    /// How often each was refused together with others.
    var refusedTogether: [RecordName: Int] = [:]
    /// Its engine has found that a topic takes nothing; when it called last since then.
    var heldCall: Int64?
    /// Whose records the open transaction has.
    var companions: Set<RecordName> = []
    /// What its calls are made over.
    var connections = SharedConnections(losses: 0)
    /// Calls that count as an attempt.
    var counted: Set<CallToken> = []
    /// When each call was sent.
    var sentAt: [CallToken: Int64] = [:]
    /// When its lane heard last of other credentials, or that they are accepted again.
    var credentialsChangedAt: Int64 = 0
    /// The calls of the last second.
    var limitedCalls: [(at: Int64, service: Int)] = []
    /// Probes under way.
    var probes: Set<CallToken> = []
    /// Dead letters with the same status in a row.
    var rejectedInARow = 0
    var usersInARow: Set<Int> = []
    var lastDelivery: Int64 = .min / 2
    /// Whether the engine may have found a source that is bad by itself.
    var mayHaveExcused = false
    /// For each push service: how many calls of the first request topic wait, and how many others were made meanwhile.
    var passedUrgent: [Int: (waiting: Int, calls: Int)] = [:]
    /// What it was told of campaigns.
    var toldCampaigns: [Int: CampaignControl] = [:]

    var client = TransactionClient()

    /// A member that says nothing for so long is out of the group (milliseconds).
    static let session: Int64 = 10_000
    /// How long a drain may take at most, with brokers that are away (milliseconds).
    static let patience: Int64 = 120_000

    init(index: Int, simulation: Simulation) {
        self.index = index
        self.simulation = simulation
        configuration = simulation.scenario.engineConfiguration
        chooseSkew()
    }

    /// Its wall clock steps.
    func chooseSkew() {
        let skew = simulation.scenario.skew.count
        guard skew > 0 else { return }
        self.skew = simulation.chance[.clockStep].between(-skew, skew)
        log("its clock is off by \(self.skew) ms")
    }

    /// It looks at what is fetched ahead; for everything else it is woken.
    private static var intervals: LaneIntervals {
        var intervals = LaneIntervals.never
        intervals.look = LaneIntervals.usual.look
        return intervals
    }

    var process: Process { Process(worker: index, life: life) }

    var transactionalID: Int {
        Process(worker: index, life: simulation.scenario.hasFixedIDs ? 0 : life).member
    }

    var lane: Lane<SimulatedWorker> {
        guard let runningLane else { preconditionFailure("\(process) was never started") }
        return runningLane
    }

    /// The record in one of the engine's slots.
    func record(in slot: SlotID) -> SimulatedRecord? { lane.records[Int(slot.index)] }

    // MARK: Life and death

    func start() {
        life += 1
        isRunning = true
        frozenUntil = nil
        frozenFor = 0
        lastTurn = simulation.now
        inbox = Inbox()
        hasRival = false
        nextTick.at = .max
        isMember = false
        isAssigned = false
        isGivingBack = false
        isZombie = false
        forgetAssignment()
        (stood, unnoticed) = ([:], [:])
        limitedCalls = []
        connections = SharedConnections(losses: simulation.scenario.connectionLosses)
        rejectedInARow = 0
        mayHaveExcused = false
        log("starts")
        toldCampaigns = [:]
        runningLane = nil
        client = TransactionClient()
        let controls = SimulatedControls(of: self)
        self.controls = controls
        controls.start()
    }

    /// What stands in the campaigns topic is known, or that takes too long.
    func startsLane() {
        guard !hasLaneStarted else { return }
        lastTurn = simulation.now
        frozenFor = 0
        maxBuffered = configuration.maxBuffered
        statuses = configuration.live.statuses
        runningLane = Lane(
            number: 0, configuration: configuration, requestWeights: Scenario.requestWeights, io: self, logger: .silent,
            intervals: Self.intervals)
        go()
    }

    /// The run is over.
    func letGo() {
        controls?.end()
        (runningLane, controls) = (nil, nil)
    }

    /// SIGKILL: everything in memory is gone; the session ends later; the process is started again.
    func crash() {
        log("is killed")
        hitInMemory()
        die()
        simulation.schedule(.sessionEnds(process, join: joins), after: Self.session)
        simulation.schedule(.start(worker: index), after: simulation.chance[.crash].between(100, 20_000))
    }

    /// SIGSTOP, and SIGCONT later; perhaps longer than its session.
    func freeze() {
        let duration = simulation.chance[.freeze].between(100, 30_000)
        log("is frozen for \(duration) ms")
        lostSince = nil
        frozenUntil = simulation.now + duration
        simulation.schedule(.thaw(process, after: duration), after: duration)
        guard duration > Self.session, isMember else { return }
        simulation.schedule(.sessionEnds(process, join: joins), after: Self.session)
    }

    /// The group goes on without it although it is well.
    func loseSession() {
        guard isAssigned, !isZombie else { return }
        log("is not heard of by the group")
        sessionEnded()
        simulation.rebalance(telling: simulation.cluster.remove(process.member))
        // Some hear of it at once, and some when their commits have been refused for a while.
        let latest: Int64 = simulation.chance[.sessionLoss].pick([0, 20, 3_000])
        simulation.schedule(.news(process, .lost), after: simulation.chance[.sessionLoss].between(0, latest))
    }

    func thaw(after duration: Int64) {
        log("goes on")
        frozenUntil = nil
        // A shorter one is no longer than what any call may wait for its commit, and what it had asked to wait is no part.
        let limit = configuration.maxUnrecorded + LaneIntervals.usual.poll
        hasStoodStill = isZombie && .milliseconds(duration) >= limit
        frozenFor += duration
        controls?.thaws()
        if isZombie {
            simulation.schedule(.news(process, .lost), after: simulation.chance[.freeze].between(0, 1_500))
        }
        recordsArrived()
    }

    /// The group goes on without it, and it does not know.
    func sessionEnded() {
        isZombie = true
        forgetEvents()
        hitInMemory()
    }

    func join() {
        log("joins")
        isZombie = false
        lostSince = nil
        hasStoodStill = false
        isMember = true
        joins += 1
        isGivingBack = false
        let instance = simulation.scenario.isStatic ? index : nil
        switch simulation.cluster.join(process.member, instance: instance) {
        case .rebalance(let told): simulation.rebalance(telling: told)
        case .kept(let places):
            log("is the static member that was there before")
            let generation = simulation.cluster.members[process.member]?.generation ?? 0
            simulation.tell(process, .assigned(generation: generation, places))
        }
    }

    /// SIGTERM.
    func drain() {
        log("drains")
        stop(timeout: configuration.drainTimeout)
        simulation.schedule(.drainIsOver(process), after: Self.patience)
        simulation.inputs += 1
        tell(.drain)
        go()
    }

    /// SIGHUP, and a file that was changed.
    func change(to settings: LiveConfiguration) {
        log("is told other settings: \(settings.maxInFlight) calls in flight")
        configuration.live = settings
        guard hasLaneStarted else { return }
        maxBuffered = max(maxBuffered, configuration.maxBuffered)
        // What was allowed before says nothing.
        limitedCalls = []
        rejectedInARow = 0
        usersInARow = []
        let outage = lane.engine.outage
        simulation.inputs += 1
        tell(.settings(LaneSettings(engine: settings, connectionLimit: settings.maxInFlight)))
        go()
        guard isRunning, let outage, let now = lane.engine.outage, now.reason == outage.reason else {
            probes = []
            return
        }
        let isOff =
            outage.reason == .breaker && settings.breaker.of == 0
            || outage.reason == .deadLetterBreaker && settings.deadLetterBreaker.of == 0
        if isOff { simulation.checkers.fail("\(process) stands still for a breaker that is off") }
    }

    /// From here on nothing new may be called, and what is under way is waited for.
    func stop(timeout: Milliseconds) {
        if !isStopping { stopDeadline = simulation.now + timeout.count }
        isStopping = true
    }

    /// Events were given up: only when the time is over, or when somebody else has them already.
    func gaveUp() {
        if simulation.now < stopDeadline, simulation.cluster.accepts(member: process.member, generation: generation) {
            simulation.checkers.fail("promise 3: \(process) gives up \(stopDeadline - simulation.now) ms too soon")
        }
        hitInMemory()
    }

    func leave() {
        log("leaves")
        die()
        if simulation.scenario.isStatic {
            simulation.schedule(.sessionEnds(process, join: joins), after: Self.session)
        } else {
            simulation.rebalance(telling: simulation.cluster.remove(process.member))
        }
        simulation.schedule(.start(worker: index), after: simulation.chance[.restart].between(100, 5_000))
    }

    private func die() {
        forgetEvents()
        isRunning = false
        controls?.end()
        controls = nil
        stopTaking()
    }

    private func stopTaking() {
        for place in places { simulation.cluster[simulation.cluster.current(place)].takers.removeAll { $0 == index } }
    }

    /// Nobody knows any more what it knew of events that came before.
    private func forgetEvents() {
        if !fetched.isEmpty { simulation.checkers.isKnowledgeLost = true }
    }

    func forgetAssignment() {
        forgetEvents()
        stopTaking()
        generation = 0
        places = []
        fetched = FetchedQueues(limit: simulation.scenario.fetchedAhead)
        told = []
        begunAt = []
        isStopping = false
        commitIsDoubtful = false
        active = [:]
        passed = []
        callsOut = [:]
        unrecordedSince = [:]
        apart = [:]
        unfit = []
        refusedTogether = [:]
        heldCall = nil
        counted = []
        sentAt = [:]
        passedUrgent = [:]
        probes = []
        produced = []
        retainedRecords = 0
    }

    /// What was taken and is not durable may be called again by somebody else.
    func hitInMemory() {
        guard hasLaneStarted else { return }
        for case let record? in lane.records { hit(record.name) }
        // Without transactions what was written may not be committed.
        guard !simulation.scenario.isAtomic else { return }
        for (place, taken) in zip(places, fetched.taken) {
            let committed = simulation.cluster[place].standing
            for offset in committed..<max(committed, taken) {
                let name = RecordName(place: place, offset: offset)
                // What has found no room was not taken.
                if name != lane.refused?.record.name { hit(name) }
            }
        }
    }

    func hit(_ name: RecordName) {
        guard let record = simulation.cluster.record(name) else { return }
        for duty in record.duties { simulation.checkers.faultHit(duty) }
        simulation.checkers.wasPassed(user: record.user, name)
    }

    /// The lane has put a record into one of the engine's slots.
    func retained(_ name: RecordName) {
        retainedRecords += 1
        // Somebody else has it too.
        if isZombie, !simulation.scenario.isAtomic { hit(name) }
    }

    /// The lane gives a record back that was in one of the engine's slots.
    func released(_ name: RecordName) {
        retainedRecords -= 1
        // Events that are given up are released with that word.
        if isStopping, lane.engine.actions.contains(where: { if case .notice(.gaveUp) = $0 { true } else { false } }) {
            hit(name)
        }
        passed.remove(name)
        callsOut[name] = nil
        if let line = line(of: name), active[line] == name { active[line] = nil }
    }

    func line(of name: RecordName) -> OrderLine? {
        switch simulation.scenario.ordering {
        case .key: OrderLine(user: simulation.cluster.record(name)?.user ?? -1, place: Place(topic: 0, partition: 0))
        case .partition: OrderLine(user: -1, place: name.place)
        case .none: nil
        }
    }
}
