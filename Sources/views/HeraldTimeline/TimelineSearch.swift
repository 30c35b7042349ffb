package import HeraldEvents
package import HeraldKafka
internal import HeraldReplay
package import HeraldTime
package import HeraldTools

/// Reads what Herald's topics say of some events.
package struct TimelineSearch: Sendable {
    package let topics: Topics
    /// The delays of the settings; the topics of others are read too.
    package let delays: [DelayName]
    /// librdkafka's properties for readers: `read_committed`, no group joined.
    package let readerProperties: ClientProperties
    package let decoder: RecordDecoder
    /// The workers, for where an event stands.
    package let group: WorkerGroup
    /// Where users and recalls say what ends events without a call; `nil` when workers do not obey them.
    package let words: (@Sendable () throws -> LastWordContext)?

    package init(
        topics: Topics, delays: [DelayName], readerProperties: ClientProperties, decoder: RecordDecoder,
        group: WorkerGroup, words: (@Sendable () throws -> LastWordContext)? = nil
    ) {
        self.group = group
        self.words = words
        self.topics = topics
        self.delays = delays
        self.readerProperties = readerProperties
        self.decoder = decoder
    }

    package struct Found: Sendable {
        package var timelines: [EventTimeline]
        /// Topics that there are not, or that this user may not read, with the reason.
        package var unread: [String] = []
        /// Records of the user that lie elsewhere than where their key belongs, by the names of their topics.
        package var strayTopics: [String] = []
        /// The same where their key belonged when the topic had fewer partitions.
        package var grownTopics: [String] = []
        /// Whether only the partitions of the user's key were read, and there are others.
        package var isNarrow = false
        /// What could not be read, because a transaction before it does not end.
        package var openTransactions: [OpenTransaction] = []
        /// What was not read, whatever the reason, a phrase each.
        package var gaps: [String] = []
        /// Records of the user in request topics that have no value: no events.
        package var tombstoneCount = 0
        /// Whether the broker finds records by their time; an embedded one does not, and everything is read.
        package var knowsTimes = true
        /// Whether older events were left out.
        package var isCut = false
        /// Whether the reading was ended before its end.
        package var isPart = false
        /// Up to where the group had consumed before the reading, negative where it had nothing: what follows from a record
        /// before that was written with it, and is found.
        var committed: [TopicPartition: Int64] = [:]

        /// What was looked for and not read, a phrase each.
        var missed: [String] {
            unread + openTransactions.map { "\($0.words); \($0.remedy)" }
                + (isPart ? ["what comes behind the place at which the reading was ended"] : [])
        }
    }

    private struct Place {
        var name: String
        var kind: TimelineRecords.Kind
        /// Those that are read.
        var partitions: [Int32]
        /// How many there are.
        var partitionCount: Int
    }

    /// Reads up to what is committed now: the partitions of the user's key, and all of them when an event of his has
    /// another key and its outcome may lie elsewhere.
    ///
    /// - Parameter onProgress: how many of how many offsets have been passed, and how many events were found; `false` ends
    ///   the reading.
    package func run(
        _ query: TimelineQuery, reach: ClusterReach, admin: Admin,
        onProgress: (_ passed: Int64, _ total: Int64) -> Bool
    ) throws -> Found {
        var found = Found(timelines: [])
        let places = try places(query, reach, admin, &found)
        let kinds = Dictionary(places.map { ($0.name, $0.kind) }) { $1 }
        var starts: [TopicPartition: TopicReader.Start] = [:]
        for place in places {
            for partition in place.partitions {
                starts[TopicPartition(topic: place.name, partition: partition)] =
                    query.since.map { .moment($0.milliseconds) } ?? .beginning
            }
        }
        let counts = Dictionary(places.map { ($0.name, $0.partitionCount) }) { $1 }
            .filter { topics.requests.contains($0.key) }
        var builder = TimelineBuilder(limit: query.limit, partitions: counts)
        var records = TimelineRecords(query, decoder: decoder, partitions: counts)
        if !starts.isEmpty {
            let consumed = starts.keys.filter { kinds[$0.topic] == .request || kinds[$0.topic] == .retry }
            // Where it cannot be asked, whoever needs it says so.
            found.committed = (try? committed(Set(consumed))) ?? [:]
            try read(starts, kinds, &records, &builder, &found, onProgress)
            // Where the brokers do not say it, nothing is missing.
            found.openTransactions = (try? openTransactions(in: starts.keys)) ?? []
        }
        found.timelines = builder.timelines()
        found.isCut = builder.isCut
        try settleFates(reach, admin, &found)
        found.isNarrow = places.contains { $0.partitions.count < $0.partitionCount }
        if found.isNarrow, !found.isPart, found.timelines.contains(where: \.mayHaveEndedElsewhere) {
            var everywhere = query
            everywhere.readsAllPartitions = true
            return try run(everywhere, reach: reach, admin: admin, onProgress: onProgress)
        }
        (found.strayTopics, found.grownTopics) = strays(of: found.timelines, places)
        found.gaps = gaps(query, found)
        return found
    }

    private func read(
        _ starts: [TopicPartition: TopicReader.Start], _ kinds: [String: TimelineRecords.Kind],
        _ records: inout TimelineRecords, _ builder: inout TimelineBuilder, _ found: inout Found,
        _ onProgress: (Int64, Int64) -> Bool
    ) throws {
        let reader = try ToolFailure.reading(names) { () throws(KafkaError) in
            try TopicReader(properties: readerProperties)
        }
        defer { reader.close() }
        try ToolFailure.reading(names) { () throws(KafkaError) in try reader.begin(starts) }
        found.knowsTimes = reader.consumer.queries.knowsTimes
        var topicNames: [TopicHandleID: String] = [:]
        found.isPart = try !reader.catchUp(onProgress: onProgress) { message in
            let topic = topicNames[message.topic] ?? message.topicName()
            topicNames[message.topic] = topic
            guard let kind = kinds[topic] else { return }
            records.add(message, of: kind, topic: topic, to: &builder)
        }
        found.unread += reader.gaps
        found.tombstoneCount = records.tombstoneCount
    }

    /// Says what became of the dead letters that were found.
    private func settleFates(_ reach: ClusterReach, _ admin: Admin, _ found: inout Found) throws {
        guard found.timelines.contains(where: \.hasLetters),
            let topic = try reach.topics([topics.state], admin).topics.first
        else { return }
        var marks = MarkIndex()
        if let error = topic.error {
            // Without a state topic nothing was replayed.
            guard error.kind == .unknownTopic else {
                found.unread.append(ToolFailure(topic: topics.state, error, allow: .read).description)
                return
            }
        } else {
            do {
                let reader = try StateReader(
                    properties: readerProperties, topic: topics.state, partitions: topic.partitions.map(\.id))
                defer { reader.close() }
                try reader.catchUp()
                marks = reader.marks
            } catch let failure as ToolFailure where failure.kind == .failed {
                found.unread.append(failure.description)
                return
            }
        }
        for index in found.timelines.indices { found.timelines[index].settleFates(marks) }
    }

    private func gaps(_ query: TimelineQuery, _ found: Found) -> [String] {
        var gaps = found.missed
        if found.isNarrow {
            gaps.append(
                "other partitions than that of the user's key, where events with another key may lie (--all-partitions "
                    + "reads them)")
        }
        if let since = query.since, found.knowsTimes { gaps.append("what was recorded before \(since.text) (--since)") }
        if found.isCut { gaps.append("older events of a partition than the newest \(query.limit)") }
        return gaps
    }

    func openTransactions(
        in partitions: some Sequence<TopicPartition>, patience: Milliseconds = OpenTransaction.patience
    ) throws(KafkaError) -> [OpenTransaction] {
        try OpenTransactionSurvey(readerProperties).transactions(
            in: partitions, patience: patience, now: SystemClock.wall(), timeout: Self.questionTimeout)
    }

    private var names: String { topics.requests.joined(separator: ", ") + " and Herald's other topics" }

    // MARK: Places

    private func places(
        _ query: TimelineQuery, _ reach: ClusterReach, _ admin: Admin, _ found: inout Found
    ) throws -> [Place] {
        var kinds: [(String, TimelineRecords.Kind)] = topics.requests.map { ($0, .request) }
        kinds += try reach.delays(delays, of: topics, admin).map { (topics.retryTopic($0), .retry) }
        kinds += [(topics.results, .result), (topics.deadLetter, .deadLetter), (topics.feedback, .feedback)]
        let metadata = try reach.topics(kinds.map(\.0), admin)
        var places: [Place] = []
        for (name, kind) in kinds {
            guard let topic = metadata.topics.first(where: { $0.name == name }) else { continue }
            if let error = topic.error {
                // Only hubs that tell what became of a message have one.
                if kind == .feedback, error.kind == .unknownTopic { continue }
                // A cluster without some of the topics still has a tale to tell, and the workers may use others.
                found.unread.append(
                    error.kind == .unknownTopic
                        ? "there is no topic \(name); if the workers use others, give this command their settings"
                        : ToolFailure(topic: name, error, allow: .read).description)
                continue
            }
            places.append(
                Place(
                    name: name, kind: kind, partitions: Self.partitions(topic.partitions.map(\.id), query),
                    partitionCount: topic.partitions.count))
        }
        return places
    }

    /// Those in which the user's records have to be: all records keep their request's key, and the key is the user.
    static func partitions(_ all: [Int32], _ query: TimelineQuery) -> [Int32] {
        guard let user = query.user, !query.readsAllPartitions else { return all }
        let partition = KeyPartition.partition(of: user.utf8.span.bytes, count: all.count)
        return all.filter { $0 == partition }
    }

    /// The request topics in which some of the events that were found lie elsewhere than where was looked, without and
    /// with those in which a smaller number of partitions put them there.
    private func strays(of timelines: [EventTimeline], _ read: [Place]) -> (strays: [String], grown: [String]) {
        var strays: [String: Set<TopicPartition>] = [:]
        var strangers: Set<String> = []
        for event in timelines {
            let origin = event.origin
            guard let place = read.first(where: { $0.name == origin.topic }),
                !place.partitions.contains(origin.partition)
            else { continue }
            strays[place.name, default: []].insert(TopicPartition(topic: place.name, partition: origin.partition))
            let mayLie = event.user.map {
                KeyPartition.mayLie($0.utf8.span.bytes, in: origin.partition, count: place.partitionCount)
            }
            if mayLie != true { strangers.insert(place.name) }
        }
        // A former number of partitions puts all of a user's records into one.
        let grown = strays.filter { $0.value.count == 1 && !strangers.contains($0.key) }.keys
        return (Set(strays.keys).subtracting(grown).sorted(), grown.sorted())
    }
}

/// Whose events are looked for.
package struct TimelineQuery: Sendable, Equatable {
    package var user: String?
    /// The events with this id: the publisher's, or `topic/partition/offset`.
    package var id: String?
    /// Only what was recorded since.
    package var since: WallTime?
    /// Whether all partitions are read, wherever the user's records should be.
    package var readsAllPartitions = false
    /// So many events at most of each partition, the newest.
    package var limit = 1_000

    package init(user: String? = nil, id: String? = nil) {
        self.user = user
        self.id = id
    }

    /// The request record that the id names, if it is no publisher's id.
    var origin: Origin? { id.flatMap(Origin.init) }

    /// Whether an event is meant; one whose user is not known is not.
    ///
    /// - Parameter origin: its request record, by which it is named whether it has an id or not.
    func matches(user: String?, id: String?, origin: Origin) -> Bool {
        if let wanted = self.user, user != wanted { return false }
        if let wanted = self.id, id != wanted { return origin == self.origin }
        return true
    }
}
