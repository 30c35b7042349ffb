import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldCampaigns

@Suite("Counting outcomes")
struct OutcomeCountTests {
    private func count(_ results: [NotificationResult]) -> OutcomeCount {
        var count = OutcomeCount()
        for result in results { count.add(result, pushServices: ["apns", "gcm"]) }
        return count
    }

    @Test("Each push service is an outcome, and an event that failed as a whole is one for each of them")
    func outcomes() throws {
        let count = count([
            try Samples.result("delivered"), try Samples.result("dead-lettered", reason: "rejected"),
            try Samples.result("dead-lettered", pns: nil, reason: "invalid"), try Samples.result("expired"),
            try Samples.result("cancelled"), try Samples.result("duplicate"),
        ])
        #expect(
            count.delivered == 1 && count.failed == 3 && count.unreached(.expired) == 1
                && count.unreached(.cancelled) == 1)
        #expect(count.known == 6, "a duplicate is no outcome of its own")
        #expect(count.duplicates == 1)
    }

    @Test("A delivered replay offsets a failure in the counts, but not in the decision to pause the campaign")
    func replays() throws {
        var results = [
            try Samples.result("delivered"), try Samples.result("dead-lettered"), try Samples.result("dead-lettered"),
            try Samples.result("expired"),
        ]
        results.append(try Samples.result("dead-lettered", replays: 1))
        #expect(count(results).failed == 2, "it failed again: nothing changes")
        results.append(try Samples.result("delivered", replays: 2))
        var counted = count(results)
        #expect(counted.delivered == 2 && counted.failed == 1 && counted.recovered == 1 && counted.known == 4)
        #expect(counted.first[.deadLettered] == 2 && counted.first[.delivered] == 1)
        for _ in 0..<9 { results.append(try Samples.result("delivered", replays: 1)) }
        counted = count(results)
        #expect(counted.delivered == 4 && counted.failed == 0 && counted.unreached(.expired) == 0 && counted.known == 4)
    }

    @Test("A snapshot in a progress record has the same counts, and its unknown members are ignored")
    func snapshot() throws {
        let count = count([
            try Samples.result("delivered"), try Samples.result("dead-lettered"),
            try Samples.result("delivered", replays: 1),
        ])
        #expect(OutcomeCount(snapshot: count.snapshot) == count)
        #expect(OutcomeCount(snapshot: ["delivered": 3, "later": 4, "expired": -5]).known == 3)
    }

    @Test("Each push service is counted by itself, unless an older version has not told them apart")
    func pushServices() throws {
        let count = count([
            try Samples.result("delivered", pns: "apns"), try Samples.result("dead-lettered", pns: "gcm"),
            try Samples.result("dead-lettered", pns: nil), try Samples.result("delivered", pns: "gcm", replays: 1),
        ])
        for count in [count, OutcomeCount(snapshot: count.snapshot)] {
            let services = try #require(count.byPushService)
            #expect(services["apns"]?.delivered == 1 && services["apns"]?.failed == 1)
            #expect(services["gcm"]?.delivered == 1 && services["gcm"]?.failed == 1 && services["gcm"]?.known == 2)
            #expect(services.count == 2)
        }
        var older = OutcomeCount(snapshot: ["delivered": 3])
        #expect(older.byPushService == nil)
        older.add(try Samples.result("delivered", pns: "apns"), pushServices: ["apns", "gcm"])
        #expect(older.byPushService == nil && older.delivered == 4)
        #expect(OutcomeCount().byPushService?.isEmpty == true)
    }

    @Test("The meter covers the last half minute, without replays and despite odd clocks")
    func meter() throws {
        var meter = OutcomeMeter()
        let now = WallTime(milliseconds: Samples.start + 60_000)
        #expect(meter.perSecond(at: now) == 0)
        for second in 0..<60 {
            for _ in 0..<10 {
                meter.add(try Samples.result("delivered", at: Samples.start + Int64(second) * 1_000), at: now)
            }
        }
        #expect(meter.perSecond(at: now) == 10)
        for _ in 0..<99 {
            meter.add(try Samples.result("delivered", replays: 1, at: now.milliseconds - 1_000), at: now)
        }
        meter.add(try Samples.result("delivered", at: Samples.start - 1_000_000), at: now)
        #expect(meter.perSecond(at: now) == 10)
        #expect(meter.perSecond(at: now.advanced(by: .seconds(90))) == 0)
    }

    @Test("The meter says nothing in the first ten seconds, and then covers the time since the first outcome")
    func earlyPace() throws {
        var meter = OutcomeMeter()
        for second in Int64(0)..<12 {
            let now = WallTime(milliseconds: Samples.start + second * 1_000)
            for _ in 0..<8 { meter.add(try Samples.result("delivered", at: now.milliseconds), at: now) }
            #expect(meter.perSecond(at: now) == (second < 10 ? nil : 8))
            #expect(meter.perSecond(at: now, since: now) == nil, "a pause has ended")
        }
    }

    @Test("Results from a clock ahead count when they are seen, and a clock that was set back traps nothing")
    func clockAhead() throws {
        var meter = OutcomeMeter()
        for second in Int64(0)..<10 {
            let now = WallTime(milliseconds: Samples.start + second * 1_000)
            for _ in 0..<5 { meter.add(try Samples.result("delivered", at: now.milliseconds + 3_600_000), at: now) }
        }
        #expect(meter.perSecond(at: WallTime(milliseconds: Samples.start + 10_000)) == 5)
        for moment in [Samples.start, Samples.start - 3_600_000, 0] {
            #expect(meter.perSecond(at: WallTime(milliseconds: moment)) == nil)
        }
    }
}

