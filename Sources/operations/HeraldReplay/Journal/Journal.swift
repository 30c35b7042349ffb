internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTime
internal import HeraldTools

/// What a job writes: its records, their marks, its lease and its audit entries, each group in one transaction.
///
/// One thread.
final class Journal {
    private var writer: TransactionalWriter
    private let stateTopic: String
    private let auditTopic: String
    private var lease: Lease
    private var markCount = 0
    private var lastWrite = ContinuousClock.now

    init(writer: TransactionalWriter, stateTopic: String, auditTopic: String, lease: Lease) {
        self.writer = writer
        self.stateTopic = stateTopic
        self.auditTopic = auditTopic
        self.lease = lease
    }

    var job: String { lease.job }

    /// Writes records, the marks that belong to them, and an audit entry: all of it or nothing.
    ///
    /// The lease goes along.
    func write(
        _ records: [OutgoingRecord] = [], marks: [MarkRecord] = [], audit: AuditEntry? = nil
    ) throws(TransactionalWriter.WriteFailure) {
        var all = records
        let count = markCount
        for mark in marks {
            all.append(record(mark.key(number: markCount), RecordJSON.encoded(mark)))
            markCount += 1
        }
        lease.beat += 1
        all.append(record(Lease.key, RecordJSON.encoded(lease)))
        if let audit {
            all.append(audit.record(topic: auditTopic))
        }
        do throws(TransactionalWriter.WriteFailure) {
            try writer.write(all)
        } catch {
            // Else it may have been written, and a mark is never overwritten.
            if error.isWithoutTrace { markCount = count }
            throw error
        }
        lastWrite = .now
    }

    /// Claims the name once more, after it was lost: the broker ends a transaction that is open for too long, and takes the
    /// name from whoever was stopped or cut off.
    ///
    /// - Returns: whether the job goes on; not if somebody else has begun to work meanwhile.
    func reclaim(_ world: ReplayWorld, _ state: StateReader) throws(ToolFailure) -> Bool {
        writer.close()
        writer = try world.writer()
        do throws(TransactionalWriter.WriteFailure) {
            try writer.claim()
        } catch {
            throw error.toolFailure("replay")
        }
        try state.catchUp(throughOpenTransactions: true)
        return state.lease?.job == lease.job
    }

    /// Shows that this job lives, when it is time.
    func keepAlive() throws(TransactionalWriter.WriteFailure) {
        if ContinuousClock.now - lastWrite >= Lease.renewal { try write() }
    }

    /// Gives the lease back, with the job's last words.
    func end(_ audit: AuditEntry) throws(TransactionalWriter.WriteFailure) {
        lease.isOver = true
        try write(audit: audit)
    }

    private func record(_ key: String, _ value: [UInt8]) -> OutgoingRecord {
        OutgoingRecord(topic: stateTopic, key: Array(key.utf8), value: value)
    }
}

extension TransactionalWriter.WriteFailure {
    /// Whether nothing of the group was written.
    fileprivate var isWithoutTrace: Bool {
        if case .refused = self { !needsNewWriter } else { false }
    }

    /// Whether this writer is of no more use, and only another one can tell what was written: its name was claimed, or it
    /// and its broker do not agree about the transaction any more.
    var needsNewWriter: Bool {
        switch self {
        case .fenced: true
        case .refused(let error): error.isFatal
        case .unreachable: false
        }
    }
}

extension Journal {
    /// Takes the lease for a new job, or says who has it.
    ///
    /// First the holder's life is looked for. Then the name is claimed: whoever had it can commit nothing from here on,
    /// and what it had begun is ended. Only then are the marks read to their end, so that they are all there is.
    static func begin(
        _ world: ReplayWorld, state: StateReader, kind: String, work: String, _ audit: AuditEntry,
        _ onWait: (Lease) -> Void
    ) throws(ToolFailure) -> Journal {
        if let holder = try state.isSomebodyAlive(onWait) { throw busy(holder) }
        let writer = try world.writer()
        let job = newJobName(kind)
        do throws(TransactionalWriter.WriteFailure) {
            try writer.claim()
        } catch {
            throw failure(error, world)
        }
        try state.catchUp(throughOpenTransactions: true)
        let lease = Lease(
            job: job, owner: world.operatorName, work: "\(kind) \(work.prefix(500))",
            since: SystemClock.wall().milliseconds)
        let journal = Journal(
            writer: writer, stateTopic: world.topics.state, auditTopic: world.topics.audit, lease: lease)
        var audit = audit
        audit.job = job
        if let holder = state.lease, !holder.isOver { audit.tookOverFrom = holder.job }
        do throws(TransactionalWriter.WriteFailure) {
            try journal.write(audit: audit)
        } catch {
            throw failure(error, world)
        }
        return journal
    }

    /// Nobody else has it; short enough for the start of an idempotency key.
    private static func newJobName(_ kind: String) -> String {
        let number = UInt64.random(in: .min ... .max)
        let digits = String(number, radix: 36)
        return kind + "-" + String(repeating: "0", count: 13 - digits.count) + digits
    }

    private static func busy(_ holder: Lease) -> ToolFailure {
        ToolFailure(
            "\(holder.owner) is at work on the dead letters (job \(holder.job), \(holder.work)); "
                + "wait for its end, or stop it: what it has replayed stays marked")
    }

    private static func failure(_ error: TransactionalWriter.WriteFailure, _ world: ReplayWorld) -> ToolFailure {
        switch error {
        case .fenced:
            ToolFailure("somebody else has just begun to work on the dead letters; nothing was replayed")
        case .unreachable(let error):
            ToolFailure("no transaction can be begun: \(error)", kind: .unreachable)
        case .refused(let error):
            ToolFailure(
                "no transaction can be begun: \(error); allow Write and Describe on the transactional id "
                    + "\(world.transactionalID), and Write on \(world.topics.state), \(world.topics.audit) and the "
                    + "request topics with kafka-acls")
        }
    }
}
