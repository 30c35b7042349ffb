import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("Disturbed replays", .realKafka("Disturbed replays"))
struct ReplaySafetyTests {
    private static func plan() -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        return plan
    }

    /// Batches of a hundred, each of which waits for its outcomes.
    private static let stepping = ["replay", "--where", "status = 503", "--yes", "--ramp", "100"]

    @Test("Killed at its beginning, in transactions and between them, a replay replays each exactly once")
    func kills() async throws {
        var plan = Self.plan()
        plan.cluster = .proxied
        try await Fixture.run(plan) { fixture in
            func proxied() throws -> HeraldProcess {
                try fixture.startDLQ(Self.stepping, changing: fixture.behindProxy)
            }
            try await fixture.publishDeadLetters(0..<300)
            let first = try fixture.startDLQ(Self.stepping)
            try await fixture.wait("it has the lease") { fixture.count("notifications.dead-letter.state") > 0 }
            first.kill()
            try await fixture.killInTransaction(try proxied(), on: "notifications")
            let third = try fixture.startDLQ(Self.stepping)
            // No worker runs: it waits for the outcomes of its first batch.
            try await fixture.wait("a batch is replayed") { fixture.count("notifications") >= 100 }
            third.kill()
            try await fixture.killInTransaction(try proxied(), on: "notifications")
            try await Self.finish(fixture, count: 300)
        }
    }

    @Test("The late end of a batch arrives in the next: the replay continues, and replays each exactly once")
    func lateEnd() async throws {
        var plan = Self.plan()
        plan.cluster = .proxied
        try await Fixture.run(plan) { fixture in
            try await fixture.publishDeadLetters(0..<300)
            _ = try await fixture.startWorker()
            try fixture.makeLate(.endTransaction, count: 2)
            let run = try fixture.startDLQ(Self.stepping, changing: fixture.behindProxy)
            try await fixture.waitForLate(2)
            try await fixture.holdInTransaction(run, on: "notifications")
            try await fixture.deliverLate()
            try fixture.endTransactions()
            #expect(try await run.waitForExit() == 0, "\(run.output)")
            try await Self.finish(fixture, count: 300)
        }
    }

    /// Replays the rest: none is forgotten, none is replayed twice, and each is called with its own key.
    private static func finish(_ fixture: Fixture, count: Int) async throws {
        let last = try await fixture.dlq(
            "replay", "--where", "status = 503", "--yes", "--ramp", "all", "--wait", "0", "-o", "jsonl")
        #expect(last.status == 0, "\(last.output)")
        let counts = try await fixture.replayCounts()
        #expect(counts.count == count && counts.values.allSatisfy { $0 == 1 })
        _ = try await fixture.startWorker()
        try await fixture.waitForResults(count, within: 120)
        let keys = fixture.backend.calls.compactMap(\.notification)
        #expect(keys.count == count && Set(keys).count == count)
    }

    @Test("Of two replays at the same time one works, and each dead letter is replayed once")
    func two() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let count = 600
            try await fixture.publishDeadLetters(0..<count)
            let words = ["replay", "--where", "status = 503", "--yes", "--ramp", "50", "--wait", "0"]
            let runs = try (0..<2).map { _ in try fixture.startDLQ(words) }
            var statuses: [Int32] = []
            for run in runs { statuses.append(try await run.waitForExit(within: 120)) }
            #expect(statuses.contains(0), "\(runs.map(\.output))")
            let last = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0")
            #expect(last.status == 0, "\(last.output)")
            let counts = try await fixture.replayCounts()
            #expect(counts.count == count && counts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("Marks in an open transaction are waited for")
    func openTransaction() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<20)
            try await fixture.catchUp()
            let letter = try #require(fixture.deadLetters.first)
            let producer = try await Blocking.run { [servers = fixture.bootstrapServers, name = fixture.name] in
                try Producer(properties: [
                    ("bootstrap.servers", servers), ("transactional.id", "\(name)-other"),
                    ("transaction.timeout.ms", "600000"), ("delivery.report.only.error", "true"),
                ])
            }
            let state = fixture.topic("notifications.dead-letter.state")
            let mark =
                #"{"state":"replayed","job":"j","at":1,"partitions":{"\#(letter.partition)":"\#(letter.offset)"}}"#
            try await Blocking.run {
                try producer.initTransactions(timeout: Patience.timeout)
                try producer.beginTransaction()
                let topic = try producer.topic(state)
                if let error = producer.produce(
                    topic: topic, partition: 0, key: "marks/j/0".utf8.span.bytes, value: mark.utf8.span.bytes, token: 0)
                {
                    throw error
                }
                try producer.flush(timeout: Patience.timeout)
            }
            let run = try fixture.startDLQ(["replay", "--where", "status = 503", "--yes", "--wait", "0", "-o", "jsonl"])
            try await fixture.wait("it has planned all") { run.output.contains("20 would be replayed") }
            let look = try await fixture.dlq("list")
            #expect(look.status == 0, "who only looks does not wait: \(look.output)")
            #expect(run.isRunning && fixture.count("notifications") == 0, "\(run.output)")
            try await Blocking.run { try producer.commitTransaction(timeout: Patience.timeout) }
            #expect(try await run.waitForExit() == 0 && run.output.contains(#""skipped":1"#), "\(run.output)")
            #expect(try await fixture.replayCounts().count == 19)
            producer.close()
        }
    }

    @Test("A replay that loses its name without a successor continues, and replays each letter once")
    func fencedByNobody() async throws {
        var plan = Self.plan()
        plan.settings["backend.timeout"] = "5m"
        plan.misbehaviour = [.hold()]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publishDeadLetters(0..<200)
            let run = try fixture.startDLQ(["replay", "--where", "status = 503", "--yes", "--ramp", "50"])
            for count in [50, 100] {
                try await fixture.wait("\(count) are replayed") {
                    fixture.count("notifications") == count && fixture.backend.heldCount == 50
                }
                // Like a broker that ends an overlong transaction: no other job has begun.
                try await Blocking.run {
                    let producer = try Producer(properties: [
                        ("bootstrap.servers", fixture.bootstrapServers),
                        ("transactional.id", "herald.dlq-\(fixture.topic("notifications.dead-letter.state"))"),
                    ])
                    try producer.initTransactions(timeout: Patience.timeout)
                    producer.close()
                }
                fixture.backend.release(50)
            }
            fixture.backend.misbehave([])
            #expect(try await run.waitForExit() == 0, "\(run.output)")
            let counts = try await fixture.replayCounts()
            #expect(counts.count == 200 && counts.values.allSatisfy { $0 == 1 })
            let rest = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0", "-o", "jsonl")
            #expect(rest.status == 0 && rest.output.contains(#""planned":0"#), "\(rest.output)")
        }
    }
}

