import Foundation
import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@testable import HeraldCampaigns

@Suite("Reports of campaigns")
struct ReportTests {
    private static let now = WallTime(milliseconds: Samples.start + 3_600_000)
    /// Characters that terminals, browsers and spreadsheets would act upon.
    private static let hostile = "\u{1B}[31m\u{202E}<script>alert('1')</script>&\"=1+1\n"

    private func page(
        _ report: CampaignReport, _ definition: CampaignDefinition = Samples.definition(), isRevealed: Bool = false,
        by author: String = "ann@web1", feedback: FeedbackCount? = nil, deletedCount: Int64 = 0
    ) -> String {
        var campaign = Samples.campaign()
        campaign.definition = definition
        campaign.control = Samples.control(.paused, by: author, reason: author)
        campaign.progress?.isComplete = false
        return page(
            CampaignStatus(campaign: campaign, count: report.count, now: Self.now), report, isRevealed: isRevealed,
            feedback: feedback, deletedCount: deletedCount)
    }

    private func page(
        _ status: CampaignStatus, _ report: CampaignReport, isRevealed: Bool = false, feedback: FeedbackCount? = nil,
        deletedCount: Int64 = 0
    ) -> String {
        ReportPage(
            status, status.campaign.definition ?? Samples.definition(), report, isRevealed: isRevealed,
            feedback: feedback, deletedCount: deletedCount
        ).html
    }