@Suite("Brokers that are silent")
struct BrokerSilenceTests {
    private func moment(_ seconds: Int64) -> WallTime { WallTime(milliseconds: Samples.start + seconds * 1_000) }

    @Test("Brokers are silent when nothing has come from them for 15 s, and a record refutes that at once")
    func silence() {
        var brokers = BrokerSilence(at: moment(0))
        #expect(!brokers.isSilent(at: moment(60)), "a user that may not read the group is told nothing")
        brokers.answered(at: moment(60), isCount: true)
        #expect(!brokers.isSilent(at: moment(74)) && brokers.isSilent(at: moment(75)))
        brokers.answered(at: moment(80))
        #expect(!brokers.isSilent(at: moment(80)) && brokers.isSilent(at: moment(95)))
        #expect(brokers.lastAnswer == moment(80))
    }
}

@Suite("The status of a campaign")
struct CampaignStatusTests {
    private func status(
        _ campaign: CampaignIndex.Campaign, _ outcomes: [String: Int] = [:], backlog: RetryBacklog.Count? = nil,
        after seconds: Int64 = 1
    ) -> CampaignStatus {
        CampaignStatus(
            campaign: campaign, count: OutcomeCount(snapshot: outcomes), backlog: backlog,
            now: WallTime(milliseconds: Samples.start + seconds * 1_000))
    }

    @Test("Each published event is known, retrying or waiting")
    func parts() {
        var backlog = RetryBacklog.Count()
        backlog.retrying = 20
        backlog.suspended = 500
        let status = status(
            Samples.campaign(progress: Samples.progress(recipients: 300, published: 100, isComplete: false)),
            ["delivered": 90, "dead-lettered": 10], backlog: backlog)
        #expect(status.total == 600 && status.published == 200 && status.unpublished == 400)
        #expect(status.retrying == 20 && status.waiting == 80 && status.suspended == 80 && !status.isFinished)
    }

    @Test("A campaign is finished when every outcome is known; a cancelled one is over without that")
    func finished() {
        #expect(status(Samples.campaign(), ["delivered": 150, "dead-lettered": 50]).isFinished)
        #expect(!status(Samples.campaign(), ["delivered": 199]).isFinished)
        #expect(!status(Samples.campaign(progress: nil), ["delivered": 199]).isFinished)
        let partly = Samples.progress(published: 100, isComplete: false)
        #expect(!status(Samples.campaign(progress: partly), ["delivered": 200]).isFinished)
        let cancelled = Samples.campaign(.cancelled, progress: partly)
        #expect(!status(cancelled, ["delivered": 200], after: 5).isOver, "its publisher may just not have seen it")
        #expect(status(cancelled, ["delivered": 100, "cancelled": 100], after: 60).isOver)
        #expect(!status(cancelled, ["delivered": 100], after: 60).isOver)
    }

