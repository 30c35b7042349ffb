import Foundation
import HeraldEvents
import HeraldReplay
import HeraldTime
import Testing

@Suite("The outcomes of replays")
struct ReplayOutcomesTests {
    private static let whole = #"{"state":"replayed","job":"j","at":7,"partitions":{"2":"17"}}"#
    private static let apns = #"{"state":"replayed","job":"j","at":5,"pns":["apns"],"partitions":{"2":"17"}}"#

    private func index(_ marks: String...) throws -> MarkIndex {
        var index = MarkIndex()
        for mark in marks { index.add(try #require(MarkRecord(decoding: Array(mark.utf8)))) }
        return index
    }

    private func result(
        _ outcome: String, _ service: String?, replays: Int = 1, offset: Int = 99
    ) throws -> NotificationResult {
        let pns = service.map { #""pns":"\#($0)","# } ?? ""
        let text =
            #"{"outcome":"\#(outcome)","completedAt":"2026-11-21T08:40:26.123Z",\#(replays > 0 ? #""replays":\#(replays),"# : "")"#
            + #"\#(pns)"origin":{"topic":"notifications","partition":3,"offset":\#(offset)}}"#
        return try NotificationResult(decoding: Array(text.utf8))
    }

    private func outcomes(_ results: NotificationResult...) -> ReplayOutcomes {
        var outcomes = ReplayOutcomes()
        for result in results { outcomes.add(result) }
        return outcomes
    }

    @Test("All push services have to be delivered, one failure is a failure, and a missing outcome is unknown")
    func parts() throws {
        let (entry, index) = (SampleEntry.make(), try index(Self.whole))
        #expect(outcomes().outcome(of: entry, MarkIndex()) == nil, "it was not replayed")
        #expect(outcomes().outcome(of: entry, nil) == nil)
        #expect(outcomes().outcome(of: entry, index) == .notKnown)
        let apns = try result("delivered", "apns")
        #expect(outcomes(apns).outcome(of: entry, index) == .notKnown)
        #expect(outcomes(apns, try result("delivered", "gcm")).outcome(of: entry, index) == .delivered)
        #expect(outcomes(apns, try result("duplicate", "gcm")).outcome(of: entry, index) == .delivered)
        for outcome in ["dead-lettered", "expired", "cancelled"] {
            #expect(outcomes(apns, try result(outcome, "gcm")).outcome(of: entry, index) == .failedAgain)
        }
        let others = outcomes(
            try result("delivered", "apns", offset: 98), try result("delivered", "gcm", replays: 0))
        #expect(others.outcome(of: entry, index) == .notKnown, "of another event, and of the first calls")
    }

    @Test("A later replay of the same event counts, an earlier one does not")
    func later() throws {
        let (entry, index) = (SampleEntry.make(["herald-pns": "apns"]), try index(Self.whole))
        let failed = try result("dead-lettered", "apns")
        #expect(outcomes(failed, try result("delivered", "apns", replays: 2)).outcome(of: entry, index) == .delivered)
        let second = SampleEntry.make(["herald-pns": "apns", "herald-replays": "1"])
        #expect(outcomes(failed).outcome(of: second, index) == .notKnown)
        #expect(outcomes(try result("expired", "apns", replays: 2)).outcome(of: second, index) == .failedAgain)
        let twice = try self.index(Self.whole, Self.whole)
        #expect(outcomes(failed).outcome(of: entry, twice) == .notKnown, "the second is under way")
    }

    @Test("A replayed part has the outcomes of that part, and an event that does not decode has one outcome")
    func partly() throws {
        let outcomes = outcomes(try result("delivered", "apns"))
        #expect(try outcomes.outcome(of: SampleEntry.make(), index(Self.apns)) == .delivered)
        let whole = self.outcomes(try result("dead-lettered", nil))
        #expect(try whole.outcome(of: SampleEntry.make(), index(Self.whole)) == .failedAgain)
        #expect(try whole.outcome(of: SampleEntry.make(["herald-pns": ""]), index(Self.whole)) == .failedAgain)
        #expect(try index(Self.whole, Self.apns).firstReplayAt == 5 && index().firstReplayAt == nil)
    }

    @Test("A place or an id without a letter is reported")
    func named() throws {
        var request = Selection.Request()
        request.ids = ["e1", "2:17", "2:18", "typo"]
        var named = try Selection(request, now: SampleEntry.moment).named
        #expect(named.missing == request.ids)
        var entry = SampleEntry.make()
        named.note(&entry)
        #expect(named.missing == ["2:18", "typo"])
        #expect(try Selection(Selection.Request(), now: SampleEntry.moment).named.missing.isEmpty)
    }
}

extension ReplayOutcomes {
    fileprivate func outcome(of entry: DeadLetterEntry, _ marks: MarkIndex?) -> Outcome? {
        LetterFate(of: entry.facts, marks, self).outcome
    }
}
