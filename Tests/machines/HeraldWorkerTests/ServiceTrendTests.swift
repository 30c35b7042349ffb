import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore
@testable import HeraldWorker

@Suite("A push service of which every call fails")
struct ServiceTrendTests {
    private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private var trend = ServiceTrend()
    private var counters = Counters(services: 2, requestTopics: 1)

    private var meter = LaneMeter(services: 2)

    private mutating func look(_ seconds: Int64) -> [FailingService] { troubles(seconds).failing }

    private mutating func troubles(_ seconds: Int64, _ change: (inout LaneReport) -> Void = { _ in }) -> ServiceTroubles
    {
        var lane = LaneReport(number: 0, at: Self.at(seconds), services: 2, requestTopics: 1)
        lane.counters = counters
        lane.meter = meter
        change(&lane)
        return trend.look(at: [lane], names: ["apns", "wns"], now: Self.at(seconds))
    }

    private func wns(
        _ calls: Int, _ end: CallEnd = .answered(.transient), ended: Int? = nil, isAlone: Bool = false
    ) -> FailingService {
        FailingService(name: "wns", calls: calls, end: end, ended: ended ?? calls, isAlone: isAlone)
    }

    private mutating func end(_ end: CallEnd, _ service: Int, _ count: Int) {
        for _ in 0..<count { counters.count(end, service: service) }
    }

    @Test("is recognised by ten failures without another answer, however they fail")
    mutating func dead() {
        #expect(look(0) == [])
        end(.answered(.transient), 1, 6)
        end(.answered(.delivered), 0, 50)
        #expect(look(10) == [])
        end(.unanswered(.timeout), 1, 4)
        #expect(look(20) == [wns(10, ended: 6, isAlone: true)])
    }

    @Test(
        "has the status of its latest answer, unless most of its calls had none", arguments: [(6, 4, 503), (4, 6, 0)])
    mutating func status(failed: Int, unanswered: Int, status: Int) {
        meter.latestStatus[1] = (503, Self.at(0))
        _ = look(0)
        end(.answered(.transient), 1, failed)
        end(.unanswered(.timeout), 1, unanswered)
        #expect(look(10).map(\.status) == [status])
    }

    @Test("is not recognised when one call is delivered, until twenty others have failed since")
    mutating func alive() {
        _ = look(0)
        end(.answered(.transient), 1, 20)
        end(.answered(.delivered), 1, 1)
        #expect(look(10) == [])
        for seconds in [20, 30, 40, 50, 60, 70] as [Int64] {
            end(.answered(.transient), 1, 5)
            #expect(look(seconds) == (seconds < 50 ? [] : [wns(20)]), "\(seconds)")
        }
    }

    @Test(
        "is recognised by calls that are all rejected (twenty, as events may be wrong), refused or throttled",
        arguments: [CallEnd.answered(.rejected), .answered(.credentials), .throttled])
    mutating func refused(how: CallEnd) {
        _ = look(0)
        end(how, 1, 19)
        #expect(look(10).isEmpty == (how == .answered(.rejected)))
        end(how, 1, 1)
        end(.oversized, 1, 5)
        #expect(look(20) == [wns(20, how)])
        end(.answered(.delivered), 0, 1)
        #expect(look(30) == [wns(20, how, isAlone: true)])
    }

