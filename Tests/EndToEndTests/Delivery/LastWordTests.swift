import Foundation
import HeraldKafka
import HeraldSandbox
import HeraldTime
import TestSupport
import Testing

@Suite("Opt-outs and recalls", .realKafka("LastWord"))
struct LastWordTests {
    private static func plan(_ settings: [String: String] = [:]) -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = ["notifications.preferences", "notifications.recalls", "notifications.audit"]
        plan.settings = ["preferences.enabled": "true"].merging(settings) { $1 }
        return plan
    }

    /// The changes that name the topics as this fixture has them.
    private static func names(_ fixture: Fixture) -> [String: String] {
        [
            "topics.preferences": fixture.topic("notifications.preferences"),
            "topics.recalls": fixture.topic("notifications.recalls"),
            "topics.classes": "{\(fixture.topic("notifications.bulk")): promotional}",
        ]
    }

    private static func word(_ user: String, _ entries: String...) -> Publication {
        let list = entries.map { #""\#($0)""# }.joined(separator: ",")
        return record(user, #"{"optOut":[\#(list)]}"#)
    }

    private static func record(_ key: String, _ text: String, to topic: String = "notifications.preferences")
        -> Publication
    {
        var record = Publication(user: key, text: text)
        record.topic = topic
        return record
    }

    private static func promotional(_ range: Range<Int>, more: [String: String] = [:]) -> [Publication] {
        range.map { index in
            var event = Publication(id: "p\(index)", user: "user-\(index)", more: more)
            event.topic = "notifications.bulk"
            return event
        }
    }

    private static func metric(_ name: String, of worker: HeraldProcess) async throws -> Double? {
        try await worker.metrics()[name]
    }

    private static func wait(
        _ fixture: Fixture, _ what: String, until condition: () async throws -> Bool
    ) async throws {
        var isSo = false
        try await fixture.wait(what, until: { isSo }, meanwhile: { isSo = try await condition() })
    }

    private static func outcomes(_ fixture: Fixture) throws -> [String: String] {
        Dictionary(try fixture.results.map { ($0.id ?? "", $0.outcome) }) { $1 }
    }

    @Test("Words that were there before a start hold from the first event on; transactional events go on")
    func start() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publish(
                [
                    Self.word("user-0", "promotional"), Self.word("user-1", "all"), Self.word("user-2", "pns:apns"),
                    Self.word("user-3", "source:shop"), Self.record("user-4", "nonsense"),
                ])
            try await fixture.publish(Self.promotional(0..<6, more: ["source": "shop"]))
            try await fixture.publish(Batch.events(0..<6))
            let worker = try await fixture.startWorker(changing: Self.names(fixture))
            try await fixture.waitForResults(12)
            let outcomes = try Self.outcomes(fixture)
            for index in 0..<5 { #expect(outcomes["p\(index)"] == "suppressed", "p\(index)") }
            #expect(outcomes["p5"] == "delivered")
            for index in [0, 3, 4, 5] { #expect(outcomes["e\(index)"] == "delivered", "e\(index)") }
            for index in [1, 2] { #expect(outcomes["e\(index)"] == "suppressed", "e\(index)") }
            #expect(fixture.deadLetters.isEmpty)
            #expect(try await Self.metric("herald_preferences_users", of: worker) == 5)
            #expect(try await Self.metric("herald_preferences_broken_total", of: worker) == 1)
            try await worker.waitForLog("a record")
        }
    }

    @Test("An opt-out while events flow holds for every call after the worker has applied it")
    func flowing() async throws {
        var plan = Self.plan()
        plan.partitions = 1
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker(changing: Self.names(fixture))
            try await fixture.publish(Self.promotional(0..<50))
            try await fixture.waitForResults(50)
            try await fixture.publish([Self.word("user-7", "promotional")])
            try await Self.wait(fixture, "it is applied") {
                try await Self.metric("herald_preferences_users", of: worker) == 1
            }
            let before = fixture.backend.calls.count { $0.user == "user-7" }
            try await fixture.publish(Self.promotional(50..<51) + [Self.again(7)])
            try await fixture.waitForResults(52)
            #expect(fixture.backend.calls.count { $0.user == "user-7" } == before)
            let suppressed = try #require(try fixture.results.first { $0.id == "again-7" })
            #expect(suppressed.outcome == "suppressed")
            #expect(suppressed.record.json?["preferencesOffset"] as? Int == 1)
            let called = try #require(try fixture.results.first { $0.id == "p7" })
            #expect(called.record.json?["preferencesOffset"] as? Int == 0)
            // The user's latest word counts: none is an opt-in.
            try await fixture.publish([Self.word("user-7")])
            try await Self.wait(fixture, "it is applied") {
                try await Self.metric("herald_preferences_users", of: worker) == 0
            }
            try await fixture.publish([Self.again(7, id: "later-7")])
            try await fixture.waitForResults(53)
            #expect(try Self.outcomes(fixture)["later-7"] == "delivered")
        }
    }

    private static func again(_ index: Int, id: String? = nil) -> Publication {
        var event = Publication(id: id ?? "again-\(index)", user: "user-\(index)")
        event.topic = "notifications.bulk"
        return event
    }

    @Test("Recalled events and campaigns end without a call, and the result says by whom and why")
    func recalls() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let worker = try await fixture.startWorker(changing: Self.names(fixture))
            try await Self.recall(fixture, ["--id", "e0", "--user", "user-0", "--reason", "wrong price"])
            try await Self.recall(fixture, ["--campaign", "spring", "--yes"])
            try await Self.wait(fixture, "both are applied") {
                try await Self.metric("herald_recalls", of: worker) == 2
            }
            try await fixture.publish(
                Batch.events(0..<2) + [Publication(id: "c0", user: "user-9", more: ["campaign": "spring"])])
            try await fixture.waitForResults(3)
            let outcomes = try Self.outcomes(fixture)
            #expect(outcomes == ["e0": "suppressed", "e1": "delivered", "c0": "suppressed"])
            let detail = fixture.records("notifications.results").map {
                String(decoding: $0.value ?? [], as: UTF8.self)
            }
            #expect(detail.contains { $0.contains("wrong price") && $0.contains("recalled") })
        }
    }

    @discardableResult
    private static func recall(_ fixture: Fixture, _ words: [String]) async throws -> String {
        let tool = try fixture.startTool(["recall"] + words, changing: names(fixture))
        #expect(try await tool.waitForExit(within: 120) == 0, "\(tool.output)")
        return tool.output
    }

    @Test("A recall says before it is written what is not called yet, and a dry run writes nothing")
    func scope() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publish(Batch.events(0..<1))
            let event = ["--id", "e0", "--user", "user-0"]
            let before = try await Self.recall(fixture, event + ["--dry-run", "-o", "json"])
            #expect(before.contains(#""left": 1"#) && !before.contains("isRecalled"))
            #expect(
                try await Self.recall(fixture, ["--campaign", "spring", "--dry-run"]).contains("no campaign spring"))
            #expect(
                try await Self.recall(fixture, ["--id", "e7", "--user", "user-7", "--dry-run"]).contains("not found"))
            try await fixture.catchUp()
            #expect(fixture.count("notifications.recalls") == 0 && fixture.count("notifications.audit") == 0)
            let done = try await Self.recall(fixture, event)
            #expect(done.contains("has no outcome yet") && done.contains("herald explain e0 --user user-0"))
            _ = try await fixture.startWorker(changing: Self.names(fixture))
            try await fixture.waitForResults(1)
            let after = try await Self.recall(fixture, event + ["--dry-run"])
            #expect(after.contains("suppressed at"))
        }
    }

    @Test("What is recalled, or opted out of, while it waits or as a dead letter is not announced as a call")
    func meanwhile() async throws {
        var plan = Self.plan()
        plan.more += ["notifications.dead-letter.state"]
        plan.misbehaviour = [.status(400) { $0.pns = "gcm" }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker(changing: Self.names(fixture))
            let later = RFC3339.text(SystemClock.wall().advanced(by: .hours(1)))
            try await fixture.publish(Self.promotional(0..<3, more: ["notBefore": later]))
            var letter = Publication(id: "dead", user: "user-0", pns: ["gcm"])
            letter.topic = "notifications.bulk"
            try await fixture.publish([letter])
            try await fixture.waitForResults(1)
            try await fixture.wait("all wait") { fixture.retries.count >= 3 }
            try await fixture.publish([Self.word("user-0", "promotional")])
            try await Self.recall(fixture, ["--id", "p1", "--user", "user-1", "--reason", "wrong price"])
            func run(_ words: String...) async throws -> String {
                let tool = try fixture.startTool(words, changing: Self.names(fixture))
                #expect(try await tool.waitForExit(within: 120) == 0, "\(tool.output)")
                return tool.output
            }
            let out = try await run("explain", "p0", "--user", "user-0")
            #expect(out.contains("it will not be called: the user has opted out of promotional"), "\(out)")
            let recalled = try await run("explain", "p1", "--user", "user-1")
            #expect(
                recalled.contains("it will not be called: it is recalled by ") && recalled.contains(": wrong price"))
            for text in [out, recalled] { #expect(!text.contains("Then it is called"), "\(text)") }
            #expect(try await run("explain", "p2", "--user", "user-2").contains("Then it is called"))
            let found = try await run("find", "--user", "user-0")
            #expect(found.contains("apns: will not be called: the user has opted out of promotional"), "\(found)")
            #expect(found.contains("gcm: a replay ends as suppressed: the user has opted out"), "\(found)")
            let dead = try await run("explain", "dead", "--user", "user-0")
            #expect(
                dead.contains("A replay ends as suppressed, without a call") && !dead.contains("dlq replay"), "\(dead)")
            let shown = try await run("dlq", "show", "dead")
            #expect(shown.contains("gcm: a replay ends as suppressed") && !shown.contains("dlq replay"), "\(shown)")
        }
    }

    @Test(
        "A canary whose user sleeps fails nothing: another takes its place; publish says until when")
    func sleepers() async throws {
        var plan = Self.plan(["preferences.spread": "0"])
        plan.more += ["notifications.dead-letter.state"]
        plan.misbehaviour = [.status(400)]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker(changing: Self.names(fixture))
            try await fixture.publish(Self.promotional(0..<4))
            try await fixture.waitForResults(4)
            fixture.backend.misbehave([])
            let end = SystemClock.wall().milliseconds / 60_000 + 180
            let sleeping = (0..<4).filter { $0 != 2 }.map { Self.quiet("user-\($0)", untilMinute: end) }
            try await fixture.publish(sleeping)
            try await Self.wait(fixture, "the hours are applied") {
                try await Self.metric("herald_preferences_users", of: worker) == 3
            }
            let replay = try fixture.startTool(
                ["dlq", "replay", "--where", "status = 400", "--yes", "--wait", "60s", "-o", "jsonl"],
                changing: Self.names(fixture))
            #expect(try await replay.waitForExit(within: 120) == 0, "\(replay.output)")
            let until = RFC3339.text(WallTime(milliseconds: end * 60_000))
            let line = replay.output.split(separator: "\n").last { $0.hasPrefix("{") } ?? ""
            let report = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(report["end"] as? String == "complete" && report["delivered"] as? Int == 1, "\(replay.output)")
            #expect(report["inQuietHours"] as? Int == 3 && report["quietUntil"] as? String == until)
            let published = try fixture.startTool(
                [
                    "publish", "--topic", fixture.topic("notifications.bulk"), "--user", "user-0", "--pns", "apns",
                    "--message", "Hello", "--class", "promotional", "--wait", "60s",
                ], changing: Self.names(fixture))
            #expect(try await published.waitForExit(within: 120) == 3, "\(published.output)")
            #expect(published.output.contains("quiet-hours") && published.output.contains(until), "\(published.output)")
        }
    }

    @Test("What caps and quiet hours would have done is counted from requests and results")
    func trial() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker(changing: Self.names(fixture))
            var own = Publication(id: "own", user: "user-1", more: ["class": "promotional", "source": "shop"])
            own.topic = "notifications"
            try await fixture.publish(
                (0..<5).map { Self.again(0, id: "a\($0)") } + [Self.again(1), own] + Batch.events(2..<5))
            try await fixture.waitForResults(10)
            func run(_ words: String...) async throws -> [String: Any] {
                let tool = try fixture.startTool(
                    ["preferences", "try", "-o", "jsonl"] + words, changing: Self.names(fixture))
                #expect(try await tool.waitForExit(within: 120) == 0, "\(tool.output)")
                let line = tool.output.split(separator: "\n").first { $0.hasPrefix("{") } ?? ""
                return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
            // Of user 0 three of five are too many; both of user 1 are allowed.
            let capped = try await run("--caps", "2/1h")
            #expect(capped["delivered"] as? Int == 10 && capped["capped"] as? Int == 3 && capped["held"] as? Int == 0)
            #expect(capped["users"] as? Int == 2 && capped["usersAffected"] as? Int == 1)
            let ofShop = try await run("--caps", "1/1h,source=shop", "--since", "1h")
            #expect(ofShop["capped"] as? Int == 0)
            // All that is promotional falls into these hours, and one of each user is let go at their end.
            let minute = SystemClock.wall().milliseconds / 60_000
            func text(_ minute: Int64) -> String {
                String(format: "%02d:%02d", Int(minute % 1_440 / 60), Int(minute % 60))
            }
            let end = text(minute + 70) == "00:00" ? "24:00" : text(minute + 70)
            let held = try await run(
                "--caps", "1/1h", "--quiet-default", "\(text(minute - 70))-\(end)", "--zone", "UTC")
            #expect(held["held"] as? Int == 7 && held["capped"] as? Int == 5 && held["usersAffected"] as? Int == 2)
            let classes = held["byClass"] as? [[String: Any]]
            #expect(classes?.first { $0["name"] as? String == "transactional" }?["held"] as? Int == 0)
        }
    }

    @Test("Without the topics promotional events wait, which the worker says; they go on once both are read")
    func missingTopics() async throws {
        var plan = Self.plan()
        plan.more = []
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker(changing: Self.names(fixture))
            try await worker.waitForLog("herald topics apply")
            try await fixture.publish(Self.promotional(0..<3) + Batch.events(0..<3))
            try await fixture.waitForResults(3)
            try await fixture.wait("the promotional ones wait") {
                Set(fixture.retries.compactMap { $0.heraldHeaders["herald-id"] }).count == 3
            }
            #expect(try Self.outcomes(fixture).keys.allSatisfy { $0.hasPrefix("e") })
            try await fixture.makeTopic("notifications.preferences")
            try await fixture.publish([Self.word("user-0", "all")])
            try await fixture.makeTopic("notifications.recalls")
            try await fixture.waitForResults(6)
            let outcomes = try Self.outcomes(fixture)
            #expect(outcomes["p0"] == "suppressed" && outcomes["p1"] == "delivered" && outcomes["p2"] == "delivered")
        }
    }

    @Test("A worker that cannot read what users said holds promotional events, and delivers the others")
    func cutOff() async throws {
        var plan = Self.plan(["preferences.maxLag": "2s"])
        plan.cluster = .secured
        try await Fixture.run(plan) { fixture in
            let (kafka, user) = (fixture.kafka, SecuredUser.replayer)
            try await kafka.allow(user, [.read, .write, .describeConfigs], on: [.topics(prefix: fixture.name)])
            try await kafka.allow(user, [.write], on: [.transactionalIDs(prefix: fixture.name)])
            try await kafka.allow(user, [.read], on: [.group(fixture.name)])
            let login = [
                "kafka.bootstrapServers": "[\"\(try #require(kafka.secureServers))\"]",
                "kafka.properties":
                    "{security.protocol: SASL_SSL, sasl.mechanism: PLAIN, sasl.username: \(user.rawValue), "
                    + "sasl.password: \(user.password), ssl.ca.location: \(try TestCertificates.shared().authorityFile)}",
            ]
            let worker = try await fixture.startWorker(changing: Self.names(fixture).merging(login) { $1 })
            try await fixture.publish([Self.word("user-0", "promotional")])
            try await Self.wait(fixture, "it is applied") {
                try await Self.metric("herald_preferences_users", of: worker) == 1
            }
            let words = fixture.topic("notifications.preferences")
            try await kafka.deny(user, [.read], on: [.topic(words)])
            try await Self.wait(fixture, "it is behind") {
                try await Self.metric("herald_preferences_age_seconds", of: worker) ?? 0 > 2
            }
            #expect(try await worker.page("/readyz").text.contains("preferences-behind"))
            try await fixture.publish(Self.promotional(0..<10) + Batch.events(0..<10))
            // What is known to be unwanted ends at once.
            try await fixture.waitForResults(11)
            try await fixture.wait("nine wait") {
                Set(fixture.retries.compactMap { $0.heraldHeaders["herald-id"] }).count == 9
            }
            #expect(fixture.backend.calls.count == 10)
            #expect(try Self.outcomes(fixture).filter { $0.key.hasPrefix("p") } == ["p0": "suppressed"])
            #expect(
                fixture.retries.allSatisfy {
                    $0.heraldHeaders["herald-reason"] == "preferences" && $0.heraldHeaders["herald-attempts"] == "0"
                })

            try await kafka.takeBackDenial(user, [.read], on: [.topic(words)])
            try await fixture.waitForResults(20)
            let outcomes = try Self.outcomes(fixture)
            #expect(outcomes["p0"] == "suppressed")
            #expect(outcomes.values.count { $0 == "delivered" } == 19)
        }
    }

    /// Quiet hours in UTC that began two minutes ago, and end at a full minute.
    private static func quiet(_ user: String, untilMinute end: Int64, zone: String? = "UTC") -> Publication {
        func text(_ minute: Int64) -> String {
            let ofDay = (minute % 1_440 + 1_440) % 1_440
            return String(format: "%02d:%02d", Int(ofDay / 60), Int(ofDay % 60))
        }
        let start = min(SystemClock.wall().milliseconds / 60_000, end) - 2
        let zone = zone.map { #""zone":"\#($0)","# } ?? ""
        // The day's end is written 24:00.
        let last = text(end) == "00:00" ? "24:00" : text(end)
        return record(user, #"{"optOut":[],"quiet":{\#(zone)"start":"\#(text(start))","end":"\#(last)"}}"#)
    }

    @Test("Quiet hours hold promotional events in the retry topics, and end at once what expires before")
    func quietHours() async throws {
        try await Fixture.run(Self.plan(["preferences.spread": "0"])) { fixture in
            let end = SystemClock.wall().milliseconds / 60_000 + 180
            try await fixture.publish(
                [
                    Self.quiet("user-0", untilMinute: end), Self.quiet("user-1", untilMinute: end),
                    Self.quiet("user-2", untilMinute: end, zone: nil),
                    Self.quiet("user-3", untilMinute: end, zone: "Mars/Base"),
                    Self.quiet("user-4", untilMinute: end, zone: nil),
                ])
            let soon = RFC3339.text(WallTime(milliseconds: (end - 60) * 60_000))
            try await fixture.publish(
                Self.promotional(0..<1) + Self.promotional(1..<2, more: ["expiresAt": soon])
                    + Self.promotional(2..<4) + Self.promotional(4..<5, more: ["zone": "UTC"]))
            try await fixture.publish(Batch.events(0..<5))
            let worker = try await fixture.startWorker(changing: Self.names(fixture))
            try await fixture.waitForResults(8)
            let outcomes = try Self.outcomes(fixture)
            for index in 0..<5 { #expect(outcomes["e\(index)"] == "delivered", "e\(index)") }
            #expect(outcomes["p1"] == "suppressed" && outcomes["p2"] == "delivered" && outcomes["p3"] == "delivered")
            let ignored = try fixture.results.reduce(into: [:]) {
                $0[$1.id ?? ""] = $1.record.json?["quietIgnored"] as? String
            }
            #expect(ignored == ["p2": "no-zone", "p3": "unknown-zone"])
            try await fixture.wait("both that wait are in a retry topic") { fixture.retries.count >= 2 }
            for retry in fixture.retries {
                #expect(retry.heraldHeaders["herald-reason"] == "quiet-hours")
                #expect(retry.heraldHeaders["herald-not-before"] == "\(end * 60_000)")
            }
            #expect(fixture.backend.calls.count { $0.user == "user-0" } == 1)
            try await Self.wait(fixture, "the worker is ready") {
                try await Self.metric("herald_ready", of: worker) == 1
            }
        }
    }

    @Test(
        "What quiet hours held is called once after their end, although its worker was killed meanwhile",
        .long("it waits for a full minute"))
    func morning() async throws {
        try await Fixture.run(Self.plan(["preferences.spread": "2s"])) { fixture in
            // At least twenty seconds from now.
            let end = (SystemClock.wall().milliseconds + 79_999) / 60_000
            try await fixture.publish((0..<200).map { Self.quiet("user-\($0)", untilMinute: end) })
            let first = try await fixture.startWorker(changing: Self.names(fixture))
            try await fixture.publish(Self.promotional(0..<200))
            try await fixture.wait("all are held") { fixture.retries.count >= 200 }
            first.kill()
            _ = try await fixture.startWorker(changing: Self.names(fixture))
            try await fixture.waitForResults(200, within: 180)
            #expect(try Self.outcomes(fixture).values.allSatisfy { $0 == "delivered" })
            for call in fixture.backend.calls { #expect(call.receivedAt.milliseconds >= end * 60_000) }
            #expect(Set(fixture.backend.calls.map(\.user)).count == 200 && fixture.backend.calls.count == 200)
        }
    }

    @Test("A worker that is started with 100 000 words obeys each of them")
    func manyWords() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publish((0..<100_000).map { Self.word("user-\($0)", "promotional") })
            try await fixture.publish(Self.promotional(99_000..<100_010))
            let worker = try await fixture.startWorker(changing: Self.names(fixture))
            try await fixture.waitForResults(1_010)
            let results = try fixture.results
            #expect(results.count { $0.outcome == "suppressed" } == 1_000)
            #expect(fixture.backend.calls.count == 10)
            let line = try await worker.waitForLog("opt-outs and recalls are read")
            #expect(line.text.contains("100000"))
        }
    }

    @Test("A file is imported, shown, changed and forgotten, and the audit says who did it")
    func commands() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let file = fixture.directory.appending(path: "words.csv")
            try "user,opt_out\nann,promotional|pns:apns\nbob,none\n".write(to: file, atomically: true, encoding: .utf8)
            func run(_ words: String...) async throws -> String {
                let tool = try fixture.startTool(["preferences"] + words, changing: Self.names(fixture))
                let status = try await tool.waitForExit(within: 120)
                #expect(status == 0, "\(words): \(tool.output)")
                return tool.output
            }
            #expect(try await run("import", file.path, "--dry-run").contains("2 users, 1 of whom"))
            #expect(fixture.count("notifications.preferences") == 0)
            #expect(try await run("import", file.path, "--yes").contains("2 words written"))
            #expect(try await run("show", "ann").contains("promotional,pns:apns"))
            let changed = try await run("set", "ann", "--opt-out", "all", "--reason", "she called")
            #expect(changed.contains("was   promotional,pns:apns") && changed.contains("is    all"))
            _ = try await run("forget", "ann", "--yes")
            #expect(try await run("show", "ann").contains("nothing"))
            try await fixture.catchUp()
            let audit = fixture.records("notifications.audit").map { String(decoding: $0.value ?? [], as: UTF8.self) }
            for action in ["preferences.import", "preferences.set", "preferences.forget"] {
                #expect(audit.contains { $0.contains(#""action":"\#(action)""#) }, "\(action)")
            }
            #expect(audit.contains { $0.contains("she called") })
        }
    }

    @Test("With a secret forget keeps the opt-out without the user's name, until the user says something else")
    func keeping() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let secret = fixture.directory.appending(path: "forget-key")
            try "a secret of enough bytes\n".write(to: secret, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
            let settings = Self.names(fixture).merging(["preferences.forgetKeyFile": secret.path]) { $1 }
            func run(_ words: String...) async throws -> String {
                let tool = try fixture.startTool(["preferences"] + words, changing: settings)
                #expect(try await tool.waitForExit(within: 120) == 0, "\(words): \(tool.output)")
                return tool.output
            }
            _ = try await run("set", "user-0", "--opt-out", "promotional")
            #expect(try await run("forget", "user-0", "--yes").contains("is kept without the name"))
            #expect(try await run("show", "user-0").contains("promotional (kept of a forgotten user"))
            try await fixture.catchUp()
            let records = fixture.records("notifications.preferences")
            #expect(records.map { $0.keyText == "user-0" } == [true, false, true])
            #expect(records[1].keyText?.hasPrefix("hash:") == true && records[2].value == nil)
            _ = try await fixture.startWorker(changing: settings)
            try await fixture.publish(Self.promotional(0..<2))
            try await fixture.waitForResults(2)
            #expect(try Self.outcomes(fixture) == ["p0": "suppressed", "p1": "delivered"])
            #expect(try await run("set", "user-0", "--opt-out", "none").contains("was   promotional"))
            try await fixture.publish([Self.again(0)])
            try await fixture.waitForResults(3)
            #expect(try Self.outcomes(fixture)["again-0"] == "delivered")
        }
    }

    @Test("In the console operators alone see and change opt-outs; a recall says what is left to it")
    func console() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let console = try await ConsoleClient(fixture, changing: Self.names(fixture), "--allow-changes")
            for (path, body) in [("preferences/show", #"{"user":"ann"}"#), ("preferences/change", #"{"user":"ann"}"#)] {
                let refused = try await console.ask("/api/\(path)", post: body, token: ConsoleClient.viewerToken)
                #expect(refused.status == 403, "\(path)")
            }
            let word = #"{"user":"ann","optOut":["promotional","pns:apns"],"reason":"she called"}"#
            let changed = try await Self.settled("preferences/change", post: word, again: "preferences/task", console)
            #expect(changed["was"] as? String == "nothing (the user gets everything)")
            #expect(changed["is"] as? String == "promotional,pns:apns")
            let shown = try await Self.settled(
                "preferences/show", post: #"{"user":"ann"}"#, again: "preferences/task", console)
            #expect(shown["optOut"] as? [String] == ["promotional", "pns:apns"] && shown["by"] as? String == "ann")
            let task = try #require(shown["task"] as? String)
            for ask in ["", nil] {
                let seen = try await console.ask(
                    "/api/preferences/task/\(task)", post: ask, token: ConsoleClient.viewerToken)
                #expect([403, 405].contains(seen.status), "\(seen.text)")
            }
            let wrong = try await console.ask("/api/preferences/change", post: #"{"user":"ann","optOut":["promo"]}"#)
            #expect(wrong.status == 400 && wrong.text.contains("is unknown; allowed: all, promotional"))
            _ = try await Self.settled(
                "preferences/change", post: #"{"user":"ann"}"#, again: "preferences/task", console)

            try await fixture.publish(Batch.events(0..<1))
            let found = try await Self.settled("recalls?id=e0&user=user-0", again: "recalls", console)
            #expect(found["left"] as? Int == 1 && found["isRecalled"] as? Bool == false)
            let event = #"{"id":"e0","user":"user-0","reason":"wrong price"}"#
            for order in ["give", "withdraw"] {
                let refused = try await console.ask(
                    "/api/recalls/\(order)", post: event, token: ConsoleClient.viewerToken)
                #expect(refused.status == 403, "\(order)")
            }
            #expect(try await console.ask("/api/recalls/give", post: event).status == 200)
            let recalled = try await Self.settled("recalls?id=e0&user=user-0", again: "recalls", console)
            #expect(recalled["isRecalled"] as? Bool == true && recalled["by"] as? String == "ann")
            _ = try await fixture.startWorker(changing: Self.names(fixture))
            try await fixture.waitForResults(1)
            #expect(try Self.outcomes(fixture) == ["e0": "suppressed"])
            let after = try await Self.settled("recalls?id=e0&user=user-0", again: "recalls", console)
            #expect(after["left"] as? Int == 0)
            try await fixture.catchUp()
            let audit = fixture.records("notifications.audit").map { String(decoding: $0.value ?? [], as: UTF8.self) }
            for action in ["preferences.set", "preferences.reveal", "preferences.forget", "recall"] {
                #expect(audit.contains { $0.contains(#""action":"\#(action)""#) }, "\(action)")
            }
            #expect(audit.allSatisfy { $0.contains(#""by":"ann""#) })
        }
    }

    /// Asks the console for work on a topic, as an operator, and then for its answer.
    private static func settled(
        _ path: String, post body: String? = nil, again: String, _ console: ConsoleClient
    ) async throws -> [String: Any] {
        let begun = try await console.ask("/api/\(path)", post: body)
        let task = try #require(begun.object["task"] as? String, "\(begun.text)")
        var answer = begun
        _ = try await eventually {
            answer = try await console.ask("/api/\(again)/\(task)", post: body == nil ? nil : "{}")
            return answer.object["state"] as? String != "reading"
        }
        #expect(answer.object["state"] as? String == "done", "\(answer.text)")
        return answer.object
    }
}
