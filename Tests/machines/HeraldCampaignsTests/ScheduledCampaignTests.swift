import HeraldBytes
import HeraldEvents
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldCampaigns

@Suite("A campaign that is to begin later")
struct ScheduledCampaignTests {
    private typealias Bench = CampaignBench

    private static func start(in seconds: Int64) -> CampaignStart {
        CampaignStart(
            at: WallTime(milliseconds: Samples.start).advanced(by: .seconds(seconds)), offset: 3_600,
            zone: "Europe/Berlin")
    }

    private func bench(_ count: Int = 3, startsIn seconds: Int64 = 60) throws -> Bench {
        try Bench(count) { $0.start = .at(Self.start(in: seconds)) }
    }

    /// What an operator starts with who has seen the campaign as it is.
    private func change(_ bench: Bench, _ change: (inout CampaignOrder) throws -> Void) rethrows {
        bench.order.replaces = bench.campaign?.definition
        try change(&bench.order)
    }

    private func status(_ bench: Bench) throws -> CampaignStatus {
        CampaignStatus(campaign: try #require(bench.campaign), count: OutcomeCount(), now: bench.moment.wall)
    }

    // MARK: Its moment

    @Test("Nobody is published before the moment, and everybody from it on")
    func waits() throws {
        let bench = try bench()
        let publisher = bench.start()
        bench.pass(59_999, publisher)
        #expect(bench.published.isEmpty && bench.waits(publisher) == .scheduled)
        #expect(try status(bench).state == .scheduled)
        bench.pass(1, publisher)
        #expect(bench.published == bench.audience)
        #expect(bench.run(publisher) == .complete)
    }

    @Test("A clock that is set back holds nobody up once somebody is published")
    func setBack() throws {
        let bench = try bench(5_000, startsIn: 10)
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(9_000, publisher)
        bench.clockError = .seconds(-30)
        bench.pass(30_000, publisher)
        #expect(bench.published.isEmpty)
        bench.clockError = .seconds(5)
        bench.pass(6_000, publisher)
        #expect(!bench.published.isEmpty)
        bench.clockError = .seconds(-3_600)
        bench.delivers = true
        bench.outcomes["delivered"] = bench.published.count
        #expect(bench.run(publisher) == .complete)
        #expect(Set(bench.published).count == 5_000)
    }

    @Test("A clock that jumps ahead lets it begin when that is seen")
    func ahead() throws {
        let bench = try bench(startsIn: 86_400)
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        bench.clockError = .days(1)
        bench.pass(6_000, publisher)
        #expect(bench.published == bench.audience)
    }

    @Test("Its events expire so long after the moment")
    func expiry() throws {
        let bench = try bench()
        bench.order.expiresIn = .hours(1)
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        #expect(bench.campaign?.definition?.expiresAt == Self.start(in: 3_660).at)
        bench.stop(publisher)
        bench.run(publisher)
        change(bench) {
            $0.start = .at(Self.start(in: 120))
            $0.expiresIn = nil
        }
        bench.pass(1_000, bench.start())
        #expect(bench.campaign?.definition?.expiresAt == Self.start(in: 3_720).at)
    }

    @Test("Paused before the moment, it waits to be resumed; cancelled, it ends")
    func orders() throws {
        let bench = try bench()
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        bench.control(.paused)
        bench.pass(70_000, publisher)
        #expect(bench.published.isEmpty && bench.waits(publisher) == .campaignPaused)
        bench.control(.running)
        bench.pass(1_000, publisher)
        #expect(bench.published == bench.audience)

        let other = try self.bench()
        let second = other.start()
        other.pass(1_000, second)
        other.control(.cancelled)
        #expect(other.run(second) == .cancelled && other.published.isEmpty)
    }

    // MARK: Another start

    @Test("Started again after its publisher is gone, it waits on, or begins at once when it is late")
    func again() throws {
        let bench = try bench()
        bench.pass(1_000, bench.start())
        bench.order.replaces = bench.campaign?.definition
        bench.order.start = nil
        let second = bench.start()
        bench.pass(10_000, second)
        #expect(bench.published.isEmpty && bench.waits(second) == .scheduled)
        bench.now = bench.now.advanced(by: .minutes(5))
        #expect(try status(bench).state == .stopped)
        let third = bench.start()
        bench.pass(1_000, third)
        #expect(bench.published == bench.audience)
    }

    @Test("A start before the moment replaces text, audience and moment, and its campaign has only these")
    func replaced() throws {
        let bench = try bench()
        let first = bench.start()
        bench.pass(1_000, first)
        bench.audience = ["user1", "user7"]
        try change(bench) {
            $0.text.template = try ContentTemplate("Bye")
            $0.start = .at(Self.start(in: 30))
        }
        let second = bench.start()
        bench.pass(1_000, second)
        #expect(bench.campaign?.definition?.message == "Bye")
        #expect(bench.campaign?.definition?.start == Self.start(in: 30))
        #expect(bench.campaign?.definition?.startedAt == Samples.start)
        #expect(bench.campaign?.progress?.replacements == nil)
        #expect(bench.run(first) == .takenOver)
        #expect(bench.run(second) == .complete)
        #expect(bench.published == ["user1", "user7"])
    }

    @Test("At once takes the place of a moment")
    func atOnce() throws {
        let bench = try bench()
        bench.pass(1_000, bench.start())
        change(bench) { $0.start = .atOnce }
        let second = bench.start()
        bench.pass(1_000, second)
        #expect(bench.published == bench.audience && bench.campaign?.definition?.start == nil)
    }

    @Test("What its preview has not seen is not replaced")
    func unseen() throws {
        let bench = try bench()
        bench.pass(1_000, bench.start())
        bench.order.text.template = try ContentTemplate("Bye")
        let blind = bench.start()
        guard case .failed(let failure)? = bench.run(blind) else {
            Issue.record("it ends: \(String(describing: blind.end))")
            return
        }
        #expect(failure.description == CampaignContinuation.outdated("spring").description)
        #expect(bench.campaign?.definition?.message == "Hi")
    }

    @Test("Once it has begun, another text or moment is refused, whatever the clock shows then")
    func begun() throws {
        let bench = try bench(5_000, startsIn: 1)
        bench.delivers = false
        bench.pass(2_000, bench.start())
        #expect(!bench.published.isEmpty)
        bench.clockError = .hours(-1)
        for change in [
            { (order: inout CampaignOrder) in order.text.template = try ContentTemplate("Bye") },
            { order in order.start = .at(Self.start(in: 90)) },
        ] {
            let former = bench.order
            try self.change(bench, change)
            #expect(throws: ToolFailure.self) { try bench.order.check(against: bench.campaign, at: bench.moment.wall) }
            bench.order = former
        }
        // The same command goes on.
        try bench.order.check(against: bench.campaign, at: bench.moment.wall)
    }

    // MARK: What people write and read

    private func time(_ text: String, _ zone: String? = nil) throws -> StartTime {
        let berlin = ZoneRules(offset: 3_600)
        return try StartTime(text, zone: zone) { TimeZones(["Europe/Berlin": berlin]) }
    }

    @Test(
        "A moment has an offset or a zone",
        arguments: [
            ("2026-12-24T09:00+01:00", nil, "2026-12-24 09:00 (UTC+01:00)"),
            ("2026-12-24 09:00", "Europe/Berlin", "2026-12-24 09:00 (Europe/Berlin)"),
            ("2026-12-24T08:00:30Z", nil, "2026-12-24 08:00:30 (UTC)"),
            ("2026-12-24T04:30-03:30", nil, "2026-12-24 04:30 (UTC-03:30)"),
        ] as [(String, String?, String)])
    func moments(text: String, zone: String?, words: String) throws {
        let start = try #require(try time(text, zone).start)
        #expect(start.words == words)
        #expect(
            start.at / 60_000 * 60_000 == RFC3339.parse(Array("2026-12-24T08:00:00Z".utf8).span.bytes)?.milliseconds)
    }

