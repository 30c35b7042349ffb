import HeraldEvents
import HeraldKafka
import HeraldReplay
import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldTimeline

@Suite("Explaining an event")
struct ExplanationTests {
    private func explain(
        _ steps: [TimelineStep], _ situation: Explanation.Situation = Sample.situation(), marks: MarkIndex? = nil
    ) throws -> (text: String, commands: [String]) {
        var event = try Sample.event(steps)
        if let marks { event.settleFates(marks) }
        let explanation = Explanation(of: event, situation)
        return (explanation.sentences.joined(separator: "\n"), explanation.commands)
    }

    @Test("A delivery is explained for each push service")
    func delivered() throws {
        let found = try explain([
            Sample.published(),
            Sample.settled(1, "apns") {
                $0.status = 200
                $0.attempts = 1
            },
            Sample.settled(2, "gcm", .expired),
        ])
        #expect(found.text.contains("Event order-17 for ann was published at"))
        #expect(found.text.contains("to notifications, partition 3, offset 1742, by shop."))
        #expect(found.text.contains("apns: the backend took it at \(Sample.at(1).text) (200), after 1 call."))
        #expect(found.text.contains("gcm: it expired at \(Sample.at(2).text), and was not delivered: no call could"))
        #expect(found.commands.isEmpty)
    }

