import Foundation
import HeraldSandbox
import HeraldTime
import TestSupport
import Testing

@Suite("Caps", .realKafka("Caps"))
struct CapTests {
    private static func event(_ id: String, _ user: String = "user-0") -> Publication {
        var event = Publication(id: id, user: user)
        event.topic = "notifications.bulk"
        return event
    }

    @Test(
        "Of five promotional events two are delivered within the time, over a kill"
    )
    func kill() async throws {
        var plan = Fixture.Plan()
        plan.more = ["notifications.preferences", "notifications.recalls", "notifications.caps"]
        plan.settings = ["preferences.enabled": "true", "preferences.caps": "[2/1h]"]
        try await Fixture.run(plan) { fixture in
            let changes = [
                "topics.preferences": fixture.topic("notifications.preferences"),
                "topics.recalls": fixture.topic("notifications.recalls"),
                "topics.caps": fixture.topic("notifications.caps"),
                "topics.classes": "{\(fixture.topic("notifications.bulk")): promotional}",
            ]
            let first = try await fixture.startWorker(changing: changes)
            try await fixture.publish([Self.event("p0")])
            try await fixture.waitForResults(1)
            first.kill()
            let second = try await fixture.startWorker(changing: changes)
            try await fixture.publish((1..<5).map { Self.event("p\($0)") } + [Self.event("other", "user-1")])
            try await fixture.publish([Publication(id: "code", user: "user-0")])
            try await fixture.waitForResults(7)
            let results = try fixture.results
            let outcomes = Dictionary(results.map { ($0.id ?? "", $0.outcome) }) { $1 }
            for id in ["p0", "p1", "other", "code"] { #expect(outcomes[id] == "delivered", "\(id)") }
            for id in ["p2", "p3", "p4"] { #expect(outcomes[id] == "suppressed", "\(id)") }
            #expect(fixture.deadLetters.isEmpty)
            var users: Double?
            try await fixture.wait(
                "both users are counted", until: { users == 2 },
                meanwhile: { users = try await second.metrics()["herald_caps_users"] })
        }
    }
}
