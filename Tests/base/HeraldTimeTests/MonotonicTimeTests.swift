import HeraldTime
import Testing

@Suite("Monotonic and wall time")
struct MonotonicTimeTests {
    @Test(
        "milliseconds between two moments are rounded down and stop at the ends of the range",
        arguments: [
            (0, 0, 0), (1_999_999, 0, 1), (0, 1, -1), (0, 1_000_000, -1), (0, 1_000_001, -2),
            (.max, .min, .max), (.min, .max, .min), (0, .max, -9_223_372_036_855), (.min, 0, -9_223_372_036_855),
        ] as [(Int64, Int64, Int64)])
    func between(later: Int64, earlier: Int64, milliseconds: Int64) {
        let moment = MonotonicTime(nanoseconds: later)
        #expect(moment.time(since: MonotonicTime(nanoseconds: earlier)) == .milliseconds(milliseconds))
    }

    @Test("moving a moment stops at the ends of the range")
    func advance() {
        #expect(MonotonicTime(nanoseconds: 5).advanced(by: .milliseconds(2)).nanoseconds == 2_000_005)
        #expect(MonotonicTime(nanoseconds: 5).advanced(by: .max).nanoseconds == .max)
        #expect(MonotonicTime(nanoseconds: -5).advanced(by: .min).nanoseconds == .min)
        #expect(WallTime(milliseconds: .max).advanced(by: .milliseconds(1)).milliseconds == .max)
        #expect(WallTime(milliseconds: .min).time(since: WallTime(milliseconds: 1)) == .min)
    }

    @Test(
        "an unusable time stamp is distinguished from one that is only old, or slightly ahead",
        arguments: [
            (0, true), (-366 * 86_400_000, true), (3_600_000, true), (-366 * 86_400_000 - 1, false),
            (3_600_001, false),
        ] as [(Int64, Bool)])
    func credible(since now: Int64, isCredible: Bool) {
        let moment = WallTime(milliseconds: 1_800_000_000_000)
        let stamp = moment.advanced(by: .milliseconds(now))
        #expect(stamp.credible(now: moment) == (isCredible ? stamp : nil))
    }

    @Test(
        "1970, seconds, microseconds, no time and the ends of the range are not time stamps",
        arguments: [0, 1_800_000_000, 1_800_000_000_000_000, -1, -30_000_000_000_000_000, .min, .max] as [Int64])
    func odd(stamp: Int64) {
        #expect(WallTime(milliseconds: stamp).credible(now: WallTime(milliseconds: 1_800_000_000_000)) == nil)
        // The same applies before the clock is right.
        #expect(WallTime(milliseconds: -1).credible(now: WallTime(milliseconds: 0)) == nil)
    }
}
