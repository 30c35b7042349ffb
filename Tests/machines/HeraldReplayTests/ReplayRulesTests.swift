import Foundation
import HeraldEvents
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldReplay

@Suite("The selection of a replay")
struct ReplayRulesTests {
    private static let now = SampleEntry.moment.advanced(by: .minutes(1))

    private func decision(
        _ entry: DeadLetterEntry, marks: [String] = [], _ change: (inout ReplayRules) -> Void = { _ in }
    ) throws -> ReplayRules.Decision {
        var rules = ReplayRules(maximumReplays: 5, requestTopics: ["first", "notifications"])
        change(&rules)
        var index = MarkIndex()
        for mark in marks {
            index.add(try #require(MarkRecord(decoding: Array(mark.utf8))))
        }
        var entry = entry
        return rules.decision(for: &entry, index, now: Self.now)
    }

    private func replay(
        topic: String = "notifications", pns: [String] = ["apns", "gcm"], isWhole: Bool = true, replays: Int = 1
    ) -> ReplayRules.Decision {
        .replay(
            ReplayRules.Replay(
                topic: topic, origin: Origin(topic: topic == "first" ? "elsewhere" : topic, partition: 3, offset: 99),
                pushServices: pns, isWhole: isWhole, replays: replays))
    }

    private static let whole = #"{"state":"replayed","job":"j","at":1,"partitions":{"2":"17"}}"#
    private static let part = #"{"state":"replayed","job":"j","at":1,"pns":["apns"],"partitions":{"2":"17"}}"#
    private static let resolved = #"{"state":"resolved","job":"j","at":1,"partitions":{"2":"17"}}"#

    @Test("A dead letter goes to its origin's topic when that is a request topic, otherwise to the first one")
    func topics() throws {
        #expect(try decision(SampleEntry.make()) == replay())
        #expect(
            try decision(SampleEntry.make(["herald-origin": "elsewhere/3/99"])) == replay(topic: "first"),
            "a header chooses no topic")
    }

    @Test("A corrected dead letter is a valid event, under its own user's key, for the remaining push services")
    func corrected() throws {
        func change(_ rules: inout ReplayRules) {
            rules.correction = .members(EventChange(user: "bob", pushServices: ["gcm", "wns"]))
        }
        guard case .replay(let replay) = try decision(SampleEntry.make(["herald-pns": "gcm"]), change) else {
            Issue.record("it is left out")
            return
        }
        let value = #"{"id":"e1","user":"bob","message":"Hello","pns":["gcm","wns"]}"#
        #expect(replay.corrected?.value == Array(value.utf8))
        #expect(replay.corrected?.key == Array("bob".utf8))
        // wns had been delivered; it is not new.
        #expect(replay.pushServices == ["gcm"])
    }

    @Test("A corrected event that did not decode goes to all push services that it names")
    func correctedInvalid() throws {
        let entry = SampleEntry.make(
            value: #"{"id":"e1","user":"ann","message":"Hello","pns":"apnss"}"#,
            ["herald-pns": "", "herald-reason": "invalid"])
        let decision = try decision(entry) { $0.correction = .members(EventChange(pushServices: ["apns", "gcm"])) }
        guard case .replay(let replay) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(replay.pushServices == ["apns", "gcm"] && replay.isWhole)
        #expect(replay.corrected?.key == Array("ann".utf8))
    }

