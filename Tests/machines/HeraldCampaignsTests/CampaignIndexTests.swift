import HeraldCampaigns
import HeraldEvents
import HeraldTime
import Testing

@Suite("The index of the campaigns topic")
struct CampaignIndexTests {
    @Test("The four kinds of records make a campaign, and the last of each counts")
    func records() throws {
        var index = CampaignIndex()
        index.add(key: Samples.bytes("spring/definition"), value: Samples.json(Samples.definition()), place: "0:0")
        #expect(index.campaign("spring")?.state == .running, "nobody has said anything")
        index.add(
            key: Samples.bytes("spring/progress"), value: Samples.json(Samples.progress(published: 1)), place: "0:1")
        index.add(
            key: Samples.bytes("spring/progress"), value: Samples.json(Samples.progress(published: 2)), place: "0:2")
        index.add(key: Samples.bytes("spring"), value: Samples.control(.paused).encoded(), place: "0:3")
        let campaign = try #require(index.campaign("spring"))
        #expect(campaign.progress?.published == 2 && campaign.state == .paused)
        #expect(campaign.definition?.resultStarts == [0: 7, 1: 0] && campaign.progress?.resultStarts == [0: 9])
        #expect(index.names == ["spring"] && index.damages.isEmpty)
    }

    @Test("A cancellation overrides every later record until it is removed")
    func cancellation() {
        var index = CampaignIndex()
        index.add(
            key: CampaignControl.cancellationKey(of: "spring"), value: Samples.control(.cancelled).encoded(),
            place: "0:0")
        index.add(key: Samples.bytes("spring"), value: Samples.control(.running).encoded(), place: "0:1")
        #expect(index.campaign("spring")?.state == .cancelled)
        index.add(key: CampaignControl.cancellationKey(of: "spring"), value: nil, place: "0:2")
        #expect(index.campaign("spring")?.state == .running)
    }

