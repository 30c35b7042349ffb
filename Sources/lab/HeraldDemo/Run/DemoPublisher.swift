import HeraldBytes
import HeraldCommandLine
import HeraldEvents
import HeraldKafka
import HeraldThreads
import HeraldTime

/// Publishes the stream's events to the request topic, and what their users said before, as any service would.
final class DemoPublisher {
    /// The number of no event: its record is a user's word.
    private static let word = UInt64.max

    private let producer: Producer
    private let topic: ProducerTopic
    private let words: ProducerTopic

    init(bootstrapServers: String, topics: Topics, wakeup: Wakeup) throws {
        producer = try Producer(properties: [
            ("bootstrap.servers", bootstrapServers), ("client.id", "demo-publisher"), ("acks", "all"),
            ("enable.idempotence", "true"), ("message.timeout.ms", "10000"),
        ])
        topic = try producer.topic(topics.requests[0])
        words = try producer.topic(topics.preferences)
        producer.notify(wakeup)
    }

    deinit { producer.close() }

    func publish(_ optOut: OptOut, isAsleep: Bool, of user: String) throws {
        let now = SystemClock.wall()
        let quiet = isAsleep ? Self.quietHours(around: now) : nil
        let word = Preference(optOut, quiet: quiet, updatedAt: now, by: "demo").encoded()
        let error = producer.produce(
            topic: words, key: user.utf8.span.bytes, value: word.span.bytes, headers: nil, token: Self.word)
        if let error { throw CommandFailure("what \(user) said could not be published: \(error)") }
    }

    /// From an hour ago until twelve hours later.
    private static func quietHours(around now: WallTime) -> QuietHours {
        let hour = Int(now.milliseconds / Milliseconds.hours(1).count % 24)
        let end = (hour + 12) % 24
        return QuietHours(zone: "UTC", start: (hour + 23) % 24 * 60, end: (end == 0 ? 24 : end) * 60)
    }

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
            let what = number == Self.word ? "what a user said" : "event \(number)"
            failure = CommandFailure("\(what) could not be published: \(error)")
        }
        if let failure { throw failure }
    }
}
