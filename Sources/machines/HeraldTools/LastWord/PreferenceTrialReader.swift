internal import HeraldBytes
package import HeraldEvents
package import HeraldKafka
package import HeraldTime

/// Tries caps and quiet hours on what was delivered: reads requests and results once, up to what is committed now, and
/// writes nothing.
///
/// Of requests only those are remembered that name a class or a zone, so many at most.
package struct PreferenceTrialReader {
    /// What a request says of itself.
    private struct Told {
        var isPromotional: Bool
        var zone: Int?
    }

    /// Requests that name a class or a zone; of further ones their topic's class counts, and no zone.
    package static let mostRequests = 2_000_000
    /// An event may be delivered long after it was published.
    private static let lookBack = Milliseconds.hours(48)

    package enum Stage: String, Sendable {
        case requests, results
    }

    private let context: LastWordContext
    private let decoder: RecordDecoder
    private let zones: TimeZones
    private var told: [Origin: Told] = [:]
    /// Whether there were more requests than are remembered.
    package private(set) var isFull = false
    package private(set) var trial: PreferenceTrial

    package init(_ context: LastWordContext, decoder: RecordDecoder, zones: TimeZones, _ trial: PreferenceTrial) {
        (self.context, self.decoder, self.zones, self.trial) = (context, decoder, zones, trial)
    }

    /// Reads what was delivered since a moment; the topics' beginnings without one.
    ///
    /// - Returns: whether all of it was read.
    package mutating func run(
        since: WallTime?, reach: ClusterReach, admin: Admin, onProgress: (Stage, Int64, Int64) -> Bool
    ) throws -> Bool {
        var event = DecodedEvent()
        let (aboutClass, aboutZone) = (BytePattern("\"class\""), BytePattern("\"zone\""))
        for topic in context.topics.requests {
            let isWhole = try read(
                topic, since: since?.advanced(by: -Self.lookBack), reach, admin, { onProgress(.requests, $0, $1) },
                { reader, message in
                    message.withValue { value in
                        guard let value, aboutClass.occurs(in: value) || aboutZone.occurs(in: value) else { return }
                        reader.note(message, value, topic, &event)
                    }
                })
            guard isWhole else { return false }
        }
        let delivered = BytePattern("\"\(Outcome.delivered.rawValue)\"")
        let isWhole = try read(
            context.topics.results, since: since, reach, admin, { onProgress(.results, $0, $1) },
            { reader, message in
                let isDelivered = message.withValue { value in
                    guard let value else { return false }
                    return delivered.occurs(in: value)
                }
                guard isDelivered, let result = message.result, result.outcome == .delivered, let user = result.user
                else { return }
                reader.add(result, of: user)
            })
        trial.finish()
        return isWhole
    }

    private mutating func note(_ message: Message, _ value: RawSpan, _ topic: String, _ event: inout DecodedEvent) {
        var headers = HeaderList()
        message.forEachHeader { headers.append(name: $0, value: $1) }
        let origin = Origin(topic: topic, partition: message.partition, offset: message.offset)
        let failure = decoder.decode(
            topicKind: .request, topic: topic, partition: message.partition, offset: message.offset, value: value,
            headers: headers, into: &event)
        guard failure == nil, event.eventClass == .promotional || event.zone.isPresent else { return }
        guard told.count < Self.mostRequests else {
            isFull = true
            return
        }
        let zone = event.zone.isPresent ? zones.number(of: event.bytes(of: event.zone, value: value).text) : nil
        told[origin] = Told(isPromotional: event.eventClass == .promotional, zone: zone)
    }

    private mutating func add(_ result: NotificationResult, of user: String) {
        let own = told[result.origin]
        let ofTopic = context.classes[result.origin.topic] ?? .transactional
        trial.add(
            PreferenceTrial.Delivery(
                user: user, source: result.source, eventClass: own?.isPromotional == true ? .promotional : ofTopic,
                zone: own?.zone.map { zones[$0] }, origin: result.origin, at: result.completedAt))
    }

    private mutating func read(
        _ topic: String, since: WallTime?, _ reach: ClusterReach, _ admin: Admin,
        _ onProgress: (Int64, Int64) -> Bool, _ body: (inout Self, Message) -> Void
    ) throws -> Bool {
        let partitions = try context.partitions(of: topic, isWriting: false, reach: reach, admin: admin)
        let start: TopicReader.Start = since.map { .moment($0.milliseconds) } ?? .beginning
        let reader = try TopicReader(
            properties: context.readerProperties, topic: topic, partitions: partitions, from: { _ in start })
        defer { reader.close() }
        return try reader.catchUp(onProgress: onProgress) { body(&self, $0) }
    }
}
