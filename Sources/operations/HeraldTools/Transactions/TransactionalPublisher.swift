package import HeraldKafka

/// What a publisher publishes, what ends it, and what may hold it back: a replay's dead letters, a campaign's recipients.
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
        switch admission.decision(open: open.all, openInStep: open.step, at: .now) {
        case .publish(let count): admission.notePublished(try publish(atMost: count))
        case .wait(let reason):
            if let end = try holdBack(reason) { return end }
            try poll(waitMilliseconds: waitMilliseconds)
        }
        return nil
    }
}

/// Writes under a name that only one process has at a time, and shows that it lives.
///
/// Whoever loses the name, or cannot tell what became of a transaction, claims it again: only then what was written is all
/// there will ever be, and says what was done. One thread.
package final class TransactionalPublisher {
    /// So often in a row the name is claimed again without anything written in between.
    private static let claimLimit = 10

    private let properties: ClientProperties
    private let heartbeat: Duration
    private let goesOn: (KafkaError) -> Bool
    private var writer: TransactionalWriter
    private var lastWrite = ContinuousClock.now
    private var claimCount = 0

    /// A publisher that has claimed its name: whoever had it can commit nothing more, and what he had begun is ended.
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
        self.properties = properties + [("transactional.id", name)]
        self.heartbeat = heartbeat
        self.goesOn = goesOn
        writer = try TransactionalWriter(properties: self.properties, goesOn: goesOn)
        do {
            try writer.claim()
        } catch {
            guard case .refused(let error) = error, error.kind == .unsupported else { throw error }
            writer.close()
            throw ToolFailure(
                "the brokers have no transactions (\(error)), and this needs them: what is published and the mark that "
                    + "it was are written together, so that nobody is notified twice. Workers can do without "
                    + "(delivery.guarantee: at-least-once), replays and campaigns cannot.")
        }
    }

    /// Writes all of them in one transaction, and returns when they are committed.
    package func write(_ records: [OutgoingRecord]) throws(TransactionalWriter.WriteFailure) {
        try writer.write(records)
        lastWrite = .now
        claimCount = 0
    }

    /// Whether it is time to write something, to show that somebody lives.
    package var isHeartbeatDue: Bool { ContinuousClock.now - lastWrite >= heartbeat }

    /// Claims the name again after `failure`: what was written before stands or falls for good, and has to be read.
    package func reclaim(after failure: TransactionalWriter.WriteFailure) throws {
        claimCount += 1
        guard failure.needsClaim, claimCount <= Self.claimLimit else { throw failure }
        writer.close()
        writer = try TransactionalWriter(properties: properties, goesOn: goesOn)
        try writer.claim()
    }

    /// Lets the client go.
    package func close() { writer.close() }
}
