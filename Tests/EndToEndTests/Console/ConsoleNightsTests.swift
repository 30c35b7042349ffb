import Foundation
import HeraldSandbox
import TestSupport
import Testing

/// Nights on call: the verdict and a plan before, during and after, and a console without a worker's report.
///
/// The night of dead brokers is in ``DeadBrokersTests``.
@Suite("Nights on call", .realKafka("Nights on call"), .hangLimit)
struct ConsoleNightsTests {
    private struct Finding {
        var state: String
        var sentence: String
        var since: String?
        var next: [String: Any]

        init(_ object: [String: Any]) {
            state = object["state"] as? String ?? ""
            sentence = object["sentence"] as? String ?? ""
            since = object["since"] as? String
            next = object["next"] as? [String: Any] ?? [:]
        }
    }

    /// All findings by their keys, once the condition holds.
    @discardableResult
    private func verdict(
        _ console: ConsoleClient, _ isSo: @escaping ([String: Finding]) -> Bool
    ) async throws -> [String: Finding] {
        func findings(_ answer: [String: Any]) -> [String: Finding] {
            let all = [answer] + (answer["others"] as? [[String: Any]] ?? [])
            return Dictionary(all.map { ($0["key"] as? String ?? "", Finding($0)) }) { $1 }
        }
        return findings(try await console.ask("/api/verdict") { isSo(findings($0)) })
    }

    private func warnings(_ plan: [String: Any]) -> [String] { plan["warnings"] as? [String] ?? [] }

    /// A console that knows no admin port of a worker.
    private struct Blind {
        let console: ConsoleClient

        /// For good times, and after the end.
        func expectNotKnown() async throws {
            _ = try await console.ask("/api/verdict") {
                $0["key"] as? String == "not-known" && $0["state"] as? String == "unknown"
            }
        }

        /// For times of trouble: it shows Kafka's state, and that the rest is unknown.
        func expectNotGreen() async throws {
            let answer = try await console.ask("/api/verdict") { !$0.isEmpty }
            let all = [answer] + (answer["others"] as? [[String: Any]] ?? [])
            #expect(all.contains { $0["key"] as? String == "not-known" }, "\(answer)")
            #expect(!all.contains { $0["state"] as? String == "good" }, "\(answer)")
        }
    }

    private func look(
        _ settings: [String: String] = [:], _ body: (ConsoleClient, Blind, Fixture) async throws -> Void
    ) async throws {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        plan.settings = settings
        plan.settings["admin.listen"] = "127.0.0.1:\(try #require(FreePorts.take(1).first))"
        try await Fixture.run(plan) { fixture in
            let console = try await ConsoleClient(fixture, "--allow-changes")
            _ = try await fixture.startWorker()
            try await verdict(console) { $0["delivering"]?.state == "good" }
            let blind = Blind(console: try await ConsoleClient(fixture, changing: ["admin.listen": "off"]))
            try await blind.expectNotKnown()
            try await body(console, blind, fixture)
            try await blind.expectNotKnown()
        }
    }

