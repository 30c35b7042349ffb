import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@Suite("The closed set of reasons for which jobs wait")
struct JobWaitReasonTests {
    private static let moment = WallTime(milliseconds: 1_700_000_000_000)

    /// One of each kind, in the order of the kinds.
    private static let all: [JobWaitReason] = [
        .nextTurn, .reading(.marks), .otherJob(name: "replay-9", owner: "bob@far", until: moment),
        .claiming(until: moment), .transaction(since: moment),
        .broker(cause: "timed out", since: moment, until: moment),
        .resting(until: moment), .paused(by: "bob", since: moment),
        .campaignPaused(by: "bob", since: moment, cause: "too many fail"), .pauseUnread(until: moment),
        .scheduled(until: moment, words: "2026-12-24 09:00 (Europe/Berlin)"), .rate(until: moment),
        .openOutcomes(.init(open: 10_000), limit: 10_000),
        .rampStep(.init(number: 2, size: 50, of: .letters, .patience(moment)), .init(open: 17)),
        .hold(published: 100, since: moment),
        .lastOutcomes(.init(open: 3, retrying: 2, silence: "no outcome for 60 s"), until: moment),
        .returns(until: moment), .turn(ahead: 3, doing: "reads the audience"),
    ]

    @Test("Each kind has one word, and a sentence that names its moments, its end and its remedy")
    func sentences() {
        #expect(Self.all.map(\.kind) == JobWaitReason.Kind.allCases)
        #expect(Set(JobWaitReason.Kind.allCases.map(\.word)).count == JobWaitReason.Kind.allCases.count)
        for reason in Self.all {
            let wait = WaitingPage.Wait(reason)
            #expect(wait.sentence.hasPrefix("it ") && wait.sentence.contains(reason.kind.end), "\(wait.sentence)")
            #expect(reason.kind.changes.allSatisfy(wait.sentence.contains), "\(wait.sentence)")
            for moment in [reason.since, reason.until].compactMap(\.self) {
                #expect(wait.sentence.contains(RFC3339.text(moment)), "\(wait.sentence)")
            }
        }
    }

    @Test("A step gives the number of outcomes it waits for, of its letters or recipients, and the next step")
    func step() {
        #expect(
            Self.all[13].phrase
                == "waits for 17 outcomes of step 2 of the ramp (50 dead letters): after \(RFC3339.text(Self.moment)) those "
                + "that are open count as failed")
        let one = JobWaitReason.rampStep(
            .init(number: 1, size: 1, of: .recipients, .outcomes),
            .init(open: 1, retrying: 1, silence: "no worker runs"))
        #expect(
            one.phrase == "waits for 1 outcome (1 retrying) of step 1 of the ramp (1 recipient); no worker runs")
    }

    @Test("A reason that ends with a sentence of another's gets no second full stop")
    func fullStop() {
        let reason = JobWaitReason.lastOutcomes(
            .init(open: 3, silence: "no outcome for 60 s: do workers run?"), until: nil)
        let wait = WaitingPage.Wait(reason)
        #expect(wait.sentence.contains("do workers run? What ends this: "), "\(wait.sentence)")
    }

    @Test("The advised command names the campaign")
    func campaign() {
        let wait = WaitingPage.Wait(Self.all[8], campaign: "spring")
        #expect(wait.changes == ["herald campaign resume spring"])
    }

    @Test("docs/RUNBOOK.md has the table of the reasons, and docs/DESIGN.md the origin of each")
    func documents() throws {
        try expectDocumented(JobWaitReason.Kind.self, inDesignBehind: "**Jobs.** `JobWaitReason`")
    }
}
