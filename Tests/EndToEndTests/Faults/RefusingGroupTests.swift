import HeraldKafka
import TestSupport
import Testing

/// Groups that accept no member, and missing coordinators, until a setting changes.
@Suite("A group that refuses for good", .realKafka("A group that refuses for good"))
struct RefusingGroupTests {
    private static let session = #"{session.timeout.ms: "20000", heartbeat.interval.ms: "500"}"#

    private func onStrictBrokers(_ body: (Fixture, [String: String]) async throws -> Void) async throws {
        var plan = Fixture.Plan()
        plan.cluster = .strict
        plan.settings = ["delivery.guarantee": "at-least-once", "kafka.properties": Self.session]
        try await Fixture.run(plan) { fixture in
            let port = try #require(FreePorts.take(1).first)
            try await body(fixture, ["admin.listen": "127.0.0.1:\(port)"])
        }
    }

    /// All views name the setting, and the log does once.
    private func expectNamed(
        _ setting: String, by worker: HeraldProcess, _ fixture: Fixture, _ settings: [String: String]
    ) async throws {
        try await worker.waitUntilNotReady("group-refuses", naming: setting)
        try await fixture.wait("the log says it") { worker.logLines.contains { $0.message.contains(setting) } }
        let doctor = try await fixture.tool("doctor", "--only", "kafka", changing: settings)
        #expect(doctor.status != 0 && doctor.output.contains(setting), "\(doctor.output)")
        #expect(!doctor.output.contains("start herald worker"), "\(doctor.output)")
        let console = try await ConsoleClient(fixture, changing: settings)
        _ = try await console.ask("/api/verdict") { "\($0)".contains("group-refuses") }
        #expect(worker.logLines.count { $0.message.contains(setting) } == 1)
    }

    @Test("A session that brokers do not allow is named by readiness, log, doctor and console, with settings")
    func session() async throws {
        try await onStrictBrokers { fixture, settings in
            let long = settings.merging(["kafka.properties": #"{session.timeout.ms: "60000"}"#]) { $1 }
            let worker = try fixture.spawnWorker(changing: long)
            try await expectNamed("group.max.session.timeout.ms", by: worker, fixture, long)
        }
    }

    @Test("A full group is named, and admits the next member when one leaves")
    func full() async throws {
        try await onStrictBrokers { fixture, settings in
            let first = try await fixture.startWorker(changing: ["delivery.lanes": "2"])
            // Otherwise the second one's lane may be in before the first one's other lane.
            try await first.waitUntilReady()
            let second = try fixture.spawnWorker(changing: settings)
            try await second.waitUntilNotReady("group-refuses", naming: "group.max.size")
            first.terminate()
            #expect(try await first.waitForExit() == 0)
            try await second.waitUntilReady()
        }
    }

    @Test("A member with another assignment strategy is named as the obstacle to workers")
    func otherProtocol() async throws {
        try await onStrictBrokers { fixture, settings in
            try await fixture.publish([Publication(id: "e", user: "anna")])
            let stranger = Stranger(fixture, clientID: "report-job", strategy: "roundrobin")
            try await fixture.wait("it is a member") { stranger.takenCount > 0 }
            let worker = try fixture.spawnWorker(changing: settings)
            try await worker.waitUntilNotReady("group-refuses", naming: "partition.assignment.strategy")
            try await stranger.stop()
            try await worker.waitUntilReady()
        }
    }

    @Test("A coordinator's topic that the brokers cannot make is named, with its replication factor")
    func noCoordinator() async throws {
        try await onStrictBrokers { fixture, settings in
            let worker = try fixture.spawnWorker(changing: settings.merging(["delivery.guarantee": "atomic"]) { $1 })
            try await worker.waitUntilNotReady(
                "group-refuses", naming: "transaction.state.log.replication.factor is 3 unless set")
        }
    }

    @Test("A transaction time-out above the brokers' limit ends the worker with the settings that fix it")
    func transactionTimeout() async throws {
        try await Fixture.run { fixture in
            let worker = try fixture.spawnWorker(changing: [
                "kafka.properties": #"{transaction.timeout.ms: "3600000"}"#
            ])
            #expect(try await worker.waitForExit() == 1)
            let line = try #require(worker.logLines.last { $0.level == "error" })
            #expect(line.message.contains("transaction.max.timeout.ms"), "\(line.message)")
            #expect(!line.message.contains("Start the worker again"), "\(line.message)")
        }
    }
}