    @Test("Its state is one word for every list and page: cancelled is permanent, and expired is not running")
    func names() {
        let partly = Samples.progress(published: 100, isComplete: false)
        func campaign(_ state: CampaignControl.State, _ progress: CampaignProgress?, isExpired: Bool)
            -> CampaignIndex.Campaign
        {
            var campaign = Samples.campaign(state, progress: progress)
            if isExpired { campaign.definition?.expiresAt = Samples.start + 1_000 }
            return campaign
        }
        let all = ["delivered": 150, "expired": 50]
        #expect(status(campaign(.running, partly, isExpired: false)).state == .running)
        #expect(status(campaign(.paused, partly, isExpired: false)).state == .paused)
        #expect(status(campaign(.running, Samples.progress(), isExpired: true), all).state == .finished)
        #expect(status(campaign(.cancelled, Samples.progress(), isExpired: true), all).state == .cancelled)
        for state in [CampaignControl.State.running, .paused] {
            #expect(status(campaign(state, partly, isExpired: true), after: 0).state.rawValue == state.rawValue)
            #expect(status(campaign(state, partly, isExpired: true), after: 1).state == .expired)
            #expect(status(campaign(state, nil, isExpired: true), after: 1).state == .expired)
        }
        let expired = campaign(.running, partly, isExpired: true)
        #expect(!status(expired, ["delivered": 100], after: 60).isOver, "some may still be on their way")
        #expect(status(expired, ["delivered": 100, "expired": 100], after: 60).isOver)
        #expect(status(expired, ["delivered": 100], after: 60).open == 100)
    }

    @Test("A publisher that has recorded its end is not at work, however recent the record")
    func ended() {
        for end in [nil, "interrupted", "paused"] {
            let progress = Samples.progress(published: 50, isComplete: false, end: end)
            #expect(status(Samples.campaign(progress: progress)).isPublisherAlive == (end == nil))
        }
    }

