import HeraldEvents
import Testing

@testable import HeraldDemo

@Suite("The demo's check of its own outcomes")
struct DemoCheckTests {
    @Test("The expected stream has no differences, and its counts match")
    func good() throws {
        let played = try PlayedTracker()
        #expect(DemoCheck(played.tracker, isWhole: true).differences.isEmpty)
        let rows = OutcomeCounts(played.tracker).rows
        #expect(rows.allSatisfy { $0.count == $0.expected })
        #expect(rows.reduce(0) { $0 + $1.count } == DemoScript.scenes.reduce(0) { $0 + $1.expected.count })
    }

    /// A fault of the first event, and its message.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let words: String
        let apply: @Sendable (inout PlayedTracker) throws -> Void
    }

    @Test(
        "Every difference is named",
        arguments: [
            Fault(testDescription: "a second result", words: "apns: 2 results instead of 1") {
                try $0.result(0, .delivered("apns"))
            },
            Fault(testDescription: "a result for nobody", words: "a result that must not be, for wns") {
                try $0.result(0, .delivered("wns"))
            },
            Fault(testDescription: "one call too many", words: "the backend saw 2 calls instead of 1") {
                $0.call(0, "gcm")
            },
            Fault(testDescription: "a retry", words: "gcm: it waited in a retry topic") {
                $0.retry(0, "gcm", attempts: 1)
            },
            Fault(testDescription: "a dead letter", words: "1 dead letters instead of 0") {
                try $0.deadLetter($0.tracker.entries[0].event)
            },
            Fault(testDescription: "other bytes", words: "does not hold the bytes") {
                try $0.deadLetter($0.tracker.entries[0].event, value: [0x7B])
            },
            Fault(testDescription: "a call of nobody's", words: "1 calls belong to no event") {
                $0.call(key: "demo-99:apns")
            },
        ])
    func bad(_ fault: Fault) throws {
        var played = try PlayedTracker([DemoScript.scenes[0]])
        #expect(DemoCheck(played.tracker, isWhole: true).differences.isEmpty)
        try fault.apply(&played)
        #expect(DemoCheck(played.tracker, isWhole: true).differences.contains { $0.contains(fault.words) })
    }

    @Test("An outcome, status, reason or number of attempts other than the scene's is named", arguments: 0..<4)
    func wrongResult(_ kind: Int) throws {
        var outcome = ExpectedOutcome.dead("apns", .rejected, status: 400, calls: 1)
        switch kind {
        case 0: outcome = .delivered("apns")
        case 1: outcome.status = 404
        case 2: outcome.reason = .timeExhausted
        default: outcome.calls = 2
        }
        let scene = try #require(DemoScript.scenes.first { $0.expected.first?.reason == .rejected })
        var played = try PlayedTracker([scene], except: [0])
        try played.result(0, outcome)
        let differences = DemoCheck(played.tracker, isWhole: true).differences
        #expect(differences.contains { $0.contains("the result is \(outcome.words) instead of") })
    }

    @Test("A missing outcome is a difference only when the stream had its time")
    func missing() throws {
        let played = try PlayedTracker(except: [0])
        #expect(DemoCheck(played.tracker, isWhole: true).differences.contains { $0.contains("0 results instead of 1") })
        #expect(DemoCheck(played.tracker, isWhole: false).differences.isEmpty)
        let row = try #require(OutcomeCounts(played.tracker).rows.first { $0.kind.pushService == "apns" })
        #expect(row.count == row.expected - 1)
    }

    @Test("Rows are in the contract's order of outcomes and reasons, then of push services")
    func order() throws {
        let kinds = OutcomeCounts(try PlayedTracker().tracker).rows.map(\.kind)
        #expect(
            kinds.map { "\($0.outcome.rawValue) \($0.reason?.rawValue ?? "-") \($0.pushService ?? "-")" } == [
                "delivered - apns", "delivered - gcm", "delivered - wns", "dead-lettered malformed -",
                "dead-lettered invalid -", "dead-lettered oversized -", "dead-lettered rejected apns",
                "dead-lettered attempts-exhausted gcm", "expired - gcm", "suppressed - gcm", "suppressed - wns",
            ])
    }
}
