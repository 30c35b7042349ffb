import Foundation
import HeraldSandbox
import HeraldTime
import TestSupport
import Testing

/// Workers and `herald feedback` together on a hub, from events to their fate.
///
/// The hub's own record of each send has the expected telemetry.
struct HubStream {
    let hub: HubEmulator

    /// A hub that takes some time for everything, and whose push services report the devices of every third user as
    /// gone.
    init(_ change: (inout HubEmulator.Configuration) -> Void = { _ in }) throws {
        var configuration = HubEmulator.Configuration()
        configuration.misbehaviour = Self.slow
        configuration.unknownTime = .milliseconds(300)
        configuration.processingTime = .seconds(2)
        configuration.outcomes = [HubOutcomeRule("ExpiredChannel", handle: "DD*")]
        change(&configuration)
        hub = try HubEmulator(configuration)
    }

    static let slow: [Misbehaviour] = [.latency(milliseconds: 1...40)]

    /// Of each three users, the first has two devices, the second one that is gone, the third none.
    func register(_ count: Int, of prefix: String = "user-") async throws {
        try await Blocking.run {
            try hub.register(
                (0..<count).flatMap { number -> [(handle: String, user: String)] in
                    let user = "\(prefix)\(number)"
                    switch number % 3 {
                    case 0: return [("AA\(100_000 + number)", user), ("AB\(100_000 + number)", user)]
                    case 1: return [("DD\(100_000 + number)", user)]
                    default: return []
                    }
                })
        }
    }

    /// Each result has one record of feedback, which matches the hub's treatment of that send.
    func expectFeedback(in fixture: Fixture, location: SourceLocation = #_sourceLocation) async throws {
        try await fixture.catchUp()
        let sends = Dictionary(
            hub.sends.compactMap { send in send.messageID.map { ($0, send) } }, uniquingKeysWith: { first, _ in first })
        let results = try fixture.results
        let feedback = fixture.feedback
        var problems: [String] = []
        for result in results {
            guard let id = result.record.json?["backendId"] as? String, let send = sends[id] else {
                problems.append("\(result.id ?? ""): the hub knows no message of its result")
                continue
            }
            let told = feedback[id] ?? []
            let outcomes = send.outcomes.values.first ?? [:]
            let state = outcomes.isEmpty ? "NoTargetFound" : "Completed"
            guard told.count == 1, let record = told.first, record["id"] as? String == result.id,
                record["pns"] as? String == result.pns, record["user"] as? String == result.user,
                record["conclusion"] as? String == "final", record["state"] as? String == state,
                record["outcomes"] as? [String: Int] == outcomes,
                record["reached"] as? Int == outcomes["Success"] ?? 0
            else {
                problems.append("\(result.id ?? ""): \(told), expected \(state) \(outcomes)")
                continue
            }
        }
        let others = Set(feedback.keys).subtracting(results.compactMap { $0.record.json?["backendId"] as? String })
        #expect(others.isEmpty, "feedback on what no result names", sourceLocation: location)
        #expect(
            problems.isEmpty, "\(problems.count) problems: \(problems.prefix(5).joined(separator: "; "))",
            sourceLocation: location)
    }
}

@Suite("Workers and herald feedback on one hub", .realKafka("Workers and herald feedback"), .hangLimit)
struct HubFeedbackTests {
    private static let maxInFlight = 30
    private static let telemetry = [
        "backend.hub.telemetry": "true", "delivery.maxInFlight": "\(maxInFlight)",
    ].merging(CrashTests.named) { $1 }

    private static func delivered(_ count: Int) -> [String: [String: String]] {
        Dictionary(uniqueKeysWithValues: (0..<count).map { ("e\($0)", ["apns": "delivered 201"]) })
    }

    /// A worker's kill: the events with a result before it, and the number of sends known to the hub.
    private struct Kill {
        var recorded: Set<String>
        var sends: Int

        init(of worker: HeraldProcess, in fixture: Fixture, _ hub: HubEmulator) throws {
            recorded = Set(try fixture.results.compactMap(\.id))
            worker.kill()
            sends = hub.sends.count
        }
    }

