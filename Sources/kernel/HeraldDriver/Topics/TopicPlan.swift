package import HeraldEvents
package import HeraldKafka
import HeraldText
import HeraldTime

/// What differs between the topics that the settings want and those that there are, and what would fix it.
///
/// Nothing in it shrinks or deletes: what is more than wanted stays, and is only said.
package struct TopicPlan: Sendable, Equatable {
    package enum Action: String, Sendable {
        case create
        case change
        /// It differs, and an operator has to decide: Kafka cannot change it, or records would be lost.
        case byHand = "by-hand"
        /// All is well; it is only worth knowing.
        case none
    }

    package struct Step: Sendable, Equatable {
        package var topic: String
        package var property: TopicProperty
        /// What it is; `nil` for a topic that there is not.
        package var now: String?
        /// What it has to be, or has to be at least.
        package var wanted: String
        package var action: Action
        /// Why, for people; may be empty.
        package var note: String
    }

    package private(set) var steps: [Step] = []
    package private(set) var newTopics: [NewTopic] = []

    private var changes: [Step] { steps.filter { $0.action == .change } }

    /// How many partitions topics get that have too few.
    package var partitionTotals: [String: Int] {
        changes.filter { $0.property == .partitions }.reduce(into: [:]) { $0[$1.topic] = Int($1.wanted) }
    }

    /// Entries of configurations to be set, by topic.
    package var configurations: [String: [String: String]] {
        changes.filter { $0.property != .partitions }.reduce(into: [:]) { entries, step in
            entries[step.topic, default: [:]][step.property.rawValue] = step.wanted
        }
    }

    package var isFulfilled: Bool { steps.allSatisfy { $0.action == .none } }

    /// Whether there is something to be made or changed.
    package var hasChanges: Bool { steps.contains { $0.action == .create || $0.action == .change } }

    /// Whether something differs that only a person can fix.
    package var needsHands: Bool { steps.contains { $0.action == .byHand } }

    package init(_ wishes: TopicWishes, existing: [String: TopicState]) {
        for topic in wishes.topics(beside: existing) {
            guard let state = existing[topic.name] else {
                create(topic, replication: wishes.replication)
                continue
            }
            checkPartitions(topic, state, isRequest: wishes.names.requests.contains(topic.name))
            checkCopies(topic, state, wanted: wishes.replication)
            checkPolicy(topic, state)
            checkRetention(topic, state)
            checkSize(topic, state)
            checkCompression(topic, state)
        }
        let known = Set(wishes.topicNames)
        for name in existing.keys.sorted() where !known.contains(name) && wishes.names.delay(ofTopic: name) != nil {
            steps.append(
                Step(
                    topic: name, property: .topic, now: "exists", wanted: "exists", action: .none,
                    note: "no delay of retry.delays any more; workers go on until it is empty"))
        }
    }

    /// The same plan without what concerns these topics.
    package func leavingOut(_ topics: Set<String>) -> TopicPlan {
        var plan = self
        plan.steps.removeAll { topics.contains($0.topic) }
        plan.newTopics.removeAll { topics.contains($0.name) }
        return plan
    }

    private mutating func create(_ topic: WantedTopic, replication: Int?) {
        var entries: [(TopicProperty, String)] = [(.cleanupPolicy, topic.cleanup.policy)]
        if topic.cleanup.hasRetention { entries.append((.retention, String(topic.retention.count))) }
        entries.append((.maxMessageBytes, String(topic.newMessageBytes)))
        if topic.isUncompressed { entries.append((.compressionType, Self.uncompressed)) }
        // One copy with a cluster's default of two in-sync copies would take no record at all.
        if let replication, replication != 2 { entries.append((.minInSyncReplicas, replication >= 3 ? "2" : "1")) }
        newTopics.append(
            NewTopic(
                name: topic.name, partitions: topic.partitions, replication: replication,
                configuration: Dictionary(uniqueKeysWithValues: entries.map { ($0.0.rawValue, $0.1) })))
        let all =
            [(.partitions, String(topic.partitions)), (.replication, replication.map(String.init) ?? "default")]
            + entries
        steps.append(
            Step(
                topic: topic.name, property: .topic, now: nil,
                wanted: all.map { "\($0.0.rawValue)=\($0.1)" }.joined(separator: " "), action: .create,
                note: replication == nil
                    ? "the cluster's default copies; with three or more, min.insync.replicas becomes 2" : ""))
    }

    private mutating func checkPartitions(_ topic: WantedTopic, _ state: TopicState, isRequest: Bool) {
        guard state.partitions != topic.partitions else { return }
        let isFewer = state.partitions < topic.partitions
        let moves = isRequest ? "users move to other partitions: what waits now may be overtaken by later events" : ""
        add(
            topic, .partitions, now: String(state.partitions), wanted: String(topic.partitions),
            isFewer ? .change : .none, isFewer ? moves : "more than wanted is fine")
    }

    private mutating func checkCopies(_ topic: WantedTopic, _ state: TopicState, wanted: Int?) {
        if let wanted, wanted != state.replication {
            let isFewer = state.replication < wanted
            add(
                topic, .replication, now: String(state.replication), wanted: String(wanted),
                isFewer ? .byHand : .none,
                isFewer ? "copies are added with Kafka's kafka-reassign-partitions" : "more than wanted is fine")
        }
        guard let inSync = state.number(.minInSyncReplicas) else { return }
        switch (inSync, Int64(state.replication)) {
        case (let inSync, let copies) where inSync > copies:
            add(
                topic, .minInSyncReplicas, now: String(inSync), wanted: String(max(1, copies - 1)), .byHand,
                "more in-sync copies are demanded than there are copies: brokers before Kafka 3.7 take no record, later ones "
                    + "demand all copies")
        case (let inSync, let copies) where copies >= 3 && (inSync < 2 || inSync == copies):
            add(
                topic, .minInSyncReplicas, now: String(inSync), wanted: "2", .change,
                inSync < 2
                    ? "one lost broker must not lose a record" : "one broker that is away stops all that is written")
        case (2, 2):
            add(
                topic, .minInSyncReplicas, now: "2", wanted: "1", .byHand,
                "one broker that is away stops all that is written; with 1 a lost broker can lose records, with a third copy "
                    + "(kafka-reassign-partitions) neither happens")
        case _: break
        }
    }

    private mutating func checkPolicy(_ topic: WantedTopic, _ state: TopicState) {
        let policy = state.text(.cleanupPolicy) ?? ""
        let parts = policy.split(separator: ",").map { $0.trimming(" ") }
        let wanted = topic.cleanup.policy
        guard Set(parts) != Set(wanted.split(separator: ",").map(String.init)) else { return }
        switch topic.cleanup {
        case .delete: break
        case .compact(let why): return add(topic, .cleanupPolicy, now: policy, wanted: wanted, .change, why)
        case .compactAndDelete:
            return add(
                topic, .cleanupPolicy, now: policy, wanted: wanted, .change,
                "it is read whole by every worker that starts, and a recall is of no use when its event is gone")
        }
        let why = "compaction removes all but a user's last record"
        if parts.contains("delete") {
            add(topic, .cleanupPolicy, now: policy, wanted: "delete", .change, why)
        } else {
            add(
                topic, .cleanupPolicy, now: policy, wanted: "delete", .byHand,
                why + "; the change would delete records older than retention.ms, so decide with kafka-configs")
        }
    }

    private mutating func checkRetention(_ topic: WantedTopic, _ state: TopicState) {
        guard topic.cleanup.hasRetention else { return }
        let wanted = topic.retention.count
        let now = state.number(.retention) ?? 0
        if now >= 0, now < wanted {
            add(topic, .retention, now: String(now), wanted: String(wanted), .change, "")
        } else if now != wanted {
            add(
                topic, .retention, now: String(now), wanted: String(wanted), .none,
                "longer than wanted is fine")
        }
        if let bytes = state.number(.retentionBytes), bytes >= 0 {
            add(
                topic, .retentionBytes, now: String(bytes), wanted: "-1", .byHand,
                "a partition that grows beyond it loses records before retention.ms")
        }
    }

    private mutating func checkSize(_ topic: WantedTopic, _ state: TopicState) {
        let now = state.number(.maxMessageBytes) ?? 0
        guard now < topic.messageBytes else { return }
        add(
            topic, .maxMessageBytes, now: String(now), wanted: String(topic.newMessageBytes), .change,
            "at least \(topic.messageBytes), or the largest records are refused")
    }

    /// Any other value lets a batch of a megabyte in that unpacks to a gigabyte: brokers apply `max.message.bytes` to what
    /// they store.
    private static let uncompressed = "uncompressed"

    private mutating func checkCompression(_ topic: WantedTopic, _ state: TopicState) {
        // Brokers that say nothing of it do nothing about it.
        guard topic.isUncompressed, let now = state.text(.compressionType), now != Self.uncompressed else { return }
        add(
            topic, .compressionType, now: now, wanted: Self.uncompressed, .change,
            "or a small batch unpacks to gigabytes in the workers; it takes more of the brokers' disks (SCALING)")
    }

    private mutating func add(
        _ topic: WantedTopic, _ property: TopicProperty, now: String, wanted: String, _ action: Action, _ note: String
    ) {
        steps.append(Step(topic: topic.name, property: property, now: now, wanted: wanted, action: action, note: note))
    }
}

