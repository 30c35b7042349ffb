internal import Glibc
internal import HeraldEvents
package import HeraldKafka

/// Writes groups of records, each as a whole or not at all, under a name that only one process has at a time.
///
/// Who claims the name ends what its former holder had begun, and that one can commit nothing more. One thread.
package final class TransactionalWriter {
    /// Why a group of records was not written.
    package enum WriteFailure: Error {
        /// Somebody else has claimed the name, or the broker has ended a transaction that took too long (`isLong`: it has taken
        /// long enough for that, or there was none yet). Whether the group was written shows when the name is claimed again.
        case fenced(isLong: Bool)
        /// The broker will not take it; nothing of the group was written, for certain.
        case refused(KafkaError)
        /// The client and its broker do not agree about the transaction. Whether the group was written shows when the name
        /// is claimed again.
        case inDoubt(KafkaError)
        /// No broker answers; whether the group was written shows when the name is claimed again.
        case unreachable(KafkaError)

        /// Whether this writer can do nothing more, and only what was written tells what it has done.
        package var needsClaim: Bool {
            switch self {
            case .fenced, .inDoubt: true
            case .refused, .unreachable: false
            }
        }
    }

    private static let callMilliseconds = 10_000
    /// For a broker that comes back or a leader that moves.
    private static let patience = Duration.seconds(120)
    private static let pauseMicroseconds: UInt32 = 100_000
    private static let longestPauseMicroseconds: UInt32 = 2_000_000

    /// Asked between two attempts, with what went wrong; `false` gives up before the patience is at its end.
    private let goesOn: (KafkaError) -> Bool
    private let producer: Producer
    /// How long a transaction may be open before the broker ends it.
    private let transactionTimeout: Duration
    /// Since when the broker may have had a transaction open; an abort does not prove its end (``Producer``).
    private var openSince: ContinuousClock.Instant?
    private var deliveryError: KafkaError?
    private var lastToken: UInt64 = 0

    /// A writer that has not claimed its name yet.
    ///
    /// - Parameter properties: librdkafka's, the `transactional.id` among them.
    package init(properties: ClientProperties, goesOn: @escaping (KafkaError) -> Bool = { _ in true }) throws {
        self.goesOn = goesOn
        transactionTimeout = .milliseconds(properties["transaction.timeout.ms"].flatMap { Int($0) } ?? 10_000)
        do throws(KafkaError) {
            producer = try Producer(properties: properties)
        } catch {
            throw ToolFailure("\(error)")
        }
    }

    /// Claims the name: ends the transaction of its former holder, if there is one, and keeps that one from any other.
    package func claim() throws(WriteFailure) {
        try repeating { () throws(KafkaError) in
            try producer.initTransactions(timeoutMilliseconds: Self.callMilliseconds)
        }
        openSince = nil
    }

    /// Writes all of them in one transaction, and returns when they are committed; the same again after an abort that leaves
    /// no doubt.
    package func write(_ records: [OutgoingRecord]) throws(WriteFailure) {
        openSince = openSince ?? .now
        let end = ContinuousClock.now + Self.patience
        var pause = Self.pauseMicroseconds
        while true {
            guard let cause = try attempt(records) else {
                openSince = nil
                return
            }
            guard goesOn(cause), ContinuousClock.now < end else {
                throw cause.kind == .unreachable ? .unreachable(cause) : .refused(cause)
            }
            usleep(pause)
            pause = min(2 * pause, Self.longestPauseMicroseconds)
        }
    }

    /// One transaction; why it was aborted, if it may be tried again.
    private func attempt(_ records: [OutgoingRecord]) throws(WriteFailure) -> KafkaError? {
        deliveryError = nil
        do throws(KafkaError) {
            try producer.beginTransaction()
            for record in records { try send(record) }
        } catch {
            if isFenced(error) { throw fenced }
            try abort(after: error)
            guard error.isRetriable || error.code == KafkaError.Code.queueFull || error.isAbortable else {
                throw .refused(error)
            }
            return error
        }
        do throws(WriteFailure) {
            try repeating { () throws(KafkaError) in
                try blocking { (producer) throws(KafkaError) in
                    try producer.commitTransaction(timeoutMilliseconds: Self.callMilliseconds)
                }
            }
            return nil
        } catch .refused(let error) {
            // Before a record that was not delivered, or a topic that may not be written to, the client has not asked for the
            // commit. After anything else the broker may have been asked, and have made it, whatever the client says then:
            // an abort that succeeds is no proof.
            let cause = deliveryError ?? error
            guard error.isAbortable, deliveryError != nil || cause.isLasting else { throw .inDoubt(error) }
            try abort(after: cause)
            if cause.isLasting { throw .refused(cause) }
            // A topic that may not be written to is refused before any record is: then only the commit says it.
            if error.isLasting { throw .refused(error) }
            return cause
        }
    }

    private func send(_ record: OutgoingRecord) throws(KafkaError) {
        lastToken += 1
        let end = ContinuousClock.now + Self.patience
        while let refusal = try record.produce(with: producer, token: lastToken) {
            guard refusal.code == KafkaError.Code.queueFull, goesOn(refusal), ContinuousClock.now < end else {
                throw refusal
            }
            pollReports(waitMilliseconds: 100)
        }
    }

    /// Ends a transaction that nobody has asked to commit.
    private func abort(after cause: KafkaError) throws(WriteFailure) {
        guard !cause.isFatal else { throw .inDoubt(cause) }
        do throws(WriteFailure) {
            try repeating { () throws(KafkaError) in
                try blocking { (producer) throws(KafkaError) in
                    try producer.abortTransaction(timeoutMilliseconds: Self.callMilliseconds)
                }
            }
        } catch .refused(let error) {
            // None of its partitions was admitted, so the coordinator has nothing to abort; the client cannot know that when
            // some of them are refused together. What was refused for good stays refused.
            if error.code == KafkaError.Code.invalidTransactionState, cause.isLasting { return }
            throw .inDoubt(error)
        }
    }

    private func blocking(_ call: @escaping @Sendable (Producer) throws(KafkaError) -> Void) throws(KafkaError) {
        try producer.blocking(pollingReports: pollReports(waitMilliseconds:), call)
    }

    /// Makes the same call until it ends well: after a time-out or a retriable error only that helps.
    private func repeating(_ call: () throws(KafkaError) -> Void) throws(WriteFailure) {
        let end = ContinuousClock.now + Self.patience
        while true {
            do throws(KafkaError) {
                return try call()
            } catch {
                if isFenced(error) { throw fenced }
                // A record that was not acknowledged in time ends its transaction, however often the commit is asked for.
                guard !error.isAbortable, error.isRetriable || error.kind == .unreachable else { throw .refused(error) }
                guard goesOn(error), ContinuousClock.now < end else { throw .unreachable(error) }
                usleep(Self.pauseMicroseconds)
            }
        }
    }

    private var fenced: WriteFailure {
        // A claim of its own may have arrived once more.
        let isByItself = producer.unansweredClaims > 0
        return .fenced(isLong: openSince.map { isByItself || ContinuousClock.now - $0 >= transactionTimeout } ?? true)
    }

    private func isFenced(_ error: KafkaError) -> Bool {
        error.kind == .fenced || producer.fatalError()?.kind == .fenced
    }

    private func pollReports(waitMilliseconds: Int) {
        producer.reports(waitMilliseconds: waitMilliseconds) { report in
            // What an abort gives up says only that.
            guard let error = report.error, error.code != KafkaError.Code.purgedInQueue,
                error.code != KafkaError.Code.purgedInFlight
            else { return }
            deliveryError = deliveryError ?? error
        }
    }

    /// Lets the client go; a transaction that is open is ended by the broker, or by whoever claims the name next.
    package func close() { producer.close() }
}