    @Test("Two results of one publication are told of, one of a replay is not")
    func repeated() throws {
        let steps = [
            Sample.published(), Sample.settled(1, "apns"), Sample.settled(9, "apns"), Sample.settled(2, "gcm"),
        ]
        let found = try explain(steps)
        #expect(
            found.text.contains(
                "apns: it has 2 results (delivered at \(Sample.at(1).text), delivered at \(Sample.at(9).text)), so that it "
                    + "may have been notified again, with the same idempotency key."))
        #expect(!found.text.contains("gcm: it has"))
        let replayed = try explain([
            Sample.published(), Self.deadLettered(1, "apns"), Sample.replayed(2, 1, ["apns"]),
            Sample.settled(3, "apns", replays: 1),
        ])
        #expect(!replayed.text.contains("results ("), "\(replayed.text)")
    }

    @Test("A notification that a hub took is explained with the outcomes of its devices")
    func reported() throws {
        let taken = Sample.settled(1, "apns") { $0.backendID = "NH-1" }
        let gcm = Sample.settled(1, "gcm")
        let open = try explain([Sample.published(), taken, gcm])
        #expect(open.text.contains("is not known yet; herald feedback asks the hub"))
        let reached = try explain([
            Sample.published(), taken, gcm, Sample.reported(9, ["Success": 2, "ExpiredChannel": 1]),
        ])
        #expect(reached.text.contains("A push service took it for 2 devices; others: 1 ExpiredChannel."))
        let nobody = try explain([Sample.published(), taken, gcm, Sample.reported(9, [:], state: "NoTargetFound")])
        #expect(nobody.text.contains("It reached no device (NoTargetFound)"))
    }

    private static func deadLettered(_ second: Int64, _ service: String?, replays: Int = 0) -> TimelineStep {
        Sample.settled(second, service, .deadLettered, replays: replays) {
            $0.status = 400
            $0.reason = .rejected
            $0.attempts = 1
        }
    }

    private static let recalled = StandingWords.Said.recalled(
        Recall(at: Sample.at(500), by: "ops", reason: "wrong price"), ofCampaign: false)

    @Test("What is recalled, or opted out of, while it waits is not said to be called")
    func saidMeanwhile() throws {
        var situation = Sample.situation(now: 1_000)
        situation.said = ["apns": Self.recalled]
        let steps = [
            Sample.published(), Sample.delayed(1, until: 2_000, .quietHours), Sample.settled(1, "gcm"),
        ]
        let found = try explain(steps, situation)
        #expect(found.text.contains("apns: it waits in notifications.retry.30s until"), "\(found.text)")
        #expect(
            found.text.contains(
                "apns: it will not be called: it is recalled by ops since \(Sample.at(500).text): wrong price. It ends as "
                    + "suppressed."))
        #expect(!found.text.contains("Then it is called"))
        // Of two that wait the other one is called.
        let both = try explain(
            [Sample.published(), Sample.delayed(1, until: 2_000, .transient, ["apns", "gcm"])], situation)
        #expect(both.text.contains("Then it is called") && both.text.contains("apns: it will not be called"))
        situation.said["gcm"] = .optedOut("promotional", since: nil, by: nil)
        let unread = try explain([Sample.published()], situation)
        #expect(unread.text.contains("gcm: it will not be called: the user has opted out of promotional."))
    }

    @Test("A call that is under way is not said to be none, whatever its user says meanwhile")
    func saidDuringCall() throws {
        var situation = Sample.situation(now: 1_000)
        situation.said = ["apns": .optedOut("all", since: nil, by: nil), "gcm": .optedOut("all", since: nil, by: nil)]
        let calling = WaitReason.calling(since: Sample.at(999))
        situation.waiting.note(
            .success(
                WaitingPage(events: [
                    WaitingPage.Event(
                        id: "order-17", user: "ann", origin: "\(Sample.origin)", takenAt: Sample.at(999),
                        waits: [.init(calling, pushServices: ["apns"])])
                ])), of: Sample.origin, at: "h:1")
        let text = try explain([Sample.published()], situation).text
        #expect(!text.contains("apns: it will not be called"), "\(text)")
        #expect(text.contains("apns: that call goes on; a further one would end as suppressed, uncalled: the user has"))
        #expect(text.contains("gcm: it will not be called"), "\(text)")
    }

    @Test("Whoever has another word by now is not said to want no disturbance")
    func newWord() throws {
        let event = try Sample.event([
            Sample.published(), Sample.delayed(10, until: 2_000, .quietHours), Sample.settled(1, "gcm"),
        ])
        func newWord(_ quiet: QuietHours?, said second: Int64) -> String? {
            let entry = LastWordContext.Entry(
                preference: Preference(OptOut(), quiet: quiet, updatedAt: Sample.at(second)))
            return event.newWord(
                by: StandingWords(["ann": entry], [:], pushServices: .standard, classes: [:]))
        }
        let quiet = QuietHours(zone: "Europe/Berlin", start: 1_320, end: 420)
        #expect(newWord(quiet, said: 9) == nil)
        #expect(newWord(quiet, said: 11) == "is another one, with the quiet hours 22:00-07:00 Europe/Berlin")
        #expect(newWord(nil, said: 11) == "names no quiet hours")
        let forgotten = StandingWords([:], [:], pushServices: .standard, classes: [:])
        var situation = Sample.situation(now: 1_000)
        situation.newWord = event.newWord(by: forgotten)
        let text = Explanation(of: event, situation).sentences.joined(separator: "\n")
        #expect(
            text.contains(
                "its user did not want to be disturbed before then. By now the user's word names no quiet hours: it is looked at "
                    + "anew"), "\(text)")
    }

    @Test("A result by a broken record says so, unless the record came later")
    func brokenWord() throws {
        let steps = [
            Sample.published(), Sample.settled(1, "gcm"),
            Sample.settled(20, "apns", .suppressed) {
                $0.suppression = .optedOut
                $0.detail = "opted out of promotional"
            },
        ]
        let event = try Sample.event(steps)
        func fault(at second: Int64) -> String? {
            let entry = LastWordContext.Entry(
                preference: Preference(OptOut()), problem: "has no optOut",
                place: .init(partition: 0, offset: 7, at: Sample.at(second)))
            return event.wordFault(
                by: StandingWords(["ann": entry], [:], pushServices: .standard, classes: [:]))
        }
        #expect(event.dependsOnWords && fault(at: 21) == nil)
        var situation = Sample.situation(now: 1_000)
        situation.wordFault = fault(at: 19)
        let text = try explain(steps, situation).text
        #expect(
            text.contains(
                "apns: it was not sent, because a broken record counts as the user's opt-out of it (opted out of promotional): "
                    + "the record at partition 0, offset 7, has no optOut"), "\(text)")
    }

    @Test("A dead letter of which a replay ends as suppressed is not to be replayed")
    func saidOfLetter() throws {
        var situation = Sample.situation(now: 1_000)
        situation.said = ["apns": .optedOut("all", since: Sample.at(500), by: nil)]
        let steps = [
            Sample.published(), Self.deadLettered(1, "apns"), Sample.settled(1, "gcm"), Sample.dead(1, .rejected),
        ]
        let found = try explain(steps, situation, marks: MarkIndex())
        #expect(
            found.text.contains(
                "A replay ends as suppressed, without a call: the user has opted out of all since \(Sample.at(500).text)."
            ),
            "\(found.text)")
        #expect(!found.text.contains("replay it.") && !found.commands.contains { $0.contains("replay") })
    }

    @Test("A push service of which a retry alone tells is open when the request is gone, and a later retry")
    func lostRetryWithoutRequest() throws {
        let steps = [Sample.called(1), Sample.settled(1, "gcm"), Sample.delayed(2, until: 32)]
        let identity = TimelineBuilder.Identity(id: "order-17", user: "ann", pushServices: ["gcm"])
        let event = try Sample.event(steps, identity)
        #expect(event.open == ["apns"] && event.pushServices == ["gcm", "apns"])
        var situation = Sample.situation()
        situation.retryStanding = .init(committed: try #require(event.delay).record.offset + 1, begin: 0)
        situation.lostRetries = [Self.lost("notifications.retry.2m")]
        let text = Explanation(of: event, situation).sentences.joined(separator: " ")
        #expect(text.contains("apns: the group has passed its retry (notifications.retry.30s, partition 1, offset 9)"))
        #expect(text.contains("a later one is probably lost: 42 records of notifications.retry.2m/3"), "\(text)")
        #expect(text.contains("whether it was for further push services is not known"))
        #expect(text.contains("publish it again under another id"))
    }

    @Test("A retry whose record was deleted or passed over is lost, and is not said to be called again")
    func lostRetry() throws {
        let steps = [Sample.published(), Sample.delayed(1, until: 2_000)]
        let offset = try #require(try Sample.event(steps).delay?.record.offset)
        func explain(committed: Int64?, begin: Int64, lost: [LostSpan] = []) throws -> String {
            var situation = Sample.situation()
            situation.lostRetries = lost
            situation.retryStanding = .init(committed: committed, begin: begin)
            return try self.explain(steps, situation).text
        }
        for waiting in [try explain(committed: offset, begin: 0), try explain(committed: nil, begin: 0)] {
            #expect(waiting.contains("Then it is called"), "\(waiting)")
        }
        let deleted = try explain(committed: offset, begin: offset + 1)
        #expect(deleted.contains("was deleted before it was read; the partition begins at offset \(offset + 1)"))
        let passed = try explain(committed: offset + 1, begin: 0)
        #expect(passed.contains("the group has passed its retry"))
        let later = try explain(
            committed: offset + 1, begin: 0, lost: [Self.lost("notifications.retry.2m")])
        #expect(later.contains("a later one is probably lost: 42 records of notifications.retry.2m/3"), "\(later)")
        for lost in [deleted, passed] {
            #expect(lost.contains("It is not called any more.") || lost.contains("it is not called any more."))
            #expect(!lost.contains("Then it is called"), "\(lost)")
            #expect(lost.contains("publish it again under another id: under its own it counts as a duplicate"))
        }
    }

    @Test("What a worker has in memory is not lost, whatever was deleted, and is not to be published again")
    func lostInMemory() throws {
        func note(_ situation: inout Explanation.Situation) {
            let wait = WaitReason.retryDue(until: Sample.at(2_000))
            situation.waiting.note(
                .success(
                    WaitingPage(events: [
                        WaitingPage.Event(
                            id: "order-17", user: "ann", origin: "\(Sample.origin)", takenAt: Sample.at(3),
                            waits: [.init(wait, pushServices: ["apns"])])
                    ])), of: Sample.origin, at: "h:1")
        }
        let delayed = [Sample.published(), Sample.delayed(1, until: 2_000)]
        let offset = try #require(try Sample.event(delayed).delay?.record.offset)
        for committed in [offset, offset + 1] {
            var situation = Sample.situation()
            situation.lostRetries = [Self.lost("notifications.retry.30s")]
            situation.retryStanding = .init(committed: committed, begin: offset + 1)
            note(&situation)
            let text = try explain(delayed, situation).text
            #expect(!text.contains("publish it again") && !text.contains("lost"), "\(text)")
            #expect(text.contains("The worker at h:1 has it in memory since"), "\(text)")
        }
        // Its retry is not among what was read.
        var situation = Sample.situation()
        situation.committedOffset = 5_000
        situation.lostRetries = [Self.lost("notifications.retry.30s")]
        note(&situation)
        let text = try explain([Sample.published()], situation).text
        #expect(!text.contains("publish it again") && !text.contains("no outcome of it was found"), "\(text)")
        #expect(text.contains("The worker at h:1 has it in memory since"), "\(text)")
    }

    @Test("An event whose retry cannot be found in a partition that has lost records is probably lost")
    func lostRetryUnseen() throws {
        var situation = Sample.situation()
        situation.committedOffset = 5_000
        situation.lostRetries = [Self.lost("notifications.retry.30s")]
        let found = try explain([Sample.published()], situation)
        #expect(found.text.contains("42 records of notifications.retry.30s/3 (offsets 103 to 144)"), "\(found.text)")
        #expect(found.text.contains("where it would wait, were deleted before they were read."))
        #expect(found.commands.contains { $0.hasPrefix("herald offsets skip-lost --dry-run") })
        // The loss is known to somebody, and the cause is the same.
        situation.lostRetries[0].skip = .init(at: Sample.at(60), by: "ann@ops")
        let skipped = try explain([Sample.published()], situation)
        #expect(skipped.text.contains("and skipped by ann@ops at \(Sample.at(60).text)"), "\(skipped.text)")
        #expect(skipped.text.contains("publish it again under another id") && skipped.commands.isEmpty)
    }

    private static func lost(_ topic: String) -> LostSpan {
        LostSpan(partition: .init(topic: topic, partition: 3), offsets: 103..<145, count: 42)
    }

    @Test("Requests that were deleted unread are told by place, number, offsets and time, with what to do")
    func lostRequests() throws {
        var span = LostSpan(partition: .init(topic: "notifications", partition: 0), offsets: 231..<306, count: 75)
        (span.since, span.until) = (Sample.at(1), Sample.at(9))
        let open = try #require(TimelineSearch.sentence(ofLost: [span]))
        let what = "75 records of notifications/0 (offsets 231 to 305, written between \(Sample.at(1).text) and "
        #expect(open.hasPrefix(what + "\(Sample.at(9).text)) were deleted before they were read."), "\(open)")
        #expect(open.contains("publish it again if it is still to be sent. Before that, see herald offsets skip-lost"))
        #expect(span.mayHold(Sample.at(9)) && !span.mayHold(Sample.at(10)))
        #expect(TimelineSearch.sentence(ofLost: []) == nil)
    }

    @Test("What was skipped as lost is read from the audit, of this group alone")
    func skipped() throws {
        var entry = AuditEntry(action: AuditEntry.skipLost, phase: "done", at: Sample.at(60).text, by: "ann@ops")
        entry.selection = "herald"
        entry.options = ["notifications/0": "231-306", "notifications/1": "nonsense"]
        let spans = entry.skippedSpans(ofGroup: "herald")
        #expect(spans.map(\.offsets) == [231..<306] && spans.first?.skip?.at == Sample.at(60))
        #expect(spans.first?.partition == TopicPartition(topic: "notifications", partition: 0))
        #expect(spans.first?.mayHold(Sample.at(61)) == false)
        #expect(TimelineSearch.sentence(ofLost: spans)?.contains("skip-lost --dry-run") == false)
        #expect(entry.skippedSpans(ofGroup: "other").isEmpty)
        entry.action = "dlq.replay"
        #expect(entry.skippedSpans(ofGroup: "herald").isEmpty)
    }

    @Test("A dead letter that was corrected for another push service and delivered is not to be replayed")
    func corrected() throws {
        let steps = [
            Sample.published(), Sample.dead(2), Self.deadLettered(2, "apns"), Sample.settled(2, "gcm"),
            Sample.replayed(3, 1, ["wns"]), Sample.settled(4, "wns", replays: 1),
        ]
        let found = try explain(steps, marks: Sample.marks(#""calls":["wns"],"#))
        #expect(found.text.contains("apns: it was a dead letter since"))
        #expect(
            found.text.contains("Its dead letter was replayed for wns instead, and delivered: nothing is left to do"))
        #expect(!found.text.contains("When the cause is gone") && !found.commands.contains("herald dlq replay 2:17"))
    }

    @Test("An invalid event that was corrected and delivered is not to be published again")
    func correctedMalformed() throws {
        let steps = [
            Sample.published(), Sample.dead(2, .invalid, detail: "pns holds apnss", []), Self.deadLettered(2, nil),
        ]
        let before = try explain(steps, marks: MarkIndex())
        #expect(before.text.contains("It is no event that can be delivered: pns holds apnss. No call was made."))
        let after = try explain(
            steps + [Sample.replayed(3, 1, ["apns"]), Sample.settled(4, "apns", replays: 1)],
            marks: Sample.marks(#""calls":["apns"],"#))
        #expect(after.text.contains("apns: the backend took it"))
        #expect(after.text.contains("It was no event that can be delivered: pns holds apnss. Its dead letter was"))
        #expect(after.text.contains("replayed for apns instead, and delivered; do not publish it again."))
        #expect(!after.text.contains("No call was made") && after.commands == ["herald dlq show 2:17"])
        let unread = try explain(steps + [Sample.replayed(3, 1, ["apns"]), Sample.settled(4, "apns", replays: 1)])
        #expect(unread.text.contains("At first it was no event") && !unread.text.contains("publish it again"))
    }

    @Test("A replay that is under way, has failed again, or was resolved is explained as in the list")
    func otherFates() throws {
        let steps = [
            Sample.published(), Sample.dead(2), Self.deadLettered(2, "apns"), Sample.settled(2, "gcm"),
        ]
        let underWay = try explain(steps + [Sample.replayed(3, 1, ["apns"])], marks: Sample.marks())
        #expect(underWay.text.contains("Its dead letter was replayed."))
        let failed = try explain(
            steps + [Sample.replayed(3, 1, ["apns"]), Sample.settled(4, "apns", .expired, replays: 1)],
            marks: Sample.marks())
        #expect(failed.text.contains("apns: it expired at \(Sample.at(4).text), and was not delivered"))
        let resolved = try explain(steps, marks: Sample.marks(state: "resolved"))
        #expect(resolved.text.contains("Its dead letter was resolved."))
        #expect(!resolved.commands.contains("herald dlq replay 2:17"))
    }

    @Test("A dead letter whose call had no answer may have arrived")
    func unanswered() throws {
        let call = AttemptEntry(
            at: Sample.at(1), pushService: "apns", error: "timeout", duration: .seconds(10))
        let steps = [
            Sample.published(), TimelineStep(at: Sample.at(1), kind: .called(call), record: Sample.origin),
            Sample.dead(2), Self.deadLettered(2, "apns"), Sample.settled(2, "gcm"),
        ]
        #expect(try explain(steps, marks: MarkIndex()).text.contains("the person may have got it"))
        #expect(try !explain([steps[0]] + steps[2...], marks: MarkIndex()).text.contains("may have got it"))

        let waiting = try explain([steps[0], steps[1], Sample.delayed(2, until: 32), Sample.settled(2, "gcm")])
        #expect(waiting.text.contains("call 2 of at most 6") && waiting.text.contains("the person may have got it"))
        let delivered = try explain([steps[0], steps[1], Sample.settled(3, "apns"), Sample.settled(2, "gcm")])
        #expect(
            delivered.text.contains("Before that a call of it got no answer, so it may have come more than once"),
            "\(delivered.text)")
        #expect(!delivered.text.contains("gcm: the backend took it at \(Sample.at(2).text). Before"))
        #expect(steps[1].words.hasSuffix("; may have arrived"))
    }

    @Test("Without the state topic it names the unknown facts, and advises nothing that could notify twice")
    func unreadState() throws {
        var situation = Sample.situation()
        situation.gaps = ["this user may not use the topic state; allow Read on it"]
        let letter = [Sample.published(), Sample.dead(2), Self.deadLettered(2, "apns"), Sample.settled(2, "gcm")]
        let found = try explain(letter, situation)
        #expect(found.text.contains("Whether it was replayed or resolved already is not known"), "\(found.text)")
        #expect(found.text.contains("Do not replay it before you know that"), "\(found.text)")
        #expect(found.text.contains("Not read: this user may not use the topic state"), "\(found.text)")
        #expect(!found.text.contains("replay it.") && found.commands == ["herald dlq show 2:17"], "\(found)")

        let malformed = try explain(
            [Sample.published(), Sample.dead(2, .invalid, detail: "x", []), Self.deadLettered(2, nil)], situation)
        #expect(malformed.text.contains("is not known: the state topic was not read"), "\(malformed.text)")
        #expect(malformed.text.contains("Neither replay it nor publish it again"), "\(malformed.text)")
        #expect(malformed.text.contains("Not read:") && malformed.commands == ["herald dlq show 2:17"])

        // Its dead letter itself is gone, or was not read.
        let gone = try explain([letter[0], letter[2], letter[3]], marks: MarkIndex())
        #expect(gone.text.contains("its dead letter is not among what was read") && gone.commands.isEmpty)
    }

    @Test("A dead letter is explained with the deciding rule and the command that replays it")
    func dead() throws {
        let found = try explain(
            [
                Sample.published(), Sample.called(1, status: 400), Sample.dead(2),
                Sample.settled(2, "apns", .deadLettered) {
                    $0.status = 400
                    $0.reason = .rejected
                    $0.detail = "no such tag"
                    $0.attempts = 1
                },
                Sample.settled(2, "gcm"),
            ], marks: MarkIndex())
        #expect(found.text.contains("because the backend answered 400: no such tag."))
        #expect(found.text.contains("By backend.statuses 400 counts as rejected"))
        #expect(found.commands == ["herald dlq show 2:17", "herald dlq replay 2:17"])
        let unnamed = try explain(
            [
                Sample.published(), Sample.dead(2),
                Sample.settled(2, "apns", .deadLettered) {
                    $0.status = 403
                    $0.reason = .rejected
                },
            ], marks: MarkIndex())
        #expect(unnamed.text.contains("the backend answered 403. It is not tried again."), "\(unnamed.text)")
    }

    @Test("An event in a delay topic is explained with its reason, its moment and the next step")
    func delayed() throws {
        let found = try explain(
            [
                Sample.published(), Sample.called(1), Sample.called(2), Sample.called(3), Sample.delayed(3, until: 33),
                Sample.settled(4, "gcm"),
            ], Sample.situation(now: 10))
        #expect(found.text.contains("apns: it waits in notifications.retry.30s until \(Sample.at(33).text)"))
        #expect(
            found.text.contains(
                "because its last call failed in a way that can pass (apns was answered 503 at \(Sample.at(3).text))"))
        #expect(found.text.contains("call 4 of at most 6"))
        #expect(found.text.contains("If that fails too, it waits 30s (retry.delays)."))
        #expect(found.commands.isEmpty)
    }

    @Test(
        "An event that was told to wait is explained by the backend's answer, or its push service's hold"
    )
    func throttled() throws {
        func text(_ status: Int, _ reason: RetryReason, detail: String? = nil) throws -> String {
            try explain(
                [
                    Sample.published(), Sample.called(1, status: status),
                    Sample.delayed(2, until: 32, reason, detail: detail),
                ],
                Sample.situation(now: 10)
            ).text
        }
        let throttled = try text(429, .throttled)
        #expect(
            throttled.contains(
                "because the backend asked to wait, or bears fewer calls a second (apns was answered 429"),
            "\(throttled)")
        let detail = "apns refuses every call with status 403, and is held since 2026-11-29T16:14:59.000Z"
        let held = try text(403, .held, detail: detail)
        #expect(held.contains("because \(detail) (apns was answered 403"), "\(held)")
    }

    @Test("The time of a delivery with one call is that call's, unless the event waited between")
    func waitedBetween() throws {
        func words(_ steps: TimelineStep...) throws -> String? {
            let settled = Sample.settled(174, "apns") {
                ($0.status, $0.attempts, $0.firstAttemptAt) = (200, 1, Sample.at(2))
            }
            return try Sample.event([Sample.published()] + steps + [settled]).steps.last?.words
        }
        let held = "apns: delivered (200) with 1 call, 172 s after it was called first"
        #expect(try words(Sample.delayed(3, until: 8, .held)) == held)
        #expect(
            try words(Sample.delayed(3, until: 8, .held, ["gcm"])) == "apns: delivered (200) with 1 call in 172000 ms")
        #expect(try words() == "apns: delivered (200) with 1 call in 172000 ms")
    }

    @Test("For a moment in the past the doctor is advised, and the last call is marked as the last")
    func overdue() throws {
        let calls = (1...5).map { Sample.called(Int64($0)) }
        let found = try explain(
            [Sample.published()] + calls + [Sample.delayed(6, until: 36), Sample.settled(4, "gcm")],
            Sample.situation(now: 100))
        #expect(found.text.contains("That moment has passed."))
        #expect(found.text.contains("If that fails too, it becomes a dead letter."))
        #expect(found.text.contains("Whether a worker runs is not known (nobody was asked): "))
        #expect(found.commands == ["herald doctor --only kafka"])
    }

    @Test("An event of a paused campaign is explained with the author of the pause, and the way to resume it")
    func pausedCampaign() throws {
        var identity = Sample.identity
        identity.campaign = "spring"
        var situation = Sample.situation()
        situation.campaign = CampaignControl(state: .paused, at: Sample.at(5), by: "eve", reason: "wrong text")
        let event = try Sample.event(
            [Sample.published(), Sample.delayed(6, until: 36, .paused, ["apns", "gcm"])], identity)
        let explanation = Explanation(of: event, situation)
        let words = "was paused at \(Sample.at(5).text) by eve (wrong text)"
        #expect(explanation.sentences.contains { $0.contains(words) })
        #expect(explanation.commands == ["herald campaign resume spring"])
    }

    @Test("An event of a loud user is explained with the number of events before it")
    func behindUser() throws {
        let detail = "behind 14312 earlier events of this user"
        let event = try Sample.event(
            [Sample.published(), Sample.delayed(6, until: 36, .blocked, detail: detail)], Sample.identity)
        let explanation = Explanation(of: event, Sample.situation())
        #expect(explanation.sentences.contains { $0.hasSuffix(", \(detail).") })
    }

    @Test("An unconsumed event is explained with the number of records before it")
    func behind() throws {
        let found = try explain([Sample.published()], Sample.situation(committed: 1_700))
        #expect(found.text.contains("apns, gcm: there is no outcome yet. At most 42 records are before it"))
        #expect(found.commands == ["herald doctor --only kafka"])
        let nobody = try explain([Sample.published()], Sample.situation(committed: nil))
        #expect(nobody.text.contains("has committed nothing in its partition. Whether a worker runs is not known"))
    }

    @Test(
        "A wait for a worker is explained with the findings about the workers, and no more",
        arguments: [
            (
                .found([WorkerSurvey.noWorker(in: "g")]), "No worker runs in the group g, and what is published waits",
                "systemctl status herald"
            ),
            (
                .found([
                    Finding(outage: "x", "the backend answers 401", step: "look", command: ["herald", "send", "a b"])
                ]), "The backend answers 401: look.", "herald send 'a b'"
            ),
            (.delivering(address: "h:1"), "says that it delivers: it may be calling it just now", nil),
            (
                .unknown("no answer"), "Whether a worker runs is not known (no answer): see what of name",
                "herald doctor --only kafka"
            ),
        ] as [(Explanation.Workers, String, String?)])
    func workers(_ workers: Explanation.Workers, _ words: String, _ command: String?) throws {
        var situation = Sample.situation(committed: 1_742)
        situation.workers = workers
        let found = try explain([Sample.published()], situation)
        #expect(found.text.contains(words), "\(found.text)")
        #expect(found.commands == [command].compactMap { $0 })
        #expect(found.text.contains("just now") == (command == nil), "\(found.text)")
    }

    @Test("Its worker's reason for waiting is given, with the remedy, and silent workers are named")
    func waiting() throws {
        let reason = WaitReason.outage(cause: "tls", since: Sample.at(3), nextProbe: nil)
        let held = WaitingPage.Event(
            id: "e", user: "ann", origin: "\(Sample.origin)", takenAt: Sample.at(2),
            waits: [WaitingPage.Wait(reason, pushServices: ["apns", "gcm"])])
        var situation = Sample.situation(committed: 1_742)
        situation.workers = .delivering(address: "h:1")
        situation.waiting.note(.success(WaitingPage(events: [held])), of: Sample.origin, at: "h:1")
        situation.waiting.note(.failure(.init(reason: "no answer")), of: Sample.origin, at: "h:2")
        let found = try explain([Sample.published()], situation)
        #expect(found.text.contains("The worker at h:1 has it in memory since \(Sample.at(2).text)."), "\(found.text)")
        #expect(found.text.contains("apns, gcm: it waits for the end of the tls outage"), "\(found.text)")
        #expect(found.text.contains("The worker at h:2 was not heard (no answer)."), "\(found.text)")
        #expect(found.commands == ["herald doctor"] && !found.text.contains("just now"))
        let json = try Explanation(of: Sample.event([Sample.published()]), situation).json
        #expect(json["waiting"]?["worker"] == "h:1" && json["unheardWorkers"] != nil)
    }

    @Test("An event that no worker has is reported as such, unless a lane was silent")
    func notInMemory() throws {
        var situation = Sample.situation(committed: 1_742)
        situation.workers = .delivering(address: "h:1")
        situation.waiting.note(.success(WaitingPage(events: [])), of: Sample.origin, at: "h:1")
        let found = try explain([Sample.published()], situation)
        #expect(found.text.contains("No worker has it in memory at this moment."), "\(found.text)")
        var silent = Sample.situation(committed: 1_742)
        silent.waiting.note(.success(WaitingPage(events: [], silentLanes: [1])), of: Sample.origin, at: "h:1")
        let unknown = try explain([Sample.published()], silent).text
        #expect(unknown.contains("(lane 1 did not answer)") && !unknown.contains("No worker has it"), "\(unknown)")
    }

    @Test("A dead letter planned in a job names the job, and the reason for its wait")
    func planned() throws {
        var situation = Sample.situation()
        let reason = JobWaitReason.turn(ahead: 3, doing: "is paused by bob")
        situation.planned = .init(job: "replay-7", wait: WaitingPage.Wait(reason))
        let steps = [Sample.published(), Sample.dead(2), Self.deadLettered(2, "apns"), Sample.settled(2, "gcm")]
        let found = try explain(steps, situation, marks: MarkIndex())
        #expect(
            found.text.contains(
                "Its dead letter is planned in job replay-7: it waits for its turn behind at most 3 others; the job is "
                    + "paused by bob."), "\(found.text)")
        #expect(found.commands == ["herald dlq show 2:17"] && !found.text.contains("replay it"), "\(found)")
    }

    @Test("Unread data is named where a fact is unknown")
    func gaps() throws {
        var situation = Sample.situation()
        situation.gaps = ["other partitions", "what was recorded before noon"]
        let open = try explain([Sample.published()], situation)
        #expect(open.text.hasSuffix("Not read: other partitions; what was recorded before noon."))
        let whole = try explain([Sample.published(), Sample.settled(1, "apns"), Sample.settled(1, "gcm")], situation)
        #expect(!whole.text.contains("Not read"))
        let late = try explain([Sample.settled(1, "apns"), Sample.settled(1, "gcm")], situation)
        #expect(late.text.contains("at a time that is not among what was read") && late.text.contains("Not read"))
    }

    @Test("A consumed event whose result is gone does not count as waiting")
    func forgotten() throws {
        let found = try explain([Sample.published()], Sample.situation(committed: 1_743))
        #expect(found.text.contains("the group has passed it, and no outcome of it was found"))
    }

    @Test("An undecodable record is explained with its mistake")
    func malformed() throws {
        let found = try explain([
            Sample.published(), Sample.dead(1, .malformed), Sample.settled(1, nil, .deadLettered),
        ])
        #expect(found.text.contains("It is no event that can be delivered: no such tag."))
        #expect(found.commands == ["herald dlq show 2:17"])
    }

    @Test("The cause of an expiry comes from the result, or from the moments")
    func expired() throws {
        func text(_ detail: String?, expiresAt: Int64) throws -> String {
            let result = Sample.settled(40, "apns", .expired) {
                $0.attempts = 4
                $0.detail = detail
            }
            return try explain(
                [Sample.published(expiresAt: Sample.at(expiresAt)), result, Sample.settled(1, "gcm")]
            ).text
        }
        let said = "its next call would have come after its expiresAt; last: HTTP 503"
        #expect(
            try text(said, expiresAt: 60).contains(
                "apns: it expired at \(Sample.at(40).text), after 4 calls, and was not delivered: \(said)."))
        #expect(
            try text(nil, expiresAt: 60).contains(
                "its next call would have come after its expiresAt, \(Sample.at(60).text)."))
        #expect(try text(nil, expiresAt: 40).contains("its expiresAt, \(Sample.at(40).text), had passed."))
    }

    @Test("After a call the expiry decides: a shorter delay, or no more calls")
    func nextCallBeforeExpiry() throws {
        func text(_ expiresAt: Int64) throws -> String {
            try explain(
                [
                    Sample.published(expiresAt: Sample.at(expiresAt)), Sample.called(1), Sample.called(2),
                    Sample.called(3),
                    Sample.called(4), Sample.delayed(4, until: 34), Sample.settled(4, "gcm"),
                ], Sample.situation(now: 10)
            ).text
        }
        #expect(
            try text(334).contains(
                "it waits 150 s, a part of the time that is left: 5m (retry.delays) ends behind its expiresAt."))
        #expect(try text(335).contains("it waits 5m (retry.delays)."))
        #expect(try text(39).contains("it ends as expired, because no delay ends before its expiresAt."))
        let never = try text(34)
        #expect(never.contains("comes first: it ends as expired") && !never.contains("called again"), "\(never)")
    }

    @Test("The time limit for all calls ends an event that would otherwise be called again")
    func longestTime() throws {
        func text(_ until: Int64) throws -> String {
            let steps = [
                Sample.published(), Sample.called(0), Sample.delayed(1, until: until), Sample.settled(4, "gcm"),
            ]
            return try explain(steps, Sample.situation(now: 10)).text
        }
        #expect(try text(3_595).contains("If that fails too, it waits 5s (retry.delays)."))
        #expect(try text(3_596).contains("If that fails too, it becomes a dead letter, because a later call"))
    }

    @Test("An uncalled event is not reported as called again, and one that never will be called is named so")
    func firstCall() throws {
        let waits = Sample.delayed(6, until: 500, .notBefore, ["apns", "gcm"])
        let later = try explain([Sample.published(notBefore: Sample.at(500)), waits], Sample.situation(now: 10)).text
        #expect(
            later.contains("Then it is called: call 1 of at most 6 for each push service. If that fails, it waits 5s"),
            "\(later)")
        #expect(!later.contains("again:") && !later.contains("too"), "\(later)")

        let published = Sample.published(notBefore: Sample.at(500), expiresAt: Sample.at(400))
        for steps in [[published], [published, waits]] {
            let never = try explain(steps, Sample.situation(now: 10)).text
            #expect(
                never.contains("It is never called: its notBefore, \(Sample.at(500).text), is not before its expiresAt")
            )
            #expect(!never.contains("Then it is called"), "\(never)")
        }
    }

    @Test("An event in a delay topic without a worker is reported as such")
    func delayedWithoutWorker() throws {
        var situation = Sample.situation(now: 10)
        situation.workers = .found([WorkerSurvey.noWorker(in: "g")])
        let found = try explain(
            [Sample.published(), Sample.delayed(6, until: 36), Sample.settled(1, "gcm")], situation)
        #expect(found.text.contains("No worker runs in the group g, and what is published waits"), "\(found.text)")
        #expect(found.commands == ["systemctl status herald"])
    }

    @Test("A publisher's deviation from the contract is reported")
    func publisherFault() throws {
        var identity = Sample.identity
        identity.fault = .keyNotUser
        let event = try Sample.event([Sample.published()], identity)
        let text = Explanation(of: event, Sample.situation()).sentences.joined(separator: "\n")
        #expect(
            text.contains("Its record has a key that is not its user: a user's events may lie in several partitions"))
        #expect(text.contains("For later ones, have their publisher set the event's user as the key."), "\(text)")
        #expect(event.json["publisherFault"] == "key-not-user")
    }

    @Test("An expiry is reported, past or to come")
    func expiry() throws {
        let steps = [Sample.published(expiresAt: Sample.at(500)), Sample.delayed(6, until: 36)]
        #expect(try explain(steps, Sample.situation(now: 10)).text.contains("is not sent any more (its expiresAt)"))
        #expect(try explain(steps, Sample.situation(now: 900)).text.contains("it ends as expired"))
    }

    @Test("A replay from a dead-letter topic of others does not count as published there")
    func foreign() throws {
        var situation = Sample.situation()
        situation.isForeign = true
        situation.gaps = ["some"]
        let explanation = Explanation(
            of: try Sample.event([Sample.replayed(1, 1, ["apns"]), Sample.settled(2, "apns", replays: 1)]), situation)
        let first = try #require(explanation.sentences.first)
        #expect(first.contains("comes from a record of a topic that is no request topic, and was replayed"), "\(first)")
        #expect(!first.contains("published"), "\(first)")
    }

    @Test("Commands name the given settings file")
    func settingsFile() throws {
        var situation = Sample.situation()
        situation.configuration = "my herald.yaml"
        var event = try Sample.event([Sample.published(), Sample.settled(1, "apns", .deadLettered), Sample.dead(2)])
        event.settleFates(MarkIndex())
        let commands = Explanation(of: event, situation).commands
        #expect(commands.contains("herald dlq replay 2:17 --config 'my herald.yaml'"), "\(commands)")
    }
}
