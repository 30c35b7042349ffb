import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@testable import HeraldReplay
@testable import HeraldTools

@Suite("What to do first about a dead letter")
struct RemedyTests {
    struct Case: Sendable {
        var reason: String
        var detail = ""
        var value: String?
        var command: String
        /// Whether a replay as it is may succeed.
        var canReplay = false
    }

    @Test(
        "Never what cannot succeed: a wrong event is corrected, or resolved",
        arguments: [
            Case(reason: "attempts-exhausted", command: "herald dlq replay 2:17", canReplay: true),
            Case(reason: "rejected", command: "herald dlq replay 2:17", canReplay: true),
            Case(
                reason: "invalid", detail: "user holds a space", command: "herald dlq replay 2:17 --set user=USER"),
            Case(reason: "invalid", detail: "sms is not allowed", command: "herald dlq resolve 2:17 --note WHY"),
            Case(reason: "malformed", detail: "no JSON", command: "herald dlq resolve 2:17 --note WHY"),
            Case(
                reason: "oversized", detail: "message has 5000 bytes",
                command: "herald dlq replay 2:17 --set message=MESSAGE"),
            Case(
                reason: "oversized", detail: "title has 300 bytes of UTF-8; at most 256 are allowed",
                command: "herald dlq replay 2:17 --set title=TITLE"),
            Case(
                reason: "oversized",
                detail:
                    "the notification has 4097 bytes, 1 more than its push service takes; shorten data, which has 2000",
                command: "herald dlq replay 2:17 --set data=DATA"),
            Case(
                reason: "invalid", detail: "link begins with http:; it has to begin with https:",
                command: "herald dlq replay 2:17 --set link=LINK"),
            Case(reason: "oversized", detail: "the event is large", command: "herald dlq replay 2:17", canReplay: true),
            Case(reason: "expired", command: "herald dlq resolve 2:17 --note WHY"),
            Case(
                reason: "attempts-exhausted",
                value: #"{"user":"ann","message":"Hi","pns":["apns","gcm"],"expiresAt":"2026-11-21T09:00:00Z"}"#,
                command: "herald dlq resolve 2:17 --note WHY"),
        ])
    func remedy(_ example: Case) {
        var entry = SampleEntry.make(
            value: example.value, ["herald-reason": example.reason, "herald-detail": example.detail])
        let letter = DeadLetterView(&entry, nil, ReplayOutcomes(), now: WallTime(milliseconds: 1_795_300_000_000))
        #expect(letter.command(configuration: nil) == example.command)
        #expect((letter.replayCommand(configuration: nil) != nil) == example.canReplay)
        #expect((letter.object(isRevealed: false, configuration: nil)["replay"] != nil) == example.canReplay)
    }

    @Test("Of a letter that words end a replay is not suggested; one push service of two may still be called")
    func words() {
        func letter(_ entries: String..., topic: String = "notifications") -> DeadLetterView {
            var optOut = OptOut()
            for entry in entries { _ = optOut.insert(entry, knowing: .standard) }
            var entry = SampleEntry.make(["herald-origin": "\(topic)/3/99"])
            var letter = DeadLetterView(&entry, nil, ReplayOutcomes())
            letter.note(
                StandingWords(
                    ["ann": .init(preference: Preference(optOut))], [:], pushServices: .standard,
                    classes: ["bulk": .promotional]))
            return letter
        }
        #expect(letter("all").remedy == .leave && letter("all").said.count == 2)
        #expect(letter("all").command(configuration: nil) == "herald dlq resolve 2:17 --note WHY")
        #expect(letter("all").replayCommand(configuration: nil) == nil)
        #expect(letter("pns:apns").remedy == .replay && letter("pns:apns").said.keys.sorted() == ["apns"])
        #expect(letter("promotional").remedy == .replay && letter("promotional").said.isEmpty)
        #expect(letter("promotional", topic: "bulk").remedy == .leave)
        let json = letter("all").object(isRevealed: false, configuration: nil)
        #expect(json["lastWord"]?["gcm"]?["reason"] == "opted-out" && json["replay"] == nil)
    }

    @Test("A replay says what became of those that others have replayed or resolved since it was planned")
    func skipped() {
        var progress = ReplayProgress()
        (progress.planned, progress.replayed, progress.delivered, progress.skipped) = (5, 3, 3, 2)
        let report = ReplayReport(job: "j", end: .complete, progress: progress)
        #expect(
            report.sentence(again: "again", watchedTopic: nil)
                .hasSuffix("2 others were replayed or resolved by somebody else meanwhile, or expired."))
    }
}
