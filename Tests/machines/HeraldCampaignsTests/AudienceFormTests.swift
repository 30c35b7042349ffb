import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldCampaigns

@Suite("The form of an audience, as it is detected or specified")
struct AudienceFormTests {
    private func preview(
        _ text: String, _ message: String = "Hi {{name}}", _ form: AudienceForm = AudienceForm(),
        file name: String = "users.csv"
    ) throws -> AudiencePreview {
        let file = try AudienceFile(text, name: name)
        defer { file.remove() }
        return try file.preview(message, form)
    }

    @Test(
        "The delimiter is taken from the first line, or from a line sep=",
        arguments: [
            ("user,name\nann,Ann\n", AudienceDelimiter.comma), ("user;name\nann;Ann\n", .semicolon),
            ("user\tname\nann\tAnn\n", .tab), ("user|name\nann|Ann\n", .pipe),
            ("sep=;\r\nuser;name\r\nann;Ann\r\n", .semicolon), ("sep=,\nuser,name\nann,Ann", .comma),
            ("\u{FEFF}sep=;\nuser;name\nann;Ann", .semicolon), ("\"user\";\"name\"\nann;\"Ann\"\n", .semicolon),
            ("\u{FEFF}user;\"a,b\";name;c\nann;x;Ann;\n", .semicolon), ("user;name;;\nann;Ann;;\n", .semicolon),
        ])
    func delimiters(text: String, delimiter: AudienceDelimiter) throws {
        let preview = try preview(text)
        #expect(preview.reading.delimiter == delimiter && preview.reading.userColumn == "user")
        #expect(preview.samples.map(\.message) == ["Hi Ann"] && preview.invalid == 0)
    }

    @Test("Lines after a line sep= keep their numbers")
    func numbers() throws {
        let preview = try preview("sep=;\nuser;name\na b;x\nann;Ann\n")
        #expect(preview.invalidLines.map(\.line) == [3])
    }