// MARK: Drift

extension TopicPlan {
    /// What is compared, the worst first: what refuses records, what loses them, what may do either one day.
    private static let configured: [TopicProperty] = [
        .maxMessageBytes, .retention, .retentionBytes, .cleanupPolicy, .minInSyncReplicas, .compressionType,
    ]
    /// How many differences are told in full.
    private static let told = 3

    /// That topics are configured otherwise than the settings want; `nil` when none is.
    ///
    /// - Parameter servers: `kafka.bootstrapServers`, for the commands.
    package func drift(on servers: String) -> Finding? {
        let open = steps.filter { $0.action == .change || $0.action == .byHand }
        let steps: [Step] = Self.configured.flatMap { property in open.filter { $0.property == property } }
        guard !steps.isEmpty else { return nil }
        let more = steps.count > Self.told ? " and \(steps.count - Self.told) more" : ""
        let byHand = steps.filter { $0.action == .byHand }
        let commands = byHand.prefix(Self.told).map { "`\($0.command(on: servers))`" }.joined(separator: ", ")
        let applying = steps.contains { $0.action == .change } ? FindingKey.topicsDrift.entry.step : ""
        var finding = Finding(
            .topicsDrift, "the topic " + steps.prefix(Self.told).map(\.difference).joined(separator: "; ") + more,
            place: Set(steps.map(\.topic)).sorted(),
            step: applying + (applying.isEmpty || byHand.isEmpty ? "" : ", and ")
                + (byHand.isEmpty ? "" : "decide by hand: \(commands)"),
            numbers: ["differences": steps.count])
        if applying.isEmpty { finding.command = ["herald", "topics", "plan"] }
        return finding
    }
}

extension TopicPlan.Step {
    /// What is, and what should be, in the middle of a sentence.
    package var difference: String {
        "\(topic) has \(property.rawValue)=\(now.map(shown) ?? "?"), wanted \(shown(wanted))"
    }

    /// A value for people: a retention with its days.
    package func shown(_ value: String) -> String {
        guard property == .retention, let number = Int64(value), number > 0 else { return value }
        return "\(value) (\(DurationText.format(.milliseconds(number))))"
    }

    /// What makes it as wanted, where only a person may decide to.
    package func command(on servers: String) -> String {
        property == .replication
            ? "kafka-reassign-partitions --bootstrap-server \(servers)"
            : "kafka-configs --bootstrap-server \(servers) --alter --entity-type topics --entity-name \(topic) "
                + "--add-config \(property.rawValue)=\(wanted)"
    }
}

extension Substring {
    fileprivate func trimming(_ character: Character) -> String {
        String(drop { $0 == character }.reversed().drop { $0 == character }.reversed())
    }
}