    /// No event is lost, each has one result and one record of feedback, and only calls in flight were repeated.
    private func expectAll(
        _ count: Int, in fixture: Fixture, _ stream: HubStream, after kills: [Kill],
        location: SourceLocation = #_sourceLocation
    ) async throws {
        try await fixture.waitUntilAllIsCommitted()
        let oracle = try await Oracle(fixture)
        oracle.expectResults(Self.delivered(count), location: location)
        oracle.expectNothingPassed(try await fixture.committed(), location: location)
        try await stream.expectFeedback(in: fixture, location: location)
        let counts = fixture.feedback.values.joined().compactMap { $0["outcomes"] as? [String: Int] }
        #expect(Set(counts.flatMap(\.keys)) == ["Success", "ExpiredChannel"], sourceLocation: location)

        let sent = stream.hub.sends.map { ($0.tags ?? "").replacing("username:user-", with: "e") }
        for kill in kills {
            let again = kill.recorded.intersection(sent.dropFirst(kill.sends))
            #expect(again.isEmpty, "what was recorded before a kill is sent again", sourceLocation: location)
        }
        let repeats = sent.count - Set(sent).count
        let inFlight = kills.map { Set(sent.prefix($0.sends)).subtracting($0.recorded).count }.reduce(0, +)
        // Calls under way to the hub at a kill are not among them.
        #expect(repeats <= inFlight + kills.count * Self.maxInFlight, sourceLocation: location)
    }

    @Test("Worker and follower killed amid calls: nothing is lost or doubled, only calls in flight repeat")
    func killed() async throws {
        let stream = try HubStream { configuration in
            configuration.misbehaviour = [.hold()]
            (configuration.unknownTime, configuration.processingTime) = (.zero, .zero)
        }
        defer { stream.hub.stop() }
        let settings = Self.telemetry.merging(["backend.timeout": "5m"]) { $1 }
        try await Fixture.run(Fixture.feedbackPlan) { fixture in
            try await stream.register(90)
            var worker = try await fixture.startHubWorker(stream.hub, changing: settings)
            try await fixture.publish(Batch.events(0..<90))
            try await fixture.wait("some are sent") { stream.hub.heldCount >= 10 }
            var kills = [try Kill(of: worker, in: fixture, stream.hub)]

            // With some recorded, and others in flight.
            worker = try await fixture.startHubWorker(stream.hub, changing: settings)
            // Pending calls of the killed one are answered now, to no receiver; the next answers are this one's.
            stream.hub.misbehave([.hold()])
            try await fixture.wait("some are sent") { stream.hub.heldCount >= 10 }
            stream.hub.release(10)
            try await fixture.waitForResults(10)
            try await fixture.wait("more are sent") { stream.hub.heldCount >= 10 }
            kills.append(try Kill(of: worker, in: fixture, stream.hub))

            stream.hub.misbehave([.hold { $0.path = "/messages/NH-*" }])
            worker = try await fixture.startHubWorker(stream.hub, changing: settings)
            var follower = try fixture.startFeedback(stream.hub, changing: ["backend.timeout": "5m"])
            try await fixture.waitForResults(90)
            try await fixture.wait("the hub is asked") { stream.hub.heldCount >= 20 }
            stream.hub.release(10)
            try await fixture.wait("some are told") { fixture.feedback.count >= 10 }
            #expect(follower.isRunning, "\(follower.tail)")
            follower.kill()
            stream.hub.misbehave([])
            follower = try fixture.startFeedback(stream.hub)
            try await fixture.wait("everything has feedback") { fixture.feedback.count >= 90 }
            follower.terminate()
            #expect(try await follower.waitForExit() == 0, "\(follower.tail)")
            try await expectAll(90, in: fixture, stream, after: kills)
        }
    }

