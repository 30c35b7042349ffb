import Testing

@testable import HeraldDemo

@Suite("The demo's pace")
struct DemoScheduleTests {
    @Test("Once: the first event alone until it is settled, then all others at once, then the end")
    func once() {
        var pace = DemoSchedule(.once, sceneCount: 14)
        #expect(pace.next(isSettled: true, now: 0) == .publish(1))
        #expect(pace.next(isSettled: false, now: 10) == .wait(until: 12_000))
        #expect(pace.next(isSettled: true, now: 3_000) == .publish(13))
        #expect(!pace.isPublishing)
        #expect(pace.next(isSettled: false, now: 3_001) == .wait(until: 15_000))
        #expect(pace.next(isSettled: true, now: 9_000) == .end)
    }

    @Test("Live: one event after another until its time is over, then it waits for the rest")
    func live() {
        var pace = DemoSchedule(.live, sceneCount: 14)
        #expect(pace.next(isSettled: true, now: 0) == .publish(1))
        #expect(pace.next(isSettled: true, now: 3_000) == .publish(1))
        #expect(pace.next(isSettled: false, now: 3_100) == .wait(until: 3_600))
        for moment in stride(from: Int64(3_600), to: 33_000, by: 600) {
            #expect(pace.next(isSettled: false, now: moment) == .publish(1))
        }
        #expect(pace.next(isSettled: false, now: 33_000) == .wait(until: 44_400))
        #expect(!pace.isPublishing)
        #expect(pace.next(isSettled: true, now: 34_000) == .end)
    }

    @Test("It ends when the worker never starts, when outcomes never come, and when it is stopped")
    func limits() {
        var silent = DemoSchedule(.once, sceneCount: 2)
        #expect(silent.next(isSettled: true, now: 0) == .publish(1))
        #expect(silent.next(isSettled: false, now: 12_000) == .end)

        var stuck = DemoSchedule(.once, sceneCount: 2)
        #expect(stuck.next(isSettled: true, now: 0) == .publish(1))
        #expect(stuck.next(isSettled: true, now: 1_000) == .publish(1))
        #expect(stuck.next(isSettled: false, now: 12_999) == .wait(until: 13_000))
        #expect(stuck.next(isSettled: false, now: 13_000) == .end)

        var stopped = DemoSchedule(.live, sceneCount: 2)
        #expect(stopped.next(isSettled: true, now: 0) == .publish(1))
        stopped.stop()
        #expect(stopped.next(isSettled: false, now: 1) == .end)
    }
}
