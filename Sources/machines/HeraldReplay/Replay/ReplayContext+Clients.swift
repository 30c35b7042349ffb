internal import HeraldEvents
package import HeraldKafka
package import HeraldTools

/// What commands on dead letters ask of a cluster.
extension ReplayContext {
    /// The partitions of the topics that are needed, by topic.
    package struct Layout: Sendable {
        var deadLetters: [Int32]
        var results: [Int32]
        var state: [Int32]
        /// None when the topic is missing; `nil` when this user may not know.
        var campaigns: [Int32]?
        /// Those of retry topics that this user may read.
        var retries: [String: [Int32]]
    }

    /// Looks at the topics.
    ///
    /// - Parameter isWriting: whether the state and audit topics are needed; without them nothing can be remembered.
    package func layout(reach: ClusterReach, admin: Admin, isWriting: Bool) throws -> Layout {
        var names = [deadLetterTopic, topics.state, topics.audit]
        // What others read has neither outcomes nor campaigns.
        if watchedTopic == nil { names += [topics.results, topics.campaigns] + retryTopics }
        var partitions: [String: [Int32]] = [:]
        var isCampaignsForbidden = false
        for topic in try reach.topics(names, admin).topics {
            if let error = topic.error {
                if retryTopics.contains(topic.name) { continue }
                if topic.name == topics.campaigns {
                    isCampaignsForbidden = error.kind == .forbidden
                    continue
                }
                if error.kind == .unknownTopic, !isWriting, topic.name != deadLetterTopic { continue }
                if error.kind == .unknownTopic, topic.name == foreign?.name {
                    throw ToolFailure("there is no topic \(topic.name) on these brokers: check the name")
                }
                throw ToolFailure(topic: topic.name, error, allow: .read)
            }
            partitions[topic.name] = topic.partitions.map(\.id)
        }
        return Layout(
            deadLetters: partitions[deadLetterTopic] ?? [], results: partitions[topics.results] ?? [],
            state: partitions[topics.state] ?? [],
            campaigns: isCampaignsForbidden ? nil : partitions[topics.campaigns] ?? [],
            retries: partitions.filter { retryTopics.contains($0.key) })
    }

    /// - Parameter patience: how long a leader that moves, or a step towards the end, is waited for.
    package func deadLetters(patience: Duration = .seconds(60)) throws -> DeadLetterReader {
        try DeadLetterReader(
            properties: readerProperties, topic: deadLetterTopic, decoder: decoder, isForeign: foreign != nil,
            patience: patience)
    }

    /// Throws when foreign dead letters name topics that are no request topics, and no option says where they go.
    func checkOrigins(of plan: ReplayPlan) throws(ToolFailure) {
        guard let foreign, let count = plan.leftOut[.otherTopic] else { return }
        throw foreign.refusal(of: plan.otherTopics, count: count)
    }

    /// Throws when it is not known where foreign dead letters go, or when a topic is missing: no worker would read it.
    package func checkDestinations(of plan: ReplayPlan, reach: ClusterReach, admin: Admin) throws {
        try checkOrigins(of: plan)
        guard foreign != nil, !plan.topics.isEmpty else { return }
        for topic in try reach.topics(plan.topics.keys.sorted(), admin).topics {
            guard let error = topic.error else { continue }
            if error.kind == .unknownTopic, !topics.requests.contains(topic.name) {
                throw ToolFailure(
                    "there is no topic \(topic.name) on these brokers: check --to, or create it; nothing was replayed")
            }
            throw ToolFailure(topic: topic.name, error, allow: .write)
        }
    }

    /// The place of the request that a dead letter was made of; `nil` when it names none in a request topic.
    ///
    /// The request is read with the rights of this process: a header must not choose among all topics that these may
    /// read.
    func request(of entry: DeadLetterEntry) -> Origin? {
        entry.origin.flatMap { topics.requests.contains($0.topic) ? $0 : nil }
    }

    /// The request that a dead letter was made of; `nil` when it names none, or its topic does not have it any more.
    package func original(of entry: DeadLetterEntry) throws -> DeadLetterEntry? {
        guard let origin = request(of: entry) else { return nil }
        let reader = try DeadLetterReader(properties: readerProperties, topic: origin.topic, decoder: decoder)
        defer { reader.close() }
        let place = ReadBounds(partitions: [origin.partition], offsets: origin.offset...origin.offset)
        var found: DeadLetterEntry?
        try reader.scan(try reader.ranges(place, partitions: [origin.partition])) { _ in
            true
        } _: { request in
            found = request
            return false
        }
        return found
    }

    /// A reader of what became of them; `nil` when there is no state topic.
    package func state(_ layout: Layout) throws -> StateReader? {
        guard !layout.state.isEmpty else { return nil }
        return try StateReader(
            properties: readerProperties, topic: topics.state, partitions: layout.state, foreignTopic: foreign?.name)
    }
}
