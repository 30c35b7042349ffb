package import Dispatch
package import HeraldKafka
package import HeraldKernel
internal import HeraldThreads
package import HeraldTime

/// The calls of ``TransactionCalls``; each of these blocks.
package protocol TransactionClient: Sendable {
    var unansweredClaims: Int { get }
    func initTransactions(timeout: Milliseconds) throws(KafkaError)
    func sendOffsets(
        _ positions: [CommitPosition], group: GroupMetadata, timeout: Milliseconds
    ) throws(KafkaError)
    func commitTransaction(timeout: Milliseconds) throws(KafkaError)
    func abortTransaction(timeout: Milliseconds) throws(KafkaError)
}

extension Producer: TransactionClient {}

/// The committed offsets of a group; the question blocks.
package protocol CommittedOffsets: Sendable {
    func committed(_ partitions: [TopicPartition], timeout: Milliseconds) throws(KafkaError) -> [CommitPosition]
}

extension ConsumerQueries: CommittedOffsets {}

/// The transactional calls of one producer, which block, one after another on a queue of their own.
package final class TransactionCalls: Sendable {
    /// The longest time for one attempt; an unfinished call is repeated.
    private static let timeout = Milliseconds.seconds(10)

    private let client: any TransactionClient
    private let queue: DispatchQueue
    private let report: @Sendable (TransactionReport) -> Void
    private let closed = Guarded(false)
    /// The commit under way; only touched on the queue.
    private nonisolated(unsafe) var underWay: Commit?

    /// A commit's content, and its progress.
    private struct Commit {
        var sequence: UInt64
        var positions: [CommitPosition]
        var group: GroupMetadata?
        var hasSentOffsets = false
    }

    /// Calls of this client.
    ///
    /// - Parameters:
    ///   - queue: serial; nothing else may keep it busy.
    ///   - report: receives the outcome of each call, on the queue.
    package init(
        client: any TransactionClient, queue: DispatchQueue, report: @escaping @Sendable (TransactionReport) -> Void
    ) {
        self.client = client
        self.queue = queue
        self.report = report
    }

    /// Ends the reports: a claim that no broker answers is not repeated.
    package func close() { closed.withLock { $0 = true } }

    /// Makes the producer ready, however long that takes.
    package func prepare() {
        queue.async { [self] in
            while !closed.withLock({ $0 }) {
                do throws(KafkaError) {
                    try client.initTransactions(timeout: Self.timeout)
                    report(.ready(lateClaims: client.unansweredClaims))
                    return
                } catch {
                    let isPassing = error.outcome == .failedForNow
                    report(isPassing ? .waiting(error) : .notReady(error))
                    if !isPassing { return }
                }
            }
        }
    }

    /// Sends the offsets and commits.
    ///
    /// A repeated commit is the same, also when its partitions have gone meanwhile: the records must never become
    /// visible without the offsets. Finished parts of it are not repeated.
    package func commit(_ sequence: UInt64, _ positions: [CommitPosition], group: GroupMetadata?) {
        queue.async { [self] in
            if underWay?.sequence != sequence {
                underWay = Commit(sequence: sequence, positions: positions, group: group)
            }
            tell {
                .committed(sequence: sequence, $0, $1)
            } after: { () throws(KafkaError) in
                try sendOffsets()
                try client.commitTransaction(timeout: Self.timeout)
            }
        }
    }

    private func sendOffsets() throws(KafkaError) {
        guard let commit = underWay, !commit.hasSentOffsets else { return }
        if !commit.positions.isEmpty {
            guard let group = commit.group else {
                throw KafkaError(code: KafkaError.Code.assignmentLost, isAbortable: true)
            }
            try client.sendOffsets(commit.positions, group: group, timeout: Self.timeout)
        }
        underWay?.hasSentOffsets = true
    }

    /// Aborts the open transaction.
    package func abort() {
        queue.async { [self] in
            tell { error, outcome in
                .aborted(error, outcome)
            } after: { () throws(KafkaError) in
                try client.abortTransaction(timeout: Self.timeout)
            }
        }
    }

    /// Finds out whether a commit with an unknown outcome was made: if so, the group has committed its positions.
    package func lookUp(_ sequence: UInt64, _ positions: [CommitPosition], queries: any CommittedOffsets) {
        queue.async { [report] in
            do throws(KafkaError) {
                let present = try queries.committed(
                    positions.map(\.partition), timeout: Self.timeout)
                let wasMade = !positions.isEmpty && positions.allSatisfy { present.contains($0) }
                report(.committed(sequence: sequence, nil, wasMade ? .acknowledged : .abortable))
            } catch {
                report(.committed(sequence: sequence, error, .failedForNow))
            }
        }
    }

    private func tell(
        _ made: (KafkaError?, TransactionOutcome) -> TransactionReport, after call: () throws(KafkaError) -> Void
    ) {
        do {
            try call()
            report(made(nil, .acknowledged))
        } catch {
            report(made(error, error.outcome))
        }
    }
}

/// The outcome of a transactional call.
package enum TransactionReport: Sendable {
    /// The producer has its name, and any transaction of an earlier holder is ended.
    ///
    /// - Parameter lateClaims: the number of its unanswered claims: each may arrive later, and fences the holder then.
    case ready(lateClaims: Int)
    /// No broker makes it ready at the moment; it is asked again.
    case waiting(KafkaError)
    /// It can't be made ready, and waiting will not help.
    case notReady(KafkaError)
    /// A commit, or the question about one.
    case committed(sequence: UInt64, KafkaError?, TransactionOutcome)
    /// An abort.
    case aborted(KafkaError?, TransactionOutcome)

    /// Whether a transaction's records are durable now.
    package var isCommitted: Bool {
        if case .committed(_, _, .acknowledged) = self { true } else { false }
    }
}

extension KafkaError {
    /// The consequence of a failed transactional call: the one table for delivery, replays, campaigns and feedback.
    ///
    /// | error | outcome |
    /// |---|---|
    /// | fatal | `fatal`: a new producer |
    /// | the group does not count the caller as a member | `refused`: an abort |
    /// | abortable | `abortable`: an abort |
    /// | retriable, or no broker answers | `failedForNow`: the same call again |
    /// | any other | `fatal`: an error unknown to librdkafka leaves the transaction in an unknown state |
    ///
    /// Sources: librdkafka's `rd_kafka_error_is_fatal`, `rd_kafka_error_txn_requires_abort`, `rd_kafka_error_is_retriable`;
    /// KIP-98, KIP-447.
    package var outcome: TransactionOutcome {
        if isFatal { return .fatal(isFenced: kind == .fenced) }
        if isOfMembership { return .refused }
        if isAbortable { return .abortable }
        if isRetriable || kind == .unreachable { return .failedForNow }
        return .fatal(isFenced: kind == .fenced)
    }
}
