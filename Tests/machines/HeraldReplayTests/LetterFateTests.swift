import Foundation
import HeraldEvents
import HeraldReplay
import HeraldTime
import Testing

@Suite("The fate of a dead letter")
struct LetterFateTests {
    private static func mark(_ more: String = "", state: String = "replayed") -> String {
        #"{"state":"\#(state)","job":"j","at":7,\#(more)"partitions":{"2":"17"}}"#
    }

    private func fate(
        _ headers: [String: String] = [:], marks: [String], _ results: [(String, String?, Int)]
    ) throws -> LetterFate {
        var index = MarkIndex()
        for mark in marks { index.add(try #require(MarkRecord(decoding: Array(mark.utf8)), "\(mark)")) }
        var outcomes = ReplayOutcomes()
        for (outcome, service, replays) in results {
            let pns = service.map { #""pns":"\#($0)","# } ?? ""
            let number = replays > 0 ? #""replays":\#(replays),"# : ""
            let text =
                #"{"outcome":"\#(outcome)","completedAt":"2026-11-21T08:40:26.123Z",\#(number)\#(pns)"#
                + #""origin":{"topic":"notifications","partition":3,"offset":99}}"#
            outcomes.add(try NotificationResult(decoding: Array(text.utf8)))
        }
        return LetterFate(of: SampleEntry.make(headers).facts, index, outcomes)
    }

    @Test("A letter that no mark names is open")
    func open() throws {
        #expect(try fate(marks: [], [("dead-lettered", "apns", 0)]) == .open)
        #expect(LetterFate(of: SampleEntry.make().facts, nil, ReplayOutcomes()) == .open)
        #expect(LetterFate.open.words == nil && LetterFate.open.isOpen)
    }

    @Test("A replay's fate, unchanged, with a fresh key or another user, follows from the outcomes")
    func unchanged() throws {
        let delivered = try fate(marks: [Self.mark()], [("delivered", "apns", 1), ("delivered", "gcm", 1)])
        #expect(delivered.state == .replayed && delivered.outcome == .delivered && !delivered.isOpen)
        #expect(delivered.words == "replayed, and delivered")
        let underWay = try fate(marks: [Self.mark()], [("delivered", "apns", 1)])
        #expect(underWay.outcome == .notKnown && underWay.words == "replayed")
        let duplicate = try fate(marks: [Self.mark()], [("duplicate", "apns", 1), ("delivered", "gcm", 1)])
        #expect(duplicate.outcome == .delivered)
    }

    @Test(
        "A replay that expired, was cancelled or is a dead letter again has failed",
        arguments: [
            "expired", "cancelled", "dead-lettered",
        ])
    func failed(_ outcome: String) throws {
        let fate = try fate(marks: [Self.mark()], [(outcome, "apns", 1), ("delivered", "gcm", 1)])
        #expect(fate.outcome == .failedAgain && fate.words == "replayed, and failed again")
    }

    @Test("The fate of a replay to another push service is that one's outcome, by request and replay number")
    func otherPushService() throws {
        let mark = Self.mark(#""calls":["wns"],"#)
        let delivered = try fate(marks: [mark], [("dead-lettered", "apns", 0), ("delivered", "wns", 1)])
        #expect(delivered.state == .replayed && delivered.outcome == .delivered)
        #expect(delivered.correctedPushServices == ["wns"])
        #expect(delivered.words == "replayed for wns instead, and delivered")
        #expect(try fate(marks: [mark], [("delivered", "apns", 1)]).outcome == .notKnown, "that was not called")
        #expect(try fate(marks: [mark], [("delivered", "wns", 0)]).outcome == .notKnown, "that was no replay")
        let second = ["herald-replays": "1"]
        #expect(try fate(second, marks: [mark], [("delivered", "wns", 1)]).outcome == .notKnown, "a former replay's")
        #expect(try fate(second, marks: [mark], [("delivered", "wns", 2)]).outcome == .delivered)
        #expect(try fate(marks: [mark], [("dead-lettered", "wns", 1)]).outcome == .failedAgain)
    }

    @Test("If the event named no push service, all push services of the correction have to be delivered")
    func malformed() throws {
        let (headers, mark) = (["herald-pns": ""], Self.mark(#""calls":["apns","gcm"],"#))
        #expect(try fate(headers, marks: [mark], [("delivered", "apns", 1)]).outcome == .notKnown)
        let both: [(String, String?, Int)] = [("delivered", "apns", 1), ("delivered", "gcm", 1)]
        #expect(try fate(headers, marks: [mark], both).outcome == .delivered)
        #expect(try fate(headers, marks: [mark], [("dead-lettered", nil, 1)]).outcome == .failedAgain)
    }

    @Test("A replay as a whole after a corrected one counts, with the push services that it called")
    func twice() throws {
        let marks = [Self.mark(#""calls":["wns"],"#), Self.mark()]
        let results: [(String, String?, Int)] = [
            ("delivered", "wns", 1), ("delivered", "apns", 2), ("expired", "gcm", 2),
        ]
        let fate = try fate(marks: marks, results)
        #expect(fate.outcome == .failedAgain && fate.correctedPushServices.isEmpty)
        let again = try self.fate(marks: marks + [Self.mark(#""calls":["wns"],"#)], results + [("delivered", "wns", 3)])
        #expect(again.outcome == .delivered && again.correctedPushServices == ["wns"])
    }

    @Test("A letter with replayed parts is open for the others")
    func parts() throws {
        let apns = Self.mark(#""pns":["apns"],"#)
        let part = try fate(marks: [apns], [("delivered", "apns", 1)])
        #expect(part.state == .partlyReplayed && part.outcome == .delivered && part.isOpen)
        #expect(part.words == "replayed in part, and delivered")
        let both = try fate(
            marks: [apns, Self.mark(#""pns":["gcm"],"#)], [("delivered", "apns", 1), ("dead-lettered", "gcm", 2)])
        #expect(both.state == .replayed && both.outcome == .failedAgain)
    }

    @Test("A letter that was dealt with otherwise is resolved; a later replay makes it replayed")
    func resolved() throws {
        let resolved = try fate(marks: [Self.mark(state: "resolved")], [])
        #expect(resolved.state == .resolved && resolved.outcome == nil && resolved.words == "resolved")
        #expect(try fate(marks: [Self.mark(state: "resolved"), Self.mark()], []).state == .replayed)
    }

    @Test("A letter that does not name its request has no known outcome")
    func unnamed() throws {
        let fate = try fate(["herald-origin": ""], marks: [Self.mark()], [("delivered", "apns", 1)])
        #expect(fate.state == .replayed && fate.outcome == .notKnown)
    }
}
