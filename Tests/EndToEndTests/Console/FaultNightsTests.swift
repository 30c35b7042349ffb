import Foundation
import HeraldSandbox
import TestSupport
import Testing

/// Nights in which a part fails, and the rest goes on.
@Suite("Nights of partial faults", .ownKafka("Nights of partial faults"), .hangLimit)
struct FaultNightsTests {
    /// Two events of a round, for two push services.
    private static func both(_ prefix: String) -> (Int) -> [Publication] {
        { round in
            ["apns", "gcm"].map {
                Publication(id: "\(prefix)\(round)-\($0)", user: "\(prefix)-\(round)-\($0)", pns: [$0])
            }
        }
    }

    @Test("All calls for gcm get 404: verdict, /readyz, doctor, list and plan name it, and what to check")
    func rejectedWhole() async throws {
        try await Night.run(Fixture.Plan()) { night in
            let fixture = night.fixture
            let check = "gcm's app, credentials and certificate in the backend"
            fixture.backend.misbehave([.status(404) { $0.pns = "gcm" }])
            try await night.verdict("push-service-failing", publishing: Self.both("n")) { state, sentence in
                state == "bad" && sentence.hasPrefix("gcm delivers nothing") && sentence.contains("404")
            }
            try await Self.expectWarning(night, "All of the last", or: "Calls to gcm are held since")
            let doctor = try await fixture.tool("doctor", "--only", "kafka")
            #expect(doctor.status == 1 && !doctor.output.contains("delivers, and warns: all"), "\(doctor.output)")
            // The dead letters tell of it before the workers say what to do.
            _ = try await night.console.ask("/api/verdict") { answer in
                ((answer["next"] as? [String: Any])?["sentence"] as? String)?.contains(check) ?? false
            }
            for output in [doctor.output, try await fixture.dlq("list").output] {
                #expect(output.contains(check), "\(output)")
            }
            fixture.backend.misbehave([])
            let resolved = try await fixture.dlq("resolve", "--where", "pns = 'gcm'", "--yes", "--note", "mended")
            #expect(resolved.status == 0, "\(resolved.output)")
            try await night.verdict("delivering", publishing: Self.both("w")) { state, _ in state == "good" }
        }
    }

    /// The worker warns of a push service, and goes on.
    ///
    /// Some more events come meanwhile: it need not have counted as many calls as the console when that says it.
    ///
    /// - Parameter held: what it says when so many users came that it holds the push service.
    private static func expectWarning(_ night: Night, _ words: String, or held: String? = nil) async throws {
        var (page, round) = ((status: 0, text: ""), 0)
        let isTold = try await eventually {
            if round < 40 {
                try await night.fixture.publish([Publication(id: "r\(round)", user: "r", pns: ["gcm"])])
            }
            round += 1
            let answer = try await night.worker.page("/readyz")
            page = (answer.status, answer.text)
            return page.text.contains("push-service-failing")
                && [words, held ?? words].contains(where: page.text.contains)
        }
        #expect(isTold && page.status == 200, "\(page.text)")
    }

    @Test("All calls for gcm hang: verdict and /readyz name it, and neither advises more workers")
    func hangs() async throws {
        var plan = Fixture.Plan()
        plan.settings["backend.timeout"] = "1s"
        try await Night.run(plan) { night in
            let fixture = night.fixture
            fixture.backend.misbehave([.hang { $0.pns = "gcm" }])
            let told = try await night.verdict("push-service-failing", publishing: Self.both("n")) { state, sentence in
                state == "bad" && sentence.hasPrefix("gcm delivers nothing")
            }
            let step = (told.answer["next"] as? [String: Any])?["sentence"] as? String ?? ""
            #expect(!step.contains("more workers"), "\(step)")
            try await Self.expectWarning(night, "had no answer within backend.timeout")
            let page = try await night.worker.page("/readyz").text
            #expect(!page.contains("lag-growing") && !page.contains("backend-unreachable"), "\(page)")
        }
    }

    @Test("All calls for wns get 403: it is held alone, told once, and what waits is delivered after the repair")
    func refusedWhole() async throws {
        try await Night.run(Fixture.Plan()) { night in
            let fixture = night.fixture
            let all = { (round: Int) in
                ["apns", "gcm", "wns"].map {
                    Publication(id: "n\(round)-\($0)", user: "n-\(round)-\($0)", pns: [$0])
                }
            }
            fixture.backend.misbehave([.status(403) { $0.pns = "wns" }])
            let told = try await night.verdict("push-service-failing", publishing: all) { state, sentence in
                state == "bad" && sentence.contains("calls to wns are held since") && sentence.contains("403")
            }
            #expect(!told.sentence.contains("apns"), "\(told.sentence)")
            let page = try await night.worker.page("/readyz")
            #expect(page.status == 200 && page.text.contains("alls to wns are held since"), "\(page.text)")
            let metrics = try await night.worker.metrics()
            #expect(metrics["herald_push_service_held{pns=\"wns\"}"] == 1)
            #expect(!metrics.contains { $0.key.hasPrefix("herald_outage{") && $0.value != 0 })
            let doctor = try await fixture.tool("doctor", "--only", "kafka")
            #expect(doctor.output.contains("wns's app, credentials and certificate"), "\(doctor.output)")

            fixture.backend.misbehave([])
            let isOver = try await eventually {
                try await night.worker.metrics()["herald_push_service_held{pns=\"wns\"}"] == 0
            }
            #expect(isOver)
            // What was refused before it was held is a dead letter, and the verdict goes on to say so.
            let dead = try fixture.results.filter { $0.outcome == "dead-lettered" }.count
            #expect(dead < 8, "\(dead) dead letters")
            try await night.verdict(dead == 0 ? "delivering" : "dead-letters", publishing: nil) { state, _ in
                state == (dead == 0 ? "good" : "warn")
            }
        }
    }

    @Test("A worker is frozen: the verdict names it within seconds, others take over, and all ends well")
    func frozen() async throws {
        var plan = Fixture.Plan()
        plan.settings["kafka.properties"] = Fixture.shortSession
        try await Night.run(plan) { night in
            let fixture = night.fixture
            let other = try await fixture.startWorker(changing: ["admin.listen": "127.0.0.1:0"])
            let place = "127.0.0.1:\(try await other.adminPort())"
            try await other.waitUntilReady()
            try await night.verdict("delivering", publishing: Self.both("a"))
            // One that falls silent before the console has seen it is told of by nobody.
            let isSeen = try await eventually {
                let current = try await night.console.ask("/api/now").object["current"] as? [String: Any]
                let workers = current?["workers"] as? [[String: Any]] ?? []
                return workers.contains { $0["address"] as? String == place && $0["state"] as? String == "ready" }
            }
            #expect(isSeen)
            other.pause()
            let told = try await night.verdict("silent", publishing: nil) { $1.contains(place) }
            #expect(told.sentence.contains("1 of 2 workers does not answer"), "\(told.sentence)")
            let count = try fixture.results.count
            try await fixture.publish((0..<40).map { Publication(id: "f\($0)", user: "frozen-\($0)") })
            try await fixture.waitForResults(count + 40, within: 60)
            let doctor = try await fixture.tool("doctor", "--only", "kafka")
            #expect(!doctor.output.contains("panic") && doctor.status <= 1, "\(doctor.output)")
            other.resume()
            try await night.verdict("delivering", publishing: nil) { state, _ in state == "good" }
        }
    }
}
