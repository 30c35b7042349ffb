import HeraldEvents
import HeraldKafka
import HeraldTime
import Testing

@testable import HeraldDriver

@Suite("The differences between wanted and existing topics")
struct TopicPlanTests {
    private static let week: Int64 = 604_800_000
    private static let day: Int64 = 86_400_000
    private static let year: Int64 = 365 * day

    private static func wishes(
        partitions: Int = 6, replication: Int? = nil, retention: Int64 = week, maxElapsed: Int64 = day,
        eventBytes: Int = 65_536, delays: [String] = ["5s", "2h"]
    ) -> TopicWishes {
        TopicWishes(
            names: Topics(), retryDelays: delays.compactMap { DelayName($0) }, partitions: partitions,
            replication: replication, retention: .milliseconds(retention), maxElapsed: .milliseconds(maxElapsed),
            eventBytes: eventBytes)
    }

    private static let good = [
        "cleanup.policy": "delete", "retention.ms": String(week), "retention.bytes": "-1",
        "max.message.bytes": "1048588", "min.insync.replicas": "1",
    ]

    /// All topics as the default wishes want them, with one of them changed.
    private static func existing(
        _ changed: String = "", partitions: Int = 6, replication: Int = 1, _ configuration: [String: String] = [:]
    ) -> [String: TopicState] {
        var all: [String: TopicState] = [:]
        for name in wishes().topicNames {
            all[name] = TopicState(partitions: 6, replication: 1, configuration: good)
        }
        // A retry or dead letter is a request with Herald's headers.
        let failed = good.merging(["max.message.bytes": "1064972"]) { $1 }
        for name in wishes().retryDelays.map(Topics().retryTopic) + [Topics().deadLetter] {
            all[name] = TopicState(partitions: 6, replication: 1, configuration: failed)
        }
        for name in [Topics().campaigns, Topics().audiences, Topics().state] {
            all[name] = TopicState(
                partitions: 1, replication: 1, configuration: good.merging(["cleanup.policy": "compact"]) { $1 })
        }
        all[Topics().audit] = TopicState(
            partitions: 1, replication: 1, configuration: good.merging(["retention.ms": String(year)]) { $1 })
        if !changed.isEmpty {
            all[changed] = TopicState(
                partitions: partitions, replication: replication,
                configuration: (all[changed]?.configuration ?? good).merging(configuration) { $1 })
        }
        return all
    }

    @Test("Opt-outs are kept for ever and recalls for as long as an event can be called, where they are wanted")
    func preferences() throws {
        var wishes = Self.wishes()
        #expect(!wishes.topicNames.contains("notifications.preferences"))
        wishes.wantsPreferences = true
        let plan = TopicPlan(wishes, existing: Self.existing())
        let made = Dictionary(uniqueKeysWithValues: plan.newTopics.map { ($0.name, $0.configuration) })
        #expect(made.keys.sorted() == ["notifications.preferences", "notifications.recalls"])
        #expect(made["notifications.preferences"]?["cleanup.policy"] == "compact")
        #expect(made["notifications.preferences"]?["retention.ms"] == nil)
        #expect(made["notifications.recalls"]?["cleanup.policy"] == "compact,delete")
        #expect(made["notifications.recalls"]?["retention.ms"] == String(2 * Self.week + Self.day))
        #expect(plan.newTopics.allSatisfy { $0.partitions == 1 })

        var existing = Self.existing()
        for topic in plan.newTopics {
            existing[topic.name] = TopicState(
                partitions: 1, replication: 1,
                configuration: Self.good.merging(topic.configuration) { $1 }.merging(["cleanup.policy": "delete"]) {
                    $1
                })
        }
        let steps = TopicPlan(wishes, existing: existing).steps
        #expect(steps.map(\.action) == [.change, .change])
        #expect(steps.first?.note.contains("notified again") == true)
        existing["notifications.recalls"]?.configuration["cleanup.policy"] = "delete,compact"
        existing["notifications.preferences"]?.configuration["cleanup.policy"] = "compact"
        #expect(TopicPlan(wishes, existing: existing).isFulfilled)
    }

    @Test("Caps want a topic with a partition for each home, and equally many of all that is consumed")
    func caps() {
        var wishes = Self.wishes()
        wishes.caps = [CapRule(limit: 3, per: .hours(24)), CapRule(source: "shop", limit: 1, per: .days(7))]
        let plan = TopicPlan(wishes, existing: Self.existing("notifications", partitions: 12))
        let topic = plan.newTopics.first { $0.name == "notifications.caps" }
        #expect(topic?.partitions == 12)
        #expect(topic?.configuration["cleanup.policy"] == "compact,delete")
        #expect(topic?.configuration["retention.ms"] == String(14 * 86_400_000))
        let grown = plan.steps.filter { $0.property == .partitions && $0.action == .change }
        #expect(grown.contains { $0.topic == "notifications.bulk" && $0.wanted == "12" })
        #expect(grown.contains { $0.topic.hasPrefix("notifications.retry.") })
        #expect(!grown.contains { $0.topic == "notifications.results" })
    }

