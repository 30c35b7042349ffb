package import HeraldDriver
package import HeraldKafka
import HeraldTime

/// Writes a few records without a transaction, and returns when the brokers have said of each whether they have it.
package enum PlainWriter {
    private static let patience = Milliseconds.seconds(30)

    /// Why records were not written, by their places among those given; empty when all were.
    ///
    /// - Parameter properties: librdkafka's, of an idempotent producer.
    package static func write(
        _ records: [OutgoingRecord], properties: ClientProperties
    ) throws(KafkaError) -> [Int: KafkaError] {
        var failures: [Int: KafkaError] = [:]
        let producer = try Producer(properties: properties)
        defer { producer.close() }
        for (index, record) in records.enumerated() {
            failures[index] = try record.produce(with: producer, token: UInt64(index + 1))
        }
        try producer.flush(timeout: patience) { token, error in
            if let error { failures[Int(token) - 1] = error }
        }
        // What ended the producer says more than that its queue was emptied.
        if let cause = producer.fatalError() { failures = failures.mapValues { _ in cause } }
        return failures
    }
}
