import Foundation
import HeraldHTTP
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

/// An emulated hub with devices, and the messages that it has accepted.
private struct SentMessages {
    struct Message {
        var backendID: String
        var user: String
        /// The hub's future report of its state.
        var state: String
        var outcomes: [String: Int]
    }

    let hub: HubEmulator

    init(_ change: (inout HubEmulator.Configuration) -> Void) throws {
        var configuration = HubEmulator.Configuration()
        change(&configuration)
        hub = try HubEmulator(configuration)
    }

    /// The users' devices: two of `both`, one of each `gone-…`, none of other users.
    func register(goneCount: Int) throws {
        let gone = (0..<goneCount).map { (handle: "BB\(1_000 + $0)", user: "gone-\($0)") }
        try hub.register([("AA01", "both"), ("AA02", "both")] + gone)
    }

    func send(_ number: Int) throws -> Message {
        let user = ["both", "gone-\(number / 3)", "nobody"][number % 3]
        let response = try hub.perform(
            "POST", "messages/", #"{"aps":{"alert":"hi"}}"#,
            ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": "username:\(user)"])
        guard let location = response.headers["Location"], let url = URL(string: location) else {
            throw WorldError("the hub names no message: \(response)")
        }
        let found: (String, [String: Int]) =
            switch number % 3 {
            case 0: ("Completed", ["Success": 2])
            case 1: ("Completed", ["BadChannel": 1])
            default: ("NoTargetFound", [:])
            }
        return Message(backendID: url.lastPathComponent, user: user, state: found.0, outcomes: found.1)
    }
}

extension Fixture {
    /// Publishes results like workers, each partition's in order; others lie between them.
    fileprivate func publishResults(of messages: [SentMessages.Message], campaign: String? = nil) async throws {
        let now = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        try await publish(
            messages.enumerated().flatMap { number, message -> [Publication] in
                var result: [String: Any] = [
                    "id": "e-\(number)", "pns": "apns", "user": message.user, "outcome": "delivered", "status": 201,
                    "backendId": message.backendID, "attempts": 1, "completedAt": now,
                    "origin": ["topic": topic("notifications"), "partition": 0, "offset": number],
                ]
                result["campaign"] = campaign
                var other = result
                other["backendId"] = nil
                return try [result, other].map { object in
                    let data = try JSONSerialization.data(withJSONObject: object)
                    var publication = Publication(user: "u-\(number)", text: String(decoding: data, as: UTF8.self))
                    publication.topic = "notifications.results"
                    return publication
                }
            })
    }
}

@Suite("herald feedback", .realKafka("herald feedback"))
struct FeedbackTests {
    @Test("A follower killed amid its questions records each message's fate once")
    func kills() async throws {
        try await Fixture.run(Fixture.feedbackPlan) { fixture in
            let messages = try SentMessages { $0.outcomes = [HubOutcomeRule("BadChannel", handle: "BB*")] }
            defer { messages.hub.stop() }
            let sent = try await Blocking.run {
                try messages.register(goneCount: 30)
                return try (0..<90).map { try messages.send($0) }
            }
            try await fixture.publishResults(of: sent)

            let changes = ["feedback.containerInterval": "300ms", "backend.timeout": "5m"]
            // Killed with a part recorded and more answers under way; the simulation kills at any moment.
            messages.hub.misbehave([.hold { $0.path = "/messages/NH-*" }])
            let killed = try fixture.startFeedback(messages.hub, changing: changes)
            try await fixture.wait("it asks") { messages.hub.heldCount >= 21 }
            messages.hub.release(20)
            try await fixture.wait("a part is recorded") { fixture.feedback.count >= 20 }
            #expect(killed.isRunning, "\(killed.tail)")
            killed.kill()
            messages.hub.misbehave([])
            let last = try fixture.startFeedback(messages.hub, changing: changes)
            try await fixture.wait("everything has feedback") {
                fixture.feedback.count >= sent.count && fixture.goneHandles.count >= 30
            }
            last.terminate()
            #expect(try await last.waitForExit() == 0, "\(last.tail)")
            // Nothing comes twice, not even from one that begins again.
            let again = try fixture.startFeedback(
                messages.hub, changing: changes.merging(["log.level": "debug"]) { $1 })
            try await again.waitForLog("following")
            try await again.waitForLog("the feedback container is read")
            again.terminate()
            #expect(try await again.waitForExit() == 0, "\(again.tail)")
            try await fixture.catchUp()
            #expect(fixture.goneHandles.sorted() == (0..<30).map { "BB\(1_000 + $0)" })
            try expectOnce(fixture.feedback, of: sent)
        }
    }

    /// Each message has one record with the hub's report.
    private func expectOnce(_ feedback: [String: [[String: Any]]], of sent: [SentMessages.Message]) throws {
        #expect(feedback.count == sent.count && feedback.allSatisfy { $0.value.count == 1 })
        for message in sent {
            let record = try #require(feedback[message.backendID]?.first)
            #expect(record["conclusion"] as? String == "final" && record["state"] as? String == message.state)
            #expect(record["outcomes"] as? [String: Int] == message.outcomes)
            #expect(record["reached"] as? Int == message.outcomes["Success"] ?? 0)
            #expect(record["user"] as? String == message.user)
        }
    }

    @Test("An absent or busy hub is waited for, a second follower takes over, a campaign shows the result")
    func troubles() async throws {
        try await Fixture.run(Fixture.feedbackPlan) { fixture in
            let messages = try SentMessages { $0.outcomes = [HubOutcomeRule("BadChannel", handle: "BB*")] }
            defer { messages.hub.stop() }
            let sent = try await Blocking.run {
                try messages.register(goneCount: 10)
                return try (0..<30).map { try messages.send($0) }
            }
            let rules: [Misbehaviour] = [429, 503].map { .status($0) { $0.path = "*/messages/*" } }
            messages.hub.misbehave([rules[0]])
            try await fixture.publish(
                try fixture.beginning(of: "spring", pns: ["apns"])
                    + [fixture.progress(of: "spring", recipients: 30, published: 30)])
            try await fixture.publishResults(of: sent, campaign: "spring")

            let first = try fixture.startFeedback(messages.hub)
            try await first.waitForLog("the hub does not say")
            let second = try fixture.startFeedback(messages.hub)
            try await second.waitForLog("following")
            #expect(try await first.waitForExit() == 1, "\(first.tail)")
            try await first.waitForLog("another herald feedback")
            messages.hub.misbehave([rules[1]])
            try await second.waitForLog("the hub does not say")
            messages.hub.misbehave([])
            try await fixture.wait("everything has feedback") { fixture.feedback.count >= sent.count }
            #expect(fixture.feedback.allSatisfy { $0.value.count == 1 })

            // Results without an id belong to the campaign, too: another backend's.
            let status = try await fixture.campaignStatus("spring")
            let told = try #require(status["feedback"] as? [String: Any])
            #expect(told["reached"] as? Int == 10 && told["nobody"] as? Int == 10 && told["refused"] as? Int == 10)
            #expect(told["devices"] as? [String: Int] == ["Success": 20, "BadChannel": 10])
            let report = try await fixture.campaign("report", "spring", "--html", "-")
            #expect(report.status == 0, "\(report.output)")
            #expect(report.output.contains("reached a push service 10; nobody to reach 10"), "\(report.output)")
            #expect(report.output.contains("Behind the hub"))
        }
    }
}
