internal import HeraldBytes
package import HeraldEvents
package import HeraldKafka
internal import HeraldText
package import HeraldTools

/// What beside its records decides where an event stands.
extension TimelineSearch {
    private static var questionMilliseconds: Int { 10_000 }

    /// Up to where the group has consumed the partition of the request; `nil` when it has committed nothing there.
    package func committedOffset(of origin: Origin) throws -> Int64? {
        let reader = try ToolFailure.reading(origin.topic) { () throws(KafkaError) in
            try Consumer(properties: readerProperties)
        }
        defer { reader.close() }
        let place = TopicPartition(topic: origin.topic, partition: origin.partition)
        let committed = try ToolFailure.reading(origin.topic) { () throws(KafkaError) in
            try KafkaError.outwaiting(within: .milliseconds(Self.questionMilliseconds)) { () throws(KafkaError) in
                try reader.queries.committed([place], timeoutMilliseconds: Self.questionMilliseconds)
            }
        }
        return committed.first.map(\.offset).flatMap { $0 < 0 ? nil : $0 }
    }

    /// What the campaign is to do; `nil` when nobody has said anything, or the topic is not there.
    package func control(ofCampaign name: String, reach: ClusterReach, admin: Admin) throws -> CampaignControl? {
        guard let topic = try reach.topics([topics.campaigns], admin).topics.first, topic.error == nil else {
            return nil
        }
        let reader = try TopicReader(
            properties: readerProperties, topic: topics.campaigns, partitions: topic.partitions.map(\.id))
        defer { reader.close() }
        var states = CampaignStates()
        try reader.catchUp { message in
            guard let key = message.keyCopy else { return }
            let value = message.valueCopy
            // What is no control record counts as not there.
            if let value {
                try? states.record(key: key.span.bytes, value: value.span.bytes)
            } else {
                try? states.record(key: key.span.bytes, value: nil)
            }
        }
        return states.control(of: name)
    }
}

extension TimelineSearch {
    /// The message of the event that this request record is; `nil` when its topic has forgotten it, or it does not decode.
    package func message(of origin: Origin) throws -> String? {
        let place = TopicPartition(topic: origin.topic, partition: origin.partition)
        let reader = try ToolFailure.reading(origin.topic) { () throws(KafkaError) in
            try TopicReader(properties: readerProperties)
        }
        defer { reader.close() }
        let isThere = try ToolFailure.reading(origin.topic) { () throws(KafkaError) in
            try reader.begin([place: .offset(origin.offset)])
            let ends = try reader.consumer.queries.ends(of: [place], timeoutMilliseconds: Self.questionMilliseconds)
            // A reader begins elsewhere with what is not there (any more).
            return reader.positions[place] == origin.offset && origin.offset < ends[place] ?? .max
        }
        guard isThere else { return nil }
        var text: String?
        try reader.catchUp(to: .offsets([place: origin.offset + 1])) { message in
            guard message.offset == origin.offset, let value = message.valueCopy else { return }
            var headers = HeaderList()
            message.forEachHeader { headers.append(name: $0, value: $1) }
            var event = DecodedEvent()
            _ = decoder.decode(
                topicKind: .request, topic: origin.topic, partition: origin.partition, offset: origin.offset,
                value: value.span.bytes, headers: headers, into: &event)
            if event.message.isPresent { text = event.bytes(of: event.message, value: value.span.bytes).text }
        }
        return text
    }
}
