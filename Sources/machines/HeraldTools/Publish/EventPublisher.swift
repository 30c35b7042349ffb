internal import HeraldDriver
package import HeraldEvents
package import HeraldKafka
import HeraldTime

/// Writes events to a request topic and tells where each of them is.
///
/// Idempotent, acknowledged by all replicas, a user's events in their order in one partition; a bounded number is on its
/// way at once. One thread.
package final class EventPublisher {
    package struct Publication: Sendable, Equatable {
        /// The event; its value is not kept.
        package var event: PreparedEvent
        package var place: Origin
    }

    /// An event that the broker may not have, and why.
    package struct Failure: Sendable, Equatable {
        /// The event; its value is not kept.
        package var event: PreparedEvent
        package var error: KafkaError
        /// Whether it was sent, and got no answer: then the broker may have it.
        package var wasSent: Bool
    }

    private static let limitInFlight = 10_000
    private static let wait = Milliseconds.milliseconds(100)

    private let producer: Producer
    private let topic: String
    private var inFlight: [UInt64: PreparedEvent] = [:]
    private var lastToken: UInt64 = 0

    package private(set) var publishedCount = 0
    /// What went wrong; nothing more is published after the first.
    package private(set) var failures: [Failure] = []

    /// A publisher to this topic.
    ///
    /// - Parameter properties: librdkafka's, with `message.timeout.ms` as the bound for a broker that is lost.
    package init(properties: ClientProperties, topic: String) throws {
        self.topic = topic
        do throws(KafkaError) {
            producer = try Producer(properties: properties)
        } catch {
            throw ToolFailure("\(error)")
        }
    }

    /// Sends an event, waiting while too many are on their way; whether it was taken.
    ///
    /// - Parameter onPublished: called for every event that the broker has meanwhile.
    package func publish(_ event: PreparedEvent, onPublished: (Publication) -> Void) -> Bool {
        poll(wait: .zero, onPublished)
        while inFlight.count >= Self.limitInFlight { poll(wait: Self.wait, onPublished) }
        lastToken += 1
        while failures.isEmpty {
            let refusal = produce(event)
            guard let refusal else {
                inFlight[lastToken] = event.withoutValue
                return true
            }
            if refusal.code == KafkaError.Code.queueFull {
                poll(wait: Self.wait, onPublished)
            } else {
                fail(event, refusal, wasSent: false)
            }
        }
        return false
    }

    private func produce(_ event: PreparedEvent) -> KafkaError? {
        var record = OutgoingRecord(topic: topic, key: Array(event.user.utf8), value: event.value)
        if event.isCloudEvent { record.headers = EventPreparation.cloudEventHeaders }
        do throws(KafkaError) { return try record.produce(with: producer, token: lastToken) } catch { return error }
    }

    /// Waits until all that was sent has its end.
    package func finish(onPublished: (Publication) -> Void) {
        while !inFlight.isEmpty { poll(wait: Self.wait, onPublished) }
        producer.close()
    }

    /// The client's own words about the cluster since the last call, the last ones last.
    package func takeNotices() -> [ClientNotice] { producer.takeNotices().notices }

    private func poll(wait: Milliseconds, _ onPublished: (Publication) -> Void) {
        producer.reports(wait: wait) { report in
            guard let event = inFlight.removeValue(forKey: report.token) else { return }
            if let error = report.error { return fail(event, error, wasSent: report.wasSent) }
            publishedCount += 1
            onPublished(
                Publication(
                    event: event,
                    place: Origin(topic: topic, partition: report.partition, offset: report.offset)))
        }
    }

    private func fail(_ event: PreparedEvent, _ error: KafkaError, wasSent: Bool) {
        // What a broken producer gives up says only that; why it is broken is the cause.
        failures.append(
            Failure(event: event.withoutValue, error: producer.fatalError() ?? error, wasSent: wasSent))
    }
}

extension PreparedEvent {
    fileprivate var withoutValue: Self {
        var copy = self
        copy.value = []
        return copy
    }
}