    @Test("A push service dies, users are rejected: red with both causes, and good again after delivery")
    func deadServiceAndRejectedUsers() async throws {
        // Retries go on for more than a minute, and only the push service is in trouble.
        let settings = [
            "retry.delays": "[1s, 2s, 3s, 4s, 5s, 6s, 7s, 8s, 9s, 10s, 11s, 12s]", "outages.breaker.of": "0",
            "outages.deadLetterBreaker.of": "0",
        ]
        try await look(settings) { console, blind, fixture in
            try await fixture.publish((0..<40).map { Publication(id: "a\($0)", user: "user-\($0)") })
            try await fixture.waitForResults(40)

            fixture.backend.misbehave([.status(500) { $0.pns = "wns" }])
            try await fixture.publish((0..<30).map { Publication(id: "w\($0)", user: "user-\($0)", pns: ["wns"]) })
            let during = try await verdict(console) {
                let sentence = $0["push-service-failing"]?.sentence ?? ""
                return sentence.contains("all with status 500") && sentence.hasSuffix("30 users")
            }
            let dead = try #require(during["push-service-failing"])
            #expect(dead.state == "bad" && dead.since != nil)
            try await blind.expectNotGreen()
            // The retry topics reveal it without a worker's report, and long before the first dead letter.
            let shown = try await verdict(blind.console) { $0["push-service-failing"]?.state == "bad" }
            let told = try #require(shown["push-service-failing"])
            #expect(told.sentence.hasPrefix("wns delivers nothing since"), "\(told.sentence)")
            #expect(told.sentence.contains("all with status 500"), "\(told.sentence)")
            #expect(told.sentence.contains("not known from workers"), "\(told.sentence)")
            #expect(dead.sentence.contains("100 % of wns's calls fail"), "\(dead.sentence)")
            #expect((dead.next["command"] as? [String])?.prefix(3) == ["herald", "send", "--user"])
            try await fixture.publishDeadLetters(100..<105, pns: "wns")
            _ = try await console.groups(of: 5)
            let early = try await console.plan(#"{"filter":{"where":"pns = 'wns'"}}"#).plan
            #expect(warnings(early).contains { $0.hasPrefix("wns fails 100 % right now") }, "\(early)")
            let still = try await verdict(console) {
                $0["dead-letters"]?.sentence.contains("5 of the last hour are open") == true
            }
            #expect(still["push-service-failing"]?.since == dead.since, "one beginning")

            // A replay in spite of this sees the reason for the canary's wait.
            let canary = try await console.plan(#"{"filter":{"where":"pns = 'wns'"},"ramp":"1,all"}"#)
            let job = try await console.start(canary.id, count: 5)
            let began = try #require(try await console.ask("/api/jobs/\(job)").object["beganAt"] as? String)
            let open = try await console.ask("/api/failures/open?since=\(began)") { $0["count"] as? Int ?? 0 > 0 }
            let waits = try #require((open["open"] as? [[String: Any]])?.first)
            #expect(waits["status"] as? Int == 500 && waits["nextCall"] is String, "\(waits)")

            fixture.backend.misbehave([])
            _ = try await console.ended(job)
            let recovered = try await verdict(console) { $0["push-service-failing"] == nil }
            #expect(recovered.values.allSatisfy { $0.state != "bad" })
            let late = try await console.plan(#"{"filter":{"where":"pns = 'wns'"},"again":true}"#)
            #expect(warnings(late.plan) == [])
            // Not an hour later: delivered letters are no longer open.
            try await verdict(console) { $0["dead-letters"] == nil && $0["delivering"]?.state == "good" }

            fixture.backend.misbehave([.status(400) { $0.user = "bad-*" }])
            try await fixture.publish((0..<20).map { Publication(id: "b\($0)", user: "bad-\($0)") })
            let rejected = try await verdict(console) {
                $0["dead-letters"]?.sentence.contains("20 of the last hour are open") == true
            }
            let letters = try #require(rejected["dead-letters"])
            #expect(letters.sentence.contains("all are users bad-…; all with status 400"), "\(letters.sentence)")
            #expect(letters.sentence.contains("20 users") && letters.since != nil)
            #expect(!letters.sentence.contains("may have arrived"), "each call was answered: \(letters.sentence)")
            try await blind.expectNotGreen()
            let filter = try #require(letters.next["plan"] as? [String: String])
            #expect(filter == ["since": "1h", "where": "status = 400"])
            let groups = try await console.ask("/api/failures/groups?where=status%20%3D%20400")
            let pattern = groups.object["pattern"] as? [String: Any]
            #expect((pattern?["words"] as? String)?.contains("all are users bad-…") == true, "\(groups.text)")

            fixture.backend.misbehave([])
            let body = try JSONSerialization.data(withJSONObject: ["filter": filter])
            let plan = try await console.plan(String(decoding: body, as: UTF8.self))
            #expect((plan.plan["pattern"] as? [String: Any])?["users"] as? Int == 20, "\(plan.plan)")
            _ = try await console.ended(try await console.start(plan.id, count: 20))
            try await verdict(console) { $0["dead-letters"] == nil && $0["delivering"]?.state == "good" }

            let day = try await spans(console) { !$0.isEmpty }
            let lasted = day.first { $0["key"] as? String == "push-service-failing" }
            #expect(lasted?["state"] as? String == "bad" && lasted?["from"] is String, "\(day)")
            // Kafka reveals the dead letters, even to a new console.
            console.process.terminate()
            _ = try await console.process.waitForExit()
            let next = try await ConsoleClient(fixture)
            let afterwards = try await spans(next) { $0.contains { $0["key"] as? String == "dead-letters" } }
            let run = try #require(afterwards.first { $0["key"] as? String == "dead-letters" })
            #expect(run["count"] as? Int == 25 && run["open"] as? Int == 0, "\(run)")
        }
    }

    /// The troubles of the last day, once the condition holds.
    private func spans(
        _ console: ConsoleClient, _ isSo: @escaping ([[String: Any]]) -> Bool
    ) async throws -> [[String: Any]] {
        func spans(_ answer: [String: Any]) -> [[String: Any]] { answer["spans"] as? [[String: Any]] ?? [] }
        return spans(try await console.ask("/api/verdict/day") { isSo(spans($0)) })
    }

    @Test("A service writes nonsense, a password is refused: source and beginning are shown, the plan warns")
    func nonsenseAndPassword() async throws {
        try await look { console, blind, fixture in
            try await fixture.publish(
                (0..<40).map { Publication(id: "a\($0)", user: "user-\($0)", more: ["source": "shop"]) })
            try await fixture.waitForResults(40)
            try await fixture.publish(
                (0..<20).map {
                    Publication(id: "n\($0)", user: "user-\($0)", pns: ["sms"], more: ["source": "billing"])
                })
            let during = try await verdict(console) {
                $0["dead-letters"]?.sentence.contains("20 of the last hour are open; all from source billing") == true
            }
            let letters = try #require(during["dead-letters"])
            #expect(letters.sentence.contains("all invalid") && letters.sentence.contains("sms"), "\(letters.sentence)")
            #expect(
                (letters.next["command"] as? [String])?.dropLast(2)
                    == ["herald", "dlq", "list", "--since", "1h", "--group-by", "source"])
            try await blind.expectNotGreen()
            let plan = try await console.plan(#"{"filter":{"where":"source = 'billing'"}}"#)
            #expect(warnings(plan.plan).first?.hasPrefix("These cannot succeed unchanged") == true, "\(plan.plan)")
            let corrected = try await console.plan(
                #"{"filter":{"where":"source = 'billing'"},"set":{"pns":["apns"]}}"#)
            #expect(warnings(corrected.plan) == [])
            let resolve = try await console.plan(#"{"kind":"resolve","filter":{"where":"source = 'billing'"}}"#)
            _ = try await console.ended(try await console.start(resolve.id, count: 20))
            try await verdict(console) { $0["dead-letters"] == nil && $0["delivering"]?.state == "good" }

            fixture.backend.misbehave([.status(401)])
            try await fixture.publish((0..<30).map { Publication(id: "p\($0)", user: "user-\($0)") })
            let refused = try await verdict(console) { $0["outage-credentials"] != nil }
            let outage = try #require(refused["outage-credentials"])
            #expect(outage.state == "bad" && outage.since != nil && outage.sentence.contains("401"), "\(outage)")
            #expect((outage.next["command"] as? [String])?.dropLast() == ["herald", "send", "--self", "--config"])
            try await blind.expectNotGreen()
            let later = try await verdict(console) { $0["outage-credentials"]?.sentence != nil }
            #expect(later["outage-credentials"]?.since == outage.since, "one beginning")
            fixture.backend.misbehave([])
            try await verdict(console) { $0["delivering"]?.state == "good" && $0["outage-credentials"] == nil }
            try await fixture.waitForResults(90)
        }
    }

    @Test("Calls that the backend accepts time out: all views say that they may have arrived, none afterwards")
    func timeOuts() async throws {
        // Two calls for each push service, and no outage: the dead letters come within seconds.
        let settings = [
            "backend.timeout": "500ms", "retry.delays": "[1s]", "outages.breaker.of": "0",
            "outages.deadLetterBreaker.of": "0",
        ]
        try await look(settings) { console, blind, fixture in
            try await fixture.publish((0..<40).map { Publication(id: "a\($0)", user: "user-\($0)", pns: ["wns"]) })
            try await fixture.waitForResults(40)
            let quiet = try await fixture.dlq("list")
            #expect(!quiet.output.contains("may have arrived"), "\(quiet.output)")

            // It accepts each call, and answers after the caller has gone.
            fixture.backend.misbehave([.hold()])
            let night = (0..<20).map { Publication(id: "t\($0)", user: "user-\($0)", pns: ["apns", "gcm"]) }
            try await fixture.publish(night)
            let during = try await verdict(console) { $0["unanswered"]?.sentence.contains("apns and gcm") == true }
            let unanswered = try #require(during["unanswered"])
            #expect(unanswered.sentence.hasPrefix("Calls get no answer"), "\(unanswered.sentence)")
            #expect(unanswered.next["section"] as? String == "calls-without-an-answer")
            #expect(!during.values.contains { $0.state == "good" })
            try await blind.expectNotGreen()
            try await fixture.waitForResults(80)
            try await fixture.catchUp()
            let letters = fixture.deadLetters.count
            for watching in [console, blind.console] {
                let told = try await verdict(watching) {
                    $0["dead-letters"]?.sentence.contains("; \(letters) may have arrived: a call got no answer") == true
                }
                #expect(told["dead-letters"]?.next["section"] as? String == "calls-without-an-answer")
            }
            try await blind.expectNotGreen()
            try await toolsSay(mayHaveArrived: letters, console, fixture)

            fixture.backend.misbehave([])
            let plan = try await console.plan(#"{"filter":{"where":"reason = 'attempts-exhausted'"},"rate":1000}"#)
            _ = try await console.ended(try await console.start(plan.id, count: letters))
            try await verdict(console) { found in
                found["delivering"]?.state == "good" && !found.keys.contains { $0.hasPrefix("unanswered") }
                    && found["dead-letters"] == nil
            }
            #expect(fixture.backend.calls.count { $0.user == "user-0" && $0.pns == "apns" } > 1, "accepted twice")
            let after = try await fixture.dlq("list")
            #expect(!after.output.contains("may have arrived"), "\(after.output)")
            let explained = try await fixture.tool("explain", "t0")
            #expect(explained.output.contains("may have come more than once"), "\(explained.output)")
            #expect(!explained.output.contains("herald dlq replay"), "\(explained.output)")
        }
    }

    /// The reports of list, show, plan, explain and the console's groups on the night's letters, each in both units.
    private func toolsSay(mayHaveArrived letters: Int, _ console: ConsoleClient, _ fixture: Fixture) async throws {
        let units = "\(letters) dead letters, 40 notifications."
        let list = try await fixture.dlq("list")
        #expect(list.output.contains("\(letters) of those that are open may have arrived"), "\(list.output)")
        #expect(list.output.contains("\(letters) may have arrived (a call got no answer)"), "\(list.output)")
        #expect(list.output.contains(units), "\(list.output)")
        let lines = try await fixture.dlq("list", "--group-by", "none")
        #expect(lines.output.contains("\(letters) of those that are open may have arrived"), "\(lines.output)")
        #expect(lines.output.contains(units), "\(lines.output)")
        let dry = try await fixture.dlq("replay", "--where", "reason = 'attempts-exhausted'", "--dry-run")
        #expect(dry.output.contains("\(letters) may have arrived: a call for them got no answer"), "\(dry.output)")
        #expect(dry.output.contains("\(letters) would be replayed: 40 notifications."), "\(dry.output)")
        let show = try await fixture.dlq("show", "t0")
        #expect(show.output.contains("a call got no answer: the person may have got it all the same"), "\(show.output)")
        let explained = try await fixture.tool("explain", "t0")
        #expect(explained.output.contains("the person may have got it"), "\(explained.output)")
        let found = try await fixture.tool("find", "--id", "t0")
        #expect(found.output.contains("may have arrived"), "\(found.output)")
        let groups = try await console.groups(of: letters)
        #expect(groups.compactMap { $0["mayHaveArrived"] as? Int } == [letters], "\(groups)")
        #expect(groups.compactMap { $0["notifications"] as? Int } == [40], "\(groups)")
        let plan = try await console.plan(#"{"filter":{"where":"reason = 'attempts-exhausted'"}}"#).plan
        #expect((plan["doubt"] as? String)?.hasPrefix("\(letters) may have arrived") == true, "\(plan)")
    }
}
