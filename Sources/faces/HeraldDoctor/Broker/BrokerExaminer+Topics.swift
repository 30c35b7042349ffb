internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTools

extension BrokerExaminer {
    /// The fix of a topic that is missing, or other than the settings want it.
    package static let applying = "herald topics apply"

    /// The topics without which a worker does not start.
    var requiredTopics: Set<String> {
        let names = plan.topics.names
        return Set(
            names.requests + [names.results, names.deadLetter] + plan.topics.retryDelays.map { names.retryTopic($0) })
    }

    /// The topics that workers consume, former delays' included.
    var consumedTopics: [ClusterMetadata.Topic] {
        topics.filter { plan.topics.names.requests.contains($0.name) || isRetry($0.name) }
    }

    func isRetry(_ topic: String) -> Bool { plan.topics.names.delay(ofTopic: topic) != nil }

    /// A permission or topic that only the tools need is no reason for a worker to stop.
    func verdict(of topic: String) -> Verdict {
        requiredTopics.contains(topic) || isRetry(topic) ? .failed : .warning
    }

    /// What a missing permission on a topic is needed for.
    func purpose(of topic: String) -> String {
        if verdict(of: topic) == .failed { return "" }
        let names = plan.topics.names
        if topic == names.feedback { return Self.followerPurpose }
        return isOfWords(topic) || topic == names.caps ? Self.wordsPurpose : " (herald dlq and campaign need it)"
    }

    /// Whether users' opt-outs or recalls are there, which workers with `preferences.enabled` read.
    func isOfWords(_ topic: String) -> Bool {
        [plan.topics.names.preferences, plan.topics.names.recalls].contains(topic)
    }

    static let wordsPurpose = " (promotional events wait without it)"

    func examineTopics() -> StageReport {
        guard let admin else { return StageReport([], isDeadEnd: true) }
        let names = plan.topics.topicNames
        let all: ClusterMetadata
        var asked: ClusterMetadata
        do throws(KafkaError) {
            asked = try admin.metadata(topics: names, timeout: requestLimit)
            all = try admin.metadata(timeout: requestLimit)
        } catch {
            return StageReport(
                .topics, "", .failed, "the cluster does not say: \(error.wordsInFull)", fix: "look at the brokers")
        }
        asked.topics += all.topics.filter { isRetry($0.name) && !names.contains($0.name) }
        topics = asked.topics.filter { $0.error == nil && !$0.partitions.isEmpty }
        let (configurations, unknown) = configurations(admin)
        let existing = Dictionary(
            uniqueKeysWithValues: topics.map { ($0.name, TopicState($0, configurations[$0.name] ?? [:])) })
        let difference = TopicPlan(plan.topics, existing: existing)
        let checks = asked.topics.map { topic in
            check(topic, steps: difference.steps.filter { $0.topic == topic.name }, configurations[topic.name])
        }
        return StageReport(checks + unknown, isDeadEnd: topics.isEmpty)
    }

    /// What is configured for each topic, as far as this user may know, and what to say about the rest.
    private func configurations(_ admin: Admin) -> ([String: [String: String]], [Check]) {
        var known: [String: [String: String]] = [:]
        var refusal: KafkaError?
        do throws(KafkaError) {
            let answers = try admin.describeConfigs(topics: topics.map(\.name), timeout: requestLimit)
            for answer in answers {
                refusal = refusal ?? answer.error
                guard answer.error == nil else { continue }
                known[answer.topic] = answer.values
            }
        } catch {
            refusal = error
        }
        guard let refusal else { return (known, []) }
        return (
            known,
            [
                Check(
                    "topic configuration", "", .warning,
                    "it cannot be compared with the settings: \(refusal.wordsInFull)",
                    fix: refusal.kind == .forbidden
                        ? "\(KafkaPermission([.describeConfigs], on: plan.topics.topicNames.map { .topic($0) }))"
                        : silentBrokers.isEmpty
                            ? "nothing if this is an embedded broker, which has none; else look at the brokers"
                            : "bring back the brokers that do not answer")
            ]
        )
    }

