import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Find, campaigns and audit in the console", .realKafka("The console's campaigns"), .hangLimit)
struct ConsoleCampaignTests {
    private static func plan(_ change: (inout Fixture.Plan) -> Void = { _ in }) -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        change(&plan)
        return plan
    }

    /// Uploads a text in pieces; returns the upload's key.
    private func upload(_ text: String, pieceBytes: Int = 1 << 20, to console: ConsoleProbe) async throws -> String {
        let bytes = Array(text.utf8)
        let declared = try await console.post("/api/uploads", ["name": "users.csv", "bytes": bytes.count])
        let key = try #require(declared.json["upload"] as? String, "\(declared.text)")
        for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
            let piece = String(decoding: bytes[start..<min(start + pieceBytes, bytes.count)], as: UTF8.self)
            let answer = try await console.post("/api/uploads/\(key)?offset=\(start)", text: piece)
            #expect(answer.status == 200, "\(answer.text)")
        }
        return key
    }

    private func entries(_ page: ConsoleProbe.Answer) -> [[String: Any]] {
        page.json["entries"] as? [[String: Any]] ?? []
    }

    /// Starts a previewed campaign; its publisher runs in the console.
    private func start(
        _ form: [String: Any], typed: Int? = nil, resumes: Bool = false, in console: ConsoleProbe
    ) async throws -> ConsoleProbe.Answer {
        let begun = try await console.post("/api/drafts", form)
        let draft = try #require(begun.json["draft"] as? String, "\(begun.text)")
        let preview = try await console.get("/api/drafts/\(draft)") { $0.json["state"] as? String != "reading" }
        var word: [String: Any] = [
            "hash": try #require(preview.json["hash"] as? String, "\(preview.text)"), "form": form,
        ]
        word["typed"] = typed
        if resumes { word["resumes"] = true }
        let start = try await console.post("/api/drafts/\(draft)/start", word)
        #expect(start.status == 200, "\(start.text)")
        return preview
    }

    private func finished(_ name: String, in console: ConsoleProbe) async throws -> ConsoleProbe.Answer {
        try await console.get("/api/campaigns/\(name)") {
            ($0.json["campaign"] as? [String: Any])?["finished"] as? Bool == true
        }
    }

    /// A worker, and a console in which the campaign `spring` has notified ann and ben.
    private func consoleWithSpring(_ fixture: Fixture) async throws -> ConsoleProbe {
        _ = try await fixture.startWorker()
        let console = try await ConsoleProbe(fixture)
        let key = try await upload("user\nann\nben\n", to: console)
        _ = try await start(
            ["upload": key, "name": "spring", "message": "Hi {{user}}", "pns": ["apns"]], in: console)
        _ = try await finished("spring", in: console)
        return console
    }

    @Test("An audience is uploaded in pieces and previewed, and starts only after its count is typed")
    func draft() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let console = try await ConsoleProbe(fixture)
            let users = (0..<150).map { "member-\($0),Name \($0)\n" }.joined()
            let text = "user,first_name\n\(users)a b,c\nmember-3,twice\n"
            let key = try await upload(text, pieceBytes: 500, to: console)
            let form: [String: Any] = [
                "upload": key, "name": "spring", "message": "Hi {{first_name}}", "pns": ["apns"],
            ]
            #expect(try await console.post("/api/drafts", form, as: .viewer).status == 403)
            let begun = try await console.post("/api/drafts", form)
            let draft = try #require(begun.json["draft"] as? String, "\(begun.text)")
            let preview = try await console.get("/api/drafts/\(draft)") { $0.json["state"] as? String != "reading" }
            let found = try #require(preview.json["preview"] as? [String: Any], "\(preview.text)")
            #expect(
                found["recipients"] as? Int == 150 && found["repeats"] as? Int == 1 && found["invalid"] as? Int == 1)
            #expect(preview.json["typed"] as? Int == 150)
            #expect(try await console.get("/api/drafts/\(draft)", as: .viewer).status == 404)
            #expect(try await console.get("/api/drafts/\(draft)/invalid").text.contains("152,"))
            let hash = try #require(preview.json["hash"] as? String)
            let untyped = try await console.post("/api/drafts/\(draft)/start", ["hash": hash, "form": form])
            #expect(
                untyped.status == 409 && untyped.text.contains("150 recipients would be notified"), "\(untyped.text)")
            // The message was edited after the preview.
            let edited = form.merging(["message": "Bye {{first_name}}"]) { $1 }
            for word in [["typed": 150], ["typed": 150, "hash": "0"], ["typed": 150, "hash": hash, "form": edited]] {
                let other = try await console.post("/api/drafts/\(draft)/start", word)
                #expect(other.status == 409 && other.text.contains("not what was previewed"), "\(other.text)")
            }
            #expect(fixture.count("notifications.bulk") == 0)
            let word: [String: Any] = ["typed": 150, "hash": hash, "form": form]
            #expect(try await console.post("/api/drafts/\(draft)/start", word).status == 200)
            #expect(try await console.post("/api/drafts/\(draft)/start", word).status == 404)
        }
    }

    @Test("An audience is read by the form's options; too many invalid lines are skipped only on request")
    func invalidLines() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let console = try await ConsoleProbe(fixture)
            let bad = String(repeating: "a b|x\n", count: 19)
            var form: [String: Any] = [
                "upload": try await upload("Mail|Name\nann|Ann\n\(bad)", to: console), "name": "spring",
                "message": "Hi {{Name}}", "pns": ["apns"], "userColumn": "Mail",
            ]
            for (share, leavesOut) in [(nil, false), ("50%", false), ("50%", true)] {
                form["maxInvalid"] = share
                let begun = try await console.post("/api/drafts", form)
                let draft = try #require(begun.json["draft"] as? String, "\(begun.text)")
                let preview = try await console.get("/api/drafts/\(draft)") { $0.json["state"] as? String != "reading" }
                let found = try #require(preview.json["preview"] as? [String: Any], "\(preview.text)")
                #expect(found["readAs"] as? String == #"CSV with pipes, users in the column "Mail""#)
                #expect(found["refusal"] != nil, "\(preview.text)")
                let command = try #require(preview.json["command"] as? [String])
                // The command starts the same campaign as the console with invalid lines skipped.
                #expect(command.contains("--user-column") && command.suffix(2) == ["--max-invalid", "100%"])
                let hash = try #require(preview.json["hash"] as? String)
                let word: [String: Any] = ["hash": hash, "form": form, "leavesOut": leavesOut]
                let answer = try await console.post("/api/drafts/\(draft)/start", word)
                #expect(answer.status == (leavesOut ? 200 : 409), "\(answer.text)")
                #expect(answer.text.contains("19 of 20 lines are invalid") == !leavesOut, "\(answer.text)")
            }
        }
    }

    @Test("A campaign is started, paused in a step of its ramp, resumed and finished, as a job of the console")
    func campaign() async throws {
        let plan = Self.plan {
            $0.settings["backend.timeout"] = "5m"
            $0.misbehaviour = [.hold()]
        }
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let console = try await ConsoleProbe(fixture)
            let key = try await upload("user\n" + (0..<90).map { "member-\($0)\n" }.joined(), to: console)
            _ = try await start(
                ["upload": key, "name": "spring", "message": "Hi {{user}}", "pns": ["apns"], "ramp": "20"], in: console)
            try await fixture.wait("the first step is called") { fixture.backend.heldCount == 20 }
            let consequence = try await console.get("/api/campaigns/spring/consequence/pause")
            #expect(consequence.text.contains("wait until it is resumed"), "\(consequence.text)")
            #expect(try await console.post("/api/campaigns/spring/pause", as: .viewer).status == 403)
            let pause = try await console.post("/api/campaigns/spring/pause", ["reason": "the link"])
            #expect(pause.json["is"] as? String == "paused" && pause.json["changed"] as? Bool == true, "\(pause.text)")
            let paused = try await console.get("/api/campaigns/spring") {
                ($0.json["campaign"] as? [String: Any])?["state"] as? String == "paused"
            }
            #expect(paused.text.contains("the link") && !paused.text.contains("Hi "), "\(paused.text)")
            #expect(try await console.post("/api/campaigns/spring/resume").json["is"] as? String == "running")
            fixture.backend.misbehave([])
            let finished = try await finished("spring", in: console)
            #expect(finished.text.contains(#""delivered":90"#), "\(finished.text)")
            #expect(fixture.isEachCalledOnce(90))
            let jobs = try await console.get("/api/jobs") { $0.text.contains("All published") }
            #expect(jobs.text.contains("of 90 notifications 90 delivered"), "\(jobs.text)")
            let list = try await console.get("/api/campaigns") { $0.text.contains(#""finished":true"#) }
            #expect(list.text.contains(#""name":"spring""#), "\(list.text)")
            #expect(try await console.post("/api/campaigns/spring/cancel").status == 409)
        }
    }

    @Test("A start of a paused campaign resumes it, and takes over from the publisher that waits")
    func resumingStart() async throws {
        let plan = Self.plan {
            $0.settings["backend.timeout"] = "5m"
            $0.misbehaviour = [.hold()]
        }
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let console = try await ConsoleProbe(fixture)
            let users = "user\n" + (0..<90).map { "member-\($0)\n" }.joined()
            var form: [String: Any] = ["name": "spring", "message": "Hi {{user}}", "pns": ["apns"], "ramp": "20"]
            form["upload"] = try await upload(users, to: console)
            _ = try await start(form, in: console)
            try await fixture.wait("the first step is called") { fixture.backend.heldCount == 20 }
            #expect(try await console.post("/api/campaigns/spring/pause").status == 200)
            form["upload"] = try await upload(users, to: console)
            form["ramp"] = "none"
            _ = try await start(form, resumes: true, in: console)
            fixture.backend.misbehave([])
            let finished = try await finished("spring", in: console)
            #expect(finished.text.contains(#""delivered":90"#), "\(finished.text)")
            #expect(fixture.isEachCalledOnce(90))
            let jobs = try await console.get("/api/jobs") { $0.text.contains("has taken over") }
            #expect(jobs.text.contains("has taken over; nobody is notified twice"), "\(jobs.text)")
        }
    }

    @Test("A finished campaign has a report, operators alone see its text, and the audit has every action")
    func afterwards() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let console = try await consoleWithSpring(fixture)
            _ = try await console.get("/api/campaigns/spring/report") { $0.json["state"] as? String == "done" }
            let report = try await console.get("/api/campaigns/spring/report/page")
            #expect(report.text.contains("2 of 2 notifications") && !report.text.contains("Hi "))
            let name = try #require(report.headers["content-disposition"])
            #expect(name.contains(/attachment; filename="spring\.20\d\d-\d\d-\d\dT\d{6}Z\.html"/), "\(name)")
            #expect(report.headers["content-security-policy"]?.hasPrefix("sandbox") == true)
            #expect(try await console.post("/api/campaigns/spring/message", as: .viewer).status == 403)
            #expect(try await console.post("/api/campaigns/spring/message").text.contains("Hi {{user}}"))

            let audit = try await console.get("/api/audit?who=operator-ann")
            let actions = entries(audit).compactMap { $0["action"] as? String }
            #expect(actions.first == "campaign.reveal", "\(audit.text)")
            #expect(Set(actions) == ["campaign.reveal", "campaign.start"])
            #expect(
                entries(audit).allSatisfy {
                    $0["by"] as? String == "operator-ann" && $0["selection"] as? String == "spring"
                })
            #expect(entries(try await console.get("/api/audit?what=campaign.reveal&since=1h")).count == 1)
            #expect(entries(try await console.get("/api/audit?who=nobody")).isEmpty)
            #expect(try await console.get("/api/audit?before=x").status == 400)
        }
    }

    @Test("Operators save who was not reached and all results as CSV, and the audit has who took them")
    func lists() async throws {
        let plan = Self.plan { $0.misbehaviour = [.status(400) { $0.user = "ben" }] }
        try await Fixture.run(plan) { fixture in
            let console = try await consoleWithSpring(fixture)
            let lists = "/api/campaigns/spring/report/lists"
            #expect(try await console.post("\(lists)/not-reached").status == 404)
            let report = try await console.get("/api/campaigns/spring/report") { $0.json["state"] as? String == "done" }
            let people = try #require(report.json["people"] as? [String: Any], "\(report.text)")
            #expect(people["reached"] as? Int == 1 && people["notReached"] as? Int == 1, "\(report.text)")
            #expect(report.text.contains(#"{"why":"failed","reason":"rejected","count":1}"#), "\(report.text)")
            #expect(try await console.post("\(lists)/not-reached", as: .viewer).status == 403)
            let audit = "/api/audit?what=campaign.reveal"
            #expect(entries(try await console.get(audit)).isEmpty)
            let unreached = try await console.post("\(lists)/not-reached")
            #expect(unreached.text.hasPrefix("\u{FEFF}user,unreached_why"), "\(unreached.text)")
            #expect(
                unreached.text.contains("\nben,failed,apns,rejected,400,") && !unreached.text.contains("ann"))
            let name = try #require(unreached.headers["content-disposition"])
            #expect(name.hasPrefix("attachment; filename=\"spring.not-reached.20"), "\(name)")
            let results = try await console.post("\(lists)/results")
            #expect(results.text.contains(",ann,apns,delivered,") && results.text.contains(",ben,apns,dead-lettered,"))
            let missed = try await console.post("\(lists)/not-delivered")
            #expect(missed.text.contains("\nben,failed,apns,rejected,400,") && !missed.text.contains("ann"))
            #expect(try await console.post("\(lists)/others").status == 404)

            let audience = try await upload("name;user\nAnn;ann\nBen;ben\nBen;ben\nEve;eve\n", to: console)
            let place = "/api/campaigns/spring/report?upload=\(audience)"
            #expect(try await console.get("\(place)&anew=true", as: .viewer).status == 404, "another's upload")
            _ = try await console.get("\(place)&anew=true")
            let whole = try await console.get(place) { $0.json["state"] as? String == "done" }
            #expect(
                whole.text.contains(
                    "users.csv has 4 lines: 1 person was reached, 2 were not; 1 repeats a person."), "\(whole.text)")
            let foreign = try await upload("name;user\nAnn;ann\nEve;eve\n", to: console)
            let elsewhere = "/api/campaigns/spring/report?upload=\(foreign)"
            _ = try await console.get("\(elsewhere)&anew=true")
            let refused = try await console.get(elsewhere) { $0.json["state"] as? String != "reading" }
            #expect(
                refused.json["field"] as? String == "reportAudience"
                    && refused.text.contains("1 of 2 recipients of this file was never published"), "\(refused.text)")
            _ = try await console.get("\(place)&anew=true")
            _ = try await console.get(place) { $0.json["state"] as? String == "done" }
            let named = try await console.post("\(lists)/not-reached")
            #expect(
                named.text.hasPrefix("\u{FEFF}name;user;unreached_why;")
                    && named.text.contains("\nBen;ben;failed;apns;")
                    && named.text.contains("\nEve;eve;never published;apns;"), "\(named.text)")
            let taken = entries(try await console.get(audit)).compactMap { $0["options"] as? [String: String] }
            #expect(
                taken.compactMap { $0.keys.first } == ["not-reached", "not-delivered", "csv", "not-reached"], "\(taken)"
            )
        }
    }

    @Test("People are added to a campaign; an audience that lacks some of them is refused, unless confirmed")
    func anotherAudience() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let console = try await consoleWithSpring(fixture)
            func preview(_ users: String, _ more: [String: Any] = [:]) async throws -> ConsoleProbe.Answer {
                let other = try await upload("user\n\(users)\n", to: console)
                let begun = try await console.post(
                    "/api/drafts", ["upload": other, "name": "spring"].merging(more) { $1 })
                let draft = try #require(begun.json["draft"] as? String, "\(begun.text)")
                return try await console.get("/api/drafts/\(draft)") { $0.json["state"] as? String != "reading" }
            }
            let grown = try await preview("cid\nann\nben")
            #expect(grown.json["state"] as? String == "done")
            #expect(grown.text.contains("1 recipient is added to the 2 that it had"), "\(grown.text)")
            let refused = try await preview("ann\ncid")
            #expect(refused.json["state"] as? String == "failed")
            #expect(refused.text.contains("the campaign had 2 recipients, 2 are published"), "\(refused.text)")
            let added = try await preview("cid\ndora", ["addPeople": true])
            #expect(added.text.contains("2 recipients are added to the 2 that it had"), "\(added.text)")
            #expect((added.json["command"] as? [String])?.last == "--add-people")
            let shown = try await preview("ann\ncid", ["replaceAudience": true])
            #expect(shown.text.contains("1 recipient of this audience is published, 1 remains"), "\(shown.text)")
            #expect((shown.json["command"] as? [String])?.contains("--replace-audience") == true)
        }
    }

    @Test("A console killed while it publishes leaves a campaign that continues with the same audience")
    func killed() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let users = "E-Mail\n" + (0..<400).map { "member-\($0)\n" }.joined()
            let first = try await ConsoleProbe(fixture)
            _ = try await start(
                [
                    "upload": try await upload(users, to: first), "name": "spring", "message": "Secret {{E-Mail}}",
                    "pns": ["apns"], "ramp": "50", "userColumn": "E-Mail",
                ], typed: 400, in: first)
            // No worker runs: it waits for the outcomes of its first step.
            try await fixture.wait("a step is published") { fixture.count("notifications.bulk") == 50 }
            first.process.kill()

            _ = try await fixture.startWorker()
            let second = try await ConsoleProbe(fixture)
            // The message is the original one, and stays masked; the column with the users is the former one.
            let form = ["upload": try await upload(users, to: second), "name": "spring"]
            let masked = try await second.post("/api/drafts", form)
            let draft = try #require(masked.json["draft"] as? String, "\(masked.text)")
            _ = try await second.get("/api/drafts/\(draft)") { $0.json["state"] as? String != "reading" }
            let messages = try await second.post("/api/drafts/\(draft)/messages")
            #expect(messages.text.contains("Secret member-0"), "\(messages.text)")
            #expect(entries(try await second.get("/api/audit?what=campaign.reveal")).count == 1)
            let preview = try await start(form, typed: 350, in: second)
            #expect(preview.json["continues"] as? Bool == true && !preview.text.contains("Secret"), "\(preview.text)")
            #expect(preview.text.contains(#""--user-column","E-Mail""#), "\(preview.text)")
            let finished = try await finished("spring", in: second)
            #expect(finished.text.contains(#""delivered":400"#), "\(finished.text)")
            #expect(fixture.isEachCalledOnce(400))
        }
    }

    @Test("An event is found and explained without its message, and wrong queries get an error")
    func find() async throws {
        let plan = Self.plan { $0.misbehaviour = [.status(400) { $0.pns = "gcm" }] }
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish([
                Publication(id: "order-17", user: "ann", pns: ["apns", "gcm"]),
                Publication(id: "order-18", user: "ben"),
            ])
            try await fixture.waitForResults(3)
            let console = try await ConsoleProbe(fixture, [])
            #expect(try await console.get("/api/find").status == 400)
            #expect(try await console.get("/api/find?user=ann&since=ever").status == 400)
            let begun = try await console.get("/api/find?user=ann&since=1h", as: .viewer)
            let search = try #require(begun.json["search"] as? String, "\(begun.text)")
            let found = try await console.get("/api/find/\(search)") { $0.json["state"] as? String != "reading" }
            let events = try #require(found.json["events"] as? [[String: Any]], "\(found.text)")
            #expect(events.compactMap { $0["id"] as? String } == ["order-17"])
            #expect(found.text.contains("gcm: dead-lettered (400)") && !found.text.contains("Hello"), "\(found.text)")
            #expect(found.json["command"] as? [String] == ["herald", "find", "--user", "ann", "--since", "1h"])
            let origin = try #require(events.first?["origin"] as? String)
            let explained = try await console.get("/api/find/\(search)/explanation?event=\(origin)")
            #expect(explained.text.contains("because the backend answered 400"), "\(explained.text)")
            #expect(try await console.get("/api/find/\(search)/explanation?event=x/0/1").status == 404)
            #expect(try await console.get("/api/find/none").status == 404)
        }
    }

    @Test("Only operators see an event's message, even of a read-only console, and the audit records it")
    func message() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            var event = Publication(id: "order-17", user: "ann", more: ["title": "Parcel", "link": "shop://17"])
            event.partition = 0
            try await fixture.publish([event])
            let origin = "\(fixture.topic("notifications"))/0/0"
            let console = try await ConsoleProbe(fixture, [])
            #expect(try await console.post("/api/find/message", ["origin": origin], as: .viewer).status == 403)
            let message = try await console.post("/api/find/message", ["origin": origin])
            #expect((message.json["message"] as? String)?.contains("Hello") == true, "\(message.text)")
            #expect(
                message.json["title"] as? String == "Parcel" && message.json["link"] as? String == "shop://17",
                "\(message.text)")
            let audit = try await console.get("/api/audit?what=event.reveal")
            #expect(entries(audit).compactMap { $0["selection"] as? String } == [origin], "\(audit.text)")
            let other = fixture.topic("notifications.audit")
            #expect(try await console.post("/api/find/message", ["origin": "\(other)/0/0"]).status == 400)
            let gone = try await console.post(
                "/api/find/message", ["origin": "\(fixture.topic("notifications"))/0/99999"])
            #expect(gone.status == 200 && gone.json["message"] is NSNull, "\(gone.text)")
            #expect(try await console.post("/api/campaigns/spring/pause").status == 403)
            let unknown = try await console.get("/api/campaigns/nothing") { $0.status != 200 }
            #expect(unknown.status == 404 && unknown.text.contains("there is no campaign"), "\(unknown.text)")
        }
    }

    @Test("Refused or abandoned files lock no user out")
    func refusedUploads() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let console = try await ConsoleProbe(fixture)
            for number in 0..<6 {
                let key = try await upload("name\nann \(number)\n", to: console)
                let begun = try await console.post(
                    "/api/drafts", ["upload": key, "name": "a", "message": "Hi", "pns": ["apns"]])
                if let draft = begun.json["draft"] as? String {
                    let failed = try await console.get("/api/drafts/\(draft)") {
                        $0.json["state"] as? String != "reading"
                    }
                    #expect(failed.text.contains("user"), "\(failed.text)")
                }
                #expect(try await console.post("/api/uploads/\(key)?offset=0", text: "name").status == 404)
            }
            for _ in 0..<6 { _ = try await upload("user\nann\n", to: console) }
        }
    }

    @Test("An upload over the limit is refused, and an incomplete one starts nothing")
    func uploads() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let console = try await ConsoleProbe(fixture, changing: ["console.uploadLimit": "1MiB"])
            let refused = try await console.post("/api/uploads", ["name": "users.csv", "bytes": 1 << 20 + 1])
            #expect(refused.status == 413 && refused.text.contains("console.uploadLimit"), "\(refused.text)")
            let declared = try await console.post("/api/uploads", ["name": "users.csv", "bytes": 1 << 20])
            let key = try #require(declared.json["upload"] as? String)
            let piece = String(repeating: "x", count: 600_000)
            #expect(try await console.post("/api/uploads/\(key)?offset=0", text: piece).status == 200)
            #expect(try await console.post("/api/uploads/\(key)?offset=600000", text: piece).status == 409)
            let form: [String: Any] = ["upload": key, "name": "a", "message": "Hi", "pns": ["apns"]]
            let early = try await console.post("/api/drafts", form)
            #expect(early.status == 409 && early.text.contains("600000 of 1048576 bytes"), "\(early.text)")
            #expect(try await console.post("/api/uploads/\(key)/discard").status == 200)
            #expect(try await console.post("/api/uploads/\(key)?offset=600000", text: "x").status == 404)
        }
    }
}
