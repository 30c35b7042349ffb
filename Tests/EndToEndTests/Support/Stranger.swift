import HeraldKafka
import HeraldThreads
import HeraldTime
import TestSupport

/// Another program with the workers' `group.id`, which takes records and commits them by itself.
final class Stranger: Sendable {
    private let isStopping = Guarded(false)
    private let taken = Guarded(0)
    private let ended: Blocking.Begun<Void>

    /// Joins the group of the fixture's workers for its request topic.
    init(_ fixture: Fixture, clientID: String, strategy: String = "range") {
        let properties: ClientProperties = [
            ("bootstrap.servers", fixture.bootstrapServers), ("group.id", fixture.name), ("client.id", clientID),
            ("partition.assignment.strategy", strategy), ("enable.auto.commit", "true"),
            ("enable.auto.offset.store", "true"), ("auto.commit.interval.ms", "200"),
            ("auto.offset.reset", "earliest"), ("session.timeout.ms", "20000"),
        ]
        let topic = fixture.topic("notifications")
        ended = Blocking.begin { [isStopping, taken] in
            let consumer = try Consumer(properties: properties)
            try consumer.subscribe([topic])
            while !isStopping.withLock({ $0 }) {
                if let message = consumer.queue.next(wait: .milliseconds(50)) {
                    if !message.isError { taken.withLock { $0 += 1 } }
                    message.release()
                }
                switch consumer.takeRebalance() {
                case .assign(let partitions)?: try consumer.assign(partitions.map { ($0, offset: Offset.stored) })
                case .revoke?: try consumer.unassign()
                case nil: break
                }
            }
            consumer.close()
        }
    }

    /// The number of records that it has taken.
    var takenCount: Int { taken.withLock { $0 } }

    /// Leaves the group.
    func stop() async throws {
        isStopping.withLock { $0 = true }
        try await ended.value
    }
}