    @Test("A specified delimiter is used; without one, the same character in a field belongs to the field")
    func said() throws {
        let text = "user;name,first\nann;Ann\n"
        #expect(try preview(text, "{{name,first}}").samples.first?.message == "Ann")
        let form = AudienceForm(delimiter: .comma, userColumn: "user;name")
        #expect(failure { try preview("user;name,first\nann;Ann\n", "{{name}}", form) }.contains("{{name}}"))
        for text in ["tab", "\t", "\\t"] { #expect(AudienceDelimiter(text) == .tab) }
        #expect(AudienceDelimiter(";") == .semicolon && AudienceDelimiter("semicolon") == .semicolon)
        #expect(AudienceDelimiter("x") == nil && AudienceDelimiter("") == nil)
    }

    @Test("Users come from the named column, from user, or from a column whose name differs in case only")
    func columns() throws {
        let mail = "E-Mail;name;user\nann@x.org;Ann;7\n"
        #expect(try preview(mail).samples.first?.user == "7")
        #expect(try preview(mail, "{{user}}", AudienceForm(userColumn: "E-Mail")).samples.first?.user == "ann@x.org")
        #expect(try preview("User ,name\nann,Ann\n").reading.userColumn == "User")
        #expect(try preview("login\nann\n", "Hi", AudienceForm(userColumn: "Login")).recipients == 1)
        #expect(failure { try preview("User,USER,name\na,b,c\n") }.contains("--user-column"))
        #expect(
            failure { try preview(mail, "Hi", AudienceForm(userColumn: "mail")) }
                .contains("the audience has no column \"mail\"; its columns are \"E-Mail\", \"name\", \"user\""))
        let json = try preview(
            #"{"mail":"ann","name":"Ann"}"#, "Hi {{name}}", AudienceForm(userColumn: "mail"), file: "a.jsonl")
        #expect(json.samples.first?.user == "ann")
        #expect(json.reading.text == #"JSON lines, users in the field "mail""#)
    }

    @Test(
        "A file that is not text is refused with the name of its format",
        arguments: [
            ([0x50, 0x4B, 0x03, 0x04, 0x14, 0], "xlsx"), ([0xD0, 0xCF, 0x11, 0xE0, 0xA1], "xls"),
            ([0x1F, 0x8B, 0x08, 0], "gzip"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd"),
            ([0x75, 0, 0x73, 0], "UTF-16"), ([0, 0x75, 0, 0x73], "UTF-16"), ([0x25, 0x50, 0x44, 0x46, 0x2D], "PDF"),
        ] as [([UInt8], String)])
    func kinds(bytes: [UInt8], name: String) throws {
        let file = try AudienceFile(bytes)
        defer { file.remove() }
        #expect(failure { try file.open() }.contains(name))
    }

    @Test("Users that differ in case alone are counted, in any order, and repeats are not")
    func twins() throws {
        let preview = try preview("user,name\nAnn,1\nann,2\nANN,3\nbob,4\nbob,5\ncid,6\nCid,7\nDora,8\n")
        #expect(preview.caseTwins.count == 3 && preview.recipients == 7)
        #expect(preview.caseTwins.first?.line == 3 && preview.caseTwins.first?.user == "ann")
    }
}

@Suite("Refusals of a start, and warnings")
struct PreviewRefusalTests {
    private func found(_ lines: [String], maxInvalid: Double? = nil, message: String = "Hi") throws -> CampaignPreview {
        let file = try AudienceFile("user\n" + lines.joined(separator: "\n"))
        defer { file.remove() }
        var order = CampaignOrder(text: try AudienceFile.text(message), topic: "bulk")
        if let maxInvalid { order.maxInvalid = maxInvalid }
        return CampaignPreview(order, try file.preview(message), of: nil, at: WallTime(milliseconds: Samples.start))
    }

    @Test("Of a campaign that goes on all stays that no option changes, its limit of failures too")
    func kept() throws {
        let file = try AudienceFile("user\nann")
        defer { file.remove() }
        var order = CampaignOrder(text: try AudienceFile.text("Hi"), topic: "bulk")
        let preview = CampaignPreview(
            order, try file.preview("Hi"), of: Samples.campaign(), at: WallTime(milliseconds: Samples.start))
        #expect(preview.kept == ["--pause-if-failures 5%"] && preview.pauseIfFailures == 0.05)
        order.pauseIfFailures = 0.1
        let changed = CampaignPreview(
            order, try file.preview("Hi"), of: Samples.campaign(), at: WallTime(milliseconds: Samples.start))
        #expect(changed.kept.isEmpty && changed.pauseIfFailures == 0.1)
    }

    @Test("Of a third start all stays as the last one had it, and not as the first")
    func lastTerms() throws {
        let file = try AudienceFile("user\nann")
        defer { file.remove() }
        let order = CampaignOrder(text: try AudienceFile.text("Hi"), topic: "bulk")
        var campaign = Samples.campaign()
        campaign.definition?.rate = 12
        campaign.definition?.ramp = [1, 10]
        campaign.progress?.rate = 16
        campaign.progress?.ramp = [2, 20]
        campaign.control?.pauseIfFailures = 0.9
        let preview = CampaignPreview(
            order, try file.preview("Hi"), of: campaign, at: WallTime(milliseconds: Samples.start))
        #expect(preview.kept == ["--rate 16/s", "--ramp 2,20", "--pause-if-failures 90%"])
        #expect(preview.rate == 16 && preview.ramp == [2, 20] && preview.pauseIfFailures == 0.9)
    }

    @Test("A ramp that a later start has dropped does not come back")
    func droppedRamp() throws {
        let file = try AudienceFile("user\nann")
        defer { file.remove() }
        let order = CampaignOrder(text: try AudienceFile.text("Hi"), topic: "bulk")
        var campaign = Samples.campaign()
        campaign.definition?.ramp = [1, 10]
        let first = CampaignPreview(
            order, try file.preview("Hi"), of: campaign, at: WallTime(milliseconds: Samples.start))
        #expect(first.ramp == [1, 10] && first.kept.contains("--ramp 1,10"))
        campaign.progress?.ramp = []
        let later = CampaignPreview(
            order, try file.preview("Hi"), of: campaign, at: WallTime(milliseconds: Samples.start))
        #expect(later.ramp.isEmpty && !later.kept.contains { $0.hasPrefix("--ramp") })
    }

    @Test("The preview says what does not reach a push service, or that only a worker knows")
    func reach() throws {
        let file = try AudienceFile("user\nann")
        defer { file.remove() }
        var content = CampaignContent()
        (content.title, content.badge) = ("Spring", 1)
        var order = CampaignOrder(text: try AudienceFile.text("Hi", content), topic: "bulk")
        func found(_ reach: ContentReach) throws -> CampaignPreview {
            order.reach = reach
            return CampaignPreview(order, try file.preview("Hi"), of: nil, at: WallTime(milliseconds: Samples.start))
        }
        let text = try found(ContentReach([:]))
        #expect(
            text.warnings == [
                "title, badge do not reach apns and gcm: backend.body is text, or the push service has no place for them"
            ])
        let omitted = JSONValue.object(text.members)["omitted"]
        #expect(omitted?["apns"] == ["title", "badge"] && omitted?["gcm"] == ["title", "badge"])
        let hub = try found(ContentReach(["apns": .all, "gcm": ContentFields(.title)]))
        #expect(
            hub.warnings == ["badge does not reach gcm: backend.body is text, or the push service has no place for it"])
        #expect(try found(ContentReach(["apns": .all, "gcm": .all])).warnings.isEmpty)
        let unknown = try found(ContentReach())
        #expect(unknown.warnings.count == 1 && unknown.warnings[0].contains("for a worker's settings to decide"))
        #expect(JSONValue.object(unknown.members)["omitted"] == nil)
    }

