import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldText
import HeraldTime
import Testing

@Suite("Telemetry of the emulated hub")
struct HubTelemetryTests {
    @Test("A message has its state and its counts in the service's order")
    func details() throws {
        let caller = try HubCaller.start {
            $0.outcomes = [HubOutcomeRule("BadChannel", handle: "BB*"), HubOutcomeRule("Throttled", handle: "CC")]
        }
        for (id, token) in ["1": "AA", "2": "BBBB", "3": "CC", "4": "AA"] {
            try caller.registerApple(id, token, tags: "a")
        }
        let id = try caller.message(caller.send("apple", tags: "a"))
        let response = try caller.call("GET", "messages/\(id)")
        #expect(response.status == 200)
        #expect(response.headers["Content-Type"]?.hasPrefix("application/xml") == true)
        let details = try response.xml()
        #expect(
            details.children.map(\.name) == [
                "NotificationId", "Location", "State", "EnqueueTime", "StartTime", "EndTime", "NotificationBody",
                "Tags", "TargetPlatforms", "ApnsOutcomeCounts",
            ])
        #expect(details["NotificationId"]?.text == id)
        #expect(details["Location"]?.text.hasPrefix("sb://127.0.0.1:") == true)
        #expect(details["State"]?.text == "Completed")
        #expect(details["Tags"]?.text == "a")
        #expect(details["TargetPlatforms"]?.text == "apple")
        #expect(details["NotificationBody"]?.text == #"{"aps":{"alert":"hi"}}"#)
        let counts = try #require(details["ApnsOutcomeCounts"])
        #expect(
            counts.children.map { ["\($0["Name"]?.text ?? "")", $0["Count"]?.text ?? ""] } == [
                ["BadChannel", "1"], ["Skipped", "1"], ["Success", "1"], ["Throttled", "1"],
            ])
        // The hub deletes registrations that a push service calls invalid.
        #expect(try caller.call("GET", "registrations/2").status == 404)
        #expect(caller.emulator.payloads(ofHandle: "AA").count == 1)
        #expect(caller.emulator.payloads(ofHandle: "CC").isEmpty)
    }

    @Test("A message without recipients has found no target", arguments: [false, true])
    func noTarget(isCounted: Bool) throws {
        let caller = try HubCaller.start { $0.guesses.countsNoTargets = isCounted }
        let id = try caller.message(caller.send("fcmv1", tags: "nobody", #"{"message":{}}"#))
        let details = try caller.call("GET", "messages/\(id)").xml()
        #expect(details["State"]?.text == "NoTargetFound")
        #expect(details["FcmV1OutcomeCounts"]?["Outcome"]?["Name"]?.text == (isCounted ? "NoTargets" : nil))
    }

    @Test("A message is unknown at first, then in progress, then final")
    func states() throws {
        let early = try HubCaller.start { $0.unknownTime = .hours(1) }
        #expect(try early.call("GET", "messages/\(early.message(early.send("apple")))").status == 404)
        let slow = try HubCaller.start { $0.processingTime = .hours(1) }
        let details = try slow.call("GET", "messages/\(slow.message(slow.send("apple")))").xml()
        #expect(details["State"]?.text == "Enqueued")
        #expect(details["EndTime"] == nil)
    }

    @Test("An unknown message is answered 404, and any in a lower tier 403")
    func refused() throws {
        #expect(try HubCaller.start().call("GET", "messages/NH-1").status == 404)
        for tier in [HubTier.free, .basic] {
            #expect(try HubCaller.start { $0.tier = tier }.call("GET", "messages/NH-1").status == 403)
        }
    }
}