    @Test("Topics that match the wishes need no change")
    func fulfilled() {
        let plan = TopicPlan(Self.wishes(), existing: Self.existing())
        #expect(plan.isFulfilled && plan.steps.isEmpty && !plan.hasChanges && !plan.needsHands)
    }

    @Test("Where no topics exist every one is created, with one retry topic for each delay")
    func create() throws {
        let plan = TopicPlan(Self.wishes(replication: 3), existing: [:])
        #expect(plan.newTopics.map(\.name) == Self.wishes().topicNames)
        #expect(
            Self.wishes().topicNames == [
                "notifications", "notifications.bulk", "notifications.results", "notifications.retry.5s",
                "notifications.retry.2h", "notifications.dead-letter", "notifications.campaigns",
                "notifications.audiences", "notifications.dead-letter.state", "notifications.audit",
            ])
        for topic in plan.newTopics {
            #expect(topic.replication == 3)
            #expect(topic.configuration["min.insync.replicas"] == "2")
            let isRequest = Topics().requests.contains(topic.name)
            #expect(topic.configuration["compression.type"] == (isRequest ? "uncompressed" : nil))
        }
        for topic in plan.newTopics.dropLast(4) {
            #expect(topic.partitions == 6)
            #expect(topic.configuration["cleanup.policy"] == "delete")
            #expect(topic.configuration["retention.ms"] == String(Self.week))
        }
        // Campaigns and dead letters' states are kept for ever, the audit for a year; all in the order of writing.
        let (states, audit) = (plan.newTopics.suffix(4).dropLast(), try #require(plan.newTopics.last))
        #expect(plan.newTopics.suffix(4).allSatisfy { $0.partitions == 1 })
        for state in states {
            #expect(state.configuration["cleanup.policy"] == "compact" && state.configuration["retention.ms"] == nil)
        }
        #expect(audit.configuration["cleanup.policy"] == "delete")
        #expect(audit.configuration["retention.ms"] == String(Self.year))
        let sizes = plan.newTopics.compactMap { $0.configuration["max.message.bytes"].flatMap { Int($0) } }
        #expect(sizes[0] == 1_048_588)
        #expect(sizes.dropLast(4).suffix(3).allSatisfy { $0 > sizes[0] })
        #expect(plan.steps.allSatisfy { $0.action == .create && $0.now == nil })
    }

    @Test("The feedback topic is wanted only where a hub reports on its messages")
    func feedback() throws {
        var wishes = Self.wishes()
        wishes.wantsFeedback = true
        let plan = TopicPlan(wishes, existing: [:])
        #expect(plan.newTopics.map(\.name) == wishes.topicNames && plan.newTopics.count == 11)
        let topic = try #require(plan.newTopics.last)
        #expect(topic.name == "notifications.feedback" && topic.partitions == 6)
        #expect(topic.configuration["retention.ms"] == String(Self.week))
        // An existing topic without a wish is left alone.
        #expect(TopicPlan(Self.wishes(), existing: Self.existing()).isFulfilled)
    }

    @Test(
        "The required number of in-sync copies follows from the number of copies",
        arguments: [(1, "1"), (2, nil), (3, "2"), (4, "2"), (nil, nil)] as [(Int?, String?)])
    func inSync(copies: Int?, wanted: String?) {
        let plan = TopicPlan(Self.wishes(replication: copies), existing: [:])
        #expect(plan.newTopics.allSatisfy { $0.configuration["min.insync.replicas"] == wanted })
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var topic = "notifications"
        var partitions = 6
        var replication = 1
        var configuration: [String: String] = [:]
        var wishes = TopicPlanTests.wishes()
        var expected: [String]
    }

