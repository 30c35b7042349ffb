import HeraldCore
import HeraldEvents
import HeraldTime

/// Workers of one group over a simulated broker and a simulated backend, in virtual time, from one seed: the same seed
/// gives the same run, step by step.
///
/// | file | part |
/// |---|---|
/// | `Scenario.swift`, `Scenario+Events.swift` | what a run is made of |
/// | `Messages.swift` | everything that can happen |
/// | `Simulation+Publishers.swift` | events that are published, also twice, also in transactions |
/// | `Simulation+Campaigns.swift` | campaigns that are paused, resumed and cancelled, and their topic |
/// | `SimulatedControls.swift` | a worker's machine that follows that topic, and what it drives |
/// | `Simulation+Jobs.swift` | followers of a hub, and their faults |
/// | `Simulation+Replays.swift` | operators who replay dead letters, and the jobs' faults |
/// | `Simulation+Publishing.swift` | operators who have a campaign published, and the publishers' faults |
/// | `Simulation+Topics.swift` | topics that are deleted and recreated |
/// | `Simulation+Faults.swift` | crashes, stops, freezes, brokers away, the backend's weather |
/// | `Simulation+Strangers.swift` | another program in the workers' group |
/// | `Simulation+Broker.swift` | what becomes of a request that reaches the broker |
/// | `SimulatedCluster.swift` … | logs, group, transactions |
/// | `TransactionalProcess.swift` | a transactional producer, of a worker or a job |
/// | `SimulatedWorker.swift` … | a worker's lane, and what it drives |
/// | `SimulatedFollower.swift`, `SimulatedHub.swift` | a follower's machine, what it drives, and its hub |
/// | `SimulatedReplay.swift`, `RampChecker.swift` | a replay's machine, what it drives, and the pace that it keeps to |
/// | `Simulation+Published.swift` | what publishers have committed |
/// | `SimulatedCampaign.swift`, `StepChecker.swift` | a publisher's machine, what it drives, and the ramp that it keeps to |
/// | `SimulatedJob.swift`, `LogReader.swift` | what all jobs share |
/// | `Checkers.swift` … | the promises |
/// | `Checkers+Waiting.swift` | what engines say of why events wait |
/// | `Bystanders.swift` | one lane, users who always fail, and how long others wait |
package final class Simulation {
    /// A run that needs more turns in circles.
    static let mostSteps = 4_000_000
    /// More steps at one moment mean that a loop spins.
    static let mostStepsAtOnce = 20_000

    package let scenario: Scenario
    /// Is told what happens, in a line each, when somebody wants to read it.
    package var trace: ((String) -> Void)?
    /// Inputs that engines were given.
    package internal(set) var inputs = 0
    package private(set) var now: Int64 = Simulation.start
    static let start: Int64 = 1_700_000_000_000

    /// How much time the run stood for.
    package var virtualSeconds: Int { Int((now - Self.start) / 1_000) }

    var chance: Streams
    /// What jobs and their hub draw from, those of each kind by themselves: with them all others draw as without.
    private var chanceOfJobs: Streams
    private var chanceOfReplays: Streams
    private var chanceOfPublishers: Streams
    var cluster: SimulatedCluster
    var backend = SimulatedBackend()
    /// What fails for some, until the pardon.
    var trouble: Trouble?
    var checkers: Checkers
    var workers: [SimulatedWorker] = []
    var followers: [SimulatedFollower] = []
    var replays: [SimulatedReplay] = []
    /// What operators have done and readers of the state topic know.
    var replayWorld = ReplayWorld()
    var publishers: [SimulatedCampaign] = []
    /// What operators want of the campaign that is published, and what readers of the campaigns topic know.
    var publishing = PublishingWorld()
    var hub = SimulatedHub()
    /// How far the results are counted, and how many hub messages they name.
    var namedMessages: (read: [Int64], count: Int) = ([], 0)
    var published = 0
    /// What readers of the campaigns topic know, and of each campaign by its number.
    var known = KnownCampaigns()
    var campaigns: [Int: CampaignControl] = [:]
    /// How often the campaigns topic was made anew, and until when it is not there.
    var remakes = 0
    var campaignsMissingUntil: Int64 = 0
    /// When each topic that was recreated is there again, by its number.
    var topicsBackAt: [Int: Int64] = [:]
    /// The number of the campaigns topic, if there is one.
    let campaignsTopic: Int?
    private var steps = 0
    private var agenda = Agenda<Step>()

    package init(scenario: Scenario) {
        self.scenario = scenario
        chance = Streams(seed: scenario.seed)
        chanceOfJobs = Streams(seed: scenario.seed, of: "jobs")
        chanceOfReplays = Streams(seed: scenario.seed, of: "replays")
        chanceOfPublishers = Streams(seed: scenario.seed, of: "publishers")
        let consumed = scenario.consumedTopics.map(\.name)
        let topics = consumed + scenario.otherTopics + scenario.jobTopics
        cluster = SimulatedCluster(
            partitions: scenario.partitions, topics: topics, consumedTopics: consumed.count)
        campaignsTopic = topics.firstIndex(of: scenario.topics.campaigns)
        checkers = Checkers(scenario, topics: topics)
        backend.forbidden = scenario.forbidden
        backend.hanging = scenario.hanging
        trouble = scenario.trouble
        if scenario.isBackendCalm { backend.weather = .calm }
        for index in 0..<scenario.workers { workers.append(SimulatedWorker(index: index, simulation: self)) }
        for index in 0..<scenario.followers { followers.append(SimulatedFollower(index: index, simulation: self)) }
        for index in 0..<scenario.replays { replays.append(SimulatedReplay(index: index, simulation: self)) }
        for index in 0..<scenario.publishers { publishers.append(SimulatedCampaign(index: index, simulation: self)) }
    }

    /// The streams of chance of a process, and of what its requests meet.
    subscript(process: Process) -> Streams {
        get {
            switch process.kind {
            case .worker: chance
            case .job: chanceOfJobs
            case .replay: chanceOfReplays
            case .publisher: chanceOfPublishers
            }
        }
        _modify {
            switch process.kind {
            case .worker: yield &chance
            case .job: yield &chanceOfJobs
            case .replay: yield &chanceOfReplays
            case .publisher: yield &chanceOfPublishers
            }
        }
    }

    var moment: Moment {
        Moment(
            monotonic: MonotonicTime(nanoseconds: (now - Self.start) * 1_000_000), wall: WallTime(milliseconds: now))
    }

    /// The first moment of the agenda at which this one has come.
    static func millisecond(of moment: MonotonicTime) -> Int64 {
        start + (max(0, moment.nanoseconds) + 999_999) / 1_000_000
    }

    func schedule(_ step: Step, after wait: Int64) {
        agenda.add(step, at: now + max(0, wait))
    }

    /// How long a message is on its way.
    func travel() -> Int64 { chance[.travel].between(0, 20) }

    /// Tells the reader of a trace what happens.
    func log(_ text: @autoclosure () -> String) {
        guard let trace else { return }
        let elapsed = now - Self.start
        let fraction = String(elapsed % 1_000)
        trace("\(elapsed / 1_000).\(String(repeating: "0", count: 3 - fraction.utf8.count))\(fraction) \(text())")
    }

    // MARK: The run

    /// Runs until everything is settled and quiet.
    ///
    /// - Returns: What broke a promise, if anything did.
    package func run() -> [String] {
        defer {
            for worker in workers { worker.letGo() }
            for follower in followers { follower.letGo() }
            for replay in replays { replay.letGo() }
            for publisher in publishers { publisher.letGo() }
        }
        for index in workers.indices { schedule(.start(worker: index), after: chance[.start].between(0, 50)) }
        // A rebalance waits for calls that hang: whoever is compared joins before there are any.
        schedule(.publish, after: trouble == nil ? 10 : 15_000)
        schedule(.pardon, after: 200_000)
        scheduleFaults()
        startCampaigns()
        startFollowers()
        scheduleReplays()
        schedulePublishing()
        let end = now + scenario.longest.count
        var atOnce = 0
        while let (at, step) = agenda.next() {
            atOnce = at == now ? atOnce + 1 : 0
            now = at
            steps += 1
            if atOnce > Self.mostStepsAtOnce {
                checkers.fail("a loop spins")
                break
            }
            if now > end || steps > Self.mostSteps {
                checkers.fail("the run did not become quiet: \(whatIsOpen) is not settled")
                break
            }
            perform(step)
            if steps % 64 == 0 && isQuiet || !checkers.violations.isEmpty { break }
        }
        if checkers.violations.isEmpty && !isQuiet {
            checkers.fail("nothing more happens, and \(whatIsOpen) is not settled")
        }
        if checkers.violations.isEmpty { checkers.finish(read: results) }
        if checkers.violations.isEmpty { checkFeedback() }
        for violation in checkers.violations { log("VIOLATION: \(violation)") }
        return checkers.violations
    }

    /// What a reader of committed records finds in the results topic, as the checkers' duties.
    private var results: [Int] {
        guard let topic = cluster.number(of: scenario.topics.results) else { return [] }
        var duties: [Int] = []
        for partition in 0..<cluster.partitions {
            let place = Place(topic: topic, partition: partition)
            var offset: Int64 = 0
            while cluster.seek(place, from: &offset) {
                duties += cluster[place].records[Int(offset)].duties
                offset += 1
            }
        }
        return duties
    }

    /// Everything is published and every consumed record is behind the committed offset.
    private var isQuiet: Bool {
        published >= scenario.events && cluster.unsettled == nil && isFeedbackComplete && areReplaysDone
            && isPublishingDone
    }

    private var whatIsOpen: String {
        guard let place = cluster.unsettled else {
            if !isFeedbackComplete { return "feedback on \(namedMessages.count) messages" }
            if !areReplaysDone { return "the operator's last replay" }
            return isPublishingDone ? "nothing" : "the operator's campaign"
        }
        return "\(cluster.name(place)) from \(cluster[place].committed ?? 0) on"
    }

    private func perform(_ step: Step) {
        switch step {
        case .publish: publish()
        case .publishTwin(let name): publishTwin(of: name)
        case .publisherEnds(let transaction):
            for place in cluster.endForeign(transaction, now: now) { wake(place) }
        case .start(let worker): workers[worker].start()
        case .fault(let fault): perform(fault)
        case .follow(let job, let takesOver): follow(job, takesOver: takesOver)
        case .jobFault: performJobFault()
        case .replayFault: performReplayFault()
        case .finishReplays: finishReplays()
        case .resumeReplay(let process): resumeReplay(process)
        case .publisherFault: performPublisherFault()
        case .finishPublishing: finishPublishing()
        case .pausePublishing: pausePublishing()
        case .resumePublishing: resumePublishing()
        case .thaw(let process, let duration): living(process)?.thaw(after: duration)
        case .weather: changeWeather()
        case .pardon: pardon()
        case .changeCampaign: changeCampaign()
        case .resumeCampaign(let index): resume(index)
        case .brokersBack: for worker in workers { worker.recordsArrived() }
        case .leaderBack(let place): wake(place)
        case .restoreOffsets: restoreOffsets()
        case .strangerCommits(let generation): strangerCommits(generation: generation)
        case .topicBack(let topic): topicIsBack(topic)
        case .range(let process, let partition, let question): tellRange(process, partition, question)
        case .sessionEnds(let process, let join): sessionEnds(process, join: join)
        case .drainIsOver(let process):
            if let thaw = living(process)?.frozenUntil {
                schedule(step, after: thaw - now + SimulatedWorker.patience)
            } else if living(process) != nil {
                checkers.fail("\(process) was told to stop and does not")
            }
        case .expires(let expiry): expire(expiry)
        case .marker(let transaction, let place): writeMarker(of: transaction, at: place)
        case .request(let process, let request): arrive(process, request)
        case .lateRequest(let process, let request): arriveLate(process, request)
        case .news(let process, let news):
            guard let living = living(process) else { return }
            if let thaw = living.frozenUntil {
                // It hears of everything when it wakes up, in this order.
                agenda.add(step, at: max(now, thaw))
            } else {
                living.hear(news)
            }
        }
    }

    /// The process, if this life of it still goes on.
    func living(_ process: Process) -> (any TransactionalProcess)? {
        let job: any SimulatedJob
        switch process.kind {
        case .worker: return worker(process)
        case .job: job = followers[process.index]
        case .replay: job = replays[process.index]
        case .publisher: job = publishers[process.index]
        }
        return job.process == process && job.isRunning ? job : nil
    }

    /// The worker, if this life of it still goes on.
    func worker(_ process: Process) -> SimulatedWorker? {
        let worker = workers[process.worker]
        return worker.process == process && worker.isRunning ? worker : nil
    }

    /// Whether an engine is asked at this moment why its events wait.
    func isWaitingAsked() -> Bool { chance[.waiting].below(SimulatedWorker.waitingIsAsked) == 0 }

    /// Whoever takes from a partition looks again.
    func wake(_ place: Place) {
        for worker in cluster[cluster.current(place)].takers { workers[worker].recordsArrived() }
        if place.topic == campaignsTopic { campaignsChanged() }
    }
}
