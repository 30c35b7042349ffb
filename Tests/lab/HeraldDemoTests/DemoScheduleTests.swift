import HeraldTime
import Testing

@testable import HeraldDemo

@Suite("The demo's pace")
struct DemoScheduleTests {
    @Test("Once: the first event alone until it is settled, then all others at once, then the end")
    func once() {
        var pace = DemoSchedule(.once, sceneCount: 14)
        #expect(pace.next(isSettled: true, now: .zero) == .publish(1))
        #expect(pace.next(isSettled: false, now: .milliseconds(10)) == .wait(until: .seconds(12)))
        #expect(pace.next(isSettled: true, now: .seconds(3)) == .publish(13))
        #expect(!pace.isPublishing)
        #expect(pace.next(isSettled: false, now: .milliseconds(3_001)) == .wait(until: .seconds(15)))
        #expect(pace.next(isSettled: true, now: .seconds(9)) == .end)
    }

    @Test("Live: one event after another until its time is over, then a wait for the rest")
    func live() {
        var pace = DemoSchedule(.live, sceneCount: 14)
        #expect(pace.next(isSettled: true, now: .zero) == .publish(1))
        #expect(pace.next(isSettled: true, now: .seconds(3)) == .publish(1))
        #expect(pace.next(isSettled: false, now: .milliseconds(3_100)) == .wait(until: .milliseconds(3_600)))
        for moment in stride(from: Int64(3_600), to: 33_000, by: 600) {
            #expect(pace.next(isSettled: false, now: .milliseconds(moment)) == .publish(1))
        }
        #expect(pace.next(isSettled: false, now: .seconds(33)) == .wait(until: .milliseconds(44_400)))
        #expect(!pace.isPublishing)
        #expect(pace.next(isSettled: true, now: .seconds(34)) == .end)
    }

    @Test("It ends when the worker never starts, when outcomes never come, and when it is stopped")
    func limits() {
        var silent = DemoSchedule(.once, sceneCount: 2)
        #expect(silent.next(isSettled: true, now: .zero) == .publish(1))
        #expect(silent.next(isSettled: false, now: .seconds(12)) == .end)

        var stuck = DemoSchedule(.once, sceneCount: 2)
        #expect(stuck.next(isSettled: true, now: .zero) == .publish(1))
        #expect(stuck.next(isSettled: true, now: .seconds(1)) == .publish(1))
        #expect(stuck.next(isSettled: false, now: .milliseconds(12_999)) == .wait(until: .seconds(13)))
        #expect(stuck.next(isSettled: false, now: .seconds(13)) == .end)

        var stopped = DemoSchedule(.live, sceneCount: 2)
        #expect(stopped.next(isSettled: true, now: .zero) == .publish(1))
        stopped.stop()
        #expect(stopped.next(isSettled: false, now: .milliseconds(1)) == .end)
    }
}
