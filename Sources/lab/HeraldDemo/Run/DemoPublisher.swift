import HeraldBytes
import HeraldCommandLine
import HeraldKafka
import HeraldThreads

/// Publishes the stream's events to the request topic, as any service would.
final class DemoPublisher {
    private let producer: Producer
    private let topic: ProducerTopic

    init(bootstrapServers: String, topic: String, wakeup: Wakeup) throws {
        producer = try Producer(properties: [
            ("bootstrap.servers", bootstrapServers), ("client.id", "demo-publisher"), ("acks", "all"),
            ("enable.idempotence", "true"), ("message.timeout.ms", "10000"),
        ])
        self.topic = try producer.topic(topic)
        producer.notify(wakeup)
    }

    deinit { producer.close() }

    func publish(_ event: DemoEvent) throws {
        let headers = ProducerHeaders(capacity: event.headers.count + 1)
        for header in event.headers { headers.append(name: header.name, value: header.value.utf8.span.bytes) }
        headers.append(name: DemoEvent.numberHeader, value: "\(event.number)")
        let error = producer.produce(
            topic: topic, key: event.scene.user.utf8.span.bytes, value: event.value.span.bytes, headers: headers,
            token: UInt64(event.number))
        if let error { throw CommandFailure("event \(event.number) could not be published: \(error)") }
    }

    /// Handles the broker's acknowledgements; throws when the broker rejected an event.
    func serve() throws {
        var failure: CommandFailure?
        producer.deliveries { number, error in
            guard let error else { return }
            failure = CommandFailure("event \(number) could not be published: \(error)")
        }
        if let failure { throw failure }
    }
}
