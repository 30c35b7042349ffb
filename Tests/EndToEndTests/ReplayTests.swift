import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Dead letters", .realKafka("Dead letters"))
struct ReplayTests {
    private static func plan(_ change: (inout Fixture.Plan) -> Void = { _ in }) -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        change(&plan)
        return plan
    }

    /// The last line as JSON, of `-o jsonl`.
    private func object(_ output: String) throws -> [String: Any] {
        let line = output.split(separator: "\n").last { $0.hasPrefix("{") } ?? ""
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(output)")
    }

    @Test("What a worker has given up is found, planned, replayed in batches and delivered with the same key")
    func wholeWay() async throws {
        let plan = Self.plan {
            $0.settings = ["retry.delays": "[1s]", "backend.statuses": "{503: rejected}"]
            $0.misbehaviour = [.status(503) { $0.pns = "gcm" }]
        }
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let events = (0..<60).map { Publication(id: "e\($0)", user: "user-\($0)", pns: ["apns", "gcm"]) }
            try await fixture.publish(events)
            try await fixture.waitForResults(120)
            fixture.backend.misbehave([])

            let list = try await fixture.dlq("list", "--group-by", "status", "-o", "jsonl")
            #expect(list.status == 0, "\(list.output)")
            let group = try object(list.output)
            #expect(group["group"] as? String == "status=503" && group["count"] as? Int == 60)
            #expect(group["replayed"] as? Int == 0)

            let dry = try await fixture.dlq("replay", "--group", "status=503", "--dry-run", "-o", "jsonl")
            #expect(try dry.status == 0 && object(dry.output)["planned"] as? Int == 60, "\(dry.output)")
            #expect(fixture.requests.count == 60)

            let run = try await fixture.dlq(
                "replay", "--group", "status=503", "--yes", "--reason", "gcm was down", "-o", "jsonl")
            let report = try object(run.output)
            #expect(run.status == 0 && report["end"] as? String == "complete", "\(run.output)")
            #expect(report["replayed"] as? Int == 60 && report["delivered"] as? Int == 60, "\(run.output)")
            try await fixture.waitForResults(180)
            try await fixture.catchUp()
            let replays = fixture.requests.filter { $0.heraldHeaders["herald-replays"] == "1" }
            #expect(replays.count == 60)
            for replay in replays {
                #expect(replay.heraldHeaders["herald-pns"] == "gcm")
                #expect(
                    replay.value
                        == fixture.deadLetters.first {
                            $0.heraldHeaders["herald-id"] == replay.heraldHeaders["herald-id"]
                        }?.value)
            }
            // What each event was called with: apns once, gcm twice under one key.
            let keys = Dictionary(grouping: fixture.backend.calls.compactMap(\.notification)) { $0 }
            #expect((0..<60).allSatisfy { keys["e\($0):apns"]?.count == 1 && keys["e\($0):gcm"]?.count == 2 })

            let again = try await fixture.dlq("replay", "--group", "status=503", "--yes", "-o", "jsonl")
            let nothing = try object(again.output)
            #expect(again.status == 0 && nothing["planned"] as? Int == 0)
            #expect((nothing["leftOut"] as? [String: Int])?["replayed"] == 60)
            try await fixture.catchUp()
            #expect(fixture.requests.count == 120)

            let show = try await fixture.dlq("show", "e7")
            #expect(show.status == 0 && show.output.contains("replayed by job replay-"), "\(show.output)")
            #expect(show.output.contains("call for gcm: 503") && show.output.contains("--again"))

            #expect(show.output.contains("replay      delivered"), "\(show.output)")
            let after = try object(try await fixture.dlq("list", "--group-by", "status", "-o", "jsonl").output)
            #expect(after["replayed"] as? Int == 60 && after["delivered"] as? Int == 60, "\(after)")
            #expect(after["failedAgain"] as? Int == 0)
            let once = try await fixture.dlq("replay", "--group", "status=503", "--again", "--dry-run", "-o", "jsonl")
            #expect(
                try object(once.output)["replayedBefore"] as? [String: Int] == [
                    "delivered": 60, "failed-again": 0, "not-known": 0,
                ], "\(once.output)")
            let words = try await fixture.dlq("replay", "--group", "status=503", "--again", "--dry-run")
            #expect(words.output.contains("60 of these were replayed before: 60 delivered"), "\(words.output)")

            let audit = fixture.records("notifications.audit").compactMap(\.json)
            #expect(audit.map { $0["phase"] as? String } == ["started", "ended"])
            #expect(audit.first?["reason"] as? String == "gcm was down")
            #expect(audit.last?["end"] as? String == "complete")
        }
    }

    @Test("A canary that fails again stops the replay, and nothing behind it is touched")
    func canary() async throws {
        try await Fixture.run(Self.plan { $0.misbehaviour = [.status(400) { _ in }] }) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publishDeadLetters(0..<50)
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "-o", "jsonl")
            let report = try object(run.output)
            #expect(run.status == 3 && report["end"] as? String == "stopped", "\(run.output)")
            #expect(report["replayed"] as? Int == 1 && report["failed"] as? Int == 1)
            #expect(try await fixture.replayCounts().count == 1)

            // Newest first: the one that has failed again stands above the one that was replayed.
            let list = try await fixture.dlq("list", "--group-by", "none", "-o", "jsonl")
            let lines = list.output.split(separator: "\n").filter { $0.hasPrefix("{") }
            let letters = try lines.map { try object(String($0)) }
            #expect(letters.count == 51 && letters.first?["reason"] as? String == "rejected", "\(list.output)")
            let moments = letters.compactMap { $0["at"] as? String }
            #expect(moments == moments.sorted(by: >))
            let replayed = letters.filter { $0["replayOutcome"] != nil }
            #expect(replayed.map { $0["replayOutcome"] as? String } == ["failed-again"], "\(replayed)")
            let few = try await fixture.dlq("list", "--group-by", "none", "--limit", "2")
            #expect(few.output.contains("The newest 2 of 51"), "\(few.output)")
            let place = try #require(replayed.first?["place"] as? String)
            #expect(try await fixture.dlq("show", place).output.contains("replay      failed again"))
        }
    }

    @Test("A name that nothing has is an error before anything moves; what else was named is listed all the same")
    func mistyped() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<3)
            for words in [
                ["replay", "e1", "typo", "--yes", "--wait", "0"], ["replay", "e1", "9:999", "--dry-run"],
                ["resolve", "e1", "typo", "--yes", "--note", "x"],
            ] {
                let run = try fixture.startDLQ(words)
                #expect(try await run.waitForExit() == 1, "\(words): \(run.output)")
                #expect(run.output.contains("no dead letter matches \"\(words[2])\"; nothing was"), "\(run.output)")
            }
            for words in [
                ["list", "e1", "typo", "--group-by", "none"], ["export", "e1", "typo"], ["list", "e1", "typo"],
            ] {
                let run = try fixture.startDLQ(words)
                #expect(try await run.waitForExit() == 1, "\(words): \(run.output)")
                #expect(run.output.contains("no dead letter matches \"typo\""), "\(run.output)")
                #expect(run.output.contains(words.count > 3 ? "e1" : words[0] == "list" ? "reason=" : "\"e1\""))
            }
            #expect(try await fixture.replayCounts().isEmpty)
            #expect(try await fixture.dlq("export", "e1", "e2").status == 0)
        }
    }

    @Test("Dead letters of a cancelled campaign are left out for that reason")
    func cancelledCampaign() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<4) { letter, number in
                letter.headers.append(.init("herald-campaign", number < 3 ? "spring" : "autumn"))
            }
            try await fixture.publish(try fixture.beginning(of: "spring") + fixture.beginning(of: "autumn"))
            #expect(try await fixture.campaign("cancel", "spring", "--yes").status == 0)
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0", "-o", "jsonl")
            let report = try object(run.output)
            #expect((report["leftOut"] as? [String: Int]) == ["campaign-cancelled": 3], "\(run.output)")
            #expect(run.output.contains("3 left out: their campaign was cancelled") && report["replayed"] as? Int == 1)
            #expect(try await fixture.replayCounts().count == 1)
        }
    }

    @Test("Who reads the output and has seen enough, such as head, ends an export with 0")
    func brokenPipe() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<3_000)
            for command in ["export", "list --group-by none --limit 3000", "export -o csv"] {
                // The status of herald itself, not that of head.
                let script = #"p=$1; shift; { "$p" dlq \#(command) "$@"; echo "ended with $?" >&2; } | head -n 1"#
                let run = try fixture.startTool([], under: ["/bin/sh", "-c", script, "sh"])
                _ = try await run.waitForExit()
                #expect(run.output.contains("ended with 0"), "\(command): \(run.output.suffix(500))")
            }
        }
    }

    @Test("Without workers the canary's outcome does not come: the replay stops, and says what to look at")
    func noWorkers() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<5)
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "1s", "-o", "jsonl")
            #expect(run.status == 3 && run.output.contains("do workers run?"), "\(run.output)")
            #expect(try object(run.output)["end"] as? String == "outcome-timeout")
            #expect(try await fixture.replayCounts().count == 1)
        }
    }

    @Test("Ctrl-C pauses, and the rest follows when it is started again")
    func pause() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<400)
            let words = ["replay", "--where", "status = 503", "--yes", "--ramp", "all", "--wait", "0"]
            let run = try fixture.startDLQ(words + ["--rate", "20/s", "-o", "jsonl"])
            try await fixture.wait("some are replayed") { fixture.count("notifications") >= 20 }
            run.terminate()
            #expect(try await run.waitForExit() == 3, "\(run.output)")
            let first = try #require(try object(run.output)["replayed"] as? Int)
            #expect(first >= 20 && first < 400)
            let rest = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0", "-o", "jsonl")
            #expect(try object(rest.output)["replayed"] as? Int == 400 - first, "\(rest.output)")
            let counts = try await fixture.replayCounts()
            #expect(counts.count == 400 && counts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("Dead letters that come while a replay runs are left alone")
    func growingGroup() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<200)
            let run = try fixture.startDLQ([
                "replay", "--where", "status = 503", "--yes", "--ramp", "all", "--wait", "0", "--rate", "100/s",
            ])
            try await fixture.wait("it has begun") { fixture.count("notifications") >= 1 }
            try await fixture.publishDeadLetters(1_000..<1_200)
            #expect(try await run.waitForExit() == 0, "\(run.output)")
            let counts = try await fixture.replayCounts()
            #expect(Set(counts.keys) == Set(0..<200) && counts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("While a replay runs another is refused, and says whose it is")
    func busy() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<300)
            let words = ["replay", "--where", "status = 503", "--yes", "--ramp", "all", "--wait", "0"]
            // It would take minutes: the others meet it at work, however slow the machine is.
            let first = try fixture.startDLQ(words + ["--rate", "2/s"])
            try await fixture.wait("it has begun") { fixture.count("notifications") >= 1 }
            let second = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0")
            #expect(second.status == 1 && second.output.contains("is at work on the dead letters"), "\(second.output)")
            let third = try await fixture.dlq("resolve", "--where", "status = 503", "--yes", "--note", "no")
            #expect(third.status == 1, "\(third.output)")
            first.kill()
            // The lease of a process that is certainly gone is nobody's.
            let last = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0")
            #expect(last.status == 0, "\(last.output)")
            let counts = try await fixture.replayCounts()
            #expect(counts.count == 300 && counts.values.allSatisfy { $0 == 1 })
            try await fixture.catchUp()
            let audit = fixture.records("notifications.audit").compactMap(\.json)
            #expect(audit.contains { $0["tookOverFrom"] != nil })
        }
    }

    @Test("Only some push services, a fresh key, resolving, and once more: each leaves its marks")
    func options() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<10, pns: "apns,gcm")
            try await fixture.publishDeadLetters(10..<20, reason: "rejected", status: 400)
            func replay(_ words: String...) async throws -> [String: Any] {
                let run = try fixture.startDLQ(["replay"] + words + ["--yes", "--wait", "0", "-o", "jsonl"])
                #expect(try await run.waitForExit() == 0, "\(run.output)")
                return try object(run.output)
            }
            #expect(try await replay("--where", "status = 503", "--only-pns", "apns")["replayed"] as? Int == 10)
            let rest = try await replay("--where", "status = 503", "--fresh-key")
            #expect(rest["replayed"] as? Int == 10 && (rest["pushServices"] as? [String: Int]) == ["gcm": 10])
            #expect(try await replay("--where", "status = 503")["planned"] as? Int == 0)
            try await fixture.catchUp()
            let services = Dictionary(grouping: fixture.requests) { $0.heraldHeaders["herald-pns"] ?? "" }
            #expect(services["apns"]?.count == 10 && services["gcm"]?.count == 10)
            let keys = Set(services["gcm"]?.compactMap { $0.heraldHeaders["herald-key"] } ?? [])
            #expect(keys.count == 10, "a fresh key for each")

            let resolved = try await fixture.dlq(
                "resolve", "--group", "reason=rejected", "--note", "called them", "--yes", "-o", "jsonl")
            #expect(try resolved.status == 0 && object(resolved.output)["resolved"] as? Int == 10, "\(resolved.output)")
            let left = try await replay("--where", "status = 400")
            #expect((left["leftOut"] as? [String: Int])?["resolved"] == 10)
            #expect(try await replay("--where", "status = 400", "--again")["replayed"] as? Int == 10)
        }
    }

    @Test("A forged origin leads to the first request topic, and what is no dead letter is left out")
    func forged() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<3) { letter, number in
                letter.headers.removeAll { $0.name == "herald-origin" }
                if number == 0 {
                    letter.headers.append(.init("herald-origin", "\(fixture.topic("notifications.bulk"))/0/0"))
                }
                if number == 1 {
                    letter.headers.append(.init("herald-origin", "\(fixture.topic("notifications.results"))/0/1"))
                }
            }
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0", "-o", "jsonl")
            let report = try object(run.output)
            #expect((report["leftOut"] as? [String: Int]) == ["unreadable": 1], "\(run.output)")
            try await fixture.catchUp()
            #expect(fixture.count("notifications.bulk") == 1 && fixture.count("notifications") == 1)
            #expect(fixture.count("notifications.results") == 0)
        }
    }

    @Test("One that is too large for its topic holds nobody up: it goes without its history, or stays where it is")
    func tooLarge() async throws {
        let plan = Self.plan { $0.topicConfigurations["notifications"] = ["max.message.bytes": "3000"] }
        try await Fixture.run(plan) { fixture in
            try await fixture.publishDeadLetters(0..<20) { letter, number in
                if number == 7 {
                    letter.headers.removeAll { $0.name == "herald-history" }
                    letter.headers.append(.init("herald-history", "[" + String(repeating: " ", count: 7_000) + "]"))
                }
                if number == 13 { letter.value = [UInt8](repeating: UInt8(ascii: "x"), count: 5_000) }
            }
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0", "-o", "jsonl")
            #expect(try run.status == 3 && object(run.output)["tooLarge"] as? Int == 1, "\(run.output)")
            let counts = try await fixture.replayCounts()
            #expect(Set(counts.keys) == Set(0..<20).subtracting([13]) && counts.values.allSatisfy { $0 == 1 })
            let letter = fixture.requests.first { $0.heraldHeaders["herald-id"] == "e7" }
            #expect(letter != nil && letter?.heraldHeaders["herald-history"] == nil)
        }
    }

    @Test("The lease of a process that nobody can see is waited for, and taken over when nobody renews it")
    func foreignLease() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<3)
            let lease =
                #"{"job":"replay-x","owner":"bob@far","process":{"boot":"b","namespace":"n","id":1,"started":"1"},"#
                + #""work":"replay","since":1,"beat":7,"isOver":false}"#
            var record = Publication(key: Array("lease".utf8), value: Array(lease.utf8))
            record.topic = "notifications.dead-letter.state"
            record.partition = 0
            try await fixture.publish([record])
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0")
            #expect(run.status == 0 && run.output.contains("bob@far"), "\(run.output)")
            #expect(try await fixture.replayCounts().count == 3)
            let again = try await fixture.dlq("replay", "0:0", "1:0", "--yes", "--wait", "0")
            #expect(again.status == 1 && again.output.contains("replayed already"), "\(again.output)")
        }
    }

    @Test("A dead-letter topic that was made anew is not taken for the old one")
    func madeAnew() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            var record = Publication(
                key: Array("marks/j/0".utf8),
                value: Array(#"{"state":"replayed","job":"j","at":1,"partitions":{"0":"0-500"}}"#.utf8))
            record.topic = "notifications.dead-letter.state"
            record.partition = 0
            try await fixture.publish([record])
            try await fixture.publishDeadLetters(0..<3)
            let run = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "0")
            #expect(run.status == 1 && run.output.contains("made anew"), "\(run.output)")
        }
    }

    @Test("Without a terminal a change needs --yes, and nothing is changed; a wrong line is told before anything else")
    func statuses() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publishDeadLetters(0..<3)
            for words in [["replay", "0:0", "1:0"], ["resolve", "--where", "status = 503", "--note", "x"]] {
                let run = try fixture.startDLQ(words)
                #expect(try await run.waitForExit() == 4 && run.output.contains("--yes"), "\(run.output)")
            }
            for words in [
                ["replay"], ["replay", "--where", "stat = 1", "--yes"], ["replay", "--group", "x", "--yes"],
                ["replay", "--where", "status = 1", "--ramp", "all,1"], ["replay", "0:0", "--only-pns", "x"],
                ["resolve", "0:0"], ["list", "--since", "yesterday"], ["list", "--partition", "x"],
            ] {
                let run = try fixture.startDLQ(words)
                #expect(try await run.waitForExit() == 2, "\(words): \(run.output)")
            }
            #expect(try await fixture.dlq("show", "0:999").status == 1)
            let lost = try await fixture.dlq("list", changing: ["kafka.bootstrapServers": "[\"127.0.0.1:1\"]"])
            #expect(lost.status == 5, "\(lost.output)")
            let missing = try await fixture.dlq(
                "replay", "--where", "status = 503", "--yes", changing: ["topics.state": "\(fixture.name).none"])
            #expect(missing.status == 1 && missing.output.contains("herald topics apply"), "\(missing.output)")
            #expect(try await fixture.replayCounts().isEmpty)
        }
    }

    @Test("Misspelt events are corrected, replayed and delivered; what lay there stays, and the audit knows")
    func corrected() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            let misspelt = ["a", "b"].map { name in
                Publication(user: "ann", text: #"{"id":"\#(name)","user":"ann","message":"Hello","pns":"apnss"}"#)
            }
            try await fixture.publish(misspelt)
            try await fixture.waitForResults(2)
            let letters = fixture.deadLetters.map(\.value)
            let dry = try await fixture.dlq("replay", "a", "--set", "pns=apns", "--set", "user=bob", "--dry-run")
            #expect(dry.output.contains("user (none) → bob, pns (none) → apns"), "\(dry.output)")
            let replay = try await fixture.dlq("replay", "a", "--set", "pns=apns", "--set", "user=bob", "--yes")
            #expect(replay.status == 0, "\(replay.output)")
            try await fixture.waitForResults(3)

            let editor = fixture.directory.appending(path: "edit it.sh")
            try "sed -i s/apnss/gcm/ \"$1\"".write(to: editor, atomically: true, encoding: .utf8)
            let environment = ["EDITOR": "sh '\(editor.path)'", "VISUAL": ""]
            let edit = try fixture.startDLQ(["replay", "b", "--edit", "--yes"], environment: environment)
            #expect(try await edit.waitForExit(within: 120) == 0, "\(edit.output)")
            try await fixture.waitForResults(4)
            let spoilt = try fixture.startDLQ(
                ["replay", "b", "--again", "--edit", "--yes"],
                environment: ["EDITOR": "sed -i s/user/u/", "VISUAL": ""])
            #expect(try await spoilt.waitForExit(within: 120) == 1, "\(spoilt.output)")
            #expect(spoilt.output.contains("what was edited is no event"), "\(spoilt.output)")

            let calls = fixture.backend.calls.map { "\($0.user ?? "") on \($0.pns ?? "")" }
            #expect(calls == ["bob on apns", "ann on gcm"])
            #expect(
                fixture.requests.compactMap(\.key).map { String(decoding: $0, as: UTF8.self) } == [
                    "ann", "ann", "bob", "ann",
                ])
            #expect(fixture.deadLetters.map(\.value) == letters, "dead letters stay as they are")
            try await fixture.catchUp()
            let audit = fixture.records("notifications.audit").compactMap(\.json)
            let corrections = audit.compactMap { ($0["options"] as? [String: String])?["correction"] }
            #expect(corrections.contains("user=bob pns=apns") && corrections.contains { $0.hasPrefix("edited, ") })
            #expect(audit.contains { $0["action"] as? String == "dlq.reveal" })
            for words in [
                ["--set", "x=1"], ["--set", "user"], ["--set", "pns=apnss"], ["--set", "user=a", "--edit"],
            ] {
                let run = try fixture.startDLQ(["replay", "a"] + words)
                #expect(try await run.waitForExit() == 2, "\(words): \(run.output)")
            }
        }
    }

    @Test("Hostile texts reach no terminal and no spreadsheet, and messages are shown only when it is written down")
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
                ["list"], ["list", "--group-by", "campaign"], ["list", "--group-by", "none"], ["show", name],
                ["list", "-o", "json"], ["list", "--group-by", "source", "-o", "jsonl"], ["show", name, "-o", "json"],
                ["export"],
                ["export", "-o", "csv"], ["replay", name, "--dry-run"], ["show", name, "--reveal"],
                ["export", "-o", "csv", "--reveal"], ["replay", "--where", "id = '\(evil)'", "--dry-run"],
                ["replay", "--where", "\(evil)"], ["show", evil],
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
