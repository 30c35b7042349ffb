import HeraldTime
import Testing

@Suite("Spans of time")
struct MillisecondsTests {
    @Test("are made with their unit")
    func units() {
        #expect(Milliseconds.milliseconds(1_500).count == 1_500)
        #expect(Milliseconds.seconds(90) == .milliseconds(90_000))
        #expect(Milliseconds.minutes(2) == .seconds(120))
        #expect(Milliseconds.hours(1) == .minutes(60))
        #expect(Milliseconds.days(1) == .hours(24))
    }

    @Test("stop at the ends of the range instead of overflowing")
    func saturation() {
        #expect(Milliseconds.max + .seconds(1) == .max && Milliseconds.min - .seconds(1) == .min)
        #expect(Milliseconds.max - .seconds(-1) == .max && Milliseconds.min + .seconds(-1) == .min)
        #expect(-Milliseconds.min == .max)
        #expect(Milliseconds.max * 2 == .max && Milliseconds.max * -2 == .min)
        #expect(Milliseconds.min * 2 == .min && Milliseconds.min * -1 == .max && -1 * Milliseconds.min == .max)
        #expect(Milliseconds.min / -1 == .max)
        #expect(Milliseconds.seconds(Int64.max) == .max && Milliseconds.days(Int64.min) == .min)
        #expect(Milliseconds.milliseconds(UInt64.max) == .max)
        #expect(Milliseconds.max.nanoseconds == .max)
    }

    @Test(
        "double repeatedly without overflowing", arguments: [(0, 200), (1, 400), (10, 204_800), (62, .max), (63, .max)])
    func doubling(times: Int, milliseconds: Int64) {
        #expect(Milliseconds.milliseconds(200).doubled(times: times) == .milliseconds(milliseconds))
    }

    @Test("are divided towards zero, by numbers and by each other")
    func division() {
        #expect(Milliseconds.milliseconds(-7) / 2 == .milliseconds(-3))
        #expect(Milliseconds.seconds(3) / .seconds(2) == 1.5)
        #expect(Milliseconds.milliseconds(-1_999).wholeSeconds == -1)
        #expect(Milliseconds.milliseconds(1_500).inSeconds == 1.5)
    }

    @Test("come from durations in whole milliseconds, and go back")
    func durations() {
        #expect(Milliseconds(.microseconds(1_999)) == .milliseconds(1))
        #expect(Milliseconds(.microseconds(-1_999)) == .milliseconds(-1))
        #expect(Milliseconds(.seconds(Int64.max)) == .max)
        #expect(Milliseconds.seconds(5).duration == .seconds(5))
    }

    @Test("are passed to C as the nearest number in its range")
    func clamping() {
        #expect(Int32(clamping: Milliseconds.seconds(5)) == 5_000)
        #expect(Int32(clamping: Milliseconds.max) == .max && Int32(clamping: Milliseconds.min) == .min)
    }
}
