internal import Dispatch
package import HeraldKafka
internal import HeraldKernel
package import HeraldThreads
package import HeraldTime

/// Carries out the orders of a ``BatchWriter``, over librdkafka.
///
/// One thread.
package final class Transactor {
    /// Reports of the transactional calls, with the number of the producer that made them.
    private typealias Letters = Guarded<[(generation: Int, TransactionReport)]>

    private let properties: ClientProperties
    /// The member of the group whose offsets its batches commit.
    package var group: GroupMetadata?
    private let wakeup: Wakeup
    private let letters = Letters([])
    private var producer: Producer?
    private var calls: TransactionCalls?
    /// The number of producers: reports of a former one are recognised by it.
    private var generation = 0
    /// Whether the producer has its name.
    private var isReady = false
    /// Claims of former producers without an answer: each may still arrive, and fences this one then.
    private var formerClaims = 0
    /// Records without room in the producer's queue.
    private var withheld: ArraySlice<OutgoingRecord> = []
    private var isOffering = false
    private var lastToken: UInt64 = 0
    private var reports: [BatchWriter.Report] = []

    /// A transactor without a producer.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's, the `transactional.id` among them.
    ///   - wakeup: signalled when ``serve(_:)`` has something.
    package init(properties: ClientProperties, wakeup: Wakeup) {
        self.properties = properties
        self.wakeup = wakeup
    }

    package func perform(_ action: BatchWriter.Action) {
        switch action {
        case .claim: claim()
        case .produce(let records):
            guard begin() else { return }
            (withheld, isOffering) = (records[...], true)
            offer()
        case .commit(let sequence, let positions):
            calls?.commit(sequence, positions, group: group)
        case .abort:
            (withheld, isOffering) = ([], false)
            calls?.abort()
        }
    }

    /// Calls `body` with the results of orders, and continues them.
    package func serve(_ body: (BatchWriter.Report) -> Void) {
        if let producer {
            _ = producer.deliveries { _, error in if let error { reports.append(.undelivered(error)) } }
            offer()
        }
        let arrived = letters.withLock { letters in
            defer { letters = [] }
            return letters
        }
        for (number, report) in arrived where number == generation { reports.append(.transaction(judged(report))) }
        let present = reports
        reports = []
        present.forEach(body)
    }

    /// Waits until its wake-up is signalled, until this moment, or at most for this long.
    package func wait(until moment: MonotonicTime?, atMost limit: Milliseconds) {
        let next = moment.map { $0.time(since: SystemClock.monotonic()) + .milliseconds(1) } ?? .max
        _ = wakeup.wait(for: min(max(next, .zero), limit).duration)
        wakeup.drain()
    }

    /// Releases the client; the broker, or the next process that claims the name, ends an open transaction.
    package func close() {
        calls?.close()
        producer?.close()
        (producer, calls) = (nil, nil)
    }

    private func claim() {
        if let producer, !isReady { formerClaims += producer.unansweredClaims }
        close()
        isReady = false
        generation += 1
        (withheld, isOffering) = ([], false)
        do throws(KafkaError) {
            let producer = try Producer(properties: properties)
            producer.notify(wakeup)
            self.producer = producer
            let queue = DispatchQueue(label: "herald.transactions.\(generation)")
            let calls = TransactionCalls(client: producer, queue: queue) { [letters, wakeup, generation] report in
                letters.withLock { $0.append((generation, report)) }
                wakeup.signal()
            }
            self.calls = calls
            calls.prepare()
        } catch {
            reports.append(.transaction(.notReady(error)))
            wakeup.signal()
        }
    }

    /// Opens a transaction, if that is possible.
    private func begin() -> Bool {
        guard let producer else { return false }
        do throws(KafkaError) {
            try producer.beginTransaction()
            return true
        } catch {
            reports.append(.notProduced(fence ?? error))
            wakeup.signal()
            return false
        }
    }

    private func offer() {
        guard isOffering, let producer else { return }
        do throws(KafkaError) {
            while let record = withheld.first {
                lastToken += 1
                if let refusal = try record.produce(with: producer, token: lastToken) {
                    // Deliveries make room, and wake.
                    if refusal.code == KafkaError.Code.queueFull { return }
                    throw refusal
                }
                withheld.removeFirst()
            }
            isOffering = false
            reports.append(.produced)
        } catch {
            (withheld, isOffering) = ([], false)
            reports.append(.notProduced(fence ?? error))
        }
        wakeup.signal()
    }

    /// The fatal error of a producer whose name another process has.
    private var fence: KafkaError? { producer?.fatalError().flatMap { $0.kind == .fenced ? $0 : nil } }

    /// The report of a call, which may hide the fence that made it fail.
    private func judged(_ report: TransactionReport) -> TransactionReport {
        if case .ready(let lateClaims) = report {
            defer { (isReady, formerClaims) = (true, 0) }
            return .ready(lateClaims: lateClaims + formerClaims)
        }
        guard let fence else { return report }
        return switch report {
        case .committed(let sequence, .some, _): .committed(sequence: sequence, fence, fence.outcome)
        case .aborted(.some, _): .aborted(fence, fence.outcome)
        case .waiting, .notReady: .notReady(fence)
        case .ready, .committed, .aborted: report
        }
    }
}