    @Test("is told with its status and with the step that fits")
    func words() {
        var service = FailingService(
            name: "gcm", calls: 40, end: .answered(.rejected), ended: 40, status: 404, isAlone: true)
        let rejected = service.finding
        #expect(rejected.title == "gcm delivers nothing")
        #expect(rejected.what.contains("rejected, the latest with status 404"), "\(rejected.what)")
        #expect(rejected.step.contains("gcm's app, credentials and certificate"), "\(rejected.step)")
        #expect(!rejected.step.contains("backend.url"), "\(rejected.step)")
        service.isAlone = false
        #expect(service.finding.step.contains("backend.path"), "\(service.finding.step)")
        let late = FailingService(name: "gcm", calls: 40, end: .unanswered(.timeout), ended: 38, isAlone: true).finding
        #expect(
            late.what.hasPrefix(
                "38 of the last 40 calls to gcm had no answer within backend.timeout, and none got through; its "
                    + "notifications are retried"), "\(late.what)")
        #expect(late.step.contains("why gcm hangs"), "\(late.step)")
    }

    @Test("is not one of which a part is refused; what one renewal of credentials ends is not told")
    mutating func refusedInPart() {
        #expect(troubles(0) == ServiceTroubles())
        for seconds in [10, 20, 30] as [Int64] {
            end(.answered(.delivered), 1, 12)
            end(.answered(.credentials), 1, 13)
            end(.answered(.delivered), 0, 500)
            if seconds == 10 { end(.answered(.credentials), 0, 60) }
            let found = troubles(seconds)
            let calls = Int(seconds) / 10 * 25
            let told = RefusedCalls(name: "wns", calls: calls, refused: calls / 25 * 13)
            #expect(found.refused == (seconds < 20 ? [] : [told]) && found.failing.isEmpty, "\(found)")
        }
        // It is over.
        end(.answered(.delivered), 1, 25)
        #expect(troubles(40).refused == [])
        #expect(RefusedCalls(name: "wns", calls: 25, refused: 13).finding.key == FindingKey.credentials.rawValue)
    }

    @Test("is slow by the average of the last minute's answers")
    mutating func slow() {
        meter.callDurations[0].observe(microseconds: 9_000_000)
        #expect(troubles(0).slow == [])
        for _ in 0..<10 {
            meter.callDurations[0].observe(microseconds: 20_000)
            meter.callDurations[1].observe(microseconds: 7_040_000)
        }
        #expect(troubles(10).slow == [SlowService(name: "wns", time: .milliseconds(7_040))])
    }

    @Test(
        "is named when it begins to hang, by twenty calls without an answer, however well it was before"
    )
    mutating func hangs() {
        var found: [Int64: [FailingService]] = [:]
        for seconds in stride(from: 0, to: 48, by: 2) as StrideTo<Int64> {
            end(.answered(.delivered), 0, 10)
            // It hangs from the thirtieth second on, and its first calls time out ten seconds later.
            if seconds < 30 { end(.answered(.delivered), 1, 5) }
            if seconds >= 40 { end(.unanswered(.timeout), 1, 5) }
            let troubles = troubles(seconds)
            found[seconds] = troubles.failing
            #expect(troubles.slow.map(\.name) == (seconds < 40 ? [] : ["wns"]), "\(seconds)")
        }
        #expect(found[44] == [])
        #expect(found[46] == [wns(20, .unanswered(.timeout), isAlone: true)])
    }

    @Test("is none of which only campaigns are rejected: those are judged by themselves")
    mutating func campaign() {
        _ = look(0)
        end(.answered(.rejected), 1, 200)
        for _ in 0..<200 { counters.countRejectionOfCampaign(service: 1) }
        end(.answered(.delivered), 0, 10)
        #expect(look(2) == [])
        end(.answered(.rejected), 1, 20)
        #expect(look(4) == [wns(20, .answered(.rejected), isAlone: true)])
    }

    @Test("does not count what happened while it was held, or in an outage", arguments: [false, true])
    mutating func held(isOutage: Bool) {
        let hold: (inout LaneReport) -> Void = { lane in
            let now = Moment(monotonic: Self.at(0), wall: WallTime(milliseconds: 0))
            if isOutage { lane.outage = OutageReport(.breaker) }
            lane.holds = [
                ServiceHold(service: 1, reason: .deadLetterBreaker, status: 404, sender: nil, now: now)
            ].filter { _ in !isOutage }
        }
        _ = look(0)
        end(.answered(.rejected), 1, 60)
        #expect(troubles(2, hold).failing == [])
        end(.answered(.rejected), 1, 3)
        #expect(troubles(4, hold).failing == [])
        #expect(look(6) == [])
        end(.answered(.rejected), 1, 20)
        #expect(look(8) == [wns(20, .answered(.rejected))])
    }

    @Test("is forgotten a minute after its last call")
    mutating func over() {
        _ = look(0)
        end(.answered(.transient), 0, 12)
        #expect(look(10).map(\.calls) == [12])
        #expect(look(60).map(\.calls) == [12])
        _ = look(70)
        #expect(look(131) == [])
    }
}