    @Test("A campaign whose publisher is gone is stopped since then; one that is paused or published is not")
    func stopped() {
        let partly = Samples.progress(recipients: 300, published: 100, isComplete: false)
        #expect(status(Samples.campaign(progress: partly), after: 19).state == .running)
        let silent = status(Samples.campaign(progress: partly), after: 21)
        #expect(silent.state == .stopped && silent.since?.milliseconds == Samples.start && !silent.isOver)
        #expect(silent.json()["state"] == "stopped" && silent.json()["by"] == nil)
        #expect(
            silent.reason
                == "nobody publishes the rest, 200 recipients; its publisher ann@web1 pid 7 is not heard of since then")
        let ended = Samples.progress(published: 99, isComplete: false, end: "interrupted")
        #expect(
            status(Samples.campaign(progress: ended)).reason
                == "nobody publishes the rest, 1 recipient; its publisher ann@web1 pid 7 has ended (interrupted)")
        var stopped = ended
        stopped.endedBy = "ben"
        #expect(
            status(Samples.campaign(progress: stopped)).reason?.hasSuffix("has ended (interrupted by ben)") == true)
        #expect(status(Samples.campaign(.paused, progress: partly), after: 60).state == .paused)
        #expect(status(Samples.campaign(), after: 60).state == .running, "all is published")
        #expect(status(Samples.campaign(progress: nil), after: 60).state == .running, "others publish its events")
    }

    @Test("People and notifications agree: no recipient is published in part, whatever was read last")
    func people() {
        let progress = Samples.progress(recipients: 300, published: 100, isComplete: false)
        let status = status(Samples.campaign(progress: progress), ["delivered": 251])
        #expect(status.publishedRecipients == 126 && status.published == 252 && status.unpublished == 348)
        #expect(status.open == 1 && status.recipientsLeft == 174 && status.json()["published"] == 126)
    }

    @Test("A fully published campaign that is declared finished is that, and its open notifications still count")
    func declaredFinished() {
        var campaign = Samples.campaign()
        campaign.control?.cause = .finished
        let status = status(campaign, ["delivered": 199])
        #expect(status.state == .finished && status.isOver && status.open == 1 && status.order?.by == "ann@web1")
        #expect(status.since?.milliseconds == Samples.start)
        campaign.progress?.isComplete = false
        #expect(!self.status(campaign, ["delivered": 199]).isFinished)
    }

    @Test("While no outcome comes it says what it waits for, and no remaining time")
    func waits() throws {
        var backlog = RetryBacklog.Count(retrying: 50)
        backlog.nextCall = WallTime(milliseconds: Samples.start + 60_000)
        var status = status(Samples.campaign(), ["delivered": 150], backlog: backlog)
        #expect(status.wait == .retries(50, next: WallTime(milliseconds: Samples.start + 60_000)))
        status.backlog?.suspended = 20
        status.backlog?.retrying = 10
        status.backlog?.suspendedUntil = WallTime(milliseconds: Samples.start + 30_000)
        #expect(status.wait == .suspended(20, until: WallTime(milliseconds: Samples.start + 30_000)))
        var meter = OutcomeMeter()
        for second in Int64(-10)...0 {
            let moment = WallTime(milliseconds: Samples.start + second * 1_000)
            meter.add(try Samples.result("delivered", at: moment.milliseconds), at: moment)
        }
        status.meter = meter
        status.campaign.control?.at = WallTime(milliseconds: Samples.start - 10_000)
        #expect(status.wait == nil && status.secondsLeft != nil, "outcomes come")
        status.trouble = "No worker runs"
        #expect(status.wait == .trouble("No worker runs") && status.secondsLeft == nil)
        #expect(CampaignWords.sentence(.trouble("No worker runs")) == "waits: no worker runs")
        #expect(status.json()["waits"]?["sentence"] == "No worker runs")
        status.campaign = Samples.campaign(.paused)
        #expect(status.wait == nil)
    }

    @Test(
        "Shares add up to 100%, and only the whole is that, and only nothing is 0%",
        arguments: [
            ([0, 10], "0.0% 100.0%"), ([1, 1, 1], "33.4% 33.3% 33.3%"), ([1, 999_999], "0.1% 99.9%"),
            ([1, 1, 999_998], "0.1% 0.1% 99.8%"), ([1_245, 600, 155], "62.2% 30.0% 7.8%"), ([0, 0], "- -"),
            ([5_885, 33, 14], "99.2% 0.6% 0.2%"), ([33, 3_000, 2_899], "0.6% 50.5% 48.9%"),
        ])
    func wholes(parts: [Int], text: String) {
        #expect(CampaignWords.shares(parts).joined(separator: " ") == text)
    }

    @Test(
        "Of many small parts none is less than a tenth of a percent, and they add up to 100%", arguments: [3, 600, 999])
    func smallParts(count: Int) {
        let tenths = CampaignWords.shares(Array(repeating: 1, count: count))
            .map { Int($0.filter(\.isNumber)) ?? 0 }
        #expect(tenths.reduce(0, +) == 1_000 && !tenths.contains(0))
    }

    @Test("The time of the last change of state is not the time of the start")
    func since() {
        let all = ["delivered": 200]
        let end = Samples.start + 700
        let told = status(Samples.campaign(progress: Samples.progress(end: "complete", finishedAt: end)), all)
        #expect(told.since?.milliseconds == end && told.order == nil && told.json()["since"] != nil)
        let untold = status(Samples.campaign(progress: Samples.progress(at: end, end: "interrupted")), all)
        #expect(untold.state == .finished && untold.since == nil && untold.json()["by"] == nil)
        let paused = status(Samples.campaign(.paused, progress: Samples.progress(isComplete: false)))
        #expect(paused.since?.milliseconds == Samples.start && paused.order?.by == "ann@web1")
    }

    @Test("The reason for which a step of the ramp waits is shown while its publisher lives")
    func rampWait() {
        let wait = RampWait(step: 2, recipients: 10, open: 1, retrying: 1, reason: .undecided)
        let progress = Samples.progress(published: 11, isComplete: false, rampWait: wait)
        #expect(status(Samples.campaign(progress: progress)).rampWait == wait)
        #expect(status(Samples.campaign(progress: progress), after: 60).rampWait == nil)
        #expect(status(Samples.campaign(.paused, progress: progress)).rampWait == nil)
        let words =
            "waits for 1 outcome (1 retrying) of step 2 of the ramp (10 recipients): if they fail, the campaign pauses; a "
            + "start with --ramp none goes on without them"
        #expect(CampaignWords.sentence(wait) == words)
        #expect(status(Samples.campaign(progress: progress)).json()["rampWait"]?["sentence"] == .string(words))
        var patient = wait
        patient.goesOnAt = Samples.start
        #expect(
            CampaignWords.lines(patient).last
                == "it continues at \(WallTime(milliseconds: Samples.start).text) without one recipient who goes on "
                + "failing; a start with --ramp none does at once")
        let record = Samples.progress(published: 11, isComplete: false, rampWait: patient)
        #expect(
            status(Samples.campaign(progress: record)).json()["rampWait"]?["goesOnAt"]
                == .string(WallTime(milliseconds: Samples.start).text))
    }

    @Test("Only a long silence is reported, with what is known about it")
    func silentOutcomes() {
        func words(_ seconds: Int, _ change: (inout OutcomeSilence.Facts) -> Void = { _ in }) -> String? {
            var facts = OutcomeSilence.Facts(length: .seconds(seconds))
            change(&facts)
            return CampaignWords.sentence(facts, open: 6_010)
        }
        #expect(words(10) == nil)
        #expect(words(60)?.hasSuffix("s: do workers run?") == true)
        let retrying = words(60) {
            $0.retries = RetryBacklog.Count()
            $0.retries?.retrying = 6_000
            $0.retries?.suspended = 500
            $0.isAsked = true
        }
        #expect(
            retrying?.hasSuffix("s: 6 000 of 6 010 open are retrying; 10 are suspended") == true, "\(retrying ?? "")")
        let absent = words(60) { ($0.isAsked, $0.trouble) = (true, "No worker runs in the group herald: it waits.") }
        #expect(absent?.hasSuffix("s: no worker runs in the group herald: it waits.") == true)
        #expect(
            words(60) { $0.isAsked = true }?.hasSuffix("s: workers run; herald doctor says whether they deliver")
                == true)
    }

    @Test(
        "A share is the same wherever it is shown, and is never rounded to all or nothing",
        arguments: [
            (0, 10, "0.0%"), (1, 3, "33.3%"), (2, 3, "66.7%"), (999_999, 1_000_000, "99.9%"), (10, 10, "100.0%"),
            (1, 1_000_000, "0.1%"), (0, 0, "-"),
        ])
    func shares(part: Int, whole: Int, text: String) {
        #expect(CampaignWords.share(part, of: whole) == text)
    }

    @Test("A silent publisher counts as absent, and no remaining time is shown")
    func silence() throws {
        let campaign = Samples.campaign(progress: Samples.progress(published: 50, isComplete: false))
        var meter = OutcomeMeter()
        for second in Int64(0)..<30 {
            let moment = WallTime(milliseconds: Samples.start + second * 1_000)
            for _ in 0..<5 { meter.add(try Samples.result("delivered", at: moment.milliseconds), at: moment) }
        }
        var status = status(campaign, ["delivered": 100], after: 10)
        status.meter = meter
        #expect(status.isPublisherAlive && status.secondsLeft.map { ($0 * 5).rounded() } == 100)
        status.now = WallTime(milliseconds: Samples.start + 21_000)
        #expect(!status.isPublisherAlive && status.secondsLeft == nil)
        status.now = WallTime(milliseconds: Samples.start + 10_000)
        status.campaign.progress?.rampWait = RampWait(step: 1, recipients: 50, open: 1, reason: .undecided)
        #expect(status.secondsLeft == nil)
        status.campaign.progress?.rampWait = nil
        status.campaign.progress?.at += 1_000_000
        #expect(status.isPublisherAlive, "a clock that runs ahead")
        status.campaign = Samples.campaign(.paused, progress: status.campaign.progress)
        #expect(status.secondsLeft == nil)
    }

    @Test("The remaining time is at least what the rate takes, and unknown once outcomes have ceased")
    func timeLeft() throws {
        var progress = Samples.progress(recipients: 400, published: 100, isComplete: false)
        progress.rate = 10
        var meter = OutcomeMeter()
        for second in Int64(0)..<10 {
            let moment = WallTime(milliseconds: Samples.start + second * 1_000)
            for _ in 0..<60 { meter.add(try Samples.result("delivered", at: moment.milliseconds), at: moment) }
        }
        var status = status(Samples.campaign(progress: progress), ["delivered": 200], after: 10)
        status.meter = meter
        #expect(status.perSecond == 60 && status.secondsLeft == 30)
        status.campaign.progress?.rate = nil
        #expect(status.secondsLeft == 10)
        status.now = WallTime(milliseconds: Samples.start + 14_500)
        #expect(status.secondsLeft == nil, "they have ceased")
    }

    @Test("Outcomes from before the publisher began say nothing of its pace")
    func begun() throws {
        var meter = OutcomeMeter()
        let now = WallTime(milliseconds: Samples.start + 100_000)
        for second in [75, 98, 99] {
            for _ in 0..<12 {
                meter.add(try Samples.result("delivered", at: Samples.start + Int64(second) * 1_000), at: now)
            }
        }
        var progress = Samples.progress(published: 50, isComplete: false, at: now.milliseconds)
        progress.begunAt = Samples.start + 88_000
        let status = CampaignStatus(
            campaign: Samples.campaign(progress: progress), count: OutcomeCount(), meter: meter, now: now)
        #expect(status.perSecond == 2)
    }

    @Test("A recall finds what has no outcome, published or not, in the page's numbers")
    func recall() {
        let campaign = Samples.campaign(progress: Samples.progress(recipients: 300, published: 100, isComplete: false))
        let status = status(campaign, ["delivered": 90, "suppressed": 10])
        let scope = RecallScope(status, isWhole: true)
        #expect(scope.left == status.open + status.unpublished && scope.left == 500)
        #expect(
            scope.sentences == [
                "500 notifications have no outcome yet: 100 published, 400 not. 90 delivered, 10 suppressed."
            ])
        #expect(RecallScope(status, isWhole: false).sentences[0].contains("Not all outcomes were counted"))
        let nothing = RecallScope(
            self.status(Samples.campaign(), ["delivered": 199, "suppressed": 1]), isWhole: true)
        #expect(nothing.sentences == ["0 notifications have no outcome yet. 199 delivered, 1 suppressed."])
        let unknown = RecallScope(unknownCampaign: "sprin", nearest: "spring")
        #expect(unknown.left == nil && unknown.sentences[0].contains("did you mean spring?"))
    }

    @Test("Who resumes a campaign without a publisher is told to start it again")
    func resume() {
        func consequence(end: String?, after silence: Int64 = 1_000) -> String {
            let progress = Samples.progress(published: 60, isComplete: false, end: end)
            let campaign = Samples.campaign(.paused, progress: progress)
            let now = WallTime(milliseconds: Samples.start + silence)
            return ControlPlan(.resume, CampaignStatus(campaign: campaign, count: OutcomeCount(), now: now)).consequence
        }
        #expect(consequence(end: nil).hasSuffix("go on, and 80 are still to be published by its publisher."))
        #expect(
            consequence(end: nil, after: 9_000).hasSuffix(
                "go on, and 80 are still to be published by its publisher, if that is at work: it reports every 5 s, and did "
                    + "so 9 s ago. If the campaign is stopped afterwards, start it again with the same audience; nobody is "
                    + "notified twice."))
        #expect(consequence(end: nil, after: 5_000) == consequence(end: nil))
        #expect(consequence(end: "interrupted").contains("Nobody publishes the other 80 any more"))
        #expect(consequence(end: "interrupted").contains("start it again with the same audience"))
    }
}