    @Test("After retention has deleted results, the page keeps the counted ones, and names what is missing")
    func retention() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        for number in 0..<5 { report.add(try Samples.result("delivered", user: "u\(number)")) }
        let progress = Samples.progress(end: "complete", finishedAt: Samples.start + 60_000)
        let status = CampaignStatus(
            campaign: Samples.campaign(progress: progress),
            count: OutcomeCount(snapshot: ["delivered": 190, "dead-lettered": 10]), now: Self.now)
        let html = page(status, report, deletedCount: 195)
        #expect(html.contains("Finished since") && html.contains("190 of 200 notifications were delivered"), "\(html)")
        #expect(html.contains("The results of 195 of the 200 outcomes are deleted"))
        #expect(html.contains("<td>not known yet</td><td class=\"n\">0</td>"))
        #expect(html.contains("5 of 100 people were reached</strong> on at least one push service, as far as results"))
    }

    @Test("People are counted once, on whichever push service they were reached, even by a replay")
    func people() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        for user in ["ann", "bob"] {
            report.add(try Samples.result("delivered", user: user, pns: "apns"))
            report.add(try Samples.result("delivered", user: user, pns: "gcm"))
        }
        report.add(try Samples.result("delivered", user: "cid", pns: "apns"))
        report.add(try Samples.result("dead-lettered", user: "cid", pns: "gcm"))
        for user in ["dora", "eve"] { report.add(try Samples.result("dead-lettered", user: user)) }
        #expect(report.people.reached == 3)
        report.add(try Samples.result("delivered", user: "dora", replays: 1))
        #expect(report.people.reached == 4)
        let html = page(report)
        #expect(
            html.contains("4 of 100 people were reached</strong> on at least one push service; 96 were not, or are"))
        #expect(html.contains("<h2>Not delivered at first</h2>"))
        #expect(html.contains("Of these 3 notifications, a replay has delivered 1 since; 2 are left."), "\(html)")
    }

    @Test("One person who is not reached yet, and one line of a kind, are told in the singular")
    func singular() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        report.add(try Samples.result("delivered", user: "ann"))
        var progress = Samples.progress(recipients: 2, published: 2)
        (progress.repeats, progress.emptyLines) = (1, 1)
        let status = CampaignStatus(
            campaign: Samples.campaign(progress: progress), count: report.count, now: Self.now)
        let html = page(status, report)
        #expect(html.contains("; 1 was not, or is not yet."), "\(html)")
        #expect(html.contains("<dd>1 repeated line, 0 invalid, 1 empty</dd>"))
        #expect(html.contains("<h2>Not delivered</h2>"))
    }

    @Test("Each user who was not reached is listed once, whatever the reason, and no reached one")
    func unreached() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        let results = [
            try Samples.result("dead-lettered", user: "ann", pns: "apns", reason: "rejected", status: 404),
            try Samples.result("delivered", user: "ann", pns: "gcm"),
            try Samples.result("dead-lettered", user: "bob", pns: "apns", reason: "rejected", status: 400),
            try Samples.result("dead-lettered", user: "bob", pns: "gcm", reason: "rejected", status: 400),
            try Samples.result("cancelled", user: "=cid"),
        ]
        for result in results { report.add(result) }
        var list = UnreachedList(report.people, pushServices: ["apns", "gcm"])
        var lines = results.compactMap { list.entry($0)?.line(delimiter: ",") }
        for user in ["ann", "bob", "=cid", "dora", "dora"] {
            lines += [list.entry(published: user)?.line(delimiter: ",")].compactMap(\.self)
        }
        for user in ["ann", "bob", "=cid", "dora", "eve", "eve"] {
            lines += [list.entry(recipient: user)?.line(delimiter: ",")].compactMap(\.self)
        }
        #expect(list.count == 4 && lines.count == 4)
        #expect(lines[0].hasPrefix("bob,failed,apns gcm,rejected,400,,2026-"))
        #expect(lines[1].hasPrefix("'=cid,cancelled,apns gcm,,,,2026-"))
        #expect(lines[2].hasPrefix("dora,no outcome yet,apns gcm,,,it waits or is tried again: "))
        #expect(lines[3] == "eve,never published,apns gcm,,,,,\r\n")
        #expect(
            list.sortedCauses.map { "\($0.cause.why) \($0.cause.reason) \($0.count)" } == [
                "cancelled  1", "failed rejected 1", "never published  1", "no outcome yet  1",
            ])
        #expect(list.unsettled == 2, "a campaign that is not over may still notify them")
        #expect(
            UnreachedList.heading(delimiter: ",")
                == "user,unreached_why,unreached_pns,unreached_reason,unreached_status,unreached_detail,"
                + "unreached_completedAt,unreached_completedUTC\r\n")
    }

    @Test("The status of a call before a cancellation has words, and a moment is as spreadsheets read it, too")
    func lateStatus() throws {
        var list = UnreachedList(People(), pushServices: ["apns"])
        let entry = list.entry(try Samples.result("cancelled", status: 503))
        #expect(
            entry?.line(delimiter: ";")
                == "u1;cancelled;apns;;503;the status of its last call before it ended as cancelled;"
                + "2026-11-21T18:00:00.000Z;2026-11-21 18:00:00\r\n")
    }

    @Test("Lists without the audience's file have its delimiter, as a spreadsheet wrote it")
    func delimiters() {
        var progress = Samples.progress()
        #expect(progress.cellDelimiter == ",")
        progress.delimiter = AudienceDelimiter.semicolon.rawValue
        #expect(UnreachedList.heading(delimiter: progress.cellDelimiter).hasPrefix("user;unreached_why;"))
    }

    @Test("The page tells the outcomes of each push service, and which lines of the file were left out")
    func parts() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        for (user, gcm) in [("ann", "delivered"), ("bob", "dead-lettered")] {
            report.add(try Samples.result("delivered", user: user, pns: "apns"))
            report.add(try Samples.result(gcm, user: user, pns: "gcm"))
        }
        var progress = Samples.progress()
        (progress.repeats, progress.invalid, progress.emptyLines) = (40, 20, 10)
        let status = CampaignStatus(
            campaign: Samples.campaign(progress: progress), count: report.count, now: Self.now)
        let html = page(status, report)
        #expect(html.contains("<dd>40 repeated lines, 20 invalid, 10 empty</dd>"), "\(html)")
        for row in ["apns</td><td class=\"n\">2", "gcm</td><td class=\"n\">1"] {
            #expect(html.contains("<tr><td>\(row)</td>"), "\(html)")
        }
        #expect(!html.contains("--reveal"))
        #expect(html.firstMatch(of: /20\d\d-\d\d-\d\dT/) == nil, "people read moments as 2026-11-21 18:00:00 UTC")
    }

    @Test("Suppressed notifications are told with their reason, and are a part of the whole")
    func suppressed() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        for user in ["ann", "bob", "cid"] {
            report.add(try Samples.result("suppressed", user: user, pns: nil, reason: "opted-out"))
        }
        report.add(try Samples.result("suppressed", user: "dora", pns: nil, reason: "recalled"))
        #expect(report.count.suppressions == [.optedOut: 6, .recalled: 2], "one for each push service")
        #expect(OutcomeCount(snapshot: report.count.snapshot) == report.count)
        #expect(CampaignWords.suppressed(report.count) == "6 because their user opted out, 2 recalled")
        #expect(CampaignWords.suppressed(OutcomeCount(snapshot: ["suppressed": 3])) == nil)
        let html = page(report)
        #expect(html.contains("<td>suppressed (6 because their user opted out, 2 recalled)</td>"), "\(html)")
        for cause in ["suppressed: opted-out", "suppressed: recalled"] { #expect(html.contains("<td>\(cause)</td>")) }
    }

    @Test("The page and the rows say what notifications were delivered without")
    func omitted() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        #expect(report.omissions.isEmpty && !page(report).contains("without"))
        for (user, pns) in [("ann", "apns"), ("ann", "gcm"), ("bob", "apns")] {
            var result = try Samples.result("delivered", user: user, pns: pns)
            result.omitted = pns == "gcm" ? ContentFields([.title, .badge]) : ContentFields(.title)
            report.add(result)
            #expect(ResultRow.line(result, delimiter: ";").contains(pns == "gcm" ? ";title badge;" : ";title;"))
        }
        #expect(
            report.omissions == [
                "3 notifications were delivered without title (2 on apns, 1 on gcm): backend.body was text, or the push "
                    + "service has no place for it.",
                "1 notification was delivered without badge (1 on gcm): backend.body was text, or the push service has no "
                    + "place for it.",
            ])
        #expect(page(report).contains("<strong>3 notifications were delivered without title (2 on apns, 1 on gcm)"))
    }

    @Test("People without an outcome may be notified until it is cancelled, also when it was declared finished")
    func stillNotified() {
        func words(_ campaign: CampaignIndex.Campaign, known: Int = 199) -> String? {
            let count = OutcomeCount(snapshot: ["delivered": known])
            return CampaignWords.stillNotified(1, CampaignStatus(campaign: campaign, count: count, now: Self.now))
        }
        #expect(words(Samples.campaign())?.contains("because the campaign is running: cancel it") == true)
        var finished = Samples.campaign()
        finished.control?.cause = .finished
        #expect(
            words(finished)
                == "1 of them may still be notified, because what is open is left to its retries: wait for its outcomes "
                + "before you reach them in another way.")
        #expect(words(finished, known: 200) == nil && words(Samples.campaign(.cancelled)) == nil)
    }

    @Test("One person is a person, and several are people")
    func numbers() {
        #expect(
            CampaignWords.sentence(reached: 1, unreached: 1, in: "a") == "1 person was reached; 1 who was not is in a.")
        #expect(
            CampaignWords.sentence(reached: 0, unreached: 1_200, in: "a")
                == "0 people were reached; 1 200 who were not are in a.")
    }

    /// The list of an audience in which bob was rejected, ann and zoe were reached, and xia is known to Kafka only.
    private func list(
        of text: String, _ form: AudienceForm = AudienceForm(), message: String = "Hi {{name}}"
    ) throws -> String {
        try list(of: Array(text.utf8), form, message: message)
    }

    private func list(
        of bytes: [UInt8], _ form: AudienceForm = AudienceForm(), message: String = "Hi {{name}}"
    ) throws -> String {
        var sum: AudienceSum?
        return try list(of: bytes, form, message: message, sum: &sum)
    }

    private func list(of text: String, sum: inout AudienceSum?) throws -> String {
        try list(of: Array(text.utf8), AudienceForm(), message: "Hi {{name}}", sum: &sum)
    }

    private func list(
        of bytes: [UInt8], _ form: AudienceForm, message: String, _ progress: CampaignProgress? = nil,
        sum: inout AudienceSum?
    ) throws -> String {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        let results = try ["bob", "xia"].map {
            try Samples.result("dead-lettered", user: $0, pns: "apns", reason: "rejected", status: 400)
        }
        for result in try results + ["ann", "zoe"].map({ try Samples.result("delivered", user: $0) }) {
            report.add(result)
        }
        let file = try AudienceFile(bytes)
        defer { file.remove() }
        var list = UnreachedList(report.people, pushServices: ["apns", "gcm"])
        let audience = try file.open(form)
        var definition = Samples.definition()
        definition.message = message
        var output = ""
        sum = try list.write(
            try UnreachedAudience(audience, definition, progress, users: .tag), delimiter: ",", to: { output += $0 },
            known: { list, body in for result in results { if let entry = list.entry(result) { try body(entry) } } })
        return output
    }

    @Test("The lines of an audience add up: reached, not reached, repeated, invalid, empty")
    func sum() throws {
        var sum: AudienceSum?
        let list = try list(
            of: "user,name\nann,A\nbob,B\nbob,B\ncid,C\n\nx y,D\nann,A\n,\n", sum: &sum)
        #expect(list.components(separatedBy: "\r\n").count == 6, "bob, cid, the invalid line, xia: \(list)")
        #expect(
            sum?.sentence("users.csv")
                == "users.csv has 8 lines: 1 person was reached, 2 were not; 2 repeat a person, 1 is invalid, 2 are "
                + "empty. 1 invalid line is in the list, too, to be mended. 1 person was reached who is not in this "
                + "file. 1 more in the list is not in this file: at its end, without the other columns.")
        _ = try self.list(of: "user,name\nzoe,Z\nxia,X\nbob,B\n", sum: &sum)
        #expect(
            sum?.sentence("a")
                == "a has 3 lines: 1 person was reached, 2 were not. 1 person was reached who is not in this file.")
    }

    @Test("Invalid lines are in the list with their place and reason, but for people of whom Kafka knows")
    func invalidLines() throws {
        let list = try list(of: "user,name\nx y,D\ncid,\"a\nb\",1\nann\nbob,B\n=1,\"open\n", message: "Hi {{name}}")
        let lines = list.components(separatedBy: "\r\n")
        #expect(lines[1].hasPrefix("x y,D,invalid,apns gcm,\"line 2: user holds a space"), "\(list)")
        #expect(lines[2].hasPrefix("\"cid,\"\"a\\nb\"\",1\",,invalid,apns gcm,\"line 3: has 3 fields"), "\(list)")
        #expect(lines[3].hasPrefix("bob,B,failed,apns gcm,rejected"), "ann was reached: \(list)")
        #expect(lines[4].hasPrefix("\"'=1,\"\"open\",,invalid,apns gcm,row 6 (line 7): has a quote"), "\(list)")
        let objects = try self.list(of: #"{"user":"cid","name":"C"}"# + "\n[1]\n")
        #expect(
            objects.contains(#"{"begins with":"[1]","unreached_why":"invalid","unreached_pns":"apns gcm","#),
            "\(objects)")
        // Nobody is notified by such a line.
        let again = try AudienceFile(objects, name: "a.jsonl")
        defer { again.remove() }
        #expect(try again.lines("Hi").contains("2!has no user"))
    }

    @Test("What was not delivered has a line for each notification that is not, open and unpublished ones, too")
    func undelivered() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        let results = [
            try Samples.result("delivered", user: "ann", pns: "apns"),
            try Samples.result("dead-lettered", user: "ann", pns: "gcm", reason: "rejected", status: 404),
            try Samples.result("dead-lettered", user: "bob", pns: "apns", reason: "rejected", status: 400),
            try Samples.result("dead-lettered", user: "bob", pns: "gcm", reason: "rejected", status: 400),
            try Samples.result("dead-lettered", user: "cid", pns: "gcm", reason: "rejected", status: 400),
            try Samples.result("dead-lettered", user: "cid", pns: "gcm", reason: "rejected", status: 400, replays: 1),
            try Samples.result("delivered", user: "cid", pns: "gcm", replays: 2),
            try Samples.result("cancelled", user: "xia", pns: nil),
        ]
        for result in results { report.add(result) }
        func lines(_ audience: Audience?) throws -> [String] {
            var output = ""
            let hasAudience = audience != nil
            let audience = try audience.map { try UnreachedAudience($0, Samples.definition(), nil, users: .tag) }
            var list = try UndeliveredList(report, audience, delimiter: ";") { output += $0 }
            for result in results { try list.add(result) }
            for user in ["ann", "bob", "cid", "dan", "xia"] { try list.add(published: user) }
            try list.finish(unpublished: .notYet)
            #expect(list.count == (hasAudience ? 10 : 8))
            return output.components(separatedBy: "\r\n").map { String($0.prefix(30)) }
        }
        #expect(
            try lines(nil) == [
                "user;unreached_why;unreached_p", "ann;failed;gcm;rejected;404;;2", "bob;failed;apns;rejected;400;;",
                "bob;failed;gcm;rejected;400;;2", "xia;cancelled;apns;;;;2026-11-", "xia;cancelled;gcm;;;;2026-11-2",
                "cid;no outcome yet;apns;;;it w", "dan;no outcome yet;apns;;;it w", "dan;no outcome yet;gcm;;;it wa",
                "",
            ])
        let file = try AudienceFile("first_name,user\nB,bob\nC,cid\nE,eve\nE,eve\nA,ann\n")
        defer { file.remove() }
        #expect(
            try lines(try file.open()) == [
                "first_name,user,unreached_why,", "B,bob,failed,apns,rejected,400", "B,bob,failed,gcm,rejected,400,",
                "C,cid,no outcome yet,apns,,,it", "E,eve,never published,apns,,,,", "E,eve,never published,gcm,,,,,",
                "A,ann,failed,gcm,rejected,404,", ",dan,no outcome yet,apns,,,it ", ",dan,no outcome yet,gcm,,,it w",
                ",xia,cancelled,apns,,,,2026-11", ",xia,cancelled,gcm,,,,2026-11-", "",
            ])
    }

    /// What a report finds of a file of these users; ann, bob, xia and zoe were published.
    private func judged(_ users: [String], of former: [String], isComplete: Bool) throws -> AudienceSum? {
        let file = try AudienceFile((["user"] + former).joined(separator: "\n"))
        defer { file.remove() }
        let progress = Samples.progress(
            recipients: former.count, published: 4, isComplete: isComplete, audience: try file.preview("Hi").mark)
        var sum: AudienceSum?
        let text = (["user"] + users).joined(separator: "\n")
        _ = try list(of: Array(text.utf8), AudienceForm(), message: "Hi", progress, sum: &sum)
        return sum
    }

    private static let published = ["ann", "bob", "xia", "zoe"]
    private static let own: [(users: [String], former: [String], isComplete: Bool)] = [
        (["zoe", "xia", "bob", "ann"], published, true), (published + ["dora"], published, true),
        (["dora"] + published, published, true), (["zoe"], published, true),
        (["zoe", "eve", "ann", "bob", "xia"], published + ["eve"], false),
        (published + ["eve", "dora"], published + ["eve"], false), (["zoe", "bob"], published + ["eve"], false),
    ]

    @Test(
        "A report takes what a start takes as its campaign's audience, and people who were all published",
        arguments: own)
    func ownAudience(users: [String], former: [String], isComplete: Bool) throws {
        let sum = try #require(try judged(users, of: former, isComplete: isComplete))
        #expect(sum.reached + sum.unreached == users.count)
        #expect(sum.reached + sum.reachedOutside == 2, "all who were reached are named: \(sum)")
    }

    @Test("A report refuses another campaign's audience, and says what it found")
    func foreignAudience() {
        #expect(
            failure { try judged(["ann", "dora", "eve"], of: Self.published, isComplete: true) }
                == "2 of 3 recipients of this file were never published by campaign spring, and 3 of those who were are "
                + "not in it: it is another audience. Choose the one that the campaign has, of 4 recipients: in any order "
                + "and encoding")
        let addition = ForeignAudience(
            campaign: "spring", formerRecipients: 3, strangers: 29, recipients: 9, unpublished: 9, missing: 32)
        #expect(
            addition.description.hasSuffix(
                "of 3 recipients, or one of people who were published, as 29 more are: in any order and encoding"))
        #expect(
            failure { try judged(["dora"] + Self.published, of: Self.published + ["eve"], isComplete: false) }
                .hasPrefix("1 of 5 recipients of this file was never published by campaign spring: it is another"))
    }

    @Test("With an audience, the list keeps its columns as they are written, and is an audience itself")
    func unreachedAudience() throws {
        let text =
            "id;user;\"full; name\";name\n1;ann;;Ann\n2; bob ;\"B; \"\"b\"\"\nB\";Bob\n3;cid\n4;dora;;Dora;;\n4;dora;x;D\n"
        let first = try list(of: text)
        let lines = first.components(separatedBy: "\r\n")
        let columns = UnreachedList.columns.joined(separator: ";")
        #expect(lines[0] == "id;user;\"full; name\";name;\(columns)")
        #expect(
            lines[1].hasPrefix("2; bob ;\"B; \"\"b\"\"\nB\";Bob;failed;apns gcm;rejected;400;;2026-"), "\(first)"
        )
        #expect(
            lines[2] == "3;cid;;;never published;apns gcm;;;;;"
                && lines[3] == "4;dora;;Dora;never published;apns gcm;;;;;")
        #expect(lines[4].hasPrefix(";xia;;;failed;apns gcm;") && lines[5].isEmpty && lines.count == 6)
        let again = try AudienceFile(first)
        defer { again.remove() }
        #expect(try again.lines("{{name}}|{{full; name}}|").contains("2:bob=Bob|B; \"b\"\nB|"))
        // A list of a list has the newer reasons.
        let second = try list(of: first)
        #expect(
            second.components(separatedBy: "unreached_why").count == 2 && second.contains("3;cid;;;never published"))
        #expect(second.components(separatedBy: "\r\n").allSatisfy { !$0.contains("published;apns gcm;;;;;never") })
    }

    @Test(
        "An audience in another encoding is refused with the possible ones, whichever fields the message uses",
        arguments: ["Hi", "Hi {{name}}"], ["user,name\nann,A\ncid,J\u{F6}rg\n", "user,name,gr\u{F6}\u{DF}e\ncid,C,3\n"])
    func otherEncoding(message: String, text: String) throws {
        let latin = text.unicodeScalars.map { UInt8($0.value) }
        let words = failure { try list(of: latin, message: message) }
        #expect(words.contains("the audience is not UTF-8") && words.contains("--encoding WINDOWS-1252"), "\(words)")
        let form = AudienceForm(encoding: AudienceEncoding("WINDOWS-1252"))
        #expect(try list(of: latin, form, message: message).contains("cid,"))
        let mixed = Array("user,name\nbob,\u{FC}\ncid,J".utf8) + [0xF6]
        #expect(failure { try list(of: mixed, message: "Hi") }.contains("line 3 of the audience is not UTF-8"))
    }

    @Test("JSON lines are refused likewise, and so are files with a byte order mark")
    func unreachedObjects() throws {
        let objects = try list(
            of: #"{"user":"ann","name":"A"}"# + "\n" + #" {"user":"cid","name":"C","more":[1,{}]} "# + "\n")
        #expect(
            objects.hasPrefix(
                #"{"user":"cid","name":"C","more":[1,{}],"unreached_why":"never published","unreached_pns":"apns gcm"}"#
                    + "\n{"),
            "\(objects)")
        #expect(objects.contains(#"{"user":"bob","unreached_why":"failed","unreached_pns":"apns gcm""#))
        #expect(try list(of: "\u{FEFF}user,name\ncid,C\n").hasPrefix("\u{FEFF}user,name,unreached_why"))
    }

    private func feedback(
        _ conclusion: String, _ state: String?, _ outcomes: [String: Int]
    ) throws -> NotificationFeedback {
        let result = try NotificationResult(
            decoding: Samples.bytes(
                """
                {"pns":"apns","outcome":"delivered","backendId":"NH","completedAt":"2026-11-21T08:40:26Z",\
                "campaign":"spring","origin":{"topic":"n","partition":0,"offset":0}}
                """))
        return NotificationFeedback(
            on: result, backendID: "NH", conclusion: try #require(.init(rawValue: conclusion)), state: state,
            outcomes: outcomes, checkedAt: Self.now)
    }

    @Test("Each notification behind a hub is counted in one category, and its devices by the hub's outcomes")
    func devices() throws {
        var count = FeedbackCount()
        let all: [(String, String?, [String: Int])] = [
            ("final", "Completed", ["Success": 2, "BadChannel": 1]), ("too-old", "Processing", ["Success": 1]),
            ("final", "NoTargetFound", [:]), ("final", "Completed", ["NoTargets": 1]), ("final", "Completed", [:]),
            ("final", "Completed", ["ExpiredChannel": 1, "NoTargets": 1]), ("final", "Abandoned", [:]),
            ("too-old", "Enqueued", [:]), ("unknown", nil, [:]),
        ]
        for (conclusion, state, outcomes) in all { count.add(try feedback(conclusion, state, outcomes)) }
        #expect(count.reached == 2 && count.nobody == 3 && count.refused == 2 && count.untold == 2)
        #expect(count.known == all.count && count.open(of: 12) == 3 && count.open(of: 5) == 0)
        #expect(count.devices == ["Success": 3, "BadChannel": 1, "NoTargets": 2, "ExpiredChannel": 1])

        var report = CampaignReport(Samples.definition(), now: Self.now)
        for number in 0..<12 { report.add(try Samples.result("delivered", user: "u\(number)")) }
        #expect(!page(report).contains("Behind the hub"))
        let html = page(report, feedback: count)
        #expect(html.contains("Of 12 notifications that the hub has taken."))
        for cells in [["reached a push service", "2"], ["nobody to reach", "3"], ["not known yet", "3"]] {
            #expect(html.contains("<td>\(cells[0])</td><td class=\"n\">\(cells[1])</td>"), "\(cells)")
        }
        #expect(html.contains("<td>Success</td><td class=\"n\">3</td>"))
    }

    @Test("Intervals grow with the time and lose no count")
    func timeline() {
        var timeline = OutcomeTimeline()
        var expected = 0
        for second in stride(from: Int64(0), through: 400_000, by: 37) {
            timeline.add(at: WallTime(milliseconds: Samples.start + second * 1_000)) { $0.delivered += 1 }
            expected += 1
            #expect(timeline.all.count <= 120)
        }
        #expect(timeline.secondsPerSpan == 3_600)
        #expect(timeline.all.reduce(0) { $0 + $1.span.delivered } == expected)
        // Moments before the first one count, too, even before 1970.
        timeline.add(at: WallTime(milliseconds: -86_400_000)) { $0.failed += 1 }
        #expect(timeline.all.count <= 121 && timeline.all.first?.span.failed == 1)
        #expect(timeline.all.reduce(0) { $0 + $1.span.total } == expected + 1)
    }

    @Test("Intervals follow each other without gaps")
    func gaps() {
        var timeline = OutcomeTimeline()
        for second in [Int64(0), 3, 4] {
            timeline.add(at: WallTime(milliseconds: Samples.start + second * 1_000 + 999)) { $0.ended += 1 }
        }
        #expect(timeline.all.map(\.span.ended) == [1, 0, 0, 1, 1])
        #expect(timeline.all.first?.start == WallTime(milliseconds: Samples.start))
        #expect(OutcomeTimeline().all.isEmpty)
    }

    @Test("Failures are counted by reason, status and push service, the most frequent first, in bounded memory")
    func failures() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        for number in 0..<3 {
            var rejected = try Samples.result("dead-lettered", reason: "rejected", status: 400)
            rejected.detail = "no device \(number)"
            report.add(rejected)
        }
        #expect(report.sortedFailures.compactMap { report.details[$0.failure] } == ["no device 0"])
        report.add(try Samples.result("dead-lettered", pns: nil, reason: "invalid"))
        report.add(try Samples.result("expired", pns: "gcm"))
        report.add(try Samples.result("delivered", pns: "gcm"))
        let failures = report.sortedFailures
        #expect(failures.map(\.count) == [3, 2, 1])
        #expect(failures.first?.failure.status == 400 && failures.last?.failure.outcome == .expired)
        for number in 0..<1_000 {
            report.add(try Samples.result("dead-lettered", pns: "service-\(number)", reason: "rejected"))
        }
        #expect(report.failures.count == 500 && report.otherFailures == 503)
    }

    @Test("Tables have shares, fit a phone's screen, and a share is never rounded to all or nothing")
    func shares() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        for _ in 0..<2 { report.add(try Samples.result("dead-lettered", reason: "rejected", status: 400)) }
        report.add(try Samples.result("expired", pns: "gcm"))
        report.add(try Samples.result("delivered", pns: "gcm"))
        let html = page(report)
        // 100 recipients with two push services each.
        #expect(html.contains(#"<tr><td>delivered</td><td class="n">1</td><td class="n">0.5%</td></tr>"#), "\(html)")
        #expect(
            html.contains(#"<td class="n">2</td><td class="n">66.7%</td><td class="bar">"#))
        #expect(html.contains("@media (max-width: 40rem)") && html.contains(".bar { display: none; }"))
        #expect(
            html.components(separatedBy: #"<div class="wide"><table>"#).count
                == html.components(separatedBy: "<table>").count)
        for _ in 0..<4_000 { report.add(try Samples.result("dead-lettered", reason: "rejected", status: 400)) }
        #expect(page(report).contains(">99.9%<") && page(report).contains(">0.1%<"))
    }

    @Test("The deliveries of a replay are known by event and push service")
    func recovered() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        let failure = try Samples.result("dead-lettered", user: "u1", reason: "rejected")
        report.add(failure)
        #expect(report.isUnreached(failure))
        report.add(try Samples.result("delivered", user: "u1", pns: "apns", replays: 1))
        #expect(!report.isUnreached(failure))
        #expect(report.isUnreached(try Samples.result("dead-lettered", user: "u1", pns: "gcm")))
        #expect(report.isUnreached(try Samples.result("dead-lettered", user: "u2", pns: "apns")))
        #expect(page(report).contains("of these by a replay"))
    }

    @Test("Moments outside of the campaign's time are counted and not drawn")
    func oddClocks() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        report.add(try Samples.result("delivered", at: 0))
        report.add(try Samples.result("delivered", at: 200_000_000_000_000))
        report.add(try Samples.result("delivered"))
        #expect(report.count.delivered == 3 && report.timeline.all.count == 1)
    }

    @Test("The page loads nothing from elsewhere and runs no scripts")
    func selfContained() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        report.add(try Samples.result("delivered"))
        report.add(try Samples.result("dead-lettered", reason: "rejected", status: 400))
        let html = page(report, deletedCount: 12)
        for forbidden in ["<script", "http:", "https:", "src=", "href", "url(", "@import", " on"] {
            let found = html.replacing("http-equiv", with: "").contains(forbidden + (forbidden == " on" ? "click" : ""))
            #expect(!found, "\(forbidden)")
        }
        #expect(html.contains("default-src 'none'") && html.contains("prefers-color-scheme: dark"))
        #expect(html.contains(#"<svg viewBox="0 0 720 240" role="img""#) && html.contains("<title id="))
        #expect(html.contains("12 results, of this campaign or others, were deleted"))
        #expect(html.contains("rejected") && html.contains(">400<"))
        #expect(page(CampaignReport(Samples.definition(), now: Self.now)).contains("There is no outcome yet."))
    }

    @Test("Hostile texts are text in the page, and the message appears only on request")
    func hostileTexts() throws {
        var definition = Samples.definition(pns: [Self.hostile])
        definition.message = "Secret \(Self.hostile)"
        definition.content = CampaignContent()
        definition.content?.title = "Hidden \(Self.hostile)"
        definition.startedBy = Self.hostile
        definition.topic = Self.hostile
        var report = CampaignReport(definition, now: Self.now)
        var failure = try Samples.result("dead-lettered", reason: "rejected")
        failure.pushService = Self.hostile
        report.add(failure)
        for isRevealed in [false, true] {
            let html = page(report, definition, isRevealed: isRevealed, by: Self.hostile)
            #expect(!html.contains("<script") && !html.contains("\u{1B}") && !html.contains("\u{202E}"))
            #expect(html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;=1+1"))
            #expect(html.contains("Secret") == isRevealed && html.contains("Hidden") == isRevealed)
            #expect(html.contains("<dt>Title</dt>"))
        }
    }

    @Test("Hostile texts in a row are inert in a spreadsheet")
    func rows() throws {
        var result = try Samples.result("dead-lettered", reason: "rejected", status: 400)
        result.id = "=cmd|' /C calc'!A0"
        result.user = "@\u{1B}[2J\u{202E},\"x\"\r\n"
        result.pushService = "+1"
        result.detail = "=unknown \"token\""
        let line = ResultRow.line(result, delimiter: ",")
        #expect(
            line.hasPrefix(
                "'=cmd|' /C calc'!A0,\"'@\\u{1B}[2J\\u{202E},\"\"x\"\"\\r\\n\",'+1,dead-lettered,rejected,400,"))
        #expect(line.hasSuffix("notifications.bulk/0/1,\"'=unknown \"\"token\"\"\",,,2026-11-21 18:00:00\r\n"))
        #expect(line.filter { $0 == "\r\n" }.count == 1)
        #expect(ResultRow.heading(delimiter: ";").split(separator: ";").count == 15)
    }
}
