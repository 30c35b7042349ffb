import Foundation
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools
import TestSupport
import Testing

@testable import HeraldCampaigns

@Suite("Whom a campaign leaves out")
struct ExclusionTests {
    private let ids = RecipientIDs(campaign: "spring")

    private func id(_ user: String) -> RecipientID { ids.id(of: Array(user.utf8).span.bytes) }

    /// Who of these is left out by files of these texts, in this order, and what was read.
    private func read(
        _ texts: [String], form: AudienceForm = AudienceForm()
    ) throws -> FoundExclusions {
        let files = try texts.map { try AudienceFile($0, name: "last.csv") }
        defer { for file in files { file.remove() } }
        let directory = FileManager.default.temporaryDirectory.path
        let wish = try ExclusionWish(
            files: files.map {
                try ExclusionFile(
                    SpooledFile(path: $0.path, copyingInto: directory), name: $0.path, form: form,
                    copyingInto: directory)
            }, campaigns: [], deliveredWithin: nil, of: "spring")
        return try #require(try wish.readFiles(of: "spring", users: .tag))
    }

    private func preview(
        _ text: String, without found: FoundExclusions, after former: CampaignProgress? = nil
    ) throws -> AudiencePreview {
        let file = try AudienceFile(text)
        defer { file.remove() }
        var recipients = RecipientSet()
        return try #require(
            try AudiencePreview(
                file.open(), AudienceFile.text("Hi"), expiresAt: nil, marking: &recipients,
                into: InvalidLines(path: file.invalidPath), after: former, leavingOut: found.forPreview,
                onProgress: { _ in true }))
    }

    // MARK: Files

    @Test(
        "A file of those who are left out is read as an audience is, in the audience's column or in user",
        arguments: [
            ("user\nann\nbob\n", nil), ("user;x\r\nann;1\r\nbob;2", nil), ("\u{FEFF}x,user\n1, ann \n2,bob\n\n", nil),
            ("E-Mail\nann\nbob\n", "E-Mail"), ("user\nann\nbob\n", "E-Mail"), ("user\nbob\nann\n", nil),
            ("{\"user\":\"ann\"}\n{\"user\":\"bob\"}\n", nil),
        ])
    func forms(text: String, column: String?) throws {
        let found = try read([text], form: AudienceForm(userColumn: column))
        #expect(found.people.count == 2 && found.people.reason(for: id("ann")) == 0)
        #expect(found.people.reason(for: id("cid")) == nil)
        #expect(found.record.files == (try read(["user\nann\nbob"])).record.files, "however it is written")
        #expect(found.record.words == "excluded by last.csv" && found.notes.isEmpty)
    }

    @Test("Lines that are no users are said, and a file without any user is refused")
    func wrong() throws {
        #expect(try read(["user\nann\nb b\n"]).notes == ["1 line of last.csv is no user and leaves nobody out"])
        #expect(failure { try read(["user\n"]) } == "\"last.csv\" has no users who could be left out")
        #expect(failure { try read([""]) }.contains("last.csv"))
        #expect(failure { try read(["name\nann\n"]) }.contains("the audience has no column user"))
    }

    @Test("Each line of the audience counts once, a person for the first reason")
    func sums() throws {
        let found = try read(["user\nann\nbob\nzoe\n", "user\nbob\ncid\n"])
        let preview = try preview("user\nann\nbob\nann\ncid\ndan\nx y\n\neve\n", without: found)
        #expect(preview.recipients == 2 && preview.excludedFor == [2, 1])
        #expect(preview.repeats == 1 && preview.invalid == 1 && preview.emptyLines == 1)
        var order = CampaignOrder(text: try AudienceFile.text("Hi"), topic: "t")
        order.exclusions = found.record
        let whole = CampaignPreview(order, preview, of: nil, at: WallTime(milliseconds: Samples.start))
        #expect(
            whole.lineSum
                == "8 lines = 2 recipients + 2 excluded by last.csv + 1 excluded by last.csv + 1 repeat + 1 invalid line + 1 empty line"
        )
        #expect(preview.mark == (try self.preview("user\neve\ndan\n", without: FoundExclusions())).mark)
        #expect(whole.warnings.isEmpty)
    }

    @Test("A reason that leaves nobody out is a warning, and an audience of which nobody remains is refused")
    func nobody() throws {
        let found = try read(["user\nzoe\n", "user\nann\nbob\n"])
        var order = CampaignOrder(text: try AudienceFile.text("Hi"), topic: "t")
        order.exclusions = found.record
        let preview = CampaignPreview(
            order, try preview("user\nann\nbob\n", without: found), of: nil,
            at: WallTime(milliseconds: Samples.start))
        #expect(preview.warnings == ["nobody of the audience is in last.csv"])
        #expect(preview.nobodyRemains?.hasPrefix("nobody remains: all 2 people of the audience are left out") == true)
    }

    @Test("A campaign does not leave out its own people")
    func itself() {
        #expect(
            failure {
                try ExclusionWish(files: [], campaigns: ["a", "a"], deliveredWithin: nil, of: "spring").campaigns
            }
                == "nothing was thrown")
        #expect(
            failure { try ExclusionWish(files: [], campaigns: ["spring"], deliveredWithin: nil, of: "spring") }
                .contains("cannot leave out who was delivered by itself"))
    }

    // MARK: Results

    @Test("Who was delivered is left out, by results between two offsets, whatever comes later")
    func delivered() throws {
        var exclusions = CampaignExclusions()
        (exclusions.campaigns, exclusions.resultStarts, exclusions.resultEnds) = (["winter"], ["0": 10], ["0": 20])
        (exclusions.deliveredWithin, exclusions.deliveredSince) = (1_000, Samples.start)
        let delivered = DeliveredPeople(exclusions, campaign: "spring")
        func reason(
            _ outcome: String = "delivered", campaign: String = "winter", at offset: Int64 = 10, partition: Int32 = 0,
            before: Int64 = 0
        ) throws -> Int? {
            var people = ExcludedPeople()
            var result = try Samples.result(outcome, user: "ann")
            result.campaign = campaign
            result.completedAt = WallTime(milliseconds: Samples.start - before)
            delivered.add(result, partition: partition, offset: offset, to: &people)
            return people.reason(for: id("ann"))
        }
        #expect(try reason() == 0 && reason(at: 19) == 0 && reason(before: 9_999) == 0)
        #expect(try reason(at: 9) == nil && reason(at: 20) == nil && reason(partition: 1) == nil)
        #expect(try reason(campaign: "other") == 1 && reason(campaign: "other", before: 1) == nil)
        #expect(try reason("dead-lettered") == nil && reason("expired") == nil)
    }

    @Test("The first reason counts, in whatever order results come")
    func first() {
        var people = ExcludedPeople()
        for number in [2, 1, 3] { people.add(id("ann"), for: number) }
        #expect(people.count == 1 && people.reason(for: id("ann")) == 1)
        people.add(id("bob"), for: ExcludedPeople.mostReasons - 1)
        #expect(people.reason(for: id("bob")) == ExcludedPeople.mostReasons - 1)
    }

    // MARK: A campaign

    private func exclusions(_ campaigns: [String], end: Int64 = 5) -> CampaignExclusions {
        var exclusions = CampaignExclusions()
        (exclusions.campaigns, exclusions.resultStarts, exclusions.resultEnds) = (campaigns, ["0": 0], ["0": end])
        return exclusions
    }

    @Test("Who is left out is not published, and the campaign's records say how many they are")
    func published() throws {
        let bench = try CampaignBench(6) { $0.exclusions = exclusions(["winter"]) }
        bench.excluded = ["user1", "user4"]
        #expect(bench.run(bench.start()) == .complete)
        #expect(bench.published == ["user0", "user2", "user3", "user5"])
        #expect(bench.campaign?.definition?.exclusions == exclusions(["winter"]))
        #expect(bench.campaign?.progress?.excluded == [2] && bench.campaign?.progress?.recipients == 4)
        let campaign = try #require(bench.campaign)
        #expect(CampaignWords.excluded(campaign) == "2 people left out: 2 delivered by winter")
        #expect(
            CampaignStatus(campaign: campaign, count: OutcomeCount(), now: bench.moment.wall).json().compact.contains(
                #""excluded":2,"excludedFor":[{"reason":"delivered by winter","people":2}]"#))
    }

    @Test("A start with the same people left out goes on; with others, or with none, it is refused")
    func again() throws {
        let bench = try CampaignBench(6) { $0.exclusions = exclusions(["winter"]) }
        bench.excluded = ["user1", "user4"]
        bench.run(bench.start())
        #expect(bench.run(bench.start()) == .complete && bench.published.count == 4)
        for (other, words) in [
            (
                exclusions(["autumn"]),
                "it leaves people out (delivered by winter), and this start others (delivered by autumn)"
            ),
            (nil, "it leaves people out (delivered by winter), and this start nobody"),
            (exclusions(["winter"], end: 6), "it was started since it was found whom this start leaves out"),
        ] as [(CampaignExclusions?, String)] {
            bench.order.exclusions = other
            bench.excluded = []
            guard case .failed(let failure)? = bench.run(bench.start()) else {
                Issue.record("it is not refused: \(words)")
                continue
            }
            #expect(failure.description.contains(words), "\(failure)")
        }
        #expect(bench.published.count == 4)
    }

    @Test("Where results are deleted that have left people out, no other audience is published")
    func cut() throws {
        let bench = try CampaignBench(6) { $0.exclusions = exclusions(["winter"]) }
        bench.excluded = ["user1", "user4"]
        bench.run(bench.start())
        bench.order.lacksResults = true
        #expect(bench.run(bench.start()) == .complete)
        bench.excluded = ["user1"]
        guard case .failed(let failure)? = bench.run(bench.start()) else {
            Issue.record("it is not refused")
            return
        }
        #expect(failure.description.contains("with --exclude-campaign spring"), "\(failure)")
    }

    @Test("Before its moment a start finds anew whom it leaves out, and from then on it stays")
    func scheduled() throws {
        let moment = WallTime(milliseconds: Samples.start).advanced(by: .seconds(60))
        let bench = try CampaignBench(3) {
            $0.start = .at(CampaignStart(at: moment, offset: 0))
            $0.exclusions = exclusions(["winter"])
        }
        bench.excluded = ["user1"]
        bench.pass(1_000, bench.start())
        #expect(bench.order.frozenExclusions(of: bench.campaign, at: bench.moment.wall) == nil)
        bench.order.replaces = bench.campaign?.definition
        bench.order.exclusions = exclusions(["winter"], end: 9)
        bench.excluded = ["user1", "user2"]
        let second = bench.start()
        bench.pass(1_000, second)
        #expect(bench.campaign?.definition?.exclusions?.resultEnds == ["0": 9])
        bench.pass(60_000, second)
        #expect(bench.published == ["user0"])
        #expect(
            bench.order.frozenExclusions(of: bench.campaign, at: bench.moment.wall) == exclusions(["winter"], end: 9))
    }

    // MARK: The report

    private func list(isComplete: Bool, published: [String]) throws -> (text: String, sum: String) {
        let bench = try CampaignBench(0) { $0.exclusions = exclusions(["winter"]) }
        bench.audience = ["ann", "bob", "cid", "dan"]
        bench.excluded = ["bob", "dan"]
        bench.run(bench.start())
        var progress = try #require(bench.campaign?.progress)
        var mark = AudienceMark()
        for user in bench.excluded { mark.add(id(user)) }
        (progress.excludedMark, progress.isComplete) = (mark.text, isComplete)
        let file = try AudienceFile("user\nann\nbob\ncid\ndan\nann\n")
        defer { file.remove() }
        let definition = try #require(bench.campaign?.definition)
        let report = CampaignReport(definition, now: bench.moment.wall)
        var list = UnreachedList(report.people, pushServices: definition.pns)
        var text = ""
        let sum = try list.write(
            try UnreachedAudience(try file.open(), definition, progress, users: .tag), delimiter: ",",
            to: { text += $0 },
            known: { list, body in
                for user in published { if let entry = list.entry(published: user) { try body(entry) } }
            })
        return (text, try #require(sum).sentence("users.csv"))
    }

    @Test("A list of who was not reached has those who are left out, as such once all others are published")
    func report() throws {
        let whole = try list(isComplete: true, published: ["ann", "cid"])
        let rows = whole.text.components(separatedBy: "\r\n")
        #expect(rows[2].hasPrefix("bob,excluded,apns") && rows[4].hasPrefix("dan,excluded,apns"), "\(whole.text)")
        #expect(rows[1].hasPrefix("ann,no outcome yet"), "\(whole.text)")
        #expect(
            whole.sum
                == "users.csv has 5 lines: 0 people were reached, 2 were not; 2 were left out, 1 repeats a person.")
        let part = try list(isComplete: false, published: ["ann"])
        #expect(part.text.contains("bob,never published or excluded,apns"), "\(part.text)")
    }
}
