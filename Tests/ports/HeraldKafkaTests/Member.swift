import HeraldKafka
import HeraldThreads
import TestSupport
import Testing

/// A consumer that a test polls, and its output.
final class Member {
    let consumer: Consumer
    let wakeUp: Wakeup
    let outcomes: EventQueue
    var records: [Record] = []
    var errors: [KafkaError] = []
    /// Answered rebalances.
    var history: [Rebalance] = []
    /// A rebalance that was noted and not answered.
    var pending: Rebalance?
    /// Whether rebalances are answered when they come.
    var answers = true
    /// The start of an assignment.
    var start = Offset.stored

    init(_ servers: String, group: String, properties: ClientProperties = []) throws {
        let base: ClientProperties = [
            ("bootstrap.servers", servers), ("group.id", group), ("auto.offset.reset", "earliest"),
            ("session.timeout.ms", "10000"), ("heartbeat.interval.ms", "500"), ("reconnect.backoff.max.ms", "500"),
        ]
        wakeUp = try Wakeup()
        consumer = try Consumer(properties: base + properties)
        consumer.queue.notify(wakeUp)
        outcomes = consumer.makeEventQueue()
        outcomes.notify(wakeUp)
    }

    /// Takes all available messages.
    func poll() throws {
        drain(consumer.queue)
        if pending == nil { pending = consumer.takeRebalance() }
        if answers { try answer() }
    }

    func drain(_ queue: MessageQueue) {
        while take(from: queue) {}
    }

    /// Takes the next message; returns whether there was one.
    @discardableResult
    func take(from queue: MessageQueue) -> Bool {
        guard let message = queue.next() else { return false }
        if let error = message.error {
            errors.append(error)
        } else {
            records.append(Record(message))
        }
        message.release()
        return true
    }

    /// Takes the next record and holds on to it.
    func retained() async throws -> RetainedMessage {
        let end = ContinuousClock.now + .seconds(Patience.seconds)
        while true {
            if let message = consumer.queue.next() { return RetainedMessage(message) }
            try #require(ContinuousClock.now < end, "a record arrives")
            _ = await wakeUp.waiting(milliseconds: 100)
        }
    }

    func answer() throws {
        guard let rebalance = pending else { return }
        pending = nil
        history.append(rebalance)
        switch rebalance {
        case .assign(let partitions): try consumer.assign(partitions.map { ($0, offset: start) })
        case .revoke: try consumer.unassign()
        }
    }

    /// Assigns partitions without a group.
    func assign(_ topic: String, partitions: Range<Int32>, offset: Int64 = Offset.beginning) throws {
        try consumer.assign(partitions.map { (TopicPartition(topic: topic, partition: $0), offset: offset) })
    }

    /// Polls until `condition` holds.
    func poll(
        _ what: Comment, seconds: Int = Patience.seconds, location: SourceLocation = #_sourceLocation,
        until condition: () -> Bool
    ) async throws {
        try await Member.poll([self], what, seconds: seconds, location: location, until: condition)
    }

    static func poll(
        _ members: [Member], _ what: Comment, seconds: Int = Patience.seconds,
        location: SourceLocation = #_sourceLocation,
        until condition: () -> Bool
    ) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            for member in members { try member.poll() }
            if condition() { return }
            try #require(ContinuousClock.now < end, what, sourceLocation: location)
            _ = await members[0].wakeUp.waiting(milliseconds: members.count == 1 ? 100 : 10)
        }
    }

    /// Commits and waits for the outcome.
    func commit(_ positions: [CommitPosition]) async throws -> (whole: KafkaError?, parts: [CommitResult]) {
        if let error = consumer.commit(positions, token: 77, reportTo: outcomes) { throw error }
        var outcome: (whole: KafkaError?, parts: [CommitResult])?
        try await poll("the commit has an outcome") {
            outcomes.commits { token, whole, parts in
                #expect(token == 77)
                outcome = (whole, parts)
            }
            return outcome != nil
        }
        return try #require(outcome)
    }
}
