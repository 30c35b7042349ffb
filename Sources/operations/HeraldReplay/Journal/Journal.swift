internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTime
internal import HeraldTools

/// What a job writes: its records, their marks, its lease and its audit entries, each group in one transaction.
///
/// One thread.
final class Journal {
    private let publisher: TransactionalPublisher
    private let stateTopic: String
    private let auditTopic: String
    private let markPrefix: String
    private var lease: Lease
    private var markCount = 0

    private init(_ publisher: TransactionalPublisher, _ context: ReplayContext, lease: Lease) {
        self.publisher = publisher
        stateTopic = context.topics.state
        auditTopic = context.topics.audit
        markPrefix = MarkRecord.keyPrefix(context.foreign?.name)
        self.lease = lease
    }

    var job: String { lease.job }

    /// Writes records, the marks that belong to them, and an audit entry: all of it or nothing.
    ///
    /// The lease goes along.
    func write(
        _ records: [OutgoingRecord] = [], marks: [MarkRecord] = [], audit: AuditEntry? = nil
    ) throws(TransactionalPublisher.WriteFailure) {
        var all = records
        let count = markCount
        for mark in marks {
            all.append(record(mark.key(prefix: markPrefix, number: markCount), RecordJSON.encoded(mark)))
            markCount += 1
        }
        lease.beat += 1
        all.append(record(Lease.key, RecordJSON.encoded(lease)))
        if let audit {
            all.append(audit.record(topic: auditTopic))
        }
        do throws(TransactionalPublisher.WriteFailure) {
            try publisher.write(all)
        } catch {
            // Else it may have been written, and a mark is never overwritten.
            if case .refused = error { markCount = count }
            throw error
        }
    }

    /// Claims the name once more, after it was lost or a transaction is in doubt, and reads the marks to their end: these
    /// say what was done.
    ///
    /// - Returns: whether the job goes on; not if somebody else has begun to work meanwhile.
    func reclaim(after failure: TransactionalPublisher.WriteFailure, _ state: StateReader) throws -> Bool {
        try publisher.reclaim(after: failure)
        try state.catchUp(throughOpenTransactions: true)
        return state.lease?.job == lease.job
    }

    /// Whether it is time to show that this job lives.
    var isHeartbeatDue: Bool { publisher.isHeartbeatDue }

    /// Gives the lease back, with the job's last words.
    func end(_ audit: AuditEntry) throws(TransactionalPublisher.WriteFailure) {
        lease.isOver = true
        try write(audit: audit)
    }

    private func record(_ key: String, _ value: [UInt8]) -> OutgoingRecord {
        OutgoingRecord(topic: stateTopic, key: Array(key.utf8), value: value)
    }
}

extension Journal {
    /// Takes the lease for a new job, or says who has it.
    ///
    /// First the holder's life is looked for. Then the name is claimed: whoever had it can commit nothing from here on,
    /// and what it had begun is ended. Only then are the marks read to their end, so that they are all there is.
    static func begin(
        _ context: ReplayContext, state: StateReader, kind: String, work: String, _ audit: AuditEntry,
        _ onWait: (Lease) -> Void
    ) throws -> Journal {
        if let holder = try state.isSomebodyAlive(onWait) { throw busy(holder) }
        do {
            let publisher = try TransactionalPublisher(
                properties: context.writerProperties, name: context.transactionalID, heartbeat: Lease.renewal)
            try state.catchUp(throughOpenTransactions: true)
            let lease = Lease(
                job: newJobName(kind), owner: context.operatorName, work: "\(kind) \(work.prefix(500))",
                since: SystemClock.wall().milliseconds)
            let journal = Journal(publisher, context, lease: lease)
            var audit = audit
            audit.job = lease.job
            if let holder = state.lease, !holder.isOver { audit.tookOverFrom = holder.job }
            try journal.write(audit: audit)
            return journal
        } catch {
            throw ToolFailure(error) { failure($0, context) }
        }
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

    private static func failure(_ error: TransactionalPublisher.WriteFailure, _ context: ReplayContext) -> ToolFailure {
        switch error {
        case .lost(.fenced):
            ToolFailure("somebody else has just begun to work on the dead letters; nothing was replayed")
        case .lost(.unreachable(let error)):
            ToolFailure("no transaction can be begun: \(error.words)", kind: .unreachable, detail: error.description)
        case .lost(.inDoubt(let error)), .lost(.unclaimable(let error)), .refused(let error):
            ToolFailure(
                "no transaction can be begun", error,
                allow: KafkaPermission(
                    .write, on: .transactionalID(context.transactionalID), .topic(context.topics.state),
                    .topic(context.topics.audit), .topic(context.destinations)))
        }
    }
}