    private static let cases = [
        Case(
            testDescription: "fewer partitions are added to", partitions: 4, expected: ["partitions 4>6 change"]),
        Case(
            testDescription: "more partitions stay", partitions: 9,
            expected: [
                "partitions 9>6 none", "notifications.dead-letter partitions 6>9 change",
            ]),
        Case(
            testDescription: "more partitions of a dead-letter topic are fine", topic: "notifications.dead-letter",
            partitions: 12, expected: ["partitions 12>6 none"]),
        Case(
            testDescription: "a shorter retention is raised", configuration: ["retention.ms": "1000"],
            expected: ["retention.ms 1000>604800000 change"]),
        Case(
            testDescription: "a longer retention stays", topic: "notifications.dead-letter",
            configuration: ["retention.ms": "700000000"], expected: ["retention.ms 700000000>604800000 none"]),
        Case(
            testDescription: "keeping for ever is longer", configuration: ["retention.ms": "-1"],
            expected: ["retention.ms -1>604800000 none"]),
        Case(
            testDescription: "a bound on bytes loses records, and an operator decides",
            configuration: ["retention.bytes": "5000"], expected: ["retention.bytes 5000>-1 by-hand"]),
        Case(
            testDescription: "small records are made larger", configuration: ["max.message.bytes": "50000"],
            expected: ["max.message.bytes 50000>1048588 change"]),
        Case(
            testDescription: "failed events must fit where requests fit",
            configuration: ["max.message.bytes": "2000000"],
            expected: ["notifications.retry.5s", "notifications.retry.2h", "notifications.dead-letter"].map {
                "\($0) max.message.bytes 1064972>2016384 change"
            }),
        Case(
            testDescription: "request topics let no compression bombs in",
            configuration: ["compression.type": "producer"],
            expected: ["compression.type producer>uncompressed change"]),
        Case(
            testDescription: "a codec is no better", topic: "notifications.bulk",
            configuration: ["compression.type": "zstd"], expected: ["compression.type zstd>uncompressed change"]),
        Case(
            testDescription: "what workers write is theirs", topic: "notifications.results",
            configuration: ["compression.type": "producer"], expected: []),
        Case(
            testDescription: "a dead-letter topic that takes no more than the requests' has no room for the headers",
            topic: "notifications.dead-letter", configuration: ["max.message.bytes": "1048588"],
            expected: ["max.message.bytes 1048588>1064972 change"]),
        Case(
            testDescription: "compaction beside deletion ends", configuration: ["cleanup.policy": "compact, delete"],
            expected: ["cleanup.policy compact, delete>delete change"]),
        Case(
            testDescription: "ending compaction alone would delete", configuration: ["cleanup.policy": "compact"],
            expected: ["cleanup.policy compact>delete by-hand"]),
        Case(
            testDescription: "three copies need two in sync", replication: 3,
            expected: ["min.insync.replicas 1>2 change"]),
        Case(testDescription: "two copies need one in sync", replication: 2, expected: []),
        Case(
            testDescription: "stricter is fine", replication: 4, configuration: ["min.insync.replicas": "3"],
            expected: []),
        Case(
            testDescription: "more in sync than there are copies",
            configuration: ["min.insync.replicas": "2"], expected: ["min.insync.replicas 2>1 by-hand"]),
        Case(
            testDescription: "all of three copies in sync: a broker that is away stops all that is written",
            replication: 3, configuration: ["min.insync.replicas": "3"], expected: ["min.insync.replicas 3>2 change"]),
        Case(
            testDescription: "both of two copies in sync: an operator decides", replication: 2,
            configuration: ["min.insync.replicas": "2"], expected: ["min.insync.replicas 2>1 by-hand"]),
    ]

    @Test("A topic that differs is changed, left, or reported as manual work", arguments: cases)
    func differences(_ example: Case) {
        let existing = Self.existing(
            example.topic, partitions: example.partitions, replication: example.replication, example.configuration)
        let plan = TopicPlan(example.wishes, existing: existing)
        let steps = plan.steps.map { step in
            (step.topic == example.topic ? "" : "\(step.topic) ")
                + "\(step.property.rawValue) \(step.now ?? "")>\(step.wanted) \(step.action.rawValue)"
        }
        #expect(steps == example.expected)
        #expect(plan.hasChanges == example.expected.contains { $0.hasSuffix(" change") })
        #expect(plan.needsHands == example.expected.contains { $0.hasSuffix(" by-hand") })
        #expect(plan.isFulfilled == (!plan.hasChanges && !plan.needsHands))
        let changed = Set(plan.partitionTotals.keys).union(plan.configurations.keys)
        #expect(changed == Set(plan.steps.filter { $0.action == .change }.map(\.topic)))
    }

    @Test("Missing copies are manual work, and more copies than wanted are accepted")
    func copies() {
        let few = TopicPlan(Self.wishes(replication: 3), existing: Self.existing())
        #expect(few.steps.count == 10 && few.steps.allSatisfy { $0.action == .byHand })
        let many = TopicPlan(
            Self.wishes(replication: 1), existing: Self.existing("notifications", replication: 2))
        #expect(many.steps.map(\.action) == [.none])
    }