    @Test(
        "A mistake says what to write",
        arguments: [
            ("2026-12-24T09:00", nil, "at", "add --zone Europe/Berlin, or the offset: 2026-12-24T09:00+01:00"),
            ("tomorrow", nil, "at", "is no moment; write 2026-12-24T09:00+01:00"),
            ("2026-02-30T09:00Z", nil, "at", "is no moment"),
            ("2026-12-24T09:00Z", "Europe/Berlin", "zone", "leave the zone out"),
            ("2026-12-24T09:00", "Europe/Berln", "zone", "is no time zone that this machine knows"),
            ("now", "Europe/Berlin", "zone", "the same moment in every zone"),
        ] as [(String, String?, String, String)])
    func mistakes(text: String, zone: String?, part: String, words: String) throws {
        let mistake = try #require(throws: StartTime.Mistake.self) { try time(text, zone) }
        #expect(mistake.part == part && mistake.problem.contains(words), "\(mistake.problem)")
    }

    @Test("A moment that is over is refused, but for the campaign that has it")
    func past() throws {
        let bench = try bench(startsIn: -780)
        let words = #expect(throws: ToolFailure.self) { try bench.order.checkMoment(nil, at: bench.moment.wall) }
        #expect(words?.description.contains("(Europe/Berlin) was 13 min ago; give --at a moment to come") == true)
        bench.pass(1_000, bench.start())
        try bench.order.checkMoment(bench.campaign, at: bench.moment.wall)
    }

    @Test("Its status says when it starts; without a publisher, that nobody is there, in time and late")
    func words() throws {
        let bench = try bench(startsIn: 48_000)
        bench.pass(1_000, bench.start())
        var status = try status(bench)
        let moment = Self.start(in: 48_000).words
        #expect(CampaignWords.standing(status).hasPrefix("scheduled since "))
        #expect(CampaignWords.standing(status).hasSuffix(": starts \(moment), in 13 h 19 min"))
        status.now = status.now.advanced(by: .minutes(1))
        #expect(status.state == .stopped)
        #expect(
            status.reason?.hasPrefix(
                "scheduled for \(moment), in 13 h 18 min, and nobody is there to publish it: start it again with the same "
                    + "audience; its publisher ann@web1 pid 7 is not heard of") == true)
        status.now = status.now.advanced(by: .hours(14))
        #expect(
            status.reason?.hasPrefix(
                "was to start \(moment), 41 min ago, and nobody is there to publish it: start it again with the same "
                    + "audience, and it begins at once") == true, "\(status.reason ?? "")")
    }
}
