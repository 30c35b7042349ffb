internal import HeraldBytes
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTools

/// What a campaign has published already, read back from its request topic: pure.
package struct PublishedEvents: Sendable {
    /// The campaign's events in the topic, each once.
    private(set) var count = 0
    /// Of these, the ones of recipients of the audience.
    private(set) var inAudience = 0
    /// Of these, all others.
    var outside: Int { count - inAudience }

    /// Nothing was read yet; what an earlier look has marked may be more than was committed, and is forgotten.
    init(forgetting recipients: inout RecipientSet) { recipients.removeFromAll(.published) }

    /// Marks a recipient whose event is in the topic.
    mutating func add(_ id: RecipientID, to recipients: inout RecipientSet) {
        let former = recipients.insert(id, .published)
        guard !former.contains(.published) else { return }
        count += 1
        if former.contains(.seen) { inAudience += 1 }
    }

    /// Refuses when less was found than was published: then something was deleted.
    ///
    /// - Parameter progress: the last record of what was published, exact because each batch has one in its transaction.
    func check(
        _ definition: CampaignDefinition, against progress: CampaignProgress?, results: String
    ) throws(ToolFailure) {
        let known = progress?.published ?? 0
        guard count >= known else {
            throw ToolFailure(
                "\(definition.topic) does not hold any more all that campaign \(definition.name) has published "
                    + "(\(count) of \(known) events): retention has deleted it, or the topic was recreated. "
                    + "Nobody can tell who was notified, so nothing more is published; "
                    + "start the rest as another campaign, without those in \(results)")
        }
    }

    /// The id of an event of the campaign: it is certain, because the id is a hash of the campaign and the key.
    package static func id(key: RawSpan?, value: RawSpan?, _ ids: RecipientIDs) -> RecipientID? {
        guard let key, let value, let id = EventForm.id(inEvent: value), ids.id(of: key) == id else { return nil }
        return id
    }

    static func id(of message: Message, _ ids: RecipientIDs) -> RecipientID? {
        message.withValue { value in message.withKey { key in id(key: key, value: value, ids) } }
    }
}

extension CampaignContext {
    /// A reader of what a campaign has published, from its beginning on.
    func published(_ definition: CampaignDefinition, _ layout: Layout) throws -> TopicReader {
        let starts = definition.requestStarts
        return try TopicReader(
            properties: readerProperties, topic: definition.topic,
            partitions: layout.requests[definition.topic] ?? []
        ) { starts[$0].map { .offset($0) } ?? .beginning }
    }
}
