import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Dead letters on the screen and in the editor", .realKafka("Dead letters on the screen and in the editor"))
struct DeadLetterTests {
    private static func plan() -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        return plan
    }

    /// The last line of `-o jsonl` as JSON.
    private func object(_ output: String) throws -> [String: Any] {
        let line = output.split(separator: "\n").last { $0.hasPrefix("{") } ?? ""
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(output)")
    }

    @Test("An unknown name is an error before anything moves; the other names are listed")
    func mistyped() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<3)
            for words in [["replay", "e1", "typo", "--yes"], ["resolve", "e1", "9:999", "--yes", "--note", "x"]] {
                let run = try fixture.startDLQ(words)
                #expect(try await run.waitForExit() == 1, "\(words): \(run.output)")
                #expect(run.output.contains("no dead letter matches \"\(words[2])\"; nothing was"), "\(run.output)")
            }
            for words in [["list", "e1", "typo", "--group-by", "none"], ["export", "e1", "typo"]] {
                let run = try fixture.startDLQ(words)
                #expect(try await run.waitForExit() == 1, "\(words): \(run.output)")
                #expect(run.output.contains("no dead letter matches \"typo\"") && run.output.contains("e1"))
            }
            #expect(try await fixture.replayCounts().isEmpty)
        }
    }

    @Test("Without a terminal a change needs --yes, and a missing topic is reported with the remedy")
    func statuses() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<3)
            for words in [["replay", "0:0", "1:0"], ["resolve", "--where", "status = 503", "--note", "x"]] {
                let run = try fixture.startDLQ(words)
                #expect(try await run.waitForExit() == 4 && run.output.contains("--yes"), "\(run.output)")
            }
            #expect(try await fixture.dlq("show", "0:999").status == 1)
            let missing = try await fixture.dlq(
                "replay", "--where", "status = 503", "--yes", changing: ["topics.state": "\(fixture.name).none"])
            #expect(missing.status == 1 && missing.output.contains("herald topics apply"), "\(missing.output)")
            #expect(try await fixture.replayCounts().isEmpty)
        }
    }

    @Test("A reader that closes the output early, such as head, ends an export with 0")
    func brokenPipe() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<3_000)
            for command in ["export", "list --group-by none --limit 3000"] {
                // The status of herald itself, not that of head.
                let script = #"p=$1; shift; { "$p" dlq \#(command) "$@"; echo "ended with $?" >&2; } | head -n 1"#
                let run = try fixture.startTool([], under: ["/bin/sh", "-c", script, "sh"])
                _ = try await run.waitForExit()
                #expect(run.output.contains("ended with 0"), "\(command): \(run.output.suffix(500))")
            }
        }
    }

    @Test("Misspelt events are corrected, replayed and delivered; old letters stay, and the audit has it")
    func corrected() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish([Self.misspelt("a")])
            try await fixture.waitForResults(1)
            try await fixture.catchUp()
            let letters = fixture.deadLetters.map(\.value)
            let dry = try await fixture.dlq("replay", "a", "--set", "pns=apns", "--set", "user=bob", "--dry-run")
            #expect(dry.output.contains("user ann → bob, pns apnss → apns"), "\(dry.output)")
            let replay = try await fixture.dlq("replay", "a", "--set", "pns=apns", "--set", "user=bob", "--yes")
            #expect(replay.status == 0, "\(replay.output)")
            try await fixture.waitForResults(2)
            #expect(fixture.backend.calls.map { "\($0.user ?? "") on \($0.pns ?? "")" } == ["bob on apns"])
            try await fixture.catchUp()
            #expect(fixture.requests.map(\.keyText) == ["ann", "bob"])
            #expect(fixture.deadLetters.map(\.value) == letters, "dead letters stay as they are")
            let audit = fixture.records("notifications.audit").compactMap(\.json)
            let corrections = audit.compactMap { ($0["options"] as? [String: String])?["correction"] }
            #expect(corrections.contains("user=bob pns=apns"))
            for words in [["--set", "x=1"], ["--set", "pns=apnss"], ["--set", "user=a", "--edit"]] {
                let run = try fixture.startDLQ(["replay", "a"] + words)
                #expect(try await run.waitForExit() == 2, "\(words): \(run.output)")
            }
        }
    }

    @Test("One is corrected in an editor, which is audited; an invalid event then stays in place")
    func edited() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish([Self.misspelt("b")])
            try await fixture.waitForResults(1)
            let editor = fixture.directory.appending(path: "edit it.sh")
            try "sed -i s/apnss/gcm/ \"$1\"".write(to: editor, atomically: true, encoding: .utf8)
            let environment = ["EDITOR": "sh '\(editor.path)'", "VISUAL": ""]
            let edit = try fixture.startDLQ(["replay", "b", "--edit", "--yes"], environment: environment)
            #expect(try await edit.waitForExit(within: 120) == 0, "\(edit.output)")
            try await fixture.waitForResults(2)
            let spoilt = try fixture.startDLQ(
                ["replay", "b", "--again", "--edit", "--yes"],
                environment: ["EDITOR": "sed -i s/user/u/", "VISUAL": ""])
            #expect(try await spoilt.waitForExit(within: 120) == 1, "\(spoilt.output)")
            #expect(spoilt.output.contains("what was edited is no event"), "\(spoilt.output)")
            #expect(fixture.backend.calls.map { "\($0.user ?? "") on \($0.pns ?? "")" } == ["ann on gcm"])
            try await fixture.catchUp()
            let audit = fixture.records("notifications.audit").compactMap(\.json)
            let corrections = audit.compactMap { ($0["options"] as? [String: String])?["correction"] }
            #expect(corrections.contains { $0.hasPrefix("edited, ") })
            #expect(audit.contains { $0["action"] as? String == "dlq.reveal" })
        }
    }

    private static func misspelt(_ id: String) -> Publication {
        Publication(user: "ann", text: #"{"id":"\#(id)","user":"ann","message":"Hello","pns":"apnss"}"#)
    }

    @Test("Hostile texts reach no terminal and no spreadsheet, and showing a message is audited")
    func hostile() async throws {
        let evil = "\u{1B}]0;owned\u{07}\u{202E}=cmd|calc"
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<1) { letter, _ in
                let object = ["id": evil, "user": evil, "message": "secret \(evil)", "pns": "apns"]
                letter.value = (try? JSONSerialization.data(withJSONObject: object)).map { Array($0) }
                for name in [
                    "herald-id", "herald-detail", "herald-source", "herald-campaign", "herald-reason", "herald-pns",
                ] {
                    letter.headers.removeAll { $0.name == name }
                    letter.headers.append(.init(name, evil))
                }
                letter.headers.append(
                    .init(
                        "herald-history",
                        "[{\"at\":\"2026-11-21T08:40:26Z\",\"pns\":\"\\u001b[2J\",\"error\":\"\\u202e\",\"ms\":1}]"))
            }
            let place = try await fixture.dlq("list", "--group-by", "none", "-o", "jsonl")
            let name = try #require(try object(place.output)["place"] as? String)
            for words in [
                ["list", "--group-by", "campaign"], ["list", "--group-by", "none"], ["list", "-o", "json"],
                ["show", name, "--reveal"], ["export"], ["export", "-o", "csv", "--reveal"],
                ["replay", "--where", "id = '\(evil)'", "--dry-run"], ["show", evil],
            ] {
                let run = try fixture.startDLQ(words)
                _ = try await run.waitForExit()
                let bad = run.output.unicodeScalars.filter {
                    ($0.value < 0x20 && $0 != "\n" && $0 != "\r") || $0.value == 0x202E
                }
                #expect(bad.isEmpty, "\(words): \(run.output.debugDescription)")
                #expect(run.output.contains("secret") == words.contains("--reveal"), "\(words)")
                if words.contains("csv") { #expect(!run.output.contains(",=") && !run.output.contains("\n=")) }
            }
            try await fixture.catchUp()
            let reveals = fixture.records("notifications.audit").compactMap(\.json).filter {
                $0["action"] as? String == "dlq.reveal"
            }
            #expect(reveals.count == 2)
        }
    }
}
