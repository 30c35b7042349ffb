import HeraldTime
import HeraldTools
import Testing

@Suite("The number of events that may be published")
struct PublishAdmissionTests {
    private let start = MonotonicTime(nanoseconds: 0)

    private func moment(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    private func pace(
        services: Int = 1, rate: Double? = nil, ramp: [Int] = [], published: Int = 0
    ) -> PublishAdmission {
        PublishAdmission(
            outcomesPerEvent: services, batchLimit: 1_000, rate: rate, ramp: Ramp(steps: ramp), published: published)
    }

    private func decision(_ pace: inout PublishAdmission, known: Int, at seconds: Double = 0)
        -> PublishAdmission.Decision
    {
        let open = pace.expected - known
        return pace.decision(open: open, openInStep: open, at: moment(seconds))
    }

    /// The number of events published within `seconds`, with a look every 20 ms, when `known` gives the outcomes.
    private func run(_ pace: inout PublishAdmission, seconds: Double, known: (Double, PublishAdmission) -> Int) -> Int {
        let before = pace.published
        var most = 0
        for step in 0..<Int(seconds * 50) {
            let time = Double(step) / 50
            let outcomes = known(time, pace)
            if case .publish(let count) = decision(&pace, known: outcomes, at: time) {
                pace.notePublished(count)
            }
            most = max(most, pace.expected - outcomes)
        }
        #expect(most <= PublishAdmission.openLimit)
        return pace.published - before
    }

    @Test("Without outcomes at most 10 000 are open, counted for each push service", arguments: [1, 2, 3])
    func openLimit(services: Int) {
        var pace = pace(services: services)
        let published = run(&pace, seconds: 10) { _, _ in 0 }
        #expect(published * services <= 10_000 && published * services > 9_000)
        #expect(decision(&pace, known: 0, at: 11) == .wait(.outcomes))
        guard case .publish = decision(&pace, known: 5_000, at: 12) else {
            Issue.record("it goes on with the outcomes")
            return
        }
    }

    @Test("When outcomes arrive one by one, it waits until a fifth of a transaction may go", arguments: [1_000, 2_500])
    func trickle(batchLimit: Int) {
        var pace = PublishAdmission(
            outcomesPerEvent: 1, batchLimit: batchLimit, rate: nil, ramp: Ramp(steps: []), published: 10_000)
        let worthwhile = batchLimit / 5
        #expect(decision(&pace, known: worthwhile - 1) == .wait(.outcomes))
        #expect(decision(&pace, known: worthwhile) == .publish(worthwhile))
    }

    @Test("With thousands of outcomes for each event, events go one by one, and none before there is room")
    func manyOutcomes() {
        var pace = pace(services: 4_000)
        #expect(decision(&pace, known: 0) == .publish(2))
        pace.notePublished(2)
        #expect(decision(&pace, known: 1_999) == .wait(.outcomes))
        #expect(decision(&pace, known: 2_000) == .publish(1))
    }

    @Test("With immediate outcomes a batch goes at each look")
    func fast() {
        var pace = pace()
        #expect(run(&pace, seconds: 1) { _, pace in pace.expected } == 50_000)
    }

    @Test("A rate is kept over any time, from the first second on", arguments: [0.5, 1, 7, 200, 5_000])
    func rate(rate: Double) {
        var pace = pace(rate: rate)
        for seconds in [20.0] {
            let published = Double(run(&pace, seconds: seconds) { _, pace in pace.expected })
            #expect(published <= 1 + rate * seconds && published >= rate * seconds * 0.9 - 1, "\(published)")
        }
    }

    @Test("It gives the time at which its rate allows more, and then allows it", arguments: [0.01, 0.5, 7, 200])
    func nextCredit(rate: Double) throws {
        var pace = pace(rate: rate)
        if case .publish(let count) = decision(&pace, known: 0) { pace.notePublished(count) }
        #expect(decision(&pace, known: pace.published) == .wait(.rate))
        let moment = try #require(pace.nextCredit)
        #expect(moment > start)
        let more = pace.decision(open: 0, openInStep: 0, at: moment)
        #expect(more == .publish(max(1, Int(rate / 5))) && pace.nextCredit == nil)
    }

    @Test(
        "With a rate that bounds it, what piles up is what goes out in 30 s, or 100",
        arguments: [(1.0, 1, 100), (1.0, 2, 100), (10.0, 1, 300), (10.0, 2, 300), (1_000.0, 1, 10_000)])
    func pile(rate: Double, services: Int, most: Int) {
        var pace = PublishAdmission(
            outcomesPerEvent: services, batchLimit: 2_500, rate: rate, ramp: Ramp(steps: []), published: 0,
            boundsPile: true)
        func decision(piledUp: Int, at seconds: Double) -> PublishAdmission.Decision {
            pace.decision(open: pace.expected, piledUp: piledUp, openInStep: 0, at: moment(seconds))
        }
        for second in 0..<200 {
            guard case .publish(let count) = decision(piledUp: pace.published, at: Double(second)) else { continue }
            pace.notePublished(count)
        }
        #expect(pace.published <= most && pace.published > most * 7 / 10, "\(pace.published)")
        #expect(decision(piledUp: pace.published, at: 201) == .wait(.outcomes))
        // However many are open besides, up to their own bound.
        for second in 202..<100_000 {
            guard case .publish(let count) = decision(piledUp: 0, at: Double(second)) else { break }
            pace.notePublished(count)
        }
        #expect(pace.expected <= PublishAdmission.openLimit && pace.expected > PublishAdmission.openLimit * 7 / 10)
    }

    @Test("Events that could not be published for a while are not made up for at once")
    func burst() {
        var pace = pace(rate: 100)
        _ = decision(&pace, known: 0)
        #expect(decision(&pace, known: 0, at: 1_000) == .publish(100))
    }

    @Test(
        "Each step of a ramp waits for all earlier outcomes, across restarts; the rest follows the last step")
    func ramp() {
        var pace = pace(services: 2, ramp: [1, 10, 100])
        var sizes: [Int] = []
        for _ in 0..<4 {
            guard case .publish(let count) = decision(&pace, known: pace.expected) else { break }
            sizes.append(count)
            pace.notePublished(count)
            guard pace.isAtStepEnd else { continue }
            #expect(decision(&pace, known: pace.expected - 1) == .wait(.ramp))
        }
        #expect(sizes == [1, 10, 100, 1_000] && pace.step == nil)
        var continued = self.pace(ramp: [1, 10, 100], published: 5)
        #expect(continued.step == 2 && decision(&continued, known: 5) == .publish(6))
        // Within a step there is no wait.
        #expect(decision(&continued, known: 0) == .publish(6))
        #expect(self.pace(ramp: [1, 10, 100], published: 500).step == nil)
    }

    @Test("A ramp that ends with a number continues in steps of that size")
    func endlessRamp() throws {
        var pace = PublishAdmission(
            outcomesPerEvent: 1, batchLimit: 500, rate: nil, ramp: try #require(Ramp("2,3")), published: 0)
        var sizes: [Int] = []
        for _ in 0..<4 {
            guard case .publish(let count) = decision(&pace, known: pace.expected) else { break }
            sizes.append(count)
            pace.notePublished(count)
        }
        #expect(sizes == [2, 3, 3, 3] && pace.step == 5)
    }

    @Test("A step without its outcomes can be left; the outcomes of the next one are waited for")
    func leavingAStep() {
        var pace = pace(ramp: [1, 10])
        pace.notePublished(1)
        #expect(pace.decision(open: 1, openInStep: 1, at: start) == .wait(.ramp))
        pace.leaveStep()
        #expect(pace.decision(open: 1, openInStep: 0, at: start) == .publish(10))
        pace.notePublished(10)
        #expect(pace.decision(open: 11, openInStep: 10, at: start) == .wait(.ramp))
        #expect(pace.decision(open: 1, openInStep: 0, at: start) == .publish(1_000))
    }
}

@Suite("The number of failures allowed")
struct FailureLimitTests {
    @Test(
        "The share applies to the known outcomes if there are enough, or to all if all are known",
        arguments: [
            (4, 19, nil, false), (4, 20, nil, false), (5, 20, nil, true), (1, 1, nil, false), (1, 1, 5, false),
            (2, 2, 5, true), (0, 0, 0, false),
        ] as [(Int, Int, Int?, Bool)])
    func limit(failed: Int, known: Int, total: Int?, isExceeded: Bool) {
        let excess = FailureLimit(share: 0.2, meaningfulCount: 20).excess(
            failed: failed, known: known, openAtEnd: total.map { $0 - known })
        #expect((excess != nil) == isExceeded)
    }
}