    @Test("More than a hundredth of invalid lines stops a start, unless more are allowed")
    func invalid() throws {
        let users = (0..<990).map { "user-\($0)" }
        let bad = (0..<10).map { "a b \($0)" }
        #expect(try found(users + bad).refusal == nil)
        let words = try #require(try found(users + bad + ["one more"]).refusal)
        #expect(words.hasPrefix("11 of 1 001 lines are invalid (1.1%); 1% may be.") && words.contains("--max-invalid"))
        #expect(try found(users + bad + ["one more"], maxInvalid: 0.02).refusal == nil)
        #expect(try found(["ann", "a b"], maxInvalid: 1).refusal == nil)
        #expect(try found(["ann", "a b"], maxInvalid: 0).refusal != nil)
        // A share of a few lines means nothing; empty lines do not count.
        for (count, isRefused) in [(1, false), (18, false), (19, true)] {
            let refusal = try found(Array(users.prefix(count)) + ["", " ", "a b"]).refusal
            #expect((refusal != nil) == isRefused, "\(count)")
        }
        #expect(try found(["ann", "ann", "ann"]).refusal == nil)
    }

    @Test("A campaign that expires before all of it is published says how many would be too late")
    func expiry() throws {
        func warnings(_ rate: Double?, _ expiresIn: Milliseconds?) throws -> [String] {
            let file = try AudienceFile("user\n" + (0..<101).map { "user-\($0)" }.joined(separator: "\n"))
            defer { file.remove() }
            var order = CampaignOrder(text: try AudienceFile.text("Hi"), topic: "bulk")
            (order.rate, order.expiresIn) = (rate, expiresIn)
            return CampaignPreview(order, try file.preview("Hi"), of: nil, at: WallTime(milliseconds: Samples.start))
                .warnings
        }
        let late = try warnings(2, .seconds(20))
        #expect(
            late == [
                "publishing takes 50 s at 2.0/s, and the events expire after 20 s: about 61 recipients would not be "
                    + "notified"
            ])
        #expect(try warnings(2, .seconds(51)) == [] && warnings(2, nil) == [] && warnings(nil, .seconds(1)) == [])
    }

    @Test("Database nulls and damaged characters cause warnings, in users and in fields")
    func doubts() throws {
        let text = "user,name\nann,NULL\nNULL,Nullmeyer\nbob,J\u{FFFD}rg\ncid,#N/A\ndan,null and void\neva,#NV\n"
        let file = try AudienceFile(text)
        defer { file.remove() }
        let order = CampaignOrder(text: try AudienceFile.text("Hi {{name}}"), topic: "bulk")
        let warnings = CampaignPreview(
            order, try file.preview("Hi {{name}}"), of: nil, at: WallTime(milliseconds: Samples.start)
        ).warnings
        #expect(
            warnings == [
                "3 recipients have what a database or spreadsheet writes for nothing in \"name\", the first in line 2: "
                    + "\"Hi NULL\"",
                "1 recipient has what a database or spreadsheet writes for nothing in \"user\", the first in line 3: "
                    + "\"NULL\"",
                "1 recipient has a damaged character (U+FFFD) in \"name\", the first in line 4: \"Hi J\u{FFFD}rg\"",
            ])
    }

    @Test("A backslash and an n are no line break: a warning says so, and they are displayed differently")
    func literalBreak() throws {
        #expect(try found(["ann"], message: #"a\nb"#).warnings.contains { $0.hasPrefix(#"\n stands as it is"#) })
        #expect(try found(["ann"], message: "a\nb").warnings.isEmpty)
        #expect(CampaignWords.oneLine("a\r\nb\nc") == "a⏎b⏎c")
    }

    @Test(
        "A message that leaves little room in a push service's payload is warned of", arguments: [3_584, 3_585, 4_096])
    func long(count: Int) throws {
        let warnings = try found(["ann"], message: String(repeating: "x", count: count)).warnings
        #expect(warnings.contains { $0.contains("APNs and FCM take 4 096") } == (count > 3_584))
    }
}

