import HeraldCore
import HeraldDriver
import HeraldKafka
import HeraldKernel
import HeraldTime

/// What each job keeps of its run: whether it lives, what has arrived for its writer, and when it looks again.
struct JobRun {
    /// The number of its latest life.
    fileprivate(set) var life = 0
    fileprivate(set) var isRunning = false
    fileprivate(set) var isStopping = false
    /// Nothing reaches it before this moment.
    fileprivate(set) var frozenUntil: Int64?
    /// When it went on the last time.
    fileprivate(set) var thawedAt: Int64 = 0
    /// There is more to do at this moment.
    var isBusy = false
    /// What the machine's writer has not been given yet.
    private(set) var reports: [BatchWriter.Report] = []
    /// The number of its latest question: an answer to another one comes too late.
    var question = 0
    private var lastProduction: Int32 = 0
    /// Claims of former producers that never had the name: each may still arrive.
    fileprivate var formerClaims = 0
    fileprivate var nextTick: (at: Int64, number: Int) = (.max, 0)

    /// The process starts again.
    fileprivate mutating func begin() {
        life += 1
        (isRunning, isStopping, isBusy) = (true, false, false)
        frozenUntil = nil
        reports = []
        (formerClaims, lateClaims, openSince, hasLostName) = (0, 0, nil, false)
        nextTick.at = .max
    }

    /// Another process has claimed its name, for certain: no transaction of its own was open for too long.
    private(set) var hasLostName = false
    /// Since when the broker may have had a transaction open.
    private var openSince: Int64?
    /// When it had to do with a transaction last.
    private(set) var lastWrite: Int64 = 0
    /// Its own claims that may still arrive: each explains one fence.
    private var lateClaims = 0

    mutating func report(_ report: BatchWriter.Report) { reports.append(report) }

    fileprivate mutating func begins(now: Int64) {
        openSince = openSince ?? now
        lastWrite = now
    }

    fileprivate mutating func report(_ report: TransactionReport, now: Int64) {
        lastWrite = now
        switch report {
        case .ready(let late):
            let all = late + formerClaims
            lateClaims += all
            (openSince, formerClaims) = (nil, 0)
            return self.report(.transaction(.ready(lateClaims: all)))
        case .committed(_, nil, _): openSince = nil
        case .committed(_, _, .fatal(isFenced: true)), .aborted(_, .fatal(isFenced: true)):
            if lateClaims > 0 {
                lateClaims -= 1
            } else if let openSince, now - openSince < Simulation.transactionTimeout.count {
                hasLostName = true
            }
        case .committed, .aborted, .waiting, .notReady: break
        }
        self.report(.transaction(report))
    }

    mutating func takeReports() -> [BatchWriter.Report] {
        defer { reports = [] }
        return reports
    }

    fileprivate mutating func nextProduction() -> ProductionID {
        lastProduction += 1
        return ProductionID(index: lastProduction, generation: 0)
    }

    /// Whether this tick is the one that is waited for; it comes once.
    fileprivate mutating func hears(tick number: Int) -> Bool {
        guard number == nextTick.number else { return false }
        nextTick.at = .max
        return true
    }
}

/// A process with a machine that writes batches under a name of its own: a follower, a replay, a campaign's publisher.
protocol SimulatedJob: TransactionalProcess, JobIO {
    /// How often it looks for what it reads (milliseconds).
    static var turn: Int64 { get }

    var run: JobRun { get set }
    var driver: JobDriver<Self>? { get set }

    /// Whether something has arrived that the machine was not given, besides the reports for its writer.
    var hasNews: Bool { get }
    /// Whether it looks for something by itself; else only its machine says when it has something to do.
    var isLooking: Bool { get }

    /// Takes an answer; whether it waits for it.
    func take(_ news: JobNews) -> Bool
    /// SIGKILL.
    func kill()
    /// The machine has come to its end.
    func ended(_ machine: Machine)
    /// It has had its turn: holds what it says of why it waits against what it does.
    func checkWaiting(_ machine: Machine)
    /// It claims its name: what it has read counts no more.
    func beginsAnew()
    /// It offers these in one transaction.
    func offers(_ records: [OutgoingRecord])
    /// A record as it lies in a log; `nil` when it can't be read.
    func written(_ record: OutgoingRecord) -> (place: Place, record: LogRecord)?
}

extension SimulatedJob {
    // MARK: Life

    var life: Int { run.life }
    var isRunning: Bool { run.isRunning }
    var frozenUntil: Int64? { run.frozenUntil }
    var now: Moment { simulation.moment }