    @Test(
        "Damaged and foreign records are reported and change nothing",
        arguments: [
            ("", "{}"), ("two words", "{}"), ("a/b", "{}"), ("spring/other", "{}"), ("spring", "{"),
            ("spring", #"{"state":"sleeping","at":"2026-11-21T08:40:26Z"}"#), ("spring/definition", "{}"),
            ("spring/definition", "[1]"), ("spring/progress", #"{"recipients":-1}"#), ("\u{1B}[2J/definition", "x"),
            ("spring/cancelled", ""),
        ])
    func damage(key: String, value: String) {
        var index = CampaignIndex()
        let whole = Samples.campaign(.paused)
        index.add(key: Samples.bytes("spring/definition"), value: Samples.json(Samples.definition()), place: "0:0")
        index.add(key: Samples.bytes("spring/progress"), value: Samples.json(Samples.progress()), place: "0:1")
        index.add(key: Samples.bytes("spring"), value: Samples.control(.paused).encoded(), place: "0:2")
        index.add(key: Samples.bytes(key), value: Samples.bytes(value), place: "0:3")
        #expect(index.campaign("spring") == whole)
        #expect(index.names == ["spring"])
        #expect(index.damages.map(\.place) == ["0:3"] && index.damages.map(\.key) == [key])
    }

    @Test("A definition with another name, without push services or with meaningless numbers is ignored")
    func unsound() {
        var wrong: [CampaignDefinition] = [Samples.definition("autumn"), Samples.definition(pns: [])]
        for key in ["-1", "x", "01", "99999999999"] {
            var definition = Samples.definition()
            definition.resultOffsets = [key: 1]
            wrong.append(definition)
        }
        var negative = Samples.definition()
        negative.requestOffsets["0"] = -1
        wrong.append(negative)
        for moment in [-1, Int64.max] {
            var (started, expiring) = (Samples.definition(), Samples.definition())
            started.startedAt = moment
            expiring.expiresAt = moment
            wrong += [started, expiring]
        }
        for rate in [0, -1, 1e-300, 1e300] {
            var definition = Samples.definition()
            definition.rate = rate
            wrong.append(definition)
        }
        for ramp in [[0], [1, -5], [Int.max, Int.max]] {
            var definition = Samples.definition()
            definition.ramp = ramp
            wrong.append(definition)
        }
        for definition in wrong {
            var index = CampaignIndex()
            index.add(key: Samples.bytes("spring/definition"), value: Samples.json(definition), place: "0:0")
            #expect(index.campaign("spring") == nil && index.damages.count == 1, "\(definition)")
        }
    }

    @Test(
        "Numbers that would overflow later are no progress",
        arguments: ["recipients", "published", "repeats", "invalid", "at", "delivered"], [-1, Int.max])
    func overflow(member: String, number: Int) {
        var progress = Samples.progress()
        switch member {
        case "recipients": progress.recipients = number
        case "published": progress.published = number
        case "repeats": progress.repeats = number
        case "invalid": progress.invalid = number
        case "at": progress.at = Int64(number)
        default: progress.outcomes = [member: number]
        }
        var index = CampaignIndex()
        index.add(key: Samples.bytes("spring/progress"), value: Samples.json(progress), place: "0:0")
        #expect(index.campaign("spring") == nil && index.damages.count == 1)
    }

    @Test("A damaged record is forgotten when a valid one has its key, and garbage fills no memory")
    func bounded() {
        var index = CampaignIndex()
        index.add(key: Samples.bytes("spring"), value: Samples.bytes("{"), place: "0:0")
        index.add(key: Samples.bytes("spring"), value: Samples.control(.running).encoded(), place: "0:1")
        #expect(index.damages.isEmpty)
        for number in 0..<1_000 {
            index.add(key: Samples.bytes("rubbish \(number)"), value: nil, place: "0:\(number)")
        }
        #expect(index.damages.count == 100)
        index.add(key: nil, value: nil, place: "0:1001")
        #expect(index.names == ["spring"])
    }
}

@Suite("Pausing, resuming and cancelling")
struct ControlOrderTests {
    private func decision(
        _ order: ControlOrder, _ state: CampaignControl.State, isFinished: Bool = false
    ) -> ControlOrder.Decision {
        order.decision(
            for: Samples.campaign(state), isFinished: isFinished, at: WallTime(milliseconds: 1), by: "ben@host",
            reason: "why")
    }

    private func control(
        _ order: ControlOrder, _ state: CampaignControl.State, isFinished: Bool = false
    ) -> CampaignControl? {
        if case .write(.state(let control)) = decision(order, state, isFinished: isFinished) { control } else { nil }
    }

    @Test("A record has author, time and reason, and keeps the failure share at which the campaign pauses")
    func record() throws {
        let pause = try #require(control(.pause, .running))
        #expect(pause.state == .paused && pause.by == "ben@host" && pause.reason == "why")
        #expect(pause.at.milliseconds == 1 && pause.pauseIfFailures == 0.05)
        #expect(control(.resume, .paused)?.state == .running)
        #expect(control(.cancel, .paused)?.state == .cancelled)
        #expect(ControlOrder.cancel.key(of: "spring") == CampaignControl.cancellationKey(of: "spring"))
        #expect(ControlOrder.pause.key(of: "spring") == Samples.bytes("spring"))
    }

    @Test("The current state is not written again")
    func already() {
        #expect(decision(.pause, .paused) == .unchanged)
        #expect(decision(.resume, .running) == .unchanged)
        #expect(decision(.resume, .running, isFinished: true) == .unchanged)
    }

    @Test("A campaign is declared finished when it runs and all is published; its state for workers stays")
    func finish() {
        let written = control(.finish, .running)
        #expect(written?.state == .running && written?.cause == .finished && written?.pauseIfFailures == 0.05)
        #expect(decision(.finish, .running, isFinished: true) == .unchanged)
        #expect(decision(.finish, .paused) == .isPaused)
        let partly = Samples.campaign(progress: Samples.progress(published: 40, isComplete: false))
        let decision = ControlOrder.finish.decision(
            for: partly, isFinished: false, at: WallTime(milliseconds: 1), by: "ben@host", reason: nil)
        #expect(decision == .isUnpublished(60))
    }

    @Test("A cancelled campaign stays cancelled, and a finished one can only be resumed")
    func refused() {
        for order in ControlOrder.allCases {
            #expect(decision(order, .cancelled) == .isCancelled(Samples.control(.cancelled)))
        }
        #expect(decision(.pause, .running, isFinished: true) == .isFinished)
        #expect(decision(.cancel, .running, isFinished: true) == .isFinished)
        #expect(control(.resume, .paused, isFinished: true)?.state == .running)
    }
}