    @Test("A letter that stays invalid, or that is not the edited one, is left out")
    func stillInvalid() throws {
        let invalid = SampleEntry.make(value: #"{"id":"e1","message":"","pns":"apns"}"#)
        #expect(
            try decision(invalid) { $0.correction = .members(EventChange(user: "ann")) } == .leaveOut(.stillInvalid))
        #expect(
            try decision(SampleEntry.make(value: "no JSON")) { $0.correction = .members(EventChange(user: "ann")) }
                == .leaveOut(.stillInvalid))
        let event = Array(#"{"user":"ann","message":"Hi","pns":"apns"}"#.utf8)
        #expect(
            try decision(SampleEntry.make()) { $0.correction = .value(event, place: "2:18") }
                == .leaveOut(.stillInvalid))
    }

    @Test("The corrected event's expiry counts")
    func correctedExpiry() throws {
        let expired = #"{"user":"ann","message":"Hi","pns":"apns","expiresAt":"2020-01-01T00:00:00Z"}"#
        let event = Array(#"{"user":"ann","message":"Hi","pns":"apns"}"#.utf8)
        #expect(try decision(SampleEntry.make(value: expired, ["herald-pns": "apns"])) == .leaveOut(.expired))
        let decision = try decision(SampleEntry.make(value: expired, ["herald-pns": "apns"])) {
            $0.correction = .value(event, place: "2:17")
        }
        guard case .replay(let replay) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(replay.corrected?.value == event && replay.pushServices == ["apns"])
    }

    @Test("Without an origin a record is not a dead letter", arguments: ["", "notifications", "a/b/c", "../../x/1/2"])
    func unreadable(origin: String) throws {
        #expect(try decision(SampleEntry.make(["herald-origin": origin])) == .leaveOut(.unreadable))
    }

    @Test("A replayed or resolved letter is left out, unless it is requested again")
    func again() throws {
        #expect(try decision(SampleEntry.make(), marks: [Self.whole]) == .leaveOut(.replayed))
        #expect(try decision(SampleEntry.make(), marks: [Self.resolved]) == .leaveOut(.resolved))
        #expect(try decision(SampleEntry.make(), marks: [Self.whole]) { $0.isAgain = true } == replay(replays: 2))
        #expect(try decision(SampleEntry.make(), marks: [Self.resolved]) { $0.isAgain = true } == replay())
    }

    @Test("A cancelled or paused campaign's letter is left out, even when it is requested again")
    func cancelledCampaign() throws {
        let entry = SampleEntry.make(["herald-campaign": "spring"])
        func change(_ rules: inout ReplayRules) { rules.cancelledCampaigns = ["spring"] }
        #expect(try decision(entry, change) == .leaveOut(.campaignCancelled))
        #expect(
            try decision(entry, marks: [Self.whole]) {
                change(&$0)
                $0.isAgain = true
            } == .leaveOut(.campaignCancelled))
        #expect(
            try decision(entry) { $0.pausedCampaigns = ["spring"] } == .leaveOut(.campaignPaused),
            "a canary would wait for its outcome in vain")
        #expect(try decision(SampleEntry.make(["herald-campaign": "autumn"]), change) == replay())
        #expect(try decision(SampleEntry.make(), change) == replay())
    }

    @Test("Some push services can be replayed alone; the others can follow")
    func onlySome() throws {
        #expect(
            try decision(SampleEntry.make()) { $0.onlyPushServices = ["apns", "wns"] }
                == replay(pns: ["apns"], isWhole: false))
        #expect(
            try decision(SampleEntry.make()) { $0.onlyPushServices = ["wns"] } == .leaveOut(.otherPushServices))
        #expect(
            try decision(SampleEntry.make(), marks: [Self.part]) == replay(pns: ["gcm"], isWhole: false, replays: 2))
        #expect(
            try decision(SampleEntry.make(), marks: [Self.part]) { $0.onlyPushServices = ["apns"] }
                == .leaveOut(.replayed))
    }

    @Test("A letter that has expired, or was replayed as often as allowed, is left out")
    func leftOut() throws {
        let event =
            #"{"user":"ann","message":"Hello","pns":["apns","gcm"],"expiresAt":"2026-11-21T08:41:26Z"}"#
        #expect(try decision(SampleEntry.make(value: event)) == .leaveOut(.expired))
        #expect(try decision(SampleEntry.make(value: event.replacing("08:41:26", with: "08:41:27"))) == replay())
        #expect(try decision(SampleEntry.make(["herald-replays": "5"])) == .leaveOut(.overTheCap))
        #expect(try decision(SampleEntry.make(["herald-replays": "4"])) == replay(replays: 5))
        #expect(
            try decision(SampleEntry.make(["herald-replays": "4"]), marks: [Self.whole]) { $0.isAgain = true }
                == .leaveOut(.overTheCap))
        #expect(try decision(SampleEntry.make(["herald-replays": "99999999999999999999"])) == replay())
    }

    @Test("A letter without its value or key because of its size is left out; without headers alone it is not")
    func incomplete() throws {
        #expect(try decision(SampleEntry.make(["herald-omitted": "history,detail,headers"])) == replay())
        for part in ["key", "history,detail,headers,value"] {
            #expect(try decision(SampleEntry.make(["herald-omitted": part])) == .leaveOut(.incomplete))
        }
    }

    @Test("Undecodable letters can be replayed too, after the settings were fixed")
    func malformed() throws {
        let entry = SampleEntry.make(value: "no json", ["herald-pns": "", "herald-reason": "malformed"])
        #expect(try decision(entry) == replay(pns: []))
        #expect(try decision(entry, marks: [Self.whole]) == .leaveOut(.replayed))
    }

    @Test(
        "A ramp is a list of sizes, the last of which may be all",
        arguments: [
            ("1,5,50,all", true), ("all", true), ("10", true), ("", false), ("all,1", false), ("0", false),
            ("1,,2", false),
            ("-1", false), ("1,x", false),
        ])
    func ramps(text: String, isRamp: Bool) {
        #expect((Ramp(text)?.text == text) == isRamp)
    }
}
