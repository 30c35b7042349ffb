internal import HeraldEvents
internal import HeraldKafka
import HeraldTime
internal import HeraldTools

extension CampaignContext {
    /// What became of a campaign's notifications behind the hub, to the present end of the feedback topic; `nil` when there
    /// is no such topic, or nothing of the campaign in it.
    ///
    /// - Parameter onProgress: how many of how many records were passed; `false` ends the reading.
    package func feedback(
        on campaign: CampaignDefinition, _ layout: Layout, onProgress: (Int64, Int64) -> Bool = { _, _ in true }
    ) throws -> FeedbackCount? {
        guard !layout.feedback.isEmpty else { return nil }
        let reader = try TopicReader(
            properties: readerProperties, topic: topics.feedback, partitions: layout.feedback,
            // Nothing was sent before it began; clocks differ a little.
            from: { _ in .moment(campaign.startedAt - Self.clockDifference.count) })
        defer { reader.close() }
        // A campaign's name needs no escapes, so what is about it has these bytes.
        let mention = BytePattern("\"\(campaign.name)\"")
        var count = FeedbackCount()
        _ = try reader.catchUp(onProgress: onProgress) { message in
            let record = message.withValue { value -> FeedbackRecord? in
                guard let value, mention.occurs(in: value) else { return nil }
                // What another program has written there is no feedback.
                return try? FeedbackRecord(decoding: value)
            }
            if case .notification(let feedback) = record, feedback.campaign == campaign.name { count.add(feedback) }
        }
        return count.known > 0 ? count : nil
    }

    private static let clockDifference: Milliseconds = .minutes(5)
}
