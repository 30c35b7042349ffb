internal import HeraldBytes
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTools

/// What a campaign has published already, read back from its request topic.
struct PublishedEvents {
    /// The campaign's events in the topic, each once.
    private(set) var count = 0
    /// Of these, the ones of recipients of the audience.
    private(set) var inAudience = 0

    /// Marks the recipients whose events are in the topic.
    ///
    /// - Parameters:
    ///   - end: up to where: who publishes waits for the end of every transaction that is open now.
    ///   - progress: the last record of what was published, exact because each batch has one in its transaction: when less
    ///     than that is found, something was deleted.
    ///   - onProgress: how many of how many records were passed; `false` ends it.
    /// - Returns: nothing when it was ended.
    init?(
        of definition: CampaignDefinition, progress: CampaignProgress?, _ context: CampaignContext,
        _ layout: CampaignContext.Layout, into recipients: inout RecipientSet, upTo end: TopicReader.End = .written,
        onProgress: (Int64, Int64) -> Bool
    ) throws {
        let ids = RecipientIDs(campaign: definition.name)
        // What an earlier look has found may be more than was committed.
        recipients.removeFromAll(.published)
        let starts = definition.requestStarts
        let reader = try TopicReader(
            properties: context.readerProperties, topic: definition.topic,
            partitions: layout.requests[definition.topic] ?? []
        ) { starts[$0].map { .offset($0) } ?? .beginning }
        defer { reader.close() }
        var (count, inAudience) = (0, 0)
        func mark(_ message: Message) {
            guard let id = Self.id(of: message, ids) else { return }
            let former = recipients.insert(id, .published)
            guard !former.contains(.published) else { return }
            count += 1
            if former.contains(.seen) { inAudience += 1 }
        }
        guard try reader.catchUp(to: end, onProgress: onProgress, mark) else { return nil }
        let known = progress?.published ?? 0
        guard count >= known else {
            throw ToolFailure(
                "\(definition.topic) does not hold any more all that campaign \(definition.name) has published "
                    + "(\(count) of \(known) events): retention has deleted it, or the topic was made anew. "
                    + "Nobody can tell who was notified, so nothing more is published; "
                    + "start the rest as another campaign, without those in \(context.topics.results)")
        }
        (self.count, self.inAudience) = (count, inAudience)
    }

    /// The id of an event of the campaign: it is certain, because the id is a hash of the campaign and the key.
    static func id(of message: Message, _ ids: RecipientIDs) -> RecipientID? {
        message.withValue { value -> RecipientID? in
            guard let value, let id = EventForm.id(inEvent: value) else { return nil }
            return message.withKey { key -> RecipientID? in
                guard let key, ids.id(of: key) == id else { return nil }
                return id
            }
        }
    }
}