    @Test("Retry topics keep their records until the last of them is due, and the others are not touched")
    func retention() {
        let wishes = Self.wishes(retention: Self.day, maxElapsed: Self.day)
        let wanted = TopicPlan(wishes, existing: [:]).newTopics.dropLast(4).map { $0.configuration["retention.ms"] }
        let day = Self.day
        #expect(wanted == [day, day, day, day + 5_000, day + 7_200_000, day].map { String($0) })
    }

    @Test("A state topic that deletes records is changed to keep them", arguments: ["delete", "compact,delete"])
    func forgetful(policy: String) {
        let plan = TopicPlan(
            Self.wishes(),
            existing: Self.existing(Topics().state, partitions: 1, ["cleanup.policy": policy, "retention.ms": "5"]))
        #expect(plan.configurations == [Topics().state: ["cleanup.policy": "compact"]])
        #expect(plan.steps.map(\.action) == [.change])
    }

    @Test("Large events raise the limit of every topic")
    func largeEvents() {
        let plan = TopicPlan(Self.wishes(eventBytes: 4_000_000), existing: Self.existing())
        #expect(plan.steps.count == 6)
        for step in plan.steps {
            #expect(step.property == .maxMessageBytes && step.action == .change)
            #expect((Int(step.wanted) ?? 0) > 4_000_000)
        }
    }

    @Test("A retry topic of a former delay is reported and left alone, other topics are ignored")
    func formerDelay() {
        var existing = Self.existing()
        existing["notifications.retry.1h"] = TopicState(partitions: 1, replication: 1, configuration: [:])
        existing["notifications.retry.later"] = TopicState(partitions: 1, replication: 1, configuration: [:])
        let plan = TopicPlan(Self.wishes(), existing: existing)
        #expect(plan.steps.map(\.topic) == ["notifications.retry.1h"] && plan.isFulfilled)
    }

    @Test("A plan leaves an excluded topic out of its report and its changes")
    func leavingOut() {
        let plan = TopicPlan(Self.wishes(partitions: 8), existing: Self.existing("notifications.bulk", partitions: 3))
            .leavingOut(["notifications.bulk"])
        #expect(!plan.steps.contains { $0.topic == "notifications.bulk" })
        #expect(plan.partitionTotals.count == 5 && plan.partitionTotals["notifications.bulk"] == nil)
    }

    @Test("Drift names each topic and entry, and the command: apply, or Kafka's own where a person decides")
    func drift() throws {
        func drift(_ configuration: [String: String], partitions: Int = 6) -> Finding? {
            TopicPlan(
                Self.wishes(), existing: Self.existing("notifications", partitions: partitions, configuration)
            ).drift(on: "a:9092,b:9092")
        }
        #expect(drift([:]) == nil)
        #expect(drift([:], partitions: 3) == nil, "partitions are a decision of their own")
        let mended = try #require(drift(["retention.ms": "1000", "max.message.bytes": "500"]))
        #expect(
            mended.what.contains("has max.message.bytes=500, wanted ")
                && mended.what.hasSuffix("; notifications has retention.ms=1000 (1s), wanted 604800000 (7d)"))
        #expect(mended.step == "run `herald topics apply`" && mended.command == ["herald", "topics", "apply"])
        #expect(mended.severity == .warn && mended.place == ["notifications"])
        let byHand = try #require(drift(["cleanup.policy": "compact"]))
        #expect(
            byHand.step
                == "decide by hand: `kafka-configs --bootstrap-server a:9092,b:9092 --alter --entity-type topics "
                + "--entity-name notifications --add-config cleanup.policy=delete`")
        #expect(byHand.command == ["herald", "topics", "plan"])
        let all = try #require(drift(["retention.ms": "1", "retention.bytes": "1", "max.message.bytes": "1"]))
        #expect(all.step.hasPrefix("run `herald topics apply`, and decide by hand: `kafka-configs "))
        let harmful = try #require(
            drift([
                "min.insync.replicas": "9", "cleanup.policy": "compact", "retention.bytes": "1", "retention.ms": "1",
                "max.message.bytes": "1",
            ]))
        #expect(harmful.what.contains("the topic notifications has max.message.bytes=1, "), "\(harmful.what)")
        #expect(harmful.what.hasSuffix(" and 2 more") && !harmful.what.contains("min.insync"), "\(harmful.what)")
        let missing = TopicPlan(Self.wishes(), existing: [:])
        #expect(missing.drift(on: "a:1") == nil, "missing topics are a finding of their own")
    }
}
