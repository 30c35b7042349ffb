package import HeraldDriver
package import HeraldKafka
internal import HeraldThreads
internal import HeraldTime

/// What a publisher publishes, what ends it, and what may hold it back: a campaign's recipients.
package protocol PublishPolicy: AnyObject {
    /// How it ends.
    associatedtype End

    /// How many may go at a moment.
    var admission: PublishAdmission { get set }
    /// Outcomes of what is published that are not known yet: of everything, and of the ramp's present step.
    var openOutcomes: (all: Int, step: Int) { get }

    /// Takes outcomes and orders, waiting up to this long for the first of them.
    func poll(waitMilliseconds: Int32) throws
    /// Shows itself, when it is time.
    func keepAlive() throws
    /// What may happen next, as far as the policy says.
    func standing() throws -> Standing<End>
    /// Publishes up to so many in one transaction; how many were.
    func publish(atMost count: Int) throws -> Int
    /// Nothing can be published now; how it ends, when that was too long.
    func holdBack(_ reason: PublishAdmission.Wait) throws -> End?
    /// Tells people how far it is.
    func report()
}

/// What a policy says of a moment.
package enum Standing<End> {
    /// Publish what the pace allows.
    case publishing
    /// Publish nothing, and look again.
    case waiting
    /// It has ended.
    case ended(End)
}

extension PublishPolicy {
    /// How long one wait for outcomes takes, at most.
    private var waitMilliseconds: Int32 { 20 }

    /// Publishes to the end, as fast as the pace and the outcomes allow.
    package func run() throws -> End {
        while true {
            let end = try step()
            // The outcomes that ended it are told, too.
            report()
            if let end { return end }
        }
    }

    private func step() throws -> End? {
        try poll(waitMilliseconds: 0)
        try keepAlive()
        switch try standing() {
        case .ended(let end): return end
        case .waiting: try poll(waitMilliseconds: waitMilliseconds)
        case .publishing: return try publishWhatMay()
        }
        return nil
    }

    private func publishWhatMay() throws -> End? {
        let open = openOutcomes
        switch admission.decision(open: open.all, openInStep: open.step, at: SystemClock.monotonic()) {
        case .publish(let count): admission.notePublished(try publish(atMost: count))
        case .wait(let reason):
            if let end = try holdBack(reason) { return end }
            try poll(waitMilliseconds: waitMilliseconds)
        }
        return nil
    }
}

/// Writes under a name that one process has at a time, and shows that it lives.
///
/// After the name is lost, or when it is not known what became of a transaction, it claims the name again: only then what
/// was written is all there will ever be, and says what was done. It carries out a ``BatchWriter`` and waits for what that
/// says. One thread.
package final class TransactionalPublisher {
    package typealias WriteFailure = BatchWriter.Failure

    /// So often in a row the name is claimed again without anything written in between.
    private static let claimLimit = 10

    private let heartbeat: Duration
    private let goesOn: (KafkaError) -> Bool
    private let wakeup: Wakeup
    private let transactor: Transactor
    private var writer: BatchWriter
    private var lastWrite = ContinuousClock.now
    private var claimCount = 0

    /// A publisher that has claimed its name: what had it can commit nothing more, and what that one had begun is ended.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's, but for the name.
    ///   - name: the `transactional.id`.
    ///   - heartbeat: how often a living publisher writes something.
    ///   - goesOn: asked between two attempts, with what went wrong; `false` gives up.
    package init(
        properties: ClientProperties, name: String, heartbeat: Duration,
        goesOn: @escaping (KafkaError) -> Bool = { _ in true }
    ) throws {
        self.heartbeat = heartbeat
        self.goesOn = goesOn
        wakeup = try Wakeup()
        transactor = Transactor(properties: properties + [("transactional.id", name)], wakeup: wakeup)
        writer = BatchWriter(BatchWriter.Configuration(properties))
        do {
            try claim()
        } catch {
            transactor.close()
            guard case .lost(.unclaimable(let error)) = error, error.kind == .unsupported else { throw error }
            throw ToolFailure(noTransactions: error)
        }
    }

    /// Writes all of them in one transaction, and returns when they are committed.
    package func write(_ records: [OutgoingRecord]) throws(WriteFailure) {
        writer.write(BatchWriter.Batch(records: records), now: SystemClock.monotonic())
        try finish()
        lastWrite = .now
        claimCount = 0
    }

    /// Whether it is time to write something, to show that the publisher lives.
    package var isHeartbeatDue: Bool { ContinuousClock.now - lastWrite >= heartbeat }

    /// Claims the name again after `failure`: what was written before stands or falls for good, and has to be read.
    package func reclaim(after failure: WriteFailure) throws {
        claimCount += 1
        guard failure.needsClaim, claimCount <= Self.claimLimit else { throw failure }
        try claim()
    }

    /// Lets the client go.
    package func close() { transactor.close() }

    private func claim() throws(WriteFailure) {
        writer.claim(now: SystemClock.monotonic())
        try finish()
    }

    /// Carries out what the writer asks for, until it says how that ended.
    private func finish() throws(WriteFailure) {
        while true {
            for event in writer.takeEvents() {
                switch event {
                case .claimed, .written: return
                case .waiting(let error): if !goesOn(error) { writer.giveUp(now: SystemClock.monotonic()) }
                case .refused(let error): throw .refused(error)
                case .lost(let loss): throw .lost(loss)
                }
            }
            writer.takeActions().forEach(transactor.perform)
            wait()
            transactor.serve { writer.receive($0, now: SystemClock.monotonic()) }
            writer.advance(now: SystemClock.monotonic())
        }
    }

    private func wait() {
        let next = writer.nextWake.map { $0.milliseconds(since: SystemClock.monotonic()) + 1 } ?? .max
        _ = wakeup.wait(for: .milliseconds(min(max(next, 0), Self.longestWaitMilliseconds)))
        wakeup.drain()
    }

    /// It asks whether it is to go on at least so often.
    private static let longestWaitMilliseconds: Int64 = 1_000
}
