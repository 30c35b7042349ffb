import HeraldTime
import Testing

@testable import HeraldConsole
@testable import HeraldTools

@Suite("Counters become rates")
struct RateMeterTests {
    private let apns = RateMeter.Series(service: "apns", end: "delivered")

    private func reading(
        _ count: Double, at seconds: Int64, start: Double? = 1_000
    ) -> (at: MonotonicTime, status: WorkerStatus) {
        var status = WorkerStatus()
        // An outcome that is none is left out.
        status.services = [.init(pns: "apns", notifications: ["delivered": count, "invented": count])]
        status.startSeconds = start
        return (MonotonicTime(nanoseconds: seconds * 1_000_000_000), status)
    }

    @Test("A worker's first numbers are the starting point; from then on workers are summed")
    func sums() {
        var meter = RateMeter()
        #expect(meter.add(["a": reading(500, at: 0)]).notifications.isEmpty)
        #expect(meter.add(["a": reading(520, at: 2), "b": reading(9_000, at: 2)]).notifications == [apns: 10])
        #expect(meter.add(["a": reading(520, at: 4), "b": reading(9_006, at: 4)]).notifications == [apns: 3])
    }

    @Test("A restarted worker counts from zero, and no rate is negative")
    func restarts() {
        var meter = RateMeter()
        _ = meter.add(["a": reading(1_000, at: 0)])
        #expect(meter.add(["a": reading(40, at: 2, start: 1_001.5)]).notifications == [apns: 20])
        // It has counted further than before by the time it is asked.
        #expect(meter.add(["a": reading(100, at: 4, start: 1_003)]).notifications == [apns: 50])
        // A worker that does not report its start.
        _ = meter.add(["a": reading(100, at: 6, start: nil)])
        #expect(meter.add(["a": reading(10, at: 8, start: nil)]).notifications == [apns: 5])
    }

    @Test("Repeated numbers add nothing, and a worker that left starts again when it is back")
    func stale() {
        var meter = RateMeter()
        _ = meter.add(["a": reading(10, at: 0)])
        #expect(meter.add(["a": reading(10, at: 0)]).notifications.isEmpty)
        #expect(meter.add([:]).notifications.isEmpty)
        #expect(meter.add(["a": reading(90, at: 9)]).notifications.isEmpty)
    }

    @Test("The number of series is limited to a page's, for any numbers from workers")
    func bounded() {
        func many(_ value: Double, at seconds: Int64) -> (at: MonotonicTime, status: WorkerStatus) {
            var status = WorkerStatus()
            status.services = (0..<5_000).map { .init(pns: "s\($0)", calls: ["x": value * Double($0)]) }
            return (MonotonicTime(nanoseconds: seconds * 1_000_000_000), status)
        }
        var meter = RateMeter()
        _ = meter.add(["a": many(1, at: 0)])
        let calls = meter.add(["a": many(2, at: 1)]).calls
        #expect(calls.count == RateMeter.seriesLimit && calls[.init(service: "s4999", end: "x")] == 4_999)
    }

    @Test("The history keeps ten minutes, oldest first")
    func history() {
        var history = NowHistory()
        for number in 0..<(NowHistory.capacity + 7) {
            history.add(NowPoint(at: WallTime(milliseconds: Int64(number) * 2_000)))
        }
        let points = history.points
        #expect(points.count == NowHistory.capacity && NowHistory.step * NowHistory.capacity == .seconds(600))
        #expect(points.first?.at.milliseconds == 14_000 && points.last?.at.milliseconds == 612_000)
        #expect(zip(points, points.dropFirst()).allSatisfy { $0.at < $1.at })
    }
}
