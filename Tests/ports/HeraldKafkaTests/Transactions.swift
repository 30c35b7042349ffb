import Foundation
import HeraldKafka
import HeraldThreads
import Synchronization
import TestSupport
import Testing

/// The records of the first partition as seen by a reader of committed ones.
func committed(_ kafka: RealKafka, _ topic: String, count: Int) async throws -> [String?] {
    let member = try Member(
        kafka.bootstrapServers, group: "reader-\(topic)", properties: [("isolation.level", "read_committed")])
    try member.assign(topic, partitions: 0..<1)
    try await member.poll("\(count) committed records") { member.records.count >= count }
    return member.records.map(\.text)
}

/// Writes a record in a transaction of its own, and commits it.
@discardableResult
func write(
    _ text: String, to topic: String, by producer: Producer
) async throws -> [(token: UInt64, error: KafkaError?)] {
    try producer.beginTransaction()
    #expect(try producer.produce(topic, value: Array(text.utf8)) == nil)
    return try await serving(producer) { try $0.commitTransaction(timeout: Patience.timeout) }
}

/// Runs a transactional call on another thread and serves deliveries meanwhile, as a lane does.
func serving(
    _ producer: Producer, after pause: Duration = .zero,
    _ call: @escaping @Sendable (Producer) throws -> Void
) async throws -> [(token: UInt64, error: KafkaError?)] {
    let wakeUp = try Wakeup()
    producer.notify(wakeUp)
    let ended = Ended()
    Thread.detachNewThread {
        let result = Result { try call(producer) }
        ended.result.withLock { $0 = result }
    }
    try await Task.sleep(for: pause)
    var deliveries: [(UInt64, KafkaError?)] = []
    while true {
        let result = ended.result.withLock { $0 }
        producer.deliveries { deliveries.append(($0, $1)) }
        if let result {
            try result.get()
            return deliveries
        }
        _ = await wakeUp.waiting(milliseconds: 10)
    }
}

/// The outcome of a call on another thread.
private final class Ended: Sendable {
    let result = Mutex<Result<Void, any Error>?>(nil)
}
