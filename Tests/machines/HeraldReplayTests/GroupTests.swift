import Foundation
import HeraldEvents
import HeraldReplay
import HeraldTime
import Testing

@Suite("Groups of dead letters")
struct GroupTests {
    private func groups(
        _ field: GroupField, _ entries: [DeadLetterEntry], _ index: MarkIndex? = nil,
        _ outcomes: ReplayOutcomes = ReplayOutcomes()
    ) -> [GroupTable.Group] {
        var table = GroupTable(field)
        for entry in entries { table.add(entry, index, outcomes) }
        return table.sorted
    }

    @Test("The largest group comes first, with its first and last moment and its replays")
    func counts() throws {
        let marks = #"{"state":"replayed","job":"j","at":1,"partitions":{"2":"17"}}"#
        let resolved = #"{"state":"resolved","job":"j","at":1,"partitions":{"2":"18"}}"#
        var index = MarkIndex()
        for mark in [marks, resolved] {
            index.add(try #require(MarkRecord(decoding: Array(mark.utf8))))
        }
        let found = groups(
            .status,
            [
                SampleEntry.make(["herald-status": ""]),
                SampleEntry.make(offset: 17, ["herald-dead-lettered-at": "5000"]),
                SampleEntry.make(offset: 18, ["herald-dead-lettered-at": "3000"]),
                SampleEntry.make(offset: 19, ["herald-dead-lettered-at": "4000"]),
            ], index)
        #expect(found.map(\.name) == ["status=503", "status=none"])
        #expect(found[0].count == 3 && found[0].replayed == 1 && found[0].resolved == 1)
        #expect(found[0].first.milliseconds == 3_000 && found[0].last.milliseconds == 5_000)
        #expect(found[0].sample == "2:19", "one that is still to do")
        #expect(found[0].suggestion == "replay when the backend is well; what has expired is left out")
        #expect(found[1].suggestion == "nothing left to do")
    }

    @Test("A dead letter of two push services is in both groups")
    func pushServices() {
        #expect(groups(.pns, [SampleEntry.make()]).map(\.name) == ["pns=apns", "pns=gcm"])
        #expect(groups(.hour, [SampleEntry.make()]).map(\.name) == ["hour=2026-11-21T08"])
    }

    /// A history of calls for one push service, each with `status` or `error`.
    private static func history(_ service: String, _ ends: String...) -> String {
        let calls = ends.map { #"{"at":"2026-11-21T08:40:26.123Z","pns":"\#(service)",\#($0),"ms":12}"# }
        return "[" + calls.joined(separator: ",") + "]"
    }

    @Test("A group counts its notifications, and the open ones that may have arrived")
    func units() throws {
        var index = MarkIndex()
        index.add(
            try #require(
                MarkRecord(
                    decoding: Array(#"{"state":"resolved","job":"j","at":1,"partitions":{"2":"20"}}"#.utf8))))
        let timedOut = ["herald-history": Self.history("gcm", #""status":503"#, #""error":"timeout""#)]
        let letters = [
            SampleEntry.make(offset: 17, timedOut),
            SampleEntry.make(offset: 18, ["herald-history": Self.history("apns", #""status":504"#)]),
            SampleEntry.make(offset: 19, ["herald-history": Self.history("apns", #""error":"connection refused""#)]),
            SampleEntry.make(offset: 20, timedOut),
            // Its unanswered call was for a push service that did not fail in the end.
            SampleEntry.make(offset: 21, ["herald-history": Self.history("wns", #""error":"timeout""#)]),
            SampleEntry.make(offset: 22, ["herald-pns": "", "herald-reason": "invalid"]),
        ]
        let all = groups(.source, letters, index)
        #expect(all.map(\.count) == [6] && all.map(\.notifications) == [11] && all.map(\.mayHaveArrived) == [2])
        #expect(all[0].suggestion.contains("2 may have arrived (a call got no answer)"), "\(all[0].suggestion)")
        let services = groups(.pns, letters, index)
        #expect(services.map(\.notifications) == services.map(\.count), "each counts for its own")
        #expect(
            groups(.reason, [letters[2]])[0].suggestion
                == "replay when the backend is well; what has expired is left out")
    }

    @Test("A group of several reasons or statuses is shown as mixed, with the option that splits it")
    func mixed() throws {
        let rejected = SampleEntry.make(["herald-reason": "rejected", "herald-status": "404"])
        let letters = [
            rejected, rejected, SampleEntry.make(["herald-reason": "rejected", "herald-status": "410"]),
            SampleEntry.make(["herald-reason": "expired", "herald-status": ""]),
        ]
        let all = groups(.source, letters)[0].suggestion
        #expect(
            all.hasPrefix("mixed (3 rejected, 1 expired): split it by reason (") && all.contains("--group-by reason"))
        let byReason = groups(.reason, letters)
        #expect(byReason[0].suggestion.hasPrefix("mixed (2 with status 404, 1 with status 410): split it by status"))
        #expect(groups(.status, letters).first?.suggestion.contains("backend.path") == true)
        // Replayed and resolved letters no longer count.
        var index = MarkIndex()
        let mark = #"{"state":"resolved","job":"j","at":1,"partitions":{"2":"18"}}"#
        index.add(try #require(MarkRecord(decoding: Array(mark.utf8))))
        let rest = [rejected, SampleEntry.make(offset: 18, ["herald-reason": "invalid", "herald-status": ""])]
        #expect(groups(.source, rest, index)[0].suggestion.contains("backend.path"))
    }

    @Test("Letters with 404 of a campaign and of a push service are mixed: a wrong URL fails all alike")
    func wrongWay() {
        func letters(_ count: Int, _ pns: String, _ campaign: String = "") -> [DeadLetterEntry] {
            (0..<count).map { number in
                SampleEntry.make(
                    offset: Int64(number),
                    [
                        "herald-reason": "rejected", "herald-status": "404", "herald-pns": pns,
                        "herald-campaign": campaign,
                    ])
            }
        }
        let dead = letters(15, "apns,gcm", "oldlist")
        let service = letters(10, "wns")
        for field in [GroupField.reason, .status, .source] {
            let mixed = groups(field, dead + service)[0].suggestion
            #expect(
                mixed.hasPrefix("mixed (15 of campaign oldlist, 10 of no campaign): split it by campaign ("), "\(mixed)"
            )
        }
        let parts = groups(.campaign, dead + service).map(\.suggestion)
        #expect(parts[0].hasPrefix("see whether the backend knows the users of campaign oldlist; if others are not"))
        #expect(parts[1].hasPrefix("check wns's app, credentials and certificate in the backend; if the others"))
        // Nine letters are for one push service by chance; and all fail alike.
        for letters in [dead + letters(9, "wns"), dead + letters(20, "apns,gcm")] {
            let one = groups(.status, letters)[0].suggestion
            #expect(
                one.hasPrefix("check backend.url and backend.path if nothing is delivered; else see them by"), "\(one)")
        }
    }

    @Test(
        "An invalid event names the members that a replay can correct, and nothing else",
        arguments: [
            ("user holds a space (U+0020) as character 2", "--set user=…"), ("pns holds \"fax\"", "--set pns=…"),
            ("message is empty", "--set message=…"), ("expiresAt is no RFC 3339 date-time", ""),
        ])
    func correctable(detail: String, option: String) {
        let entry = SampleEntry.make(["herald-reason": "invalid", "herald-status": "", "herald-detail": detail])
        let suggestion = groups(.reason, [entry])[0].suggestion
        #expect(suggestion.hasPrefix("fix the producer") && suggestion.contains("--set") == !option.isEmpty)
        #expect(suggestion.hasSuffix(option), "\(suggestion)")
    }

    @Test("A campaign with the name none is distinguished from no campaign")
    func none() {
        let found = groups(.campaign, [SampleEntry.make(), SampleEntry.make(["herald-campaign": "none"])])
        #expect(Set(found.map(\.name)) == ["campaign=none", "campaign=\"none\""])
    }

    @Test("However many groups there are, a limited number is kept and the rest is counted together")
    func many() {
        let found = groups(.campaign, (0..<10_050).map { SampleEntry.make(["herald-campaign": "c\($0)"]) })
        #expect(found.count == 10_001 && found.last?.name == nil && found.last?.count == 50)
    }

    @Test(
        "The advice follows from the reason and the status",
        arguments: [
            ("malformed", "", "fix the producer"), ("rejected", "404", "backend.path"), ("rejected", "410", "resolve"),
            ("rejected", "400", "read the detail"), ("expired", "", "too late"),
            ("replays-exhausted", "503", "retry.replays"), ("time-exhausted", "503", "retry.maxElapsed"),
            ("nonsense", "", "look at the sample"),
        ])
    func suggestions(reason: String, status: String, part: String) {
        let entry = SampleEntry.make(["herald-reason": reason, "herald-status": status])
        #expect(groups(.reason, [entry])[0].suggestion.contains(part))
    }

    @Test(
        "The advice for an oversized event is limits.eventBytes, but not for a field that is too long",
        arguments: [
            ("message has 5000 bytes of UTF-8; at most 4096 are allowed", "shorten message at the producer", "limits"),
            (
                "the notification has 4097 bytes, 1 more than its push service takes; shorten data, which has 2000",
                "--set data=…", "limits"
            ),
            ("the value has 70000 bytes; at most 65536 are allowed", "raise limits.eventBytes", "4096"),
            (
                "HTTP 503; " + UnfitRetry.detail(topics: ["notifications.retry.5s"]),
                "raise max.message.bytes of notifications.retry.5s", "producer"
            ),
        ])
    func tooLarge(detail: String, part: String, other: String) {
        let entry = SampleEntry.make(["herald-reason": "oversized", "herald-status": "", "herald-detail": detail])
        let suggestion = groups(.reason, [entry])[0].suggestion
        #expect(suggestion.contains(part) && !suggestion.contains(other), "\(suggestion)")
    }
}
