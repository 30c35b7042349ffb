import HeraldTime
import Testing

@testable import HeraldConsole

@Suite("A push service's newest calls")
struct NewestCallsTests {
    private static let begin = WallTime(milliseconds: 1_795_400_040_000)

    private static func at(_ seconds: Int64) -> WallTime { begin.advanced(by: seconds * .seconds(1)) }

    /// A history with a point every two seconds.
    private static func history(_ seconds: Int64, _ calls: (Int64) -> [String: Double]) -> NowHistory {
        var history = NowHistory()
        for second in stride(from: Int64(0), through: seconds, by: 2) {
            var point = NowPoint(at: at(second))
            for (end, rate) in calls(second) { point.calls[.init(service: "wns", end: end)] = rate }
            history.add(point)
        }
        return history
    }

    @Test("forget failures within seconds of its recovery")
    func recovery() {
        let history = Self.history(60) { $0 <= 40 ? ["transient": 50] : ["delivered": 50] }
        #expect(history.newestCalls(now: Self.at(42))["wns"]?.isDead == false)
        let calls = history.newestCalls(now: Self.at(60))["wns"]
        #expect(calls?.ends == ["delivered": 500] && calls?.lastAt["transient"] == Self.at(40))
    }

    @Test("give the time since which it has delivered nothing")
    func dead() {
        let history = Self.history(60) { $0 < 30 ? ["delivered": 50] : ["transient": 5, "timeout": 5] }
        let calls = history.newestCalls(now: Self.at(60))["wns"]
        #expect(calls?.isDead == true && calls?.nothingSince == Self.at(30))
    }

    @Test("may be older when nothing else was seen before, and say so")
    func older() {
        func calls(failingFrom second: Int64) -> ServiceCalls? {
            var history = NowHistory()
            for at in stride(from: Int64(0), through: 60, by: 2) {
                var point = NowPoint(at: Self.at(at))
                point.workers = 1
                if at >= second { point.calls[.init(service: "wns", end: "transient")] = 5 }
                history.add(point)
            }
            return history.newestCalls(now: Self.at(60))["wns"]
        }
        #expect(calls(failingFrom: 4)?.mayBeOlder == true && calls(failingFrom: 4)?.nothingSince == Self.at(4))
        #expect(calls(failingFrom: 20)?.mayBeOlder == false)
    }

    @Test("are those of a minute where there are few; without calls they give nothing")
    func few() {
        let history = Self.history(200) { $0 == 190 || $0 == 150 || $0 == 20 ? ["transient": 2] : [:] }
        let calls = history.newestCalls(now: Self.at(200))["wns"]
        #expect(calls?.ends == ["transient": 8] && calls?.isDead == false)
        #expect(history.newestCalls(now: Self.at(400)).isEmpty)
    }

    @Test("count a moment's calls as a whole: with what was rejected goes what was delivered", arguments: 0..<8)
    func whole(number: Int) {
        var history = NowHistory()
        // Which of them comes first differs from service to service.
        let services = (0..<8).map { "service\(number * 8 + $0)" }
        for second in [Int64(0), 2] {
            var point = NowPoint(at: Self.at(second))
            for service in services where second == 2 {
                for (end, rate) in [("delivered", 30.0), ("rejected", 60), ("transient", 5)] {
                    point.calls[.init(service: service, end: end)] = rate
                }
            }
            history.add(point)
        }
        let newest = history.newestCalls(now: Self.at(20))
        #expect(services.allSatisfy { newest[$0]?.total == 190 && newest[$0]?.isDead == false }, "\(newest)")
    }

    @Test("stand beside a lag that is measured over half a minute, and at least over ten seconds")
    func lag() {
        var history = NowHistory()
        for second in stride(from: Int64(0), through: 60, by: 2) {
            var point = NowPoint(at: Self.at(second))
            point.waiting = second < 30 ? 0 : 16 * (second - 30)
            history.add(point)
            if second == 8 { #expect(history.lagGrowth(now: Self.at(8)) == nil) }
        }
        #expect(history.lagGrowth(now: Self.at(60)) == 16)
        #expect(history.lagGrowth(now: Self.at(100)) == nil)
    }
}
