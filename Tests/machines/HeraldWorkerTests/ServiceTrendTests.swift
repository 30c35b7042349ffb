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
        #expect(look(20) == [FailingService(name: "wns", calls: 10)])
    }

    @Test("is not recognised when one call is delivered, rejected or throttled, until that is a minute old")
    mutating func alive() {
        _ = look(0)
        end(.answered(.transient), 1, 20)
        end(.throttled, 1, 1)
        #expect(look(10) == [])
        for seconds in [20, 30, 40, 50, 60, 70] as [Int64] {
            end(.answered(.transient), 1, 5)
            #expect(look(seconds) == (seconds < 70 ? [] : [FailingService(name: "wns", calls: 30)]), "\(seconds)")
        }
    }

    @Test("is forgotten a minute after its last call")
    mutating func over() {
        _ = look(0)
        end(.answered(.transient), 0, 12)
        #expect(look(10) == [FailingService(name: "apns", calls: 12)])
        #expect(look(60) == [FailingService(name: "apns", calls: 12)])
        _ = look(70)
        #expect(look(131) == [])
    }
}