    @Test("A campaign's report counts messages accepted by the hub, passed on, and without a device")
    func campaign() async throws {
        let stream = try HubStream()
        defer { stream.hub.stop() }
        try await Fixture.run(Fixture.feedbackPlan) { fixture in
            try await stream.register(60, of: "member-")
            _ = try await fixture.startHubWorker(stream.hub, changing: Self.telemetry)
            let follower = try fixture.startFeedback(stream.hub)
            try await fixture.publish(
                try fixture.beginning(of: "spring", pns: ["apns"])
                    + fixture.events(of: "spring", 0..<60, pns: ["apns"])
                    + [fixture.progress(of: "spring", recipients: 60, published: 60)])
            try await fixture.waitForResults(60)
            try await fixture.wait("everything has feedback") { fixture.feedback.count >= 60 }
            try await stream.expectFeedback(in: fixture)

            let report = try await fixture.campaign("report", "spring", "--html", "-")
            let text = try await fixture.campaign("status", "spring")
            for run in [report, text] {
                #expect(run.status == 0, "\(run.output)")
                let line = "taken by the backend 60; reached a push service 20; nobody to reach 20"
                #expect(run.output.contains(line), "\(run.output)")
            }
            let told = try #require(try await fixture.campaignStatus("spring")["feedback"] as? [String: Any])
            #expect(told["reached"] as? Int == 20 && told["nobody"] as? Int == 20 && told["refused"] as? Int == 20)
            #expect(told["devices"] as? [String: Int] == ["Success": 40, "ExpiredChannel": 20])
            follower.terminate()
            #expect(try await follower.waitForExit() == 0, "\(follower.tail)")
        }
    }
}

@Suite("A faulty hub and broker", .ownKafka("A faulty hub and broker"), .hangLimit)
struct HurtfulHubTests {
    @Test(
        "The broker dies, the hub gives no telemetry, its key changes: worker and follower wait and go on",
        .long("a broker of its own that dies"))
    func troubles() async throws {
        let stream = try HubStream()
        defer { stream.hub.stop() }
        var plan = Fixture.feedbackPlan
        plan.cluster = .mortal
        try await Fixture.run(plan) { fixture in
            try await stream.register(400)
            let worker = try await fixture.startHubWorker(
                stream.hub, changing: ["backend.hub.telemetry": "true", "backend.timeout": "60s"])
            let follower = try fixture.startFeedback(stream.hub)
            try await follower.waitForLog("following")
            stream.hub.misbehave([.hold()])
            try await fixture.publish(Batch.events(0..<100))
            try await fixture.wait("some are sent") { stream.hub.heldCount >= 20 }
            stream.hub.release(10)
            try await fixture.waitForResults(10)
            fixture.kafka.kill(node: 1)
            stream.hub.misbehave(HubStream.slow)
            try await fixture.kafka.revive(node: 1)
            try await fixture.waitForResults(100, within: 2 * Patience.seconds)

            try await fixture.publish(Batch.events(100..<150))
            try await fixture.waitForResults(150)
            // The questions about these are still to come.
            stream.hub.misbehave([.hangUp { $0.path = "/messages/NH-*" }])
            try await fixture.publish(Batch.events(150..<200))
            try await follower.waitForLog("the hub does not say")
            stream.hub.misbehave(HubStream.slow)
            try await fixture.waitForResults(200, within: 2 * Patience.seconds)

            let renewed = stream.hub.regenerateKey()
            try await fixture.publish(Batch.events(200..<300))
            try await worker.waitForLog("refuses the credentials")
            try fixture.writeConnectionString(renewed)
            try await fixture.publish(Batch.events(300..<400))
            try await fixture.waitForResults(400, within: 2 * Patience.seconds)
            try await fixture.wait("everything has feedback", within: 2 * Patience.seconds) {
                fixture.feedback.count >= 400
            }
            for process in [worker, follower] {
                process.terminate()
                #expect(try await process.waitForExit() == 0, "\(process.tail)")
            }
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(
                Dictionary(uniqueKeysWithValues: (0..<400).map { ("e\($0)", ["apns": "delivered 201"]) }))
            oracle.expectNothingPassed(try await fixture.committed())
            try await stream.expectFeedback(in: fixture)
        }
    }
}
