internal import HeraldKafka
internal import HeraldTools

extension CampaignContext {
    /// Hands out the users whose events a campaign has published, as far as the request topic still holds them.
    ///
    /// - Parameter onProgress: how many of how many records were passed; `false` ends it.
    /// - Returns: whether the end was reached.
    package func publishedUsers(
        of definition: CampaignDefinition, _ layout: Layout, onProgress: (Int64, Int64) -> Bool,
        _ body: (String) throws -> Void
    ) throws -> Bool {
        let ids = RecipientIDs(campaign: definition.name)
        let starts = definition.requestStarts
        let reader = try TopicReader(
            properties: readerProperties, topic: definition.topic, partitions: layout.requests[definition.topic] ?? []
        ) { starts[$0].map { .offset($0) } ?? .beginning }
        defer { reader.close() }
        return try reader.catchUp(onProgress: onProgress) { message in
            guard PublishedEvents.id(of: message, ids) != nil, let key = message.keyCopy else { return }
            try body(String(decoding: key, as: UTF8.self))
        }
    }
}
