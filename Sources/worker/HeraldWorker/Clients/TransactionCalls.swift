import Dispatch
import HeraldCore
import HeraldKafka

/// What ``TransactionCalls`` calls; each of these blocks.
protocol TransactionClient: Sendable {
    var unansweredClaims: Int { get }
    func initTransactions(timeoutMilliseconds: Int) throws(KafkaError)
    func sendOffsets(
        _ positions: [CommitPosition], group: GroupMetadata, timeoutMilliseconds: Int
    ) throws(KafkaError)
    func commitTransaction(timeoutMilliseconds: Int) throws(KafkaError)
    func abortTransaction(timeoutMilliseconds: Int) throws(KafkaError)
}

extension Producer: TransactionClient {}

/// Who knows what a group has committed; the question blocks.
protocol CommittedOffsets: Sendable {
    func committed(_ partitions: [TopicPartition], timeoutMilliseconds: Int) throws(KafkaError) -> [CommitPosition]
}

extension ConsumerQueries: CommittedOffsets {}

/// The transactional calls of one producer, which block, one after another on a queue of their own.
final class TransactionCalls: Sendable {
    /// How long one try may take; what it does not finish is asked for again.
    private static let timeoutMilliseconds = 10_000

    private let client: any TransactionClient
    private let queue: DispatchQueue
    private let mailbox: Mailbox
    /// The commit under way; only touched on the queue.
    private nonisolated(unsafe) var underWay: Commit?

    /// What a commit says, and how far it came.
    private struct Commit {
        var sequence: UInt64
        var positions: [CommitPosition]
        var group: GroupMetadata?
        var hasSentOffsets = false
    }

    init(client: any TransactionClient, queue: DispatchQueue, mailbox: Mailbox) {
        self.client = client
        self.queue = queue
        self.mailbox = mailbox
    }

    /// Makes the producer ready, however long that takes.
    func prepare() {
        queue.async { [self] in
            while !mailbox.isClosed {
                do throws(KafkaError) {
                    try client.initTransactions(timeoutMilliseconds: Self.timeoutMilliseconds)
                    mailbox.post(.transaction(.ready(lateClaims: client.unansweredClaims)))
                    return
                } catch {
                    let isPassing = error.isRetriable || error.kind == .unreachable
                    mailbox.post(.transaction(isPassing ? .waiting(error) : .notReady(error)))
                    if !isPassing { return }
                }
            }
        }
    }

    /// Sends the offsets and commits.
    ///
    /// A commit that is asked for again is the same, also when its partitions have gone meanwhile: the records must never
    /// become visible without the offsets. What was done of it is not done twice.
    func commit(_ sequence: UInt64, _ positions: [CommitPosition], group: GroupMetadata?) {
        queue.async { [self] in
            if underWay?.sequence != sequence {
                underWay = Commit(sequence: sequence, positions: positions, group: group)
            }
            report {
                .committed(sequence: sequence, $0, $1)
            } after: { () throws(KafkaError) in
                try sendOffsets()
                try client.commitTransaction(timeoutMilliseconds: Self.timeoutMilliseconds)
            }
        }
    }

    private func sendOffsets() throws(KafkaError) {
        guard let commit = underWay, !commit.hasSentOffsets else { return }
        if !commit.positions.isEmpty {
            guard let group = commit.group else {
                throw KafkaError(code: KafkaError.Code.assignmentLost, isAbortable: true)
            }
            try client.sendOffsets(commit.positions, group: group, timeoutMilliseconds: Self.timeoutMilliseconds)
        }
        underWay?.hasSentOffsets = true
    }

    /// Aborts what is open.
    func abort() {
        queue.async { [self] in
            report { error, outcome in
                .aborted(error, outcome)
            } after: { () throws(KafkaError) in
                try client.abortTransaction(timeoutMilliseconds: Self.timeoutMilliseconds)
            }
        }
    }

    /// Finds out whether a commit was made whose outcome nobody knows: if so, the group stands where it said.
    func lookUp(_ sequence: UInt64, _ positions: [CommitPosition], queries: any CommittedOffsets) {
        queue.async { [mailbox] in
            do throws(KafkaError) {
                let present = try queries.committed(
                    positions.map(\.partition), timeoutMilliseconds: Self.timeoutMilliseconds)
                let wasMade = !positions.isEmpty && positions.allSatisfy { present.contains($0) }
                mailbox.post(
                    .transaction(.committed(sequence: sequence, nil, wasMade ? .acknowledged : .abortable)))
            } catch {
                mailbox.post(.transaction(.committed(sequence: sequence, error, .failedForNow)))
            }
        }
    }

    private func report(
        _ report: (KafkaError?, CommitOutcome) -> TransactionReport, after call: () throws(KafkaError) -> Void
    ) {
        do {
            try call()
            mailbox.post(.transaction(report(nil, .acknowledged)))
        } catch {
            mailbox.post(.transaction(report(error, Self.outcome(of: error))))
        }
    }

    /// What an error of a transactional call wants: the same call again, an abort, or a new producer.
    static func outcome(of error: KafkaError) -> CommitOutcome {
        if error.isFatal { return .fatal(isFenced: error.kind == .fenced) }
        if error.isOfMembership { return .refused }
        if error.isAbortable { return .abortable }
        if error.isRetriable || error.kind == .unreachable { return .failedForNow }
        // What librdkafka has no word for leaves the transaction in a state that nobody knows.
        return .fatal(isFenced: false)
    }
}
