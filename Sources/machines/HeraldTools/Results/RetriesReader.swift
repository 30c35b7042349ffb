internal import HeraldBytes
package import HeraldEvents
package import HeraldKafka
package import HeraldTime

/// An event that went to a retry topic, for some of its push services.
package struct RetriedEvent: Sendable, Equatable {
    package var origin: Origin
    /// How often it was replayed.
    package var replays: Int
    package var pushServices: [String]
    /// When its user's quiet hours end, for which it waits; `nil` when it waits for something else.
    package var quietUntil: WallTime?

    package init(origin: Origin, replays: Int, pushServices: [String], quietUntil: WallTime?) {
        (self.origin, self.replays, self.pushServices, self.quietUntil) = (origin, replays, pushServices, quietUntil)
    }

    /// What a retry record tells; `nil` for one that names no request.
    init?(_ message: Message) {
        var headers = HeaderList()
        message.forEachHeader { headers.append(name: $0, value: $1) }
        let name = headers.lastValue(named: HeaderName.origin.literal)?.text
        guard let origin = name.flatMap(Origin.init) else { return nil }
        let reason = headers.lastValue(named: HeaderName.reason.literal)?.text
        let until = headers.lastValue(named: HeaderName.notBefore.literal)?.decimal
        self.init(
            origin: origin, replays: Int(headers.lastValue(named: HeaderName.replays.literal)?.decimal ?? 0),
            pushServices: (headers.lastValue(named: HeaderName.pushServices.literal)?.text ?? "").split(separator: ",")
                .map(String.init),
            quietUntil: reason == RetryReason.quietHours.rawValue
                ? until.map { WallTime(milliseconds: $0) } : nil)
    }
}

/// Reads what comes to the retry topics, for whoever waits for outcomes: some of them wait for users' quiet hours.
///
/// One thread.
package final class RetriesReader {
    private let reader: TopicReader

    /// Begins at the topics' ends; make it before anything is published.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's: `read_committed`, with a `group.id`, which is not joined.
    ///   - partitions: those of each retry topic.
    package init(properties: ClientProperties, partitions: [String: [Int32]]) throws {
        let places = partitions.flatMap { topic, numbers in
            numbers.map { TopicPartition(topic: topic, partition: $0) }
        }
        do throws(KafkaError) {
            reader = try TopicReader(properties: properties)
            if !places.isEmpty { try reader.begin(Dictionary(places.map { ($0, .end) }) { $1 }) }
        } catch {
            throw ToolFailure("the retry topics cannot be read", error)
        }
    }

    /// Takes what has come since.
    package func poll(_ body: (RetriedEvent) -> Void) throws {
        _ = try reader.poll(wait: .zero) { message in
            if let event = RetriedEvent(message) { body(event) }
        }
    }

    package func close() { reader.close() }
}
