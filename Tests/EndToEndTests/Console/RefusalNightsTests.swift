import Foundation
import HeraldSandbox
import TestSupport
import Testing

/// Nights in which what is called cannot be recorded: readiness, metrics, verdict and doctor before, during and after.
@Suite("Nights of refused records", .ownKafka("Nights of refused records"), .hangLimit)
struct RefusalNightsTests {
    @Test(
        "Results that take one record of ten: not ready, with the setting to raise; ready when it is raised",
        arguments: ["atomic", "at-least-once"])
    func hardlyAny(guarantee: String) async throws {
        var plan = Fixture.Plan()
        plan.settings["delivery.guarantee"] = guarantee
        try await Night.run(plan) { night in
            let fixture = night.fixture
            let results = fixture.topic("notifications.results")
            try await fixture.configure("notifications.results", ["max.message.bytes": "330"])
            let events = (20..<220).map { number in
                let name = number % 10 == 0 ? "" : String(repeating: "x", count: 100)
                return Publication(id: "e\(number)\(name)", user: "user-\(number)\(name)")
            }
            try await fixture.publish(events)
            let sentence = try await night.expect("records-refused", naming: results)
            #expect(sentence.contains("max.message.bytes") && sentence.contains("herald topics apply"), "\(sentence)")
            // What could pass changes nothing.
            try await fixture.publish((220..<240).map { Publication(id: "e\($0)", user: "user-\($0)") })
            #expect(try await night.worker.page("/readyz").status == 503)
            let doctor = try await fixture.tool("doctor", "--only", "kafka")
            #expect(doctor.status == 1 && doctor.output.contains("max.message.bytes"), "\(doctor.output)")

            try await fixture.configure("notifications.results", ["max.message.bytes": "1048588"])
            try await night.expectWell(results: 240)
        }
    }

    @Test("Write on the results is denied: topic and permission are named, and it goes on when it is back")
    func denied() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .secured
        let user = SecuredUser.replayer
        let certificates = try TestCertificates.shared()
        func login(_ fixture: Fixture) async throws -> [String: String] {
            let kafka = fixture.kafka
            try await kafka.allow(user, [.read, .write, .describeConfigs], on: [.topics(prefix: fixture.name)])
            try await kafka.allow(user, [.write], on: [.transactionalIDs(prefix: fixture.name)])
            try await kafka.allow(user, [.read], on: [.group(fixture.name)])
            return [
                "kafka.bootstrapServers": "[\"\(try #require(kafka.secureServers))\"]",
                "kafka.properties":
                    "{security.protocol: SASL_SSL, sasl.mechanism: PLAIN, sasl.username: \(user.rawValue), "
                    + "sasl.password: \(user.password), ssl.ca.location: \(certificates.authorityFile)}",
            ]
        }
        try await Night.run(plan, login: login) { night in
            let fixture = night.fixture
            let kafka = fixture.kafka
            let results = fixture.topic("notifications.results")
            try await kafka.deny(user, [.write], on: [.topic(results)])
            try await fixture.publish(Batch.events(20..<60))
            let sentence = try await night.expect("records-refused", naming: results)
            #expect(sentence.contains("allow Write and Describe on the topic \(results)"), "\(sentence)")
            let page = try await night.worker.page("/readyz").text
            #expect(!page.contains("commits-failing"), "\(page)")

            try await kafka.takeBackDenial(user, [.write], on: [.topic(results)])
            try await night.expectWell(results: 60)
        }
    }

    @Test("A retry topic is deleted: it is named as missing, and nothing else is blamed, until it is back")
    func deletedRetryTopic() async throws {
        var plan = Fixture.Plan()
        // Calls go on, and none of them is to be the last one before the backend is well.
        plan.settings["retry.delays"] = "[1s, 2s, 20s, 40s]"
        try await Night.run(plan) { night in
            let fixture = night.fixture
            let retry = "notifications.retry.1s"
            try await fixture.deleteTopic(retry)
            fixture.backend.misbehave([.status(503) { $0.user = "bad-*" }])
            try await fixture.publish((20..<30).map { Publication(id: "e\($0)", user: "bad-\($0)") })
            _ = try await night.worker.waitForLog("refuses records (it is missing")
            fixture.backend.misbehave([])
            let sentence = try await night.expect("topics-missing", naming: fixture.topic(retry))
            #expect(sentence.contains("herald topics apply"), "\(sentence)")
            let page = try await night.worker.page("/readyz").text
            #expect(!page.contains("records-refused") && !page.contains("commits-failing"), "\(page)")

            try await fixture.makeTopic(retry)
            try await night.expectWell(results: 30)
        }
    }
}
