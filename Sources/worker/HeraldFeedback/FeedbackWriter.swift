internal import HeraldKafka
internal import HeraldThreads

/// Writes records and offsets, each group of them in one transaction, under a name that only one process has at a time.
///
/// A transaction that fails is not repeated: whoever writes begins anew with another writer, which ends it for good, and
/// reads how far the offsets came.
final class FeedbackWriter: Sendable {
    struct Record: Sendable {
        var topic: String
        var key: [UInt8]?
        var value: [UInt8]?
    }

    struct Work: Sendable {
        var records: [Record]
        var positions: [CommitPosition]
        var group: GroupMetadata?
    }

    private static let callMilliseconds = 10_000
    /// For a broker that comes back or a leader that moves.
    private static let patience = Duration.seconds(60)

    private let producer: Producer
    private let wakeup: Wakeup
    private let outcome = Guarded<Result<Void, KafkaError>?>(nil)
    private let thread = Guarded<OwnThread?>(nil)

    /// A writer that has claimed its name: whoever had it can commit nothing more, and what he had begun is ended.
    ///
    /// Blocks.
    ///
    /// - Parameter goesOn: asked between two attempts, with what went wrong; `false` gives up.
    init(
        properties: ClientProperties, wakeup: Wakeup, goesOn: (KafkaError) -> Bool
    ) throws(KafkaError) {
        producer = try Producer(properties: properties)
        self.wakeup = wakeup
        do throws(KafkaError) {
            try Self.repeating(goesOn) { () throws(KafkaError) in
                try producer.initTransactions(timeoutMilliseconds: Self.callMilliseconds)
            }
        } catch {
            producer.close()
            throw error
        }
    }

    /// Begins a transaction on a thread of its own; ``takeOutcome()`` tells how it ended, once the wake-up is signalled.
    func begin(_ work: Work) throws(SystemError) {
        let made = try OwnThread(name: "transaction") { [self] in
            let result: Result<Void, KafkaError>
            do throws(KafkaError) {
                try write(work)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            outcome.withLock { $0 = result }
            wakeup.signal()
        }
        thread.withLock { $0 = made }
    }

    /// How the transaction ended; `nil` as long as it has not.
    func takeOutcome() -> Result<Void, KafkaError>? {
        outcome.withLock { outcome in
            defer { outcome = nil }
            return outcome
        }
    }

    /// Lets the client go, when the transaction that is under way has ended one way or the other.
    func close() {
        thread.withLock { $0 }?.join()
        producer.close()
    }

    /// Whether another process has the name now.
    func isFenced(_ error: KafkaError) -> Bool { error.kind == .fenced || producer.fatalError()?.kind == .fenced }

    private func write(_ work: Work) throws(KafkaError) {
        let end = ContinuousClock.now + Self.patience
        let goesOn = { (_: KafkaError) in ContinuousClock.now < end }
        try producer.beginTransaction()
        var delivered = 0
        var failure: KafkaError?
        func takeReports(_ milliseconds: Int) {
            delivered += producer.reports(waitMilliseconds: milliseconds) { failure = failure ?? $0.error }
        }
        for record in work.records {
            while let refusal = try produce(record) {
                guard refusal.code == KafkaError.Code.queueFull, goesOn(refusal) else { throw refusal }
                takeReports(100)
            }
        }
        while delivered < work.records.count, failure == nil {
            guard ContinuousClock.now < end else {
                throw KafkaError(code: KafkaError.Code.timedOut, message: "records were not acknowledged in time")
            }
            takeReports(100)
        }
        if let failure { throw failure }
        if !work.positions.isEmpty, let group = work.group {
            try Self.repeating(goesOn) { () throws(KafkaError) in
                try producer.sendOffsets(work.positions, group: group, timeoutMilliseconds: Self.callMilliseconds)
            }
        }
        // All reports have come, so that the commit waits for none.
        try Self.repeating(goesOn) { () throws(KafkaError) in
            try producer.commitTransaction(timeoutMilliseconds: Self.callMilliseconds)
        }
    }

    private func produce(_ record: Record) throws(KafkaError) -> KafkaError? {
        let topic = try producer.topic(record.topic)
        return switch (record.key, record.value) {
        case (let key?, let value?):
            producer.produce(topic: topic, key: key.span.bytes, value: value.span.bytes, token: 0)
        case (let key?, nil): producer.produce(topic: topic, key: key.span.bytes, value: nil, token: 0)
        case (nil, let value?): producer.produce(topic: topic, key: nil, value: value.span.bytes, token: 0)
        case (nil, nil): producer.produce(topic: topic, key: nil, value: nil, token: 0)
        }
    }

    private static func repeating(
        _ goesOn: (KafkaError) -> Bool, _ call: () throws(KafkaError) -> Void
    ) throws(KafkaError) {
        while true {
            do throws(KafkaError) {
                return try call()
            } catch {
                guard error.isRetriable || error.kind == .unreachable, !error.isAbortable, !error.isFatal,
                    goesOn(error)
                else { throw error }
            }
        }
    }
}
