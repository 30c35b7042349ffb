internal import HeraldDriver
internal import HeraldEvents
internal import HeraldTools

/// What each transaction of a job has beside the letters: their marks, the lease and an audit entry.
///
/// Pure.
struct ReplayTransaction: Sendable {
    private let stateTopic: String
    private let auditTopic: String
    private let markPrefix: String
    private(set) var lease: Lease
    private var markCount = 0
    /// How many marks there were before the last transaction.
    private var formerMarkCount = 0

    /// Those of a job that has written nothing.
    ///
    /// - Parameter work: what it does, for people.
    init(_ context: ReplayContext, job: String, process: ProcessIdentity, work: String) {
        stateTopic = context.topics.state
        auditTopic = context.topics.audit
        markPrefix = MarkRecord.keyPrefix(context.foreign?.name)
        lease = Lease(job: job, owner: context.operatorName, process: process, work: work, since: 0)
    }

    var job: String { lease.job }

    /// The job begins (epoch milliseconds).
    mutating func begin(at moment: Int64) { lease.since = moment }

    /// The next lease gives the name back.
    mutating func end() { lease.isOver = true }

    /// The records of one transaction: what is published, the marks that belong to it, the lease and an audit entry.
    mutating func records(
        _ published: [OutgoingRecord] = [], marks: [MarkRecord] = [], audit: AuditEntry? = nil
    ) -> [OutgoingRecord] {
        var all = published
        formerMarkCount = markCount
        for mark in marks {
            all.append(record(mark.key(prefix: markPrefix, number: markCount), RecordJSON.encoded(mark)))
            markCount += 1
        }
        lease.beat += 1
        all.append(record(Lease.key, RecordJSON.encoded(lease)))
        if let audit { all.append(audit.record(topic: auditTopic)) }
        return all
    }

    /// Nothing of the last transaction was written; else it may have been, and a mark is never overwritten.
    mutating func refused() { markCount = formerMarkCount }

    private func record(_ key: String, _ value: [UInt8]) -> OutgoingRecord {
        OutgoingRecord(topic: stateTopic, key: Array(key.utf8), value: value)
    }
}
