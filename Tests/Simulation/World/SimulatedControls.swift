import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldTime
import HeraldWorker

/// A message to a worker's follower of campaigns.
enum ControlNews {
    case tick(Int)
    /// There may be records to read.
    case records
    case partitions(Result<[TopicPartition], KafkaError>)
    case written(KafkaError?)
    /// A lane wants a campaign paused.
    case failing(CampaignFailures)
    /// Lanes no longer wait for the topic's content.
    case patienceIsOver
}

/// A control record on its way.
struct ControlRequest {
    /// The time for which a producer tries to write one (milliseconds).
    static let patience: Int64 = 10_000

    var campaign: String
    var control: CampaignControl
    var sentAt: Int64
    var isAcknowledgementLost: Bool
}

/// A simulated worker's follower of campaigns: the machine of a real one, over the simulated topic.
final class SimulatedControls: JobIO {
    /// The longest time without progress before reading fails (milliseconds).
    private static let patience: Int64 = 10_000
    /// The interval of looks at an unreadable partition (milliseconds).
    private static let turn: Int64 = 1_000
    /// The time-out of a question (milliseconds).
    private static let questionTime: Int64 = 2_000
    /// The longest time until a requested pause is written, without obstacles (milliseconds).
    private static let longestPause: Int64 = 30_000

    /// A lane's request.
    private struct Ask {
        /// The campaign's state that the lane knew.
        var judged: CampaignControl
        var at: Int64
    }

    private unowned let worker: SimulatedWorker
    private let simulation: Simulation
    private var driver: JobDriver<SimulatedControls>?
    /// The reader, and the number of the topic's recreations before.
    private var reader: (LogReader, remakes: Int)?
    private var hasReadAll = false
    private var lastStep: Int64 = 0
    private var arrived: [ControlNews] = []
    private var nextTick: (at: Int64, number: Int) = (.max, 0)

    // For the checkers.
    private var asks: [Int: Ask] = [:]
    /// The pause that is being written or was written: its campaign, and the campaign's state before.
    private var writing: (index: Int, judged: CampaignControl)?
    private var paused: [Int: CampaignControl] = [:]
    /// The last moment with an obstacle.
    private var lastTrouble: Int64

    init(of worker: SimulatedWorker) {
        self.worker = worker
        simulation = worker.simulation
        lastTrouble = worker.simulation.now
    }

    func start() {
        driver = JobDriver(ControlMachine(worker: "\(worker.process)"), io: self)
        simulation.schedule(.news(worker.process, .control(.patienceIsOver)), after: Self.patience)
        go()
    }

    /// Ends the process.
    func end() { driver = nil }

    func hear(_ news: ControlNews) {
        switch news {
        case .tick(let number):
            guard number == nextTick.number else { return }
            nextTick.at = .max
        case .records: break
        case .partitions, .written, .failing: arrived.append(news)
        case .patienceIsOver: worker.startsLane()
        }
        go()
    }

    /// Notes the end of a standstill.
    func thaws() { lastTrouble = simulation.now }

    /// Notes a lane's wish to pause a campaign.
    func pause(_ failures: CampaignFailures, _ index: Int, knowing control: CampaignControl) {
        asks[index] = Ask(judged: control, at: simulation.now)
        simulation.schedule(.news(worker.process, .control(.failing(failures))), after: 0)
        // Other lanes of the process have the same wish.
        guard worker.chance[.campaignNews].below(2) == 0 else { return }
        simulation.schedule(
            .news(worker.process, .control(.failing(failures))), after: worker.chance[.campaignNews].between(0, 500))
    }

    func go() {
        repeat { driver?.turn() } while driver != nil && !arrived.isEmpty
        guard let driver else { return }
        check(driver.machine)
        schedule(driver.machine.nextWake)
    }

    private func schedule(_ wake: MonotonicTime?) {
        var at = reader != nil && (!hasReadAll || !isReadable) ? simulation.now + Self.turn : .max
        if let wake { at = min(at, Simulation.millisecond(of: wake)) }
        guard at < nextTick.at else { return }
        nextTick = (max(at, simulation.now), nextTick.number + 1)
        simulation.schedule(
            .news(worker.process, .control(.tick(nextTick.number))), after: nextTick.at - simulation.now)
    }

    private var isReadable: Bool {
        // Without partitions there is no topic: then the brokers alone count.
        simulation.cluster.awayUntil <= simulation.now
            && simulation.campaignsPlaces.allSatisfy {
                simulation.isReachable($0) && simulation.cluster[$0].open.isEmpty
            }
    }

    // MARK: What the machine wants

    var now: Moment { worker.now }

    /// The agenda drives it.
    func wait(until moment: MonotonicTime?) {}

    func perform(_ action: ControlMachine.Action) {
        switch action {
        case .findPartitions: find()
        case .read(let partitions):
            worker.log("reads \(partitions.count) partitions of the campaigns topic from their beginning")
            var reader = LogReader(partitions.map { worker.place($0) })
            reader.aim(at: .committed)
            self.reader = (reader, simulation.remakes)
            (hasReadAll, lastStep) = (false, simulation.now)
            simulation.schedule(.news(worker.process, .control(.records)), after: simulation.travel())
        case .tell(let name, let control):
            if driver?.machine.isFollowing != true {
                fails("lanes hear of \(name) before the topic is read to its end")
            }
            worker.hears(control, of: name)
        case .settled: worker.startsLane()
        case .write(let name, let control): write(control, of: name)
        case .notice(let notice): worker.log("notice: \(notice)")
        }
    }

