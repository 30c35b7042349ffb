internal import Glibc
internal import HeraldEvents
package import HeraldKafka

/// Writes groups of records, each as a whole or not at all, under a name that only one process has at a time.
///
/// Who claims the name ends what its former holder had begun, and that one can commit nothing more. One thread.
package final class TransactionalWriter {
    /// Why a group of records was not written.
    package enum WriteFailure: Error {
        /// Somebody else has claimed the name, or the broker has ended a transaction that took too long.
        case fenced
        /// The broker will not take it; nothing of the group was written.
        case refused(KafkaError)
        /// No broker answers; whether the group was written shows when the name is claimed again.
        case unreachable(KafkaError)
    }

    private static let callMilliseconds = 10_000
    /// For a broker that comes back or a leader that moves.
    private static let patience = Duration.seconds(120)
    private static let pauseMicroseconds: UInt32 = 100_000
    private static let longestPauseMicroseconds: UInt32 = 2_000_000

    /// Asked between two attempts, with what went wrong; `false` gives up before the patience is at its end.
    package var goesOn: (KafkaError) -> Bool = { _ in true }

    private let producer: Producer
    private var deliveryError: KafkaError?
    private var lastToken: UInt64 = 0

    /// A writer that has not claimed its name yet.
    ///
    /// - Parameter properties: librdkafka's, the `transactional.id` among them.
    package init(properties: [(String, String)]) throws(ToolFailure) {
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
    }

    /// Writes all of them in one transaction, and returns when they are committed; after an abort the same again.
    package func write(_ records: [OutgoingRecord]) throws(WriteFailure) {
        let end = ContinuousClock.now + Self.patience
        var pause = Self.pauseMicroseconds
        while true {
            guard let cause = try attempt(records) else { return }
            guard goesOn(cause), ContinuousClock.now < end else {
                throw ClusterReach.isSilence(cause) ? .unreachable(cause) : .refused(cause)
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
            if isFenced(error) { throw .fenced }
            try abort()
            guard error.isRetriable || error.code == KafkaError.Code.queueFull || error.isAbortable else {
                throw .refused(error)
            }
            return error
        }
        do throws(WriteFailure) {
            try repeating { () throws(KafkaError) in
                try producer.blocking(takingReports: takeReports(waitMilliseconds:)) {
                    (producer) throws(KafkaError) in
                    try producer.commitTransaction(timeoutMilliseconds: Self.callMilliseconds)
                }
            }
            return nil
        } catch .refused(let error) where error.isAbortable {
            try abort()
            // A topic that may not be written to is refused before any record is: then only the commit says it.
            for cause in [deliveryError, error].compactMap(\.self) where Self.isLasting(cause) { throw .refused(cause) }
            return deliveryError ?? error
        }
    }

    private func send(_ record: OutgoingRecord) throws(KafkaError) {
        lastToken += 1
        let end = ContinuousClock.now + Self.patience
        while let refusal = try record.produce(with: producer, token: lastToken) {
            guard refusal.code == KafkaError.Code.queueFull, goesOn(refusal), ContinuousClock.now < end else {
                throw refusal
            }
            takeReports(waitMilliseconds: 100)
        }
    }

    private func abort() throws(WriteFailure) {
        try repeating { () throws(KafkaError) in
            try producer.blocking(takingReports: takeReports(waitMilliseconds:)) {
                (producer) throws(KafkaError) in
                try producer.abortTransaction(timeoutMilliseconds: Self.callMilliseconds)
            }
        }
    }

    /// Makes the same call until it ends well: after a time-out or a retriable error only that helps.
    private func repeating(_ call: () throws(KafkaError) -> Void) throws(WriteFailure) {
        let end = ContinuousClock.now + Self.patience
        while true {
            do throws(KafkaError) {
                return try call()
            } catch {
                if isFenced(error) { throw .fenced }
                // A record that was not acknowledged in time ends its transaction, however often the commit is asked for.
                guard !error.isAbortable, error.isRetriable || ClusterReach.isSilence(error) else {
                    throw .refused(error)
                }
                guard goesOn(error), ContinuousClock.now < end else { throw .unreachable(error) }
                usleep(Self.pauseMicroseconds)
            }
        }
    }

    private func isFenced(_ error: KafkaError) -> Bool {
        error.code == KafkaError.Code.fenced || producer.fatalError()?.code == KafkaError.Code.fenced
    }

    /// Errors that the next attempt would meet again.
    package static func isLasting(_ error: KafkaError) -> Bool {
        [
            KafkaError.Code.messageSizeTooLarge, KafkaError.Code.topicAuthorizationFailed,
            KafkaError.Code.clusterAuthorizationFailed, KafkaError.Code.transactionalIDAuthorizationFailed,
            KafkaError.Code.unknownTopicOrPartition, KafkaError.Code.unknownTopic,
        ].contains(error.code)
    }

    private func takeReports(waitMilliseconds: Int) {
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
