import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldCampaigns

/// Brings a publisher into each state, and compares the reason that it gives with its behaviour.
@Suite("The reasons for which a publisher and its recipients wait")
struct CampaignWaitingTests {
    private typealias Bench = CampaignBench

    private static func reason(_ publisher: Bench.Publisher, _ bench: Bench) -> JobWaitReason? {
        publisher.machine.waiting(now: bench.moment)
    }

    /// Expects no change before the moment that a reason names.
    private static func expect(
        _ publisher: Bench.Publisher, _ bench: Bench, _ kind: JobWaitReason.Kind, then action: String
    ) throws {
        let reason = try #require(Self.reason(publisher, bench))
        #expect(reason.kind == kind)
        let left = try #require(reason.until).time(since: bench.moment.wall)
        let count = publisher.done.count(where: { $0 == action })
        bench.pass((left - .milliseconds(1)).count, publisher)
        #expect(publisher.done.count(where: { $0 == action }) == count, "before \(reason)")
        bench.pass(1, publisher)
        #expect(publisher.done.count(where: { $0 == action }) == count + 1, "at \(reason)")
    }

    @Test("Step by step through its whole course: each reason is of the closed set, and the end has none")
    func wholeWay() throws {
        let bench = try Bench(3)
        let publisher = bench.start()
        var told: [JobWaitReason] = []
        repeat {
            if let reason = Self.reason(publisher, bench), told.last?.kind != reason.kind || told.last != reason {
                told.append(reason)
            }
        } while bench.step(publisher)
        let readings = told.compactMap { reason in if case .reading(let what) = reason { what } else { nil } }
        #expect(readings.prefix(4) == [.campaign, .ends, .outcomes, .audience])
        #expect(Set(told.map(\.kind.word)).isSuperset(of: ["claiming", "reading", "transaction"]))
        #expect(Self.reason(publisher, bench) == nil)
        let again = bench.start()
        var reads: [JobWaitReason] = []
        repeat { if let reason = Self.reason(again, bench) { reads.append(reason) } } while bench.step(again)
        #expect(reads.contains(.reading(.published)))
    }

    @Test("A rate releases the next events at the moment that its reason names")
    func rate() throws {
        let bench = try Bench(9) { $0.rate = 1 }
        let publisher = bench.start()
        bench.settle(publisher)
        try Self.expect(publisher, bench, .rate, then: "recipients")
    }

    @Test("The number of open outcomes reaches its limit")
    func openOutcomes() throws {
        let bench = try Bench(12_000)
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        #expect(Self.reason(publisher, bench) == .openOutcomes(.init(open: 10_000), limit: 10_000))
    }

    @Test("With a rate, 30 s of it pile up in an outage; who sleeps or retries for long holds back nobody")
    func piledUp() throws {
        let bench = try Bench(12_000) { $0.rate = 20 }
        bench.delivers = false
        bench.retries = RetryBacklog.Count(retrying: 5)
        let publisher = bench.start()
        bench.pass(120_000, publisher)
        #expect(bench.published.count <= 600 && bench.published.count > 450)
        guard case .openOutcomes(_, 600)? = Self.reason(publisher, bench) else {
            Issue.record("\(String(describing: Self.reason(publisher, bench)))")
            return
        }
        let before = bench.published.count
        // Those of a push service that is held, in a topic of long retries, go out at once.
        bench.retries = RetryBacklog.Count(retrying: before, retryingLong: before)
        bench.pass(20_000, publisher)
        #expect(bench.published.count <= 600)
        bench.retries?.waitingAlone = before
        bench.pass(20_000, publisher)
        #expect(bench.published.count > before + 300)
    }

    @Test("A push service that is held does not hold back those of another")
    func heldService() throws {
        let bench = try Bench(3_000) {
            $0.rate = 20
            $0.text.pushServices = ["apns", "gcm"]
        }
        bench.delivers = false
        let publisher = bench.start()
        for _ in 0..<100 {
            bench.pass(1_000, publisher)
            let count = bench.published.count
            bench.outcomes = ["delivered": count, "apns/delivered": count]
        }
        #expect(bench.published.count > 1_800)
    }

    @Test("A step of the ramp waits for its outcomes, and gives the reason when none arrives")
    func ramp() throws {
        let bench = try Bench(9) { $0.ramp = [2, 3] }
        bench.context.workerTrouble = { _ in nil }
        (bench.delivers, bench.trouble) = (false, "No worker runs.")
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        guard case .rampStep(let step, let outcomes)? = Self.reason(publisher, bench) else {
            Issue.record("\(String(describing: Self.reason(publisher, bench)))")
            return
        }
        #expect(step == .init(number: 1, size: 2, of: .recipients, .mostlyOpen))
        #expect(outcomes == .init(open: 2))
        bench.pass(60_000, publisher)
        #expect(Self.reason(publisher, bench)?.phrase.hasSuffix("; no outcome for 61 s: no worker runs.") == true)
    }

