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

    private mutating func troubles(_ seconds: Int64) -> ServiceTroubles {
        var lane = LaneReport(number: 0, at: Self.at(seconds), services: 2, requestTopics: 1)
        lane.counters = counters
        lane.meter = meter
        return trend.look(at: [lane], names: ["apns", "wns"], now: Self.at(seconds))
    }

    private func wns(_ calls: Int, _ end: CallEnd = .answered(.transient), isAlone: Bool = false) -> FailingService {
        FailingService(name: "wns", calls: calls, end: end, isAlone: isAlone)
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
        #expect(look(20) == [wns(10, isAlone: true)])
    }

    @Test("is not recognised when one call is delivered, until that is a minute old")
    mutating func alive() {
        _ = look(0)
        end(.answered(.transient), 1, 20)
        end(.answered(.delivered), 1, 1)
        #expect(look(10) == [])
        for seconds in [20, 30, 40, 50, 60, 70] as [Int64] {
            end(.answered(.transient), 1, 5)
            #expect(look(seconds) == (seconds < 70 ? [] : [wns(30)]), "\(seconds)")
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
        var service = FailingService(name: "gcm", calls: 40, end: .answered(.rejected), status: 404, isAlone: true)
        let rejected = service.finding
        #expect(rejected.title == "gcm delivers nothing")
        #expect(rejected.what.contains("rejected, the latest with status 404"), "\(rejected.what)")
        #expect(rejected.step.contains("gcm's app, credentials and certificate"), "\(rejected.step)")
        #expect(!rejected.step.contains("backend.url"), "\(rejected.step)")
        service.isAlone = false
        #expect(service.finding.step.contains("backend.path"), "\(service.finding.step)")
        let late = FailingService(name: "gcm", calls: 40, end: .unanswered(.timeout)).finding
        #expect(late.what.contains("failed (timeout); its notifications are retried"), "\(late.what)")
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
