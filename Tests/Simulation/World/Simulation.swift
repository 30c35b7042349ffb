import HeraldCore
import HeraldEvents
import HeraldTime

/// Workers of one group over a simulated broker and a simulated backend, in virtual time, from one seed: the same seed
/// gives the same run, step by step.
///
/// | file | part |
/// |---|---|
/// | `Scenario.swift`, `Scenario+Events.swift` | the parameters of a run |
/// | `Messages.swift` | all steps and messages |
/// | `Simulation+Publishers.swift` | published events, some twice, some in transactions |
/// | `Simulation+Campaigns.swift` | paused, resumed and cancelled campaigns, and their topic |
/// | `Simulation+LastWords.swift` | users that opt out, and recalls |
/// | `SimulatedWords.swift` | a worker's table of them, and what it has applied |
/// | `SimulatedCaps.swift` | a worker's reading of caps, and what they may count |
/// | `SimulatedControls.swift` | a worker's machine that follows that topic, and its world |
/// | `Simulation+Jobs.swift` | followers of a hub, and their faults |
/// | `Simulation+Replays.swift` | operators that replay dead letters, and the jobs' faults |
/// | `Simulation+Publishing.swift` | operators that publish a campaign, and the publishers' faults |
/// | `Simulation+Topics.swift` | topics that are deleted and recreated |
/// | `Simulation+Faults.swift` | crashes, stops, freezes, brokers away, the backend's weather |
/// | `Simulation+Strangers.swift` | another program in the workers' group |
/// | `Simulation+Broker.swift` | the broker's handling of requests |
/// | `SimulatedCluster.swift` … | logs, group, transactions |
/// | `TransactionalProcess.swift` | a transactional producer, of a worker or a job |
/// | `SimulatedWorker.swift` … | a worker's lane, and its world |
/// | `SimulatedFollower.swift`, `SimulatedHub.swift` | a follower's machine, its world, and its hub |
/// | `SimulatedReplay.swift`, `RampChecker.swift` | a replay's machine, its world, and the check of its pace |
/// | `Simulation+Published.swift` | the publishers' commits |
/// | `SimulatedCampaign.swift`, `StepChecker.swift` | a publisher's machine, its world, and the check of its ramp |
/// | `SimulatedJob.swift`, `LogReader.swift` | the common parts of all jobs |
/// | `Checkers.swift` … | the promises |
/// | `Checkers+Waiting.swift` | engines' reasons for waiting |
/// | `Bystanders.swift` | one lane, users that always fail, and the waits of others |
package final class Simulation {
    /// A run with more steps goes round in circles.
    static let mostSteps = 4_000_000
    /// More steps at one moment mean that a loop spins.
    static let mostStepsAtOnce = 20_000

    package let scenario: Scenario
    /// Receives each event of the run as a line, if a reader wants it.
    package var trace: ((String) -> Void)?
    /// The number of engines' inputs.
    package internal(set) var inputs = 0
    package private(set) var now: Int64 = Simulation.start
    static let start: Int64 = 1_700_000_000_000

    /// The virtual length of the run.
    package var virtualSeconds: Int { Int((now - Self.start) / 1_000) }

    var chance: Streams
    /// The chance of jobs and their hub, with streams of their own for each kind: all other streams do not depend on
    /// it.
    private var chanceOfJobs: Streams
    private var chanceOfReplays: Streams
    private var chanceOfPublishers: Streams
    var cluster: SimulatedCluster
    var backend = SimulatedBackend()
    /// The trouble of some users or events, until the pardon.
    var trouble: Trouble?
    var checkers: Checkers
    var workers: [SimulatedWorker] = []
    var followers: [SimulatedFollower] = []
    var replays: [SimulatedReplay] = []
    /// The operators' work on replays, and the knowledge of readers of the state topic.
    var replayWorld = ReplayWorld()
    var publishers: [SimulatedCampaign] = []
    /// The operators' view of the published campaign, and the knowledge of readers of the campaigns topic.
    var publishing = PublishingWorld()
    var hub = SimulatedHub()
    /// The counted part of the results, and the number of hub messages in it.
    var namedMessages: (read: [Int64], count: Int) = ([], 0)
    var published = 0
    /// The knowledge of readers of the campaigns topic, with each campaign by its number.
    var known = KnownCampaigns()
    var campaigns: [Int: CampaignControl] = [:]
    /// What users and operators have said.
    var lastWords = LastWords()
    /// The number of the campaigns topic's recreations, and the moment until which it is missing.
    var remakes = 0
    var campaignsMissingUntil: Int64 = 0
    /// The moment of each recreated topic's return, by its number.
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
        for number in 0..<scenario.serviceRefusals { backend.refusals.append(scenario.anyServiceRefusal(number)) }
        trouble = scenario.trouble
        if scenario.isBackendCalm { backend.weather = .calm }
        for index in 0..<scenario.workers { workers.append(SimulatedWorker(index: index, simulation: self)) }
        for index in 0..<scenario.followers { followers.append(SimulatedFollower(index: index, simulation: self)) }
        for index in 0..<scenario.replays { replays.append(SimulatedReplay(index: index, simulation: self)) }
        for index in 0..<scenario.publishers { publishers.append(SimulatedCampaign(index: index, simulation: self)) }
    }

    /// The streams of chance of a process, and of its requests' faults.
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

    /// The first moment of the agenda that is not before this one.
    static func millisecond(of moment: MonotonicTime) -> Int64 {
        start + (max(0, moment.nanoseconds) + 999_999) / 1_000_000
    }

    func schedule(_ step: Step, after wait: Int64) {
        agenda.add(step, at: now + max(0, wait))
    }

    /// The travel time of a message.
    func travel() -> Int64 { chance[.travel].between(0, 20) }

    /// Adds a line to the trace.
    func log(_ text: @autoclosure () -> String) {
        guard let trace else { return }
        let elapsed = now - Self.start
        let fraction = String(elapsed % 1_000)
        trace("\(elapsed / 1_000).\(String(repeating: "0", count: 3 - fraction.utf8.count))\(fraction) \(text())")
    }

    // MARK: The run

    /// Runs until everything is settled and quiet.
    ///
    /// - Returns: The broken promises.
    package func run() -> [String] {
        defer {
            for worker in workers { worker.letGo() }
            for follower in followers { follower.letGo() }
            for replay in replays { replay.letGo() }
            for publisher in publishers { publisher.letGo() }
        }
        for index in workers.indices { schedule(.start(worker: index), after: chance[.start].between(0, 50)) }
        // A rebalance waits for calls that hang: in a comparison all workers join before there are any.
        schedule(.publish, after: trouble == nil ? 10 : 15_000)
        schedule(.pardon, after: 200_000)
        scheduleFaults()
        startCampaigns()
        startLastWords()
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

    /// The visible content of the results topic, as the checkers' duties.
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

    /// Whether everything is published and every consumed record is behind the committed offset.
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
        case .say: say()
        case .followWords(let process):
            guard let worker = worker(process) else { return }
            if let thaw = worker.frozenUntil { agenda.add(step, at: max(now, thaw)) } else { worker.followWords() }
        case .resumeCampaign(let index): resume(index)
        case .brokersBack: for worker in workers { worker.recordsArrived() }
        case .leaderBack(let place): wake(place)
        case .restoreOffsets: restoreOffsets()
        case .skipLost: skipLost()
        case .strangerCommits(let generation): strangerCommits(generation: generation)
        case .topicBack(let topic): topicIsBack(topic)
        case .range(let process, let partition, let question): tellRange(process, partition, question)
        case .batch(let process, let partition, let question): tellBatch(process, partition, question)
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

    /// The process, if this life of it continues.
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

    /// The worker, if this life of it continues.
    func worker(_ process: Process) -> SimulatedWorker? {
        let worker = workers[process.worker]
        return worker.process == process && worker.isRunning ? worker : nil
    }

    /// Whether an engine is asked at this moment for its events' reasons to wait.
    func isWaitingAsked() -> Bool { chance[.waiting].below(SimulatedWorker.waitingIsAsked) == 0 }

    /// Wakes the readers of a partition.
    func wake(_ place: Place) {
        for worker in cluster[cluster.current(place)].takers { workers[worker].recordsArrived() }
        if place.topic == campaignsTopic { campaignsChanged() }
    }
}
