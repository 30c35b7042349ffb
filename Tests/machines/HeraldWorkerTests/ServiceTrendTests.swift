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

    private mutating func look(_ seconds: Int64) -> [FailingService] {
        var lane = LaneReport(number: 0, at: Self.at(seconds), services: 2, requestTopics: 1)
        lane.counters = counters
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
