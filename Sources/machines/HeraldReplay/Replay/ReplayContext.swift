package import HeraldBytes
package import HeraldEvents
package import HeraldKafka

/// The cluster as commands on dead letters see it: topics, clients' properties, and who asks.
package struct ReplayContext: Sendable {
    package var topics: Topics
    /// librdkafka's properties for readers: `read_committed`, end-of-partition events, no group joined.
    package var readerProperties: ClientProperties
    /// librdkafka's properties for the one who writes, but for its `transactional.id`.
    package var writerProperties: ClientProperties
    /// librdkafka's properties for a plain producer of audit entries.
    package var auditProperties: ClientProperties
    package var decoder: RecordDecoder
    /// How often an event may be replayed.
    package var maximumReplays: Int
    /// The retry topics in which replays may wait for users' quiet hours; none when workers hold nothing for them.
    package var retryTopics: [String] = []
    package var operatorName: String
    /// The topic of others whose dead letters these are; `nil` for Herald's own.
    package var foreign: ForeignTopic?
    /// The span of the replay, to which the events' spans link; without one they link to what wrote the dead letter.
    package var trace: TraceContext?

    package init(
        topics: Topics, readerProperties: ClientProperties, writerProperties: ClientProperties,
        auditProperties: ClientProperties, decoder: RecordDecoder, maximumReplays: Int, operatorName: String
    ) {
        self.topics = topics
        self.readerProperties = readerProperties
        self.writerProperties = writerProperties
        self.auditProperties = auditProperties
        self.decoder = decoder
        self.maximumReplays = maximumReplays
        self.operatorName = operatorName
    }

    /// The rules of a replay without options.
    package var rules: ReplayRules {
        ReplayRules(
            maximumReplays: maximumReplays, requestTopics: topics.requests, decoder: decoder, foreign: foreign)
    }

    package var deadLetterTopic: String { foreign?.name ?? topics.deadLetter }

    /// The topic that is watched for what comes back as a new dead letter, because others read what is replayed and report
    /// nothing; `nil` where workers report what becomes of it.
    package var watchedTopic: String? { foreign.flatMap { $0.isReadByWorkers ? nil : $0.name } }

    /// Where replays go, for people.
    var destinations: String {
        guard let foreign else { return topics.requests.joined(separator: ", ") }
        return foreign.destination ?? topics.requests.joined(separator: ", ")
    }

    /// The publisher's name, which permissions are given for, and which only one process has at a time: all jobs on one
    /// state topic share it, whatever else their settings say.
    ///
    /// It begins as no worker's name does (`<group>-`), so that a prefix of workers' permissions does not cover it.
    package var transactionalID: String { "herald.dlq-\(topics.state)" }
}
