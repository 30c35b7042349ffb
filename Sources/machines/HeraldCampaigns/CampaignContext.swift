package import HeraldBytes
package import HeraldEvents
package import HeraldKafka
package import HeraldTools

/// The cluster as commands on campaigns see it: topics, clients' properties, and who asks.
package struct CampaignContext: Sendable {
    package var topics: Topics
    /// librdkafka's properties for readers: `read_committed`, end-of-partition events, the workers' group, which is not joined.
    package var readerProperties: ClientProperties
    /// librdkafka's properties for a publisher, but for its `transactional.id`.
    package var writerProperties: ClientProperties
    /// librdkafka's properties for a plain producer of control records and audit entries.
    package var controlProperties: ClientProperties
    /// Who runs this: a user and a machine.
    package var operatorName: String
    /// The span of the publisher, to which the events' spans link; `nil` without one.
    package var trace: TraceContext?
    /// Asks why workers do not deliver what is for these push services, in a sentence, which may take seconds.
    ///
    /// It is `nil` when nothing is known that speaks against them.
    package var workerTrouble: (@Sendable (_ pushServices: [String]) -> String?)?
    /// Asks which of these campaigns are recalled; `nil` when workers do not obey recalls.
    package var recalls: (@Sendable ([String]) throws -> [String: Recall])?

    package init(
        topics: Topics, readerProperties: ClientProperties, writerProperties: ClientProperties,
        controlProperties: ClientProperties, operatorName: String
    ) {
        self.topics = topics
        self.readerProperties = readerProperties
        self.writerProperties = writerProperties
        self.controlProperties = controlProperties
        self.operatorName = operatorName
    }

    /// The partitions of the topics that commands need.
    package struct Layout: Sendable, Equatable {
        package var campaigns: [Int32]
        /// None when there is no such topic.
        package var audiences: [Int32]
        package var results: [Int32]
        /// None when there is no such topic.
        package var feedback: [Int32]
        package var requests: [String: [Int32]]
        /// Of each retry topic that there is, also of delays that the settings don't have any more.
        package var retries: [String: [Int32]]
    }

    /// Looks at the topics.
    ///
    /// - Parameter isWriting: whether the audit topic has to be there.
    package func layout(reach: ClusterReach, admin: Admin, isWriting: Bool) throws -> Layout {
        let needed = [topics.campaigns, topics.results] + (isWriting ? [topics.audit] : [])
        var partitions: [String: [Int32]] = [:]
        // Named topics are asked for by name: only then a broker says that this user may not see them.
        for topic in try reach.topics(needed + topics.requests + [topics.audiences, topics.feedback], admin).topics {
            if let error = topic.error {
                guard needed.contains(topic.name) else { continue }
                throw ToolFailure(topic: topic.name, error, allow: .read)
            }
            partitions[topic.name] = topic.partitions.map(\.id)
        }
        var retries: [String: [Int32]] = [:]
        for topic in try reach.allTopics(admin).topics
        where topic.error == nil && topics.delay(ofTopic: topic.name) != nil {
            retries[topic.name] = topic.partitions.map(\.id)
        }
        return Layout(
            campaigns: partitions[topics.campaigns] ?? [], audiences: partitions[topics.audiences] ?? [],
            results: partitions[topics.results] ?? [],
            feedback: partitions[topics.feedback] ?? [],
            requests: partitions.filter { topics.requests.contains($0.key) }, retries: retries)
    }

    package func campaigns(_ layout: Layout) throws -> CampaignReader {
        try CampaignReader(properties: readerProperties, topic: topics.campaigns, partitions: layout.campaigns)
    }

    /// A reader of campaigns' outcomes.
    ///
    /// - Parameter moment: epoch milliseconds; also hands out what came since then, without counting it twice.
    package func outcomes(
        of subjects: [OutcomeReader.Subject], lookingBackTo moment: Int64? = nil, _ layout: Layout
    ) throws -> OutcomeReader {
        try OutcomeReader(
            properties: readerProperties, topic: topics.results, partitions: layout.results, of: subjects,
            lookingBackTo: moment)
    }

    /// The publisher's name of a campaign, which only one process has at a time, and which permissions are given for.
    ///
    /// It begins as no worker's name does (`<group>-`), so that a prefix of workers' permissions does not cover it.
    package func transactionalID(of campaign: String) -> String { "herald.campaign-\(topics.campaigns)-\(campaign)" }

    /// The offset behind the last record of each partition, open transactions included.
    func ends(of topic: String, _ partitions: [Int32]) throws -> [String: Int64] {
        let reader = try TopicReader(
            properties: readerProperties, topic: topic, partitions: partitions, from: { _ in .end })
        defer { reader.close() }
        return Dictionary(uniqueKeysWithValues: reader.positions.map { ("\($0.key.partition)", $0.value) })
    }
}