@Suite("A replay whose broker dies", .ownKafka("A replay whose broker dies"), .hangLimit)
struct ReplayBrokerTests {
    @Test("Its broker dies in a transaction and comes back: it continues, and replays each dead letter once")
    func brokerDies() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .mortal
        plan.more = Fixture.replayTopics
        try await Fixture.run(plan) { fixture in
            try await fixture.publishDeadLetters(0..<600)
            let run = try fixture.startDLQ(
                ["replay", "--where", "status = 503", "--yes", "--ramp", "50", "--wait", "0"],
                changing: fixture.behindProxy)
            try await fixture.holdInTransaction(run, on: "notifications")
            fixture.kafka.kill(node: 1)
            try fixture.loseTransactionEnd()
            try await fixture.kafka.revive(node: 1)
            let status = try await run.waitForExit(within: 180)
            #expect(status == 0, "\(run.output)")
            let last = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0")
            #expect(last.status == 0, "\(last.output)")
            let counts = try await fixture.replayCounts()
            let twice = counts.filter { $0.value != 1 }
            #expect(counts.count == 600 && twice.isEmpty, "\(twice)\n\(run.output)\n\(last.output)")
        }
    }
}

@Suite("A replay without all permissions", .ownKafka("A replay without all permissions"))
struct ReplayPermissionTests {
    @Test("Without Write on the audit topic a replay fails at once, and names the missing permission")
    func forbiddenAudit() async throws {
        let certificates = try TestCertificates.shared()
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.cluster = .secured
        try await Fixture.run(plan) { fixture in
            try await fixture.publishDeadLetters(0..<3)
            let (kafka, user) = (fixture.kafka, SecuredUser.replayer)
            try await kafka.allow(user, [.read, .write], on: [.topics(prefix: fixture.name)])
            try await kafka.allow(user, [.write], on: [.transactionalIDs(prefix: "herald-")])
            try await kafka.allow(user, [.read], on: [.group(fixture.name)])
            try await kafka.deny(user, [.write], on: [.topic(fixture.topic("notifications.audit"))])
            let run = try await fixture.dlq(
                "replay", "--where", "status = 503", "--yes", "--wait", "0",
                changing: [
                    "kafka.bootstrapServers": "[\"\(try #require(kafka.secureServers))\"]",
                    "kafka.properties":
                        "{security.protocol: SASL_SSL, sasl.mechanism: PLAIN, sasl.username: \(user.rawValue), "
                        + "sasl.password: \(user.password), ssl.ca.location: \(certificates.authorityFile)}",
                ])
            #expect(run.status == 1 && run.output.contains("Write on"), "\(run.output)")
            #expect(run.output.contains(fixture.topic("notifications.audit")), "\(run.output)")
            #expect(try await fixture.replayCounts().isEmpty)
        }
    }