@Suite("Another audience under a campaign's name")
struct AudienceChangeTests {
    private func mark(_ users: [String]) throws -> String {
        let file = try AudienceFile("user\n" + users.joined(separator: "\n"))
        defer { file.remove() }
        return try file.preview("Hi").mark
    }

    private func change(
        from former: [String], to users: [String], published: Int, isComplete: Bool = false, inAudience: Int? = nil,
        addsPeople: Bool = false
    ) throws -> AudienceChange {
        let progress = Samples.progress(
            recipients: former.count, published: published, isComplete: isComplete, audience: try mark(former))
        let file = try AudienceFile("user\n" + users.joined(separator: "\n"))
        defer { file.remove() }
        let preview = try file.preview("Hi", after: progress)
        return AudienceChange(
            from: progress, to: preview.mark, recipients: preview.recipients, beginsWith: preview.beginsWith,
            published: (published, inAudience ?? published), addsPeople: addsPeople)
    }

    private static let former = ["ann", "bob", "cid"]

    @Test("The same people in another order are the same audience")
    func same() throws {
        #expect(try change(from: Self.former, to: ["cid", "ann", "bob"], published: 1) == .none)
    }

    @Test("People can be appended to the file at any time")
    func appended() throws {
        #expect(try change(from: Self.former, to: Self.former + ["dora"], published: 1) == .grown)
        #expect(try change(from: Self.former, to: ["bob", "ann", "ann", "cid", "dora"], published: 0) == .grown)
    }

    @Test("Once all events are published, more people can be added anywhere in the file")
    func complete() throws {
        let users = ["dora"] + Self.former
        #expect(try change(from: Self.former, to: users, published: 3, isComplete: true) == .grown)
        #expect(try change(from: Self.former, to: users, published: 3) == .replaced)
    }

    @Test("People alone are added when they are said to be, and nobody of the former audience is left")
    func added() throws {
        let users = ["dora", "eve"]
        func added(isComplete: Bool, _ users: [String]) throws -> AudienceChange {
            try change(
                from: Self.former, to: users, published: 3, isComplete: isComplete, inAudience: 0, addsPeople: true)
        }
        #expect(try added(isComplete: true, users) == .grown && added(isComplete: false, users) == .replaced)
        #expect(try added(isComplete: true, Self.former) == .none)
        let progress = Samples.progress(recipients: 3, published: 3, isComplete: true)
        #expect(AudienceChange.added(to: progress, recipients: 4, published: 2) == 2)
    }

    @Test("An audience that lacks a person of the former one replaces it")
    func replaced() throws {
        #expect(try change(from: Self.former, to: ["ann", "bob", "dora", "eve"], published: 1) == .replaced)
        #expect(try change(from: Self.former, to: ["ann", "bob"], published: 2) == .replaced)
        let users = ["ann", "bob", "dora", "eve"]
        #expect(try change(from: Self.former, to: users, published: 3, isComplete: true, inAudience: 2) == .replaced)
    }
}
