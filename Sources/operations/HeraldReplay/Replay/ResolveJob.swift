internal import HeraldDriver
internal import HeraldKafka
internal import HeraldTime
package import HeraldTools

/// Marks dead letters as dealt with in another way, under the same lease as replays.
package final class ResolveJob {
    /// Marks in one transaction at most.
    private static let transactionCount = 10_000

    private let context: ReplayContext
    private let journal: Journal
    private let reason: String?

    /// Takes the lease, or says who has it.
    package init(
        _ context: ReplayContext, state: StateReader, selection: String, note: String?, planned: Int,
        onWait: (Lease) -> Void
    ) throws {
        self.context = context
        reason = note
        var audit = AuditEntry(
            action: "dlq.resolve", phase: "started", at: SystemClock.wall().text, by: context.operatorName)
        audit.reason = note
        audit.selection = selection
        audit.planned = planned
        journal = try Journal.begin(context, state: state, kind: "resolve", work: selection, audit, onWait)
    }

    package var name: String { journal.job }

    /// Marks these offsets; how many were marked before it failed, and why.
    package func run(_ chosen: [Int32: [Int64]]) -> (count: Int, failure: ToolFailure?) {
        var count = 0
        var failure: ToolFailure?
        do throws(TransactionalPublisher.WriteFailure) {
            for (partition, offsets) in chosen.sorted(by: { $0.key < $1.key }) {
                for start in stride(from: 0, to: offsets.count, by: Self.transactionCount) {
                    let part = Array(offsets[start..<min(offsets.count, start + Self.transactionCount)])
                    let mark = MarkRecord(
                        state: .resolved, job: journal.job, at: SystemClock.wall().milliseconds, pns: nil,
                        offsets: [partition: part])
                    try journal.write(marks: [mark])
                    count += part.count
                }
            }
        } catch {
            failure = error.toolFailure("resolve")
        }
        var audit = AuditEntry(
            action: "dlq.resolve", phase: "ended", at: SystemClock.wall().text, by: context.operatorName)
        audit.reason = reason
        audit.job = journal.job
        audit.end = failure == nil ? "complete" : "failed"
        audit.counts = ["resolved": count]
        do throws(TransactionalPublisher.WriteFailure) {
            try journal.end(audit)
        } catch {
            failure = failure ?? error.toolFailure("resolve")
        }
        return (count, failure)
    }
}

extension TransactionalPublisher.WriteFailure {
    func toolFailure(_ work: String) -> ToolFailure {
        switch self {
        case .lost(.fenced): ToolFailure("another job has taken over; what was done is marked")
        case .refused(let error), .lost(.inDoubt(let error)), .lost(.unclaimable(let error)):
            ToolFailure("the broker takes no \(work)", error)
        case .lost(.unreachable(let error)):
            ToolFailure(
                "no broker answers any more (\(error.words)); start it again: the marks tell what was done",
                kind: .unreachable)
        }
    }
}
