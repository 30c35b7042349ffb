package import HeraldDriver
internal import HeraldEvents
package import HeraldKafka
import HeraldTime

/// Compares a cluster's topics with what the settings want, and fixes what can be fixed.
package final class TopicAdministrator: Sendable {
    /// How long a cluster may take to answer a request, and to show what it has done.
    static let requestTimeout = Milliseconds.seconds(10)
    private static let settling = Duration.seconds(30)
    private static let askAgainAfter = Duration.milliseconds(100)
    /// Made, given what only a topic that is there shows (its copies), and looked at a last time.
    private static let rounds = 3

    private let admin: Admin
    private let reach: ClusterReach

    /// An administrator of the cluster that `admin` asks.
    package init(admin: Admin, reach: ClusterReach) {
        self.admin = admin
        self.reach = reach
    }

    /// What differs; blocks for the cluster's answers.
    package func plan(_ wishes: TopicWishes) throws -> TopicPlan {
        TopicPlan(wishes, existing: try state(wishes))
    }

    /// Carries the plan out, and waits until the cluster shows it.
    package func apply(_ plan: TopicPlan, for wishes: TopicWishes) async throws -> TopicApplication {
        var application = TopicApplication(rest: plan)
        var refused: Set<String> = []
        for _ in 0..<Self.rounds {
            let next = application.rest.leavingOut(refused)
            guard next.hasChanges else { break }
            let refusals = try carryOut(next)
            application.refusals += refusals
            refused.formUnion(refusals.map(\.topic))
            let done = next.leavingOut(refused)
            application.changeCount += done.steps.filter { $0.action == .create || $0.action == .change }.count
            application.rest = try await planOnceSeen(done, wishes)
        }
        return application
    }

    /// Asks for all at once; what was refused.
    private func carryOut(_ plan: TopicPlan) throws -> [TopicRefusal] {
        let timeout = Self.requestTimeout
        let made = try asking("CreateTopics") { () throws(KafkaError) in
            try admin.createTopics(plan.newTopics, timeout: timeout)
        }
        let grown = try asking("CreatePartitions") { () throws(KafkaError) in
            try admin.createPartitions(
                plan.partitionTotals.sorted { $0.key < $1.key }.map { (topic: $0.key, partitions: $0.value) },
                timeout: timeout)
        }
        let configured = try asking("AlterConfigs") { () throws(KafkaError) in
            try admin.alterConfigs(
                plan.configurations.sorted { $0.key < $1.key }.map { (topic: $0.key, entries: $0.value) },
                timeout: timeout)
        }
        let operations: [KafkaPermission.Operation] = [.create, .alter, .alterConfigs]
        return zip([made, grown, configured], operations).flatMap { results, operation in
            results.compactMap { result in
                // Another process was faster: the next look tells whether it is as wanted.
                guard let error = result.error, error.code != KafkaError.Code.topicAlreadyExists else { return nil }
                let advice = error.advice(KafkaPermission(operation, on: .topic(result.topic)))
                return TopicRefusal(topic: result.topic, reason: error.description + advice)
            }
        }
    }

    /// Asks again until nothing of what was done is still to be done: brokers hear of it late.
    private func planOnceSeen(_ done: TopicPlan, _ wishes: TopicWishes) async throws -> TopicPlan {
        let end = ContinuousClock.now + Self.settling
        let made = done.newTopics.map(\.name)
        let changed = done.steps.filter { $0.action == .change }
        while true {
            let state = try state(wishes)
            let plan = TopicPlan(wishes, existing: state)
            let isSeen =
                made.allSatisfy { state[$0]?.isServed == true }
                && !changed.contains { step in
                    plan.steps.contains {
                        $0.action == .change && $0.topic == step.topic && $0.property == step.property
                    }
                }
            if isSeen { return plan }
            guard ContinuousClock.now < end else {
                throw ToolFailure(
                    "the cluster took the changes and does not show them after \(Self.settling.components.seconds) s; "
                        + "look again with herald topics check")
            }
            do {
                try await Task.sleep(for: Self.askAgainAfter)
            } catch {
                throw ToolFailure("interrupted before the cluster showed the changes")
            }
        }
    }

    private func state(_ wishes: TopicWishes) throws -> [String: TopicState] {
        let metadata = try reach.allTopics(admin)
        let names = wishes.topicNames
        let descriptions = try asking("DescribeConfigs") { () throws(KafkaError) in
            try admin.describeConfigs(topics: names, timeout: Self.requestTimeout)
        }
        var problems: [String] = []
        var states: [String: TopicState] = [:]
        for topic in metadata.topics where wishes.names.delay(ofTopic: topic.name) != nil {
            states[topic.name] = TopicState(topic, [:])
        }
        for description in descriptions {
            states[description.topic] = nil
            if let error = description.error {
                if error.kind == .unknownTopic { continue }
                problems.append(Self.sentence(description.topic, error))
                continue
            }
            // A topic that this broker has not heard of yet is one that is not there.
            guard let topic = metadata.topics.first(where: { $0.name == description.topic }) else { continue }
            states[topic.name] = TopicState(topic, description.values)
        }
        guard problems.isEmpty else { throw ToolFailure(problems.joined(separator: "\n")) }
        return states
    }

    private static func sentence(_ topic: String, _ error: KafkaError) -> String {
        guard error.kind == .forbidden else { return "topic \(topic): \(error)" }
        return "topic \(topic): this user may not read its configuration"
            + error.advice(KafkaPermission(.describe, .describeConfigs, on: .topic(topic)))
    }

    /// A request that the embedded broker does not answer is one that it does not know.
    private func asking<Answer>(_ request: String, _ body: () throws(KafkaError) -> Answer) throws -> Answer {
        do throws(KafkaError) {
            return try body()
        } catch {
            guard error.kind == .unreachable else { throw ToolFailure(request, error) }
            _ = try reach.topics([], admin)
            guard admin.isOfEmbeddedBroker(timeout: Self.requestTimeout) else {
                throw ToolFailure(request, error)
            }
            throw ToolFailure(
                "the broker answers other questions, and none of \(request) within "
                    + "\(Self.requestTimeout.wholeSeconds) s; the embedded broker cannot do it: its topics are made "
                    + "when it starts")
        }
    }
}

/// How far a plan was carried out.
package struct TopicApplication: Sendable, Equatable {
    package var rest: TopicPlan
    /// How many topics were made and properties changed.
    package var changeCount = 0
    package var refusals: [TopicRefusal] = []
}

/// A change that a cluster refused.
package struct TopicRefusal: Sendable, Equatable {
    package var topic: String
    package var reason: String
}