    @Test("One recipient that keeps failing holds a step until the moment that the reason names")
    func withoutOne() throws {
        let bench = try Bench(9) { ($0.ramp, $0.pauseIfFailures) = ([4, 1], 0.05) }
        bench.delivers = false
        bench.retries = RetryBacklog.Count(retrying: 1, retryingLong: 1)
        let publisher = bench.start()
        bench.pass(100, publisher)
        bench.outcomes = ["delivered": 3]
        bench.pass(10_000, publisher)
        let until = try #require(Self.reason(publisher, bench)?.until)
        bench.pass((until.time(since: bench.moment.wall) - .milliseconds(1)).count, publisher)
        #expect(bench.published.count == 4)
        bench.pass(1, publisher)
        #expect(bench.published.count == 5)
    }

    @Test("The wait for the last outcomes names the number of open ones")
    func lastOutcomes() throws {
        let bench = try Bench(3)
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        #expect(Self.reason(publisher, bench) == .lastOutcomes(.init(open: 3), until: nil))
    }

    @Test("A publisher ends when all who are left are in quiet hours, and says until when")
    func asleep() throws {
        let bench = try Bench(3)
        bench.delivers = false
        var retries = RetryBacklog.Count()
        let until = bench.moment.wall.advanced(by: .hours(8))
        (retries.asleep, retries.asleepUntil) = (1, until)
        bench.retries = retries
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        bench.outcomes = ["delivered": 1, "apns/delivered": 1]
        bench.pass(60_000, publisher)
        #expect(bench.waits(publisher) == .lastOutcomes && publisher.end == nil)
        bench.outcomes = ["delivered": 2, "apns/delivered": 2]
        for _ in 0..<60 where publisher.end == nil { bench.pass(1_000, publisher) }
        #expect(publisher.end == .complete)
        let sentence = publisher.machine.progress.sentence(.complete, name: "spring", again: "")
        #expect(sentence.hasSuffix(", 1 open (in quiet hours, the first until \(until.text))."), "\(sentence)")
        #expect(bench.audits.last == "ended complete")
    }

    @Test("A pause names its author and since when; after a resume, the publisher continues")
    func paused() throws {
        let bench = try Bench(9) { $0.ramp = [1] }
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        bench.control(.paused)
        let since = bench.moment.wall
        bench.pass(1_000, publisher)
        #expect(Self.reason(publisher, bench) == .campaignPaused(by: "bob@desk", since: since, cause: nil))
        bench.control(.running)
        bench.settle(publisher)
        #expect(bench.waits(publisher) == .rampStep)
    }

    @Test("A silence is counted from the resume: while a campaign is paused, no outcome is to come")
    func silenceOfPause() throws {
        let bench = try Bench(3)
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        bench.control(.paused)
        bench.pass(60_000, publisher)
        bench.control(.running)
        bench.pass(5_000, publisher)
        #expect(bench.waits(publisher) == .lastOutcomes && publisher.machine.work.silenceWords == nil)
        bench.pass(31_000, publisher)
        #expect(publisher.machine.work.silenceWords?.hasPrefix("no outcome for 3") == true)
    }

    @Test("Too many events have failed: the publisher waits to read its own pause")
    func pauseUnread() throws {
        let bench = try Bench(4) { ($0.ramp, $0.pauseIfFailures) = ([2], 0.1) }
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        bench.outcomes = ["dead-lettered": 2]
        while publisher.machine.writer.isReady { bench.step(publisher) }
        while !publisher.machine.writer.isReady {
            publisher.machine.waiting(now: bench.moment).map { #expect($0.kind == .transaction) }
            bench.step(publisher)
        }
        #expect([.pauseUnread, .campaignPaused].contains(bench.waits(publisher)))
    }

    @Test("A silent broker: since when, and when it is asked again; then the publisher begins again")
    func broker() throws {
        let bench = try Bench(3)
        bench.delivers = false
        let publisher = bench.start()
        bench.settle(publisher)
        bench.commits = [.unanswered]
        bench.pass(5_000, publisher)
        let reason = try #require(Self.reason(publisher, bench))
        #expect(reason.kind == .broker && reason.since == bench.moment.wall, "\(reason)")
        try Self.expect(publisher, bench, .broker, then: "commit")
        bench.pass(120_000, publisher)
        #expect(bench.waits(publisher) == .resting)
        bench.commits = []
        try Self.expect(publisher, bench, .resting, then: "claim")
    }

    @Test("A recipient waits for its turn, then as the job does; a published one does not")
    func recipients() throws {
        let bench = try Bench(4) { $0.ramp = [1] }
        bench.delivers = false
        let publisher = bench.start()
        func wait(_ user: String) -> JobWaitReason? {
            publisher.machine.waiting(for: bench.id(user), now: bench.moment)
        }
        #expect(wait("user3") == .turn(ahead: 3, doing: "goes on at once"))
        while !publisher.machine.work.batch.contains(bench.id("user0")) { bench.step(publisher) }
        #expect(wait("user0")?.kind == Self.reason(publisher, bench)?.kind)
        bench.pass(1_000, publisher)
        #expect(wait("user0") == nil, "published")
        #expect(wait("nobody") == nil, "not of the audience")
        guard case .turn(2, let doing)? = wait("user3") else {
            Issue.record("\(String(describing: wait("user3")))")
            return
        }
        #expect(doing.hasPrefix("waits for 1 outcome of step 1 of the ramp (1 recipient)"))
    }
}