    private func find() {
        let isLost = worker.chance[.jobQuestion].happens(simulation.scenario.lostMessages)
        guard simulation.cluster.awayUntil <= simulation.now, !isLost else {
            return simulation.schedule(
                .news(worker.process, .control(.partitions(.failure(KafkaError.timedOut)))), after: Self.questionTime)
        }
        let places = simulation.campaignsMissingUntil <= simulation.now ? simulation.campaignsPlaces : []
        let missing = KafkaError(code: KafkaError.Code.unknownTopicOrPartition)
        simulation.schedule(
            .news(
                worker.process,
                .control(.partitions(places.isEmpty ? .failure(missing) : .success(places.map { worker.name($0) })))),
            after: simulation.travel())
    }

    private func write(_ control: CampaignControl, of name: String) {
        checkWriting(control, of: name)
        let chance = worker.chance[.campaignNews].below(1_000_000)
        let lost = simulation.scenario.lostMessages
        guard chance >= lost / 2 else {
            return simulation.schedule(
                .news(worker.process, .control(.written(.notTaken))), after: ControlRequest.patience)
        }
        simulation.schedule(
            .request(
                worker.process,
                .control(
                    ControlRequest(
                        campaign: name, control: control, sentAt: simulation.now, isAcknowledgementLost: chance < lost))
            ), after: simulation.travel())
    }

    // MARK: What the machine gets

    func deliver(to machine: inout ControlMachine) {
        let news = arrived
        arrived = []
        for news in news {
            switch news {
            case .partitions(.success(let partitions)): machine.found(partitions, now: now)
            case .partitions(.failure(let error)):
                lastTrouble = simulation.now
                machine.notFound(error, now: now)
            case .written(let error):
                if error != nil {
                    lastTrouble = simulation.now
                } else if let writing {
                    paused[writing.index] = writing.judged
                }
                machine.written(error, now: now)
            case .failing(let failures): machine.failing(failures)
            case .tick, .records, .patienceIsOver: break
            }
        }
        readOn(&machine)
    }

    private func fail(_ error: KafkaError, _ machine: inout ControlMachine) {
        (reader, lastTrouble) = (nil, simulation.now)
        machine.readingFailed(error, now: now)
    }

    private func readOn(_ machine: inout ControlMachine) {
        simulation.followCampaigns()
        guard let (former, remakes) = reader else { return }
        guard remakes == simulation.remakes else {
            return fail(KafkaError(code: KafkaError.Code.offsetOutOfRange), &machine)
        }
        var reader = former
        let isAtEnd = reader.turn(simulation) { _, record in
            guard let key = record.key else { return }
            if let value = record.value {
                try? machine.receive(key: key.span.bytes, value: value.span.bytes)
            } else {
                try? machine.receive(key: key.span.bytes, value: nil)
            }
        }
        self.reader = (reader, remakes)
        if reader.positions != former.positions { lastStep = simulation.now }
        guard !hasReadAll else { return }
        if isAtEnd {
            hasReadAll = true
            machine.reachedEnd(now: now)
        } else if simulation.now - lastStep > Self.patience {
            fail(KafkaError.timedOut, &machine)
        }
    }

    // MARK: Checks

    /// A pause is written for a campaign that a lane has judged, once, and never over an operator's later decision.
    private func checkWriting(_ control: CampaignControl, of name: String) {
        guard let index = Simulation.campaign(named: name), let ask = asks[index] else {
            return fails("it pauses \(name), and no lane wants that")
        }
        if control.state != .paused { fails("it writes that \(name) is \(control.state)") }
        if worker.toldCampaigns[index] != ask.judged {
            fails("it pauses campaign \(index) for what was counted before somebody decided otherwise")
        }
        if paused[index] == ask.judged { fails("it pauses campaign \(index) twice") }
        writing = (index, ask.judged)
        if control.pauseIfFailures != ask.judged.pauseIfFailures { fails("it changes the bound of campaign \(index)") }
    }

    private func check(_ machine: ControlMachine) {
        if !isReadable || simulation.campaignsMissingUntil > simulation.now { lastTrouble = simulation.now }
        guard machine.isFollowing else { return }
        let hasRead = reader.map { zip($0.0.positions, simulation.known.positions).allSatisfy { $0 >= $1 } } ?? false
        if hasRead {
            for index in 0...Simulation.publishedCampaign {
                let state = simulation.campaigns[index]?.state ?? .running
                let told = worker.toldCampaigns[index]?.state ?? .running
                if state != told { fails("campaign \(index) is \(state), and its lane knows it as \(told)") }
            }
        }
        for (index, ask) in asks where worker.toldCampaigns[index] == ask.judged {
            if simulation.now - max(ask.at, lastTrouble) > Self.longestPause {
                fails("campaign \(index) is to be paused, and nobody writes that")
            }
        }
    }

    private func fails(_ sentence: String) { simulation.checkers.fail("\(worker.process): \(sentence)") }
}
