import HeraldCore
import HeraldDriver
import HeraldKafka
import HeraldTime

/// What each job keeps of one run: what has arrived for its writer, and when it looks again.
struct JobRun {
    /// What the machine's writer has not been given yet.
    var reports: [BatchWriter.Report] = []
    private var lastProduction: Int32 = 0
    /// Claims of former producers that never had the name: each may still arrive.
    fileprivate var formerClaims = 0
    fileprivate var nextTick: (at: Int64, number: Int) = (.max, 0)

    /// The process starts again.
    mutating func begin() {
        reports = []
        formerClaims = 0
        nextTick.at = .max
    }

    fileprivate mutating func nextProduction() -> ProductionID {
        lastProduction += 1
        return ProductionID(index: lastProduction, generation: 0)
    }

    /// Whether this tick is the one that is waited for; it comes once.
    mutating func hears(tick number: Int) -> Bool {
        guard number == nextTick.number else { return false }
        nextTick.at = .max
        return true
    }
}

/// A process with a machine that writes batches under a name of its own: a follower, a replay.
protocol SimulatedJob: TransactionalProcess {
    var run: JobRun { get set }
    var frozenUntil: Int64? { get set }

    /// Lets the machine turn as long as something has arrived.
    func go()
}

extension SimulatedJob {
    // MARK: Life

    /// SIGSTOP, and SIGCONT later.
    func freeze() {
        let duration = chance[.jobFault].between(100, 30_000)
        log("is frozen for \(duration) ms")
        frozenUntil = simulation.now + duration
        simulation.schedule(.thaw(process, after: duration), after: duration)
    }

    func thaw(after duration: Int64) {
        log("goes on")
        frozenUntil = nil
        go()
    }

    /// It turns again at this moment, or when its machine wants to, unless it does before.
    func schedule(tick moment: Int64, wake: MonotonicTime?) {
        var at = moment
        if let wake { at = min(at, Simulation.start + (max(0, wake.nanoseconds) + 999_999) / 1_000_000) }
        guard at < run.nextTick.at else { return }
        run.nextTick = (max(at, simulation.now), run.nextTick.number + 1)
        simulation.schedule(.news(process, .job(.tick(run.nextTick.number))), after: at - simulation.now)
    }

    // MARK: Its producer

    /// Another producer claims the name; claims of those before may still arrive.
    func claim() {
        produced = []
        if client.epoch == nil { run.formerClaims += client.claims.unansweredCount }
        renewProducer()
    }

    /// Opens a transaction and offers the records, as they lie in a log then.
    func produce(_ records: [OutgoingRecord], _ written: (OutgoingRecord) -> (place: Place, record: LogRecord)?) {
        do throws(KafkaError) { try beginTransaction() } catch { return run.reports.append(.notProduced(error)) }
        for record in records {
            guard let (place, written) = written(record) else {
                return misuse("a record for \(record.topic) can't be read")
            }
            if chance[.fullQueue].happens(simulation.scenario.fullQueues) {
                log("a record is refused")
                return run.reports.append(.notProduced(KafkaError(code: KafkaError.Code.queueFull)))
            }
            let id = run.nextProduction()
            produced.insert(id)
            write(id, place, written, nil)
        }
        run.reports.append(.produced)
    }

    func transactionBegins() {}

    func take(_ report: TransactionReport) {
        if case .ready(let late) = report {
            run.reports.append(.transaction(.ready(lateClaims: late + run.formerClaims)))
            run.formerClaims = 0
        } else {
            run.reports.append(.transaction(report))
        }
    }

    func acknowledge(_ id: ProductionID, _ error: KafkaError?) {
        produced.remove(id)
        if let error { run.reports.append(.undelivered(error)) }
    }

    /// It shows in the next transactional call.
    func noteFence() {}
}

extension Simulation {
    /// The next record that a reader of committed records gets, if a broker answers for its partition; it is read then.
    func nextRecord(_ place: Place, from offset: inout Int64) -> RecordName? {
        guard cluster.awayUntil <= now, cluster[place].leaderlessUntil <= now, cluster.seek(place, from: &offset) else {
            return nil
        }
        offset += 1
        return RecordName(place: place, offset: offset - 1)
    }
}