    /// Somebody starts it: another life, with a machine of its own.
    func begin(_ machine: () -> Machine) {
        run.begin()
        client = TransactionClient()
        driver = JobDriver(machine(), io: self)
        go()
    }

    /// The run is over.
    func letGo() { driver = nil }

    func kill() {
        log("is killed")
        end()
    }

    /// SIGTERM, or its operator's word.
    func stop() {
        log("is told to stop")
        run.isStopping = true
        go()
    }

    func end() {
        run.isRunning = false
        driver = nil
    }

    /// SIGSTOP, and SIGCONT later.
    func freeze() {
        let duration = chance[.jobFault].between(100, 30_000)
        log("is frozen for \(duration) ms")
        run.frozenUntil = simulation.now + duration
        simulation.schedule(.thaw(process, after: duration), after: duration)
    }

    func thaw(after duration: Int64) {
        log("goes on")
        run.frozenUntil = nil
        run.thawedAt = simulation.now
        go()
    }

    // MARK: What it hears

    func hear(_ news: News) {
        if case .job(let news) = news {
            if case .tick(let number) = news {
                guard run.hears(tick: number) else { return }
            } else {
                guard take(news) else { return }
            }
        } else {
            hearProducer(news)
        }
        simulation.inputs += 1
        go()
    }

    /// Lets the machine turn as long as something has arrived.
    func go() {
        guard frozenUntil == nil else { return }
        repeat {
            guard isRunning, let driver else { return }
            driver.turn()
            guard isRunning else { return }
            if driver.machine.isOver { return ended(driver.machine) }
        } while run.isBusy || !run.reports.isEmpty || hasNews
        guard let driver else { return }
        checkWaiting(driver.machine)
        schedule(tick: isLooking ? simulation.now + Self.turn : .max, wake: driver.machine.nextWake)
    }

    /// What drives a simulated process is the agenda.
    func wait(until moment: MonotonicTime?) {}

    /// It turns again at this moment, or when its machine wants to, unless it does before.
    private func schedule(tick moment: Int64, wake: MonotonicTime?) {
        var at = moment
        if let wake { at = min(at, Simulation.millisecond(of: wake)) }
        guard at < run.nextTick.at else { return }
        run.nextTick = (max(at, simulation.now), run.nextTick.number + 1)
        simulation.schedule(.news(process, .job(.tick(run.nextTick.number))), after: at - simulation.now)
    }

    // MARK: Its producer

    func perform(_ action: BatchWriter.Action) {
        switch action {
        case .claim: claim()
        case .produce(let records):
            offers(records)
            produce(records)
        case .commit(let sequence, let positions): commitTransaction(sequence, positions, by: nil)
        case .abort: abortTransaction()
        }
    }

    /// Another producer claims the name; claims of those before may still arrive.
    private func claim() {
        run.question += 1
        beginsAnew()
        produced = []
        if client.epoch == nil { run.formerClaims += client.claims.unansweredCount }
        renewProducer()
    }

    /// Opens a transaction and offers the records, as they lie in a log then.
    private func produce(_ records: [OutgoingRecord]) {
        do throws(KafkaError) { try beginTransaction() } catch { return run.report(.notProduced(error)) }
        for record in records {
            guard let (place, written) = written(record) else {
                return misuse("a record for \(record.topic) can't be read")
            }
            if chance[.fullQueue].happens(simulation.scenario.fullQueues) {
                log("a record is refused")
                return run.report(.notProduced(KafkaError(code: KafkaError.Code.queueFull)))
            }
            let id = run.nextProduction()
            produced.insert(id)
            write(id, place, written, nil)
        }
        run.report(.produced)
    }

    func beginsAnew() {}

    func checkWaiting(_ machine: Machine) {}

    func offers(_ records: [OutgoingRecord]) {}

    func transactionBegins() { run.begins(now: simulation.now) }

    func take(_ report: TransactionReport) { run.report(report, now: simulation.now) }

    func acknowledge(_ id: ProductionID, _ error: KafkaError?) {
        produced.remove(id)
        if let error { run.report(.undelivered(error)) }
    }

    /// It shows in the next transactional call.
    func noteFence() {}
}

extension Simulation {
    /// The next record that a reader of committed records gets, if a broker answers for its partition; it is read then.
    ///
    /// What retention has deleted is passed over: `auto.offset.reset` is `earliest`.
    func nextRecord(_ place: Place, from offset: inout Int64) -> RecordName? {
        offset = max(offset, cluster[place].start)
        guard isReachable(place), cluster.seek(place, from: &offset) else { return nil }
        offset += 1
        return RecordName(place: place, offset: offset - 1)
    }
}
