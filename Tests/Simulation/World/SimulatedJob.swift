import HeraldCore
import HeraldDriver
import HeraldKafka
import HeraldKernel
import HeraldTime

/// The state of each job's run: its life, the reports for its writer, and its next turn.
struct JobRun {
    /// The number of its latest life.
    fileprivate(set) var life = 0
    fileprivate(set) var isRunning = false
    fileprivate(set) var isStopping = false
    /// It gets no inputs before this moment.
    fileprivate(set) var frozenUntil: Int64?
    /// The last moment at which it continued.
    fileprivate(set) var thawedAt: Int64 = 0
    /// There is more work at this moment.
    var isBusy = false
    /// Reports that the machine's writer has not been given yet.
    private(set) var reports: [BatchWriter.Report] = []
    /// The number of its latest question: an answer to another one comes too late.
    var question = 0
    private var lastProduction: Int32 = 0
    /// Claims of former producers that never had the name: each may still arrive.
    fileprivate var formerClaims = 0
    fileprivate var nextTick: (at: Int64, number: Int) = (.max, 0)

    /// Starts the process again.
    fileprivate mutating func begin() {
        life += 1
        (isRunning, isStopping, isBusy) = (true, false, false)
        frozenUntil = nil
        reports = []
        (formerClaims, lateClaims, openSince, hasLostName, hasHiddenFence) = (0, 0, nil, false, false)
        nextTick.at = .max
    }

    /// Another process has claimed its name, for certain: no transaction of its own was open for too long.
    private(set) var hasLostName = false
    /// Its epoch is over, which no call has said since.
    fileprivate(set) var hasHiddenFence = false
    /// The moment since which the broker may have had a transaction open.
    private var openSince: Int64?
    /// Its last moment with a transaction.
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
        if case .aborted = report { hasHiddenFence = false }
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

    /// Whether this tick is the expected one; it comes once.
    fileprivate mutating func hears(tick number: Int) -> Bool {
        guard number == nextTick.number else { return false }
        nextTick.at = .max
        return true
    }
}

/// A process with a machine that writes batches under a name of its own: a follower, a replay, a campaign's publisher.
protocol SimulatedJob: TransactionalProcess, JobIO {
    /// The interval of its looks for input (milliseconds).
    static var turn: Int64 { get }

    /// The present moment by its clocks.
    var now: Moment { get }
    var run: JobRun { get set }
    var driver: JobDriver<Self>? { get set }

    /// Whether it has inputs that the machine was not given, besides the reports for its writer.
    var hasNews: Bool { get }
    /// Whether it looks for input by itself; otherwise only its machine decides when it works.
    var isLooking: Bool { get }

    /// Takes an answer; returns whether it expects it.
    func take(_ news: JobNews) -> Bool
    /// SIGKILL.
    func kill()
    /// Notes the machine's end.
    func ended(_ machine: Machine)
    /// Compares its reasons for waiting with its behaviour, after its turn.
    func checkWaiting(_ machine: Machine)
    /// Forgets its input, because it claims its name.
    func beginsAnew()
    /// Notes the offer of these records in one transaction.
    func offers(_ records: [OutgoingRecord])
    /// The record in a log; `nil` when it is unreadable.
    func written(_ record: OutgoingRecord) -> (place: Place, record: LogRecord)?
}

extension SimulatedJob {
    // MARK: Life

    var life: Int { run.life }
    var isRunning: Bool { run.isRunning }
    var frozenUntil: Int64? { run.frozenUntil }
    var now: Moment { simulation.moment }

    /// Starts it: another life, with a machine of its own.
    func begin(_ machine: () -> Machine) {
        run.begin()
        client = TransactionClient()
        driver = JobDriver(machine(), io: self)
        go()
    }

    /// Ends with the run.
    func letGo() { driver = nil }

    func kill() {
        log("is killed")
        end()
    }

    /// SIGTERM, or its operator's order.
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

    // MARK: Inputs

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

    /// Lets the machine turn while there are inputs.
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

    /// The agenda drives a simulated process.
    func wait(until moment: MonotonicTime?) {}

    /// Schedules its next turn at this moment, or at its machine's, unless one comes before.
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

    /// Claims the name with another producer; claims of former ones may still arrive.
    private func claim() {
        run.question += 1
        if run.hasHiddenFence { misuse("it claims its name, and has not asked who has it") }
        beginsAnew()
        produced = []
        if client.epoch == nil { run.formerClaims += client.claims.unansweredCount }
        renewProducer()
    }

    /// Opens a transaction and offers the records in the form that a log has.
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

    /// The fence shows in the next transactional call.
    func noteFence() {}

    func noteHiddenFence() { run.hasHiddenFence = true }
}

extension Simulation {
    /// Reads the next record for a reader of committed records, if a broker answers for its partition.
    ///
    /// Deleted records are passed over: `auto.offset.reset` is `earliest`.
    func nextRecord(_ place: Place, from offset: inout Int64) -> RecordName? {
        offset = max(offset, cluster[place].start)
        guard isReachable(place), cluster.seek(place, from: &offset) else { return nil }
        offset += 1
        return RecordName(place: place, offset: offset - 1)
    }
}