    @Test("Without Read on the state topic, explain names the gap and advises no replay")
    func unreadState() async throws {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.cluster = .secured
        plan.misbehaviour = [.status(400)]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish([Publication(id: "e", user: "ann")])
            try await fixture.waitForResults(1)
            let (kafka, user) = (fixture.kafka, SecuredUser.replayer)
            let certificates = try TestCertificates.shared()
            let login = [
                "kafka.bootstrapServers": "[\"\(try #require(kafka.secureServers))\"]",
                "kafka.properties":
                    "{security.protocol: SASL_SSL, sasl.mechanism: PLAIN, sasl.username: \(user.rawValue), "
                    + "sasl.password: \(user.password), ssl.ca.location: \(certificates.authorityFile)}",
            ]
            try await kafka.allow(user, [.read], on: [.topics(prefix: fixture.name), .group(fixture.name)])
            let state = fixture.topic("notifications.dead-letter.state")
            let known = try await fixture.tool("explain", "e", changing: login)
            #expect(known.output.contains("When the cause is gone, replay it."), "\(known.output)")
            #expect(known.output.contains("herald dlq replay"), "\(known.output)")

            // It fails again, and the topic gets a mark: a visibly empty topic would be enough knowledge.
            _ = try await fixture.dlq("replay", "e", "--yes")
            try await fixture.waitForResults(2)

            // Neither Read nor Describe, and Describe alone.
            try await kafka.deny(user, [.read, .describe], on: [.topic(state)])
            for _ in 0..<2 {
                let explained = try await fixture.tool("explain", "e", changing: login)
                #expect(explained.status == 0, "\(explained.output)")
                #expect(explained.output.contains("Whether it was replayed or resolved already is not known"))
                #expect(explained.output.contains(state) && explained.output.contains("allow Read"))
                #expect(!explained.output.contains("herald dlq replay"), "\(explained.output)")
                #expect(!explained.output.contains("When the cause is gone"), "\(explained.output)")
                try await kafka.takeBackDenial(user, [.describe], on: [.topic(state)])
            }
        }
    }
}