    private func check(
        _ topic: ClusterMetadata.Topic, steps: [TopicPlan.Step], _ configuration: [String: String]?
    ) -> Check {
        if topic.error?.kind == .forbidden {
            return Check(
                .topics, topic.name, verdict(of: topic.name),
                "this user may not see it" + purpose(of: topic.name),
                fix: "\(KafkaPermission(.describe, on: .topic(topic.name))); Read and Write bring it along")
        }
        if topic.error != nil || topic.partitions.isEmpty {
            return Check(
                .topics, topic.name, verdict(of: topic.name), "it is missing" + purpose(of: topic.name),
                fix: Self.applying)
        }
        var judgement = TopicJudgement()
        judgement.judge(topic, silentBrokers: silentBrokers)
        judgement.judge(
            topic, minimumInSync: configuration?[TopicProperty.minInSyncReplicas.rawValue].flatMap { Int($0) })
        // What is not known is not compared.
        for step in steps where configuration != nil || Self.isKnownWithout(step.property) {
            judgement.judge(step, servers: plan.bootstrapServers.joined(separator: ","))
        }
        let count = topic.partitions.count
        return Check(
            .topics, topic.name, judgement.verdict,
            (["\(count) partition\(count == 1 ? "" : "s")"] + judgement.remarks).joined(separator: "; "),
            fix: judgement.fixes.isEmpty ? nil : judgement.fixes.joined(separator: "; "))
    }

    private static func isKnownWithout(_ property: TopicProperty) -> Bool {
        property == .partitions || property == .replication
    }
}

/// What is worth saying of one topic.
struct TopicJudgement {
    private(set) var verdict = Verdict.passed
    private(set) var remarks: [String] = []
    private(set) var fixes: [String] = []

    /// Checks the leaders: metadata may name a leader long after it has died, when no broker is left to elect another.
    mutating func judge(_ topic: ClusterMetadata.Topic, silentBrokers: Set<Int32>) {
        let unserved = topic.partitions.filter { $0.leader.map(silentBrokers.contains) ?? false }
        guard !unserved.isEmpty else { return }
        say(
            .failed, "the broker that leads \(Self.list(unserved.map(\.id))) does not answer",
            "bring back the brokers that do not answer")
    }

    mutating func judge(_ topic: ClusterMetadata.Topic, minimumInSync: Int?) {
        let leaderless = topic.leaderlessPartitions
        if !leaderless.isEmpty {
            say(.failed, "no leader for \(Self.list(leaderless))", "bring the brokers with its copies back")
        }
        // Brokers demand no more copies than there are; those before Kafka 3.7, which do, are the plan's to name.
        let tooFew = topic.partitions.filter {
            $0.leader != nil && $0.inSyncReplicaCount < min(minimumInSync ?? 0, $0.replicaCount)
        }
        let behind = topic.partitions.filter { $0.leader != nil && $0.inSyncReplicaCount < $0.replicaCount }
        if !tooFew.isEmpty {
            say(
                .failed,
                "nothing can be written: fewer copies in sync than min.insync.replicas (\(minimumInSync ?? 0)) of "
                    + Self.list(tooFew.map(\.id)), "bring the brokers with its copies back")
        } else if !behind.isEmpty {
            say(.warning, "copies are not in sync of \(Self.list(behind.map(\.id)))", "look after the brokers")
        }
    }

    mutating func judge(_ step: TopicPlan.Step, servers: String) {
        let difference =
            "\(step.property.rawValue) \(step.now.map(step.shown) ?? "?"), wanted \(step.shown(step.wanted))"
        switch step.action {
        case .none: say(.passed, "\(difference) (\(step.note))", nil)
        case .create, .change: say(.warning, difference, BrokerExaminer.applying)
        case .byHand:
            say(
                .warning, "\(difference) (\(step.note))",
                "decide by hand: `\(step.command(on: servers))`")
        }
    }

    private mutating func say(_ verdict: Verdict, _ remark: String, _ fix: String?) {
        if verdict == .failed || (verdict == .warning && self.verdict == .passed) { self.verdict = verdict }
        remarks.append(remark)
        if let fix, !fixes.contains(fix) { fixes.append(fix) }
    }

    static func list(_ partitions: [Int32]) -> String {
        let shown = partitions.prefix(10).map { "\($0)" }.joined(separator: ", ")
        let more = partitions.count > 10 ? " and \(partitions.count - 10) more" : ""
        return "partition\(partitions.count == 1 ? "" : "s") \(shown)\(more)"
    }
}
